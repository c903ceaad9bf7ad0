package site

import "testing"

func TestIsolate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "Ana": "Ana", "\u202eanA": "\u2068\u202eanA\u2069"} {
		if got := Isolate(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
