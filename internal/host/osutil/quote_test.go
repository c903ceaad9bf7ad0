package osutil

import "testing"

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
