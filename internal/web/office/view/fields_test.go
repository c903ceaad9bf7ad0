package view

import (
	"testing"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// TestNameOf checks that control characters in a name affect only the name.
func TestNameOf(t *testing.T) {
	t.Parallel()
	for first, want := range map[string]string{
		"Ana":             "Ana Čović",
		"שרה":             "שרה Čović",
		"\u202eevil":      "\u2068\u202eevil Čović\u2069",
		"a\u2066b\u2069c": "\u2068a\u2066b\u2069c Čović\u2069",
	} {
		if got := NameOf(record.Fields{FirstName: first, LastName: "Čović"}); got != want {
			t.Errorf("NameOf(%q) = %q, want %q", first, got, want)
		}
	}
}
