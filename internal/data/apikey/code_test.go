package apikey

import (
	"math"
	"strings"
	"testing"
)

func TestNewCode(t *testing.T) {
	t.Parallel()
	seen, used := map[string]bool{}, map[rune]bool{}
	for range 500 {
		text := NewCode(12)
		if len(text) != 12 || seen[text] || NormalizeCode(text) != text {
			t.Fatalf("NewCode() = %q", text)
		}
		seen[text] = true
		for _, r := range text {
			used[r] = true
		}
	}
	if len(used) != 25 || strings.ContainsAny(codeDigits, "01258BILOSZ") {
		t.Errorf("of %q %d characters are used", codeDigits, len(used))
	}
}

func TestGroupCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "K7M": "K7M", "K7MQ": "K7MQ", "K7MQ3": "K7MQ-3", "K7MQ3XWP9HTD": "K7MQ-3XWP-9HTD"} {
		if got := GroupCode(text); got != want {
			t.Errorf("GroupCode(%q) = %q", text, got)
		}
	}
}

func TestNormalizeCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", " - ": "", "k7mq-3xwp-9htd": "K7MQ3XWP9HTD", "\tK7MQ 3XWP\u00a09HTD\r\n": "K7MQ3XWP9HTD",
		"k7mq\u20113xwp\u20139htd": "K7MQ3XWP9HTD", "č_0": "Č_0"} {
		if got := NormalizeCode(text); got != want {
			t.Errorf("NormalizeCode(%q) = %q", text, got)
		}
	}
}

func TestParseCode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n    uint64
		text string
	}{
		{0, "333333"}, {1, "333334"}, {24, "33333Y"}, {25, "333343"}, {25*25*25*25*25*25 - 1, "YYYYYY"}, {math.MaxUint64, "JFJ77CY3WVHDMN"},
	} {
		if got := CodeOf(tt.n, len(tt.text)); got != tt.text {
			t.Errorf("CodeOf(%d) = %q, not %q", tt.n, got, tt.text)
		}
		if n, ok := ParseCode(strings.ToLower(tt.text[:3]) + "-" + tt.text[3:]); n != tt.n || !ok {
			t.Errorf("ParseCode(%q) = %d, %t", tt.text, n, ok)
		}
	}
	if got := CodeOf(25*25+1, 2); got != "34" {
		t.Errorf("the last two digits are %q", got)
	}
	for _, text := range []string{"", "-", "33333B", "0", "č", "\xff", "JFJ77CY3WVHDMP", "YYYYYYYYYYYYYY", "4333333333333333333333"} {
		if n, ok := ParseCode(text); ok {
			t.Errorf("ParseCode(%q) = %d", text, n)
		}
	}
}

func FuzzParseCode(f *testing.F) {
	f.Add("K7M-QXW")
	f.Add("33333333333333333333333333334")
	f.Fuzz(func(t *testing.T, text string) {
		normal := NormalizeCode(text)
		if again := NormalizeCode(normal); again != normal {
			t.Errorf("NormalizeCode(%q) = %q, and of that %q", text, normal, again)
		}
		n, ok := ParseCode(text)
		if ok && CodeOf(n, len(normal)) != normal {
			t.Errorf("ParseCode(%q) = %d, of which the code is %q", text, n, CodeOf(n, len(normal)))
		}
	})
}
