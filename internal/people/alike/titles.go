package alike

import (
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// Titles and suffixes, folded and without periods. Ranks are not included: Obi is also a name.
var (
	titles = words(`dr dra ddr drs prof professor professorin mag mmag magistra dipl dipling univ bacc privdoz akad
		mr phd msc bsc mba llm llb dphil`)
	// generations are generational suffixes.
	generations = words(`jr sr junior senior`)
	numerals    = words(`II III IV`) // the same, upper case only
	// dotted are titles, and dottedGenerations suffixes, only when written with a period. Without
	// it, some are names.
	dotted            = words(`ing lic arch doc doz drin maga`)
	dottedGenerations = words(`jun sen ml`)
	// complements are words that belong to a preceding title, such as "med." in "Dr. med.".
	complements = words(`ing med phil rer nat techn jur iur vet dent theol pol oec publ habil hc sc sci univ stom struc spec arch el mult em pharm
		agr mont fh stroj grad bacc`)
)

func words(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		all[word] = true
	}
	return all
}

// Title classifies a word of a name.
type Title int

// Values of Title.
const (
	NoTitle    Title = iota
	Academic         // an academic title or part of one: "Dr.", "rer."
	Generation       // a generational suffix: "Jr.", "III"
)

// Word is a word of a name.
type Word struct {
	Text  string
	Title Title
}

// Words splits a name into words and drops commas. It also separates a title from a name that
// follows it without a space, as in "Dr.Horvat".
func Words(name string) (all []Word) {
	after := false // the previous word is a title
	add := func(text string, title Title) {
		all, after = append(all, Word{text, title}), title != NoTitle
	}
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return unicode.IsSpace(r) || r == ',' }) {
		title := titleOf(word, after)
		for title == NoTitle {
			before, rest, _ := strings.Cut(word, ".")
			if rest == "" || titleOf(before+".", after) != Academic {
				break
			}
			add(before+".", Academic)
			word, title = rest, titleOf(rest, true)
		}
		add(word, title)
	}
	return all
}

// WithoutTitles returns name without academic titles, generational suffixes and commas: "Horvat"
// for "Horvat, dipl. ing.". The result is empty if name has no other words.
func WithoutTitles(name string) string {
	var rest []string
	for _, word := range Words(name) {
		if word.Title == NoTitle {
			rest = append(rest, word.Text)
		}
	}
	return strings.Join(rest, " ")
}

// maxTitle is the maximum length of a title in bytes. Cells can contain megabytes of text.
const maxTitle = 60

// titleOf classifies a word, which may be several titles joined without spaces: "Dipl.-Ing.",
// "dr.sc.". after reports whether the previous word is a title.
func titleOf(word string, after bool) Title {
	// Titles without a period are ASCII, which rules out many names without folding them.
	if len(word) > maxTitle || !after && !strings.Contains(word, ".") && !fold.IsASCII(word) {
		return NoTitle
	}
	folded := strings.Trim(Folded(word), "()")
	period := strings.Contains(folded, ".")
	parts := strings.FieldsFunc(folded, func(r rune) bool { return r == '.' || r == '-' || r == '/' })
	whole := strings.Join(parts, "")
	initials := len(whole) == len(parts) // initials such as J.R., unless a title precedes them
	switch {
	case generations[whole] && !initials, period && dottedGenerations[whole], numerals[strings.Trim(word, "().")]:
		return Generation
	case titles[whole] && !initials, period && dotted[whole], after && complements[whole]:
		return Academic
	}
	for _, part := range parts {
		if !titles[part] && !(period && dotted[part]) && !(after && complements[part]) {
			return NoTitle
		}
		after = true
	}
	if len(parts) == 0 {
		return NoTitle
	}
	return Academic
}
