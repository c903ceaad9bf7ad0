package office

import "testing"

func TestIsolate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "Ana": "Ana", "\u202eanA": "\u2068\u202eanA\u2069"} {
		if got := isolate(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
