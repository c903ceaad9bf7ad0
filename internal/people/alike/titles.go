package alike

import (
	"strings"
	"unicode"
)

// Titles and suffixes, folded and without periods. A rank is none: Obi is a name.
var (
	titles = words(`dr dra ddr drs prof professor professorin mag mmag magistra dipl dipling univ bacc privdoz akad
		mr phd msc bsc mba llm llb dphil`)
	// generations are suffixes of generations, which stand behind a name.
	generations = words(`jr sr junior senior`)
	numerals    = words(`II III IV`) // likewise, in capitals alone
	// dotted are titles where a period stands with them, and dottedGenerations are
	// suffixes. Without it some of them are names.
	dotted            = words(`ing lic arch doc doz drin maga`)
	dottedGenerations = words(`jun sen ml`)
	// behind are what a title is of, as "med." in "Dr. med.", and nothing without one.
	behind = words(`ing med phil rer nat techn jur iur vet dent theol pol oec publ habil hc sc sci univ stom struc spec arch el mult em pharm
		agr mont fh stroj grad bacc`)
)

func words(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		all[word] = true
	}
	return all
}

// Title says what a word of a name is beside the name.
type Title int

// Kinds of words.
const (
	NoTitle    Title = iota
	Academic         // a title, or a part of one: "Dr.", "rer."
	Generation       // the suffix of a generation: "Jr.", "III"
)

// Word is a word of a name.
type Word struct {
	Text  string
	Title Title
}

// Words returns the words of a name, without its commas. A title in front of a name is a
// word also where no space stands between them, as in "Dr.Horvat".
func Words(name string) (all []Word) {
	after := false // a title stands before
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

// WithoutTitles returns a name without academic titles and suffixes of generations, and
// without its commas: "Horvat" for "Horvat, dipl. ing.". It returns nothing for "Jr.",
// which is nothing else.
func WithoutTitles(name string) string {
	var rest []string
	for _, word := range Words(name) {
		if word.Title == NoTitle {
			rest = append(rest, word.Text)
		}
	}
	return strings.Join(rest, " ")
}

// isSpecial reports whether a letter stands in no title without a period. Most names of a
// list are told by that at once, without being folded.
func isSpecial(r rune) bool { return r > unicode.MaxASCII }

// maxTitle is the length in bytes of the longest title. A cell of a list may have
// megabytes.
const maxTitle = 60

// titleOf returns what a word is. Titles may have no space between them: "Dipl.-Ing.",
// "dr.sc.". after says that a title stands before the word.
func titleOf(word string, after bool) Title {
	if len(word) > maxTitle || !after && !strings.Contains(word, ".") && strings.ContainsFunc(word, isSpecial) {
		return NoTitle
	}
	folded := strings.Trim(Folded(word), "()")
	period := strings.Contains(folded, ".")
	parts := strings.FieldsFunc(folded, func(r rune) bool { return r == '.' || r == '-' || r == '/' })
	whole := strings.Join(parts, "")
	initials := len(whole) == len(parts) // of a name, as J.R., where no title stands before
	switch {
	case generations[whole] && !initials, period && dottedGenerations[whole], numerals[strings.Trim(word, "().")]:
		return Generation
	case titles[whole] && !initials, period && dotted[whole], after && behind[whole]:
		return Academic
	}
	for _, part := range parts {
		if !titles[part] && !(period && dotted[part]) && !(after && behind[part]) {
			return NoTitle
		}
		after = true
	}
	if len(parts) == 0 {
		return NoTitle
	}
	return Academic
}
