package store

import (
	"regexp"
	"strings"
	"testing"
)

func TestNewKeyText(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^ff_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$`)
	seen := map[string]bool{}
	for range 200 {
		key := newKeyText()
		if !form.MatchString(key) {
			t.Fatalf("newKeyText() = %q, want the format %v", key, form)
		}
		if seen[key] {
			t.Fatalf("newKeyText() returned %q twice", key)
		}
		seen[key] = true
		if IsMistyped(key) {
			t.Errorf("IsMistyped(%q) = true for a new key", key)
		}
	}
}

// TestKeyChecksum checks the CRC-32 (IEEE) of "123456789", which is 0xCBF43926.
func TestKeyChecksum(t *testing.T) {
	t.Parallel()
	if got, want := keyChecksum("123456789"), "3jZRME"; got != want {
		t.Errorf("checksum = %q, want %q", got, want)
	}
	if got, want := len(keyChecksum("")), keyChecksumLength; got != want {
		t.Errorf("the checksum of an empty text has %d characters, want %d", got, want)
	}
}

func TestIsMistyped(t *testing.T) {
	t.Parallel()
	key := newKeyText()
	for i := len(keyPrefix); i < len(key); i++ {
		swapped := "0"
		if key[i] == '0' {
			swapped = "1"
		}
		if typo := key[:i] + swapped + key[i+1:]; !IsMistyped(typo) {
			t.Errorf("a typo at %d in %q is not detected", i, key)
		}
	}
	for _, other := range []string{"", "ff_", "legacy-key", key + "x", key[1:], strings.ToUpper(keyPrefix) + key[3:]} {
		if IsMistyped(other) {
			t.Errorf("IsMistyped(%q) = true for a text in another format", other)
		}
	}
}

func TestNewCode(t *testing.T) {
	t.Parallel()
	seen, used := map[string]bool{}, map[rune]bool{}
	for range 500 {
		text := newCode(12)
		if len(text) != 12 || seen[text] || normalizeCode(text) != text {
			t.Fatalf("newCode() = %q", text)
		}
		seen[text] = true
		for _, r := range text {
			used[r] = true
		}
	}
	if len(used) != 25 || strings.ContainsAny(codeDigits, "01258BILOSZ") {
		t.Errorf("codes contain %d of the characters %q", len(used), codeDigits)
	}
}

func TestGroupCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "K7M": "K7M", "K7MQ": "K7MQ", "K7MQ3": "K7MQ-3", "K7MQ3XWP9HTD": "K7MQ-3XWP-9HTD"} {
		if got := groupCode(text); got != want {
			t.Errorf("groupCode(%q) = %q", text, got)
		}
	}
}

func TestNormalizeCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", " - ": "", "k7mq-3xwp-9htd": "K7MQ3XWP9HTD", "\tK7MQ 3XWP\u00a09HTD\r\n": "K7MQ3XWP9HTD",
		"k7mq\u20113xwp\u20139htd": "K7MQ3XWP9HTD", "\u202aK7MQ\u200b3XWP9HTD\u202c": "K7MQ3XWP9HTD", "č_0": "Č_0"} {
		if got := normalizeCode(text); got != want {
			t.Errorf("normalizeCode(%q) = %q", text, got)
		}
	}
}

func TestParseCode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n    uint64
		text string
	}{
		{0, "333333"}, {1, "333334"}, {24, "33333Y"}, {25, "333343"}, {25*25*25*25*25*25 - 1, "YYYYYY"},
		{1490116119384765624, "YYYYYYYYYYYYY"},
	} {
		if got := CodeOf(tt.n, len(tt.text)); got != tt.text {
			t.Errorf("CodeOf(%d) = %q, want %q", tt.n, got, tt.text)
		}
		if n, ok := ParseCode(strings.ToLower(tt.text[:3])+"-"+tt.text[3:], len(tt.text)); n != tt.n || !ok {
			t.Errorf("ParseCode(%q) = %d, %t", tt.text, n, ok)
		}
	}
	if got := CodeOf(25*25+1, 2); got != "34" {
		t.Errorf("the last two digits are %q", got)
	}
	for _, text := range []string{"", "-", "33333B", "0", "č", "\xff", "33333", "3333333", "4333333333333333333333"} {
		if n, ok := ParseCode(text, 6); ok {
			t.Errorf("ParseCode(%q) = %d", text, n)
		}
	}
}

func FuzzParseCode(f *testing.F) {
	f.Add("K7M-QXW")
	f.Add("33333333333333333333333333334")
	f.Fuzz(func(t *testing.T, text string) {
		normal := normalizeCode(text)
		if again := normalizeCode(normal); again != normal {
			t.Errorf("normalizeCode(%q) = %q, and normalized again %q", text, normal, again)
		}
		if n, ok := ParseCode(text, 6); ok && CodeOf(n, 6) != normal {
			t.Errorf("ParseCode(%q) = %d, which has the code %q", text, n, CodeOf(n, 6))
		}
	})
}
