package fold

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

func TestInvisible(t *testing.T) {
	t.Parallel()
	for _, r := range "\u00ad\u034f\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2066\u2069\u3164" +
		"\ufe0f\ufeff\ufffb\uffa0\U000e0041\U000e0100" {
		if !Invisible(r) || String("a"+string(r)+"b") != "ab" || Clean("a"+string(r)+"b") != "ab" || CleanName("a"+string(r)+"b") != "ab" {
			t.Errorf("%U is visible", r)
		}
	}
	for _, r := range "a1 -'č\u00a0\u0301\u0600\u06dd\u2003\u2028\u2800\ufffd\u4e2d🚒" {
		if Invisible(r) {
			t.Errorf("%U is invisible", r)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	marks := "x" + strings.Repeat("\u0301", 40)
	for _, tt := range []struct{ in, clean, name string }{
		{"", "", ""},
		{"ana@example.com", "ana@example.com", "ana@example.com"},
		{"\u202aana\u200b@example.com\ufeff", "ana@example.com", "ana@example.com"},
		{"c\u030cedo", "čedo", "c\u030cedo"},
		{"A\u200dna\ufe0f Ко\u200cс", "Ana Кос", "Ana Кос"},
		{"\u200cعلی\u200c\u200bرضا", "علیرضا", "علی\u200cرضا"},
		{"ക്\u200d\u200d", "ക്", "ക്\u200d"},
		{"葛\U000e0100城", "葛城", "葛\U000e0100城"},
		{"1\ufe0f\u20e3 🚒\ufe0f 👩\u200d🚒", "1\u20e3 🚒 👩🚒", "1\u20e3 🚒 👩🚒"},
		{"a\xff\u200b", "a\ufffd", "a\ufffd"},
		{marks, marks, marks},
	} {
		if got := Clean(tt.in); got != tt.clean {
			t.Errorf("Clean(%q) = %q, want %q", tt.in, got, tt.clean)
		}
		if got := CleanName(tt.in); got != tt.name {
			t.Errorf("CleanName(%q) = %q, want %q", tt.in, got, tt.name)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"\u200bAna", "ക്\u200d\u200c", "葛\U000e0100\ufe00", "c\u034f\u030c", "علی\u200c\u0301\u200d", "\xff\u00ad"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		clean, name := Clean(s), CleanName(s)
		for _, r := range clean {
			if Invisible(r) {
				t.Errorf("Clean(%q) = %q", s, clean)
			}
		}
		if Clean(clean) != clean || strings.ReplaceAll(norm.NFC.String(clean), norm.GraphemeJoiner, "") != clean || CleanName(name) != name {
			t.Errorf("%q: %q becomes %q, and %q becomes %q", s, clean, Clean(clean), name, CleanName(name))
		}
		if String(name) != String(s) || Clean(name) != clean {
			t.Errorf("%q folds to %q, and cleaned to %q", s, String(s), String(name))
		}
		for _, r := range name {
			if unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("CleanName(%q) = %q", s, name)
			}
		}
	})
}
