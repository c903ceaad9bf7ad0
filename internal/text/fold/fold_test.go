package fold

import (
	"hash/fnv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestString(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"", ""},
		{"Ana", "ana"},
		{"ana", "ana"},
		{"Čović", "covic"},
		{"c\u030covic\u0301", "covic"},
		{"ĐURĐA", "durda"},
		{"Ørsted", "orsted"},
		{"Ǿ", "o"},
		{"Łukasz", "lukasz"},
		{"STRASSE", "strasse"},
		{"Straße", "strasse"},
		{"STRAẞE", "strasse"},
		{"Æther Œuvre", "aether oeuvre"},
		{"ISTANBUL İstanbul ıstanbul", "istanbul istanbul istanbul"},
		{"Ħal Þór Ðán", "hal thor dan"},
		{"ﬁnn", "finn"},
		{"ℌans", "hans"},
		{"Ａｎａ", "ana"},
		{"Ѐлена", "елена"},
		{"ΣΊΣΥΦΟΣ", "σισυφοσ"},
		{"\uab70\u13a0", "\u13a0\u13a0"},
		{"각", "\u1100\u1161\u11a8"},
		{"x" + strings.Repeat("\u0301", 100) + "y", "xy"},
		{"100% _ \" *", "100% _ \" *"},
		{"O'Brien O’Brien O‘Brien OʼBrien O´Brien O`Brien", strings.TrimSuffix(strings.Repeat("o'brien ", 6), " ")},
		{"O`Brien", "o'brien"},
		{"Jean-Luc Jean‐Luc Jean‑Luc Jean–Luc Jean—Luc Jean−Luc", strings.TrimSuffix(strings.Repeat("jean-luc ", 6), " ")},
		{"\u200bA\u00adn\u200da\ufe0f \u202aČ\u2060ović\u202c\ufeff", "ana covic"},
		{"می\u200cخواهم", "میخواهم"},
	}
	for _, tt := range tests {
		if got := String(tt.in); got != tt.want {
			t.Errorf("String(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestVersion checks that a change to the folding also changes its version. New characters of
// Unicode are not a change.
func TestVersion(t *testing.T) {
	t.Parallel()
	hash := fnv.New64a()
	for _, block := range [][2]rune{{0, 0x52f}, {0x1e00, 0x2070}, {0x2190, 0x2300}, {0xfb00, 0xfb06}, {0xfe00, 0xff9f}} {
		for r := block[0]; r <= block[1]; r++ {
			hash.Write([]byte(String(string(r)) + "\n"))
		}
	}
	const want = 0xc99b6dfbfe60e385
	if got := hash.Sum64(); Version != 1 || got != want {
		t.Errorf("the folding has the hash %#x: raise Version, and change this test", got)
	}
}

// TestEveryRune checks that folding each code point is idempotent and leaves no marks.
func TestEveryRune(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		checkFolded(t, string(r))
	}
}

func FuzzString(f *testing.F) {
	for _, s := range []string{"Čović", "ﬁ", "İ", "\u0345", "각", "ﷺ", "ΐ", "ẛ̣", "\xff\xfe"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkFolded(t, s); checkFolded(t, Expanded(s)) })
}

func checkFolded(t *testing.T, s string) {
	t.Helper()
	folded := String(s)
	if again := String(folded); again != folded {
		t.Fatalf("%q folds to %q, and that to %q", s, folded, again)
	}
	for _, r := range folded {
		if norm.NFKD.PropertiesString(string(r)).CCC() != 0 {
			t.Fatalf("folding %q left the mark %U in %q", s, r, folded)
		}
	}
}

func TestExpanded(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "Mueller": "mueller", "Müller": "mueller", "JU\u0308RGEN": "juergen", "Jörg Bär-Čović": "joerg baer-covic",
		"ÄÖÜ A\u0308O\u0308": "aeoeue aeoe", "Straße": "strasse", "Citroën Noël Ÿ": "citroen noel y", "Æsop": "aesop",
		"x\u0308ü": "xue", "ïü": "iue", "u \u0308": "u ", "ﬁü": "fiue",
	} {
		got := Expanded(in)
		if got != want || got != String(in) && !HasUmlaut(in) {
			t.Errorf("Expanded(%q) = %q, want %q", in, got, want)
		}
		checkFolded(t, got)
	}
}
