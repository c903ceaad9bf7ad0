package apikey

import (
	"regexp"
	"strings"
	"testing"
)

func TestNew(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^ff_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$`)
	seen := map[string]bool{}
	for range 200 {
		key := New()
		if !form.MatchString(key) {
			t.Fatalf("New() = %q, want the form %v", key, form)
		}
		if seen[key] {
			t.Fatalf("New() = %q, twice", key)
		}
		seen[key] = true
		if Mistyped(key) {
			t.Errorf("Mistyped(%q) = true for a new key", key)
		}
	}
}

// TestChecksum: the check value of CRC-32 (IEEE), its sum of "123456789", is
// 0xCBF43926.
func TestChecksum(t *testing.T) {
	t.Parallel()
	if got, want := checksum("123456789"), "3jZRME"; got != want {
		t.Errorf("checksum = %q, want %q", got, want)
	}
	if got, want := len(checksum("")), checksumLength; got != want {
		t.Errorf("the checksum of nothing has %d characters, want %d", got, want)
	}
}

func TestMistyped(t *testing.T) {
	t.Parallel()
	key := New()
	for i := len(prefix); i < len(key); i++ {
		swapped := "0"
		if key[i] == '0' {
			swapped = "1"
		}
		if typo := key[:i] + swapped + key[i+1:]; !Mistyped(typo) {
			t.Errorf("a typo at %d in %q is not recognised", i, key)
		}
	}
	for _, other := range []string{"", "ff_", "legacy-key", key + "x", key[1:], strings.ToUpper(prefix) + key[3:]} {
		if Mistyped(other) {
			t.Errorf("Mistyped(%q) = true, but it does not have the form of a key", other)
		}
	}
}
