package daemon

import (
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// TestSuggestedAddress checks that a suggestion keeps the valid part of an address.
func TestSuggestedAddress(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"9000": "127.0.0.1:9000", "0.0.0.0": "0.0.0.0:8080", "localhost": "localhost:8080", "localhost:x": "localhost:8080", "::1": cli.Quote("[::1]:8080"),
		"[::1]": cli.Quote("[::1]:8080"), "pc.example": "pc.example:8080", "": "127.0.0.1:8080", "nonsense": "127.0.0.1:8080", "http://pc.example:80": "127.0.0.1:8080",
	} {
		if got := suggestedAddress(typed); got != want {
			t.Errorf("suggestedAddress(%q) = %s, want %s", typed, got, want)
		}
	}
}
