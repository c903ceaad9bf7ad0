package osutil

import (
	"runtime"
	"testing"
)

func TestQuoteForWindows(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": `""`, "a b": `"a b"`, `"Name, x"=name`: `"\"Name, x\"=name"`, `C:\a b\x.db`: `"C:\a b\x.db"`, `C:\a b\`: `"C:\a b\\"`, `a\"b`: `"a\\\"b"`,
	} {
		if got := quoteForWindows(text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

// TestQuoteLines checks that a line break in a path cannot begin another command.
func TestQuoteLines(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no path has a line break")
	}
	for text, want := range map[string]string{"/mnt/a\nreboot": "'/mnt/a\nreboot'", "/mnt/a\rreboot": "'/mnt/a\rreboot'", "/mnt/a": "/mnt/a"} {
		if got := Quote(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
