package alike

import "strings"

// Titles and suffixes, folded and without periods. A rank is none: Obi is a name.
var (
	// titles are academic titles, and suffixes of generations.
	titles = words(`dr dra ddr drs drin prof professor professorin mag mmag magistra dipl dipling univ bacc privdoz akad mr phd msc bsc mba llm llb dphil
		jr sr junior senior ii iii iv`)
	// dotted are likewise where a period stands with them. Without it some of them are names.
	dotted = words(`ing lic arch doc doz jun sen ml`)
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

// WithoutTitles returns a name without academic titles and suffixes of generations, and
// without its commas: "Horvat" for "Horvat, dipl. ing.". It returns nothing for "Jr.",
// which is nothing else.
func WithoutTitles(name string) string {
	var rest []string
	after := false // a title stands before
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '\u00a0' || r == ',' }) {
		if isTitle(word, after) {
			after = true
			continue
		}
		for { // "Dr.Horvat"
			title, name, _ := strings.Cut(word, ".")
			if name == "" || !isTitle(title+".", after) {
				break
			}
			after, word = true, name
		}
		after, rest = false, append(rest, word)
	}
	return strings.Join(rest, " ")
}

// isTitle reports whether a word is a title or a suffix. Titles may have no space between
// them: "Dipl.-Ing.", "dr.sc.".
func isTitle(word string, after bool) bool {
	folded := strings.Trim(Folded(word), "()")
	period := strings.Contains(folded, ".")
	parts := strings.FieldsFunc(folded, func(r rune) bool { return r == '.' || r == '-' || r == '/' })
	whole := strings.Join(parts, "")
	initials := len(whole) == len(parts) // of a name, as J.R., where no title stands before
	if titles[whole] && !initials || after && behind[whole] {
		return true
	}
	for _, part := range parts {
		if !titles[part] && !(period && dotted[part]) && !(after && behind[part]) {
			return false
		}
		after = true
	}
	return len(parts) > 0
}
