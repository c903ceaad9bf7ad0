package alike

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/text/fold"
	"github.com/firefighter-records/firefighters/internal/text/regex"
)

// Titles and suffixes, folded and without periods. Ranks are not included: Obi is also a name.
var (
	titles = fold.Words(`dr dra ddr drs prof professor professorin mag mmag magistra dipl dipling univ bacc privdoz akad
		mr phd msc bsc mba llm llb dphil dott dottssa dottoressa mgr`)
	// generations are generational suffixes.
	generations = fold.Words(`jr sr jnr snr junior senior 2nd 3rd 4th`)
	numerals    = fold.Words(`II III IV`) // the same, upper case only
	// sameGeneration are other spellings of a suffix, folded and without periods.
	sameGeneration = map[string]string{"junior": "jr", "jnr": "jr", "jun": "jr", "ml": "jr",
		"senior": "sr", "snr": "sr", "sen": "sr", "st": "sr"}
	// dotted are titles, and dottedGenerations suffixes, only when written with a period. Without
	// it, some are names.
	dotted            = fold.Words(`ing inz ir lic arch arq avv geom doc doz drin maga`)
	dottedGenerations = fold.Words(`jun sen ml`)
	// complements are words that belong to a preceding title, such as "med." in "Dr. med.".
	complements = fold.Words(`ing inz hab med phil rer nat techn jur iur vet dent theol pol oec publ habil hc sc sci univ stom struc spec arch el
		mult em pharm agr mont fh stroj grad bacc`)
	// maiden are words before the name that a person had before marriage.
	maiden = fold.Words(`geb geborene geborener nee ne rod rodj rodena rodjena roj rojena`)
)

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
	markElder(all)
	return all
}

// markElder marks "st." (stariji, starší: the elder) as a suffix: at the end of a name, or in
// lower case after a word with a capital letter. St. Clair is a name.
func markElder(all []Word) {
	atEnd := true
	for i := len(all) - 1; i > 0; i-- {
		word, before := strings.Trim(all[i].Text, "()"), all[i-1].Text
		if strings.EqualFold(word, "st.") && (atEnd || word == "st." && strings.ToLower(before) != before) {
			all[i].Title = Generation
		}
		atEnd = atEnd && all[i].Title != NoTitle
	}
}

// WithoutTitles returns name without academic titles, generational suffixes, remarks and commas:
// "Horvat" for "Horvat, dipl. ing.". The result is empty if name has no other words.
func WithoutTitles(name string) string {
	rest, _ := cutTitles(name)
	return rest
}

// cutTitles returns what WithoutTitles returns, and the suffix in one spelling.
func cutTitles(name string) (rest, suffix string) {
	var words []string
	for _, word := range Words(WithoutRemarks(name, 1)) {
		switch word.Title {
		case NoTitle:
			words = append(words, word.Text)
		case Generation:
			suffix = strings.Trim(Folded(word.Text), "().")
			suffix = cmp.Or(sameGeneration[suffix], suffix)
		}
	}
	return strings.Join(words, " "), suffix
}

// WithoutRemarks returns name without what is not part of it: text in brackets, the name before marriage
// after "geb.", "née" or "rođ.", the number in a list, and marks of footnotes. At least as many words as
// least remain. A title or suffix in brackets is no remark.
func WithoutRemarks(name string, least int) string {
	if len(name) > maxRemarked {
		return name
	}
	if strings.ContainsAny(name, "([") {
		name = withoutBrackets(name, least)
	}
	if strings.ContainsAny(name, markedBy) {
		if rest := listMarks().ReplaceAllString(name, "$1"); rest != "" {
			name = rest
		}
	}
	name = strings.Replace(strings.Replace(name, " z d. ", " geb. ", 1), " z domu ", " geb. ", 1)
	for word := range strings.FieldsSeq(name) {
		if mark, _ := cutMaiden(word); mark != "" {
			return withoutMaiden(name, least)
		}
	}
	return name
}

// listMarks matches the number of a name in a list, and marks of footnotes: "1. Ana Kos*".
// It matches only names with a character of markedBy.
var listMarks = regex.Lazy(`^\s*\d{1,3}(?:[.)]\s*|\s+)(\pL)|^\s*[*†‡]+\s*|\s*[*†‡¹²³]+`)

const markedBy = "0123456789*†‡¹²³"

// maxRemarked is the maximum length in bytes of a name whose remarks are removed. No record has a
// longer one.
const maxRemarked = 1000

func withoutBrackets(name string, least int) string {
	for i := 0; i < len(name); i++ {
		size := strings.IndexAny(name[i:], ")]")
		if name[i] != '(' && name[i] != '[' || size < 0 || isTitle(name[i+1:i+size]) {
			continue
		}
		if strings.ContainsAny(name[i+1:i+size], "([") { // uncertain
			break
		}
		before := strings.TrimSpace(name[:i])
		rest := strings.TrimSpace(strings.ReplaceAll(before+" "+strings.TrimSpace(name[i+size+1:]), " ,", ","))
		if len(strings.Fields(rest)) >= least {
			name, i = rest, len(before)-1
		}
	}
	return name
}

func withoutMaiden(name string, least int) string {
	var words []string
	for word := range strings.FieldsSeq(name) {
		if mark, rest := cutMaiden(word); mark != "" && rest != "" {
			words, word = append(words, mark), rest
		}
		words = append(words, word)
	}
	for i := 1; i < len(words)-1; i++ {
		if mark, _ := cutMaiden(words[i]); mark == "" {
			continue
		}
		rest, end := slices.Clone(words[:i]), i+2 // "Horvat rođ. Kos Ana" has the last name first
		if comma := slices.IndexFunc(words[i:], func(word string) bool { return strings.HasSuffix(word, ",") }); comma >= 0 {
			end = i + comma + 1
			rest[i-1] = strings.TrimSuffix(rest[i-1], ",") + ","
		} else if i >= least {
			end = len(words)
		}
		if rest = append(rest, words[end:]...); len(rest) >= least {
			return strings.TrimSuffix(strings.Join(rest, " "), ",")
		}
	}
	return name
}

// isTitle reports whether text in brackets is a title or suffix, such as FH or "sen.".
func isTitle(text string) bool {
	words := strings.Fields(text)
	return len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool {
		return titleOf("("+word+")", true) == NoTitle && !strings.EqualFold(word, "st.")
	})
}

// cutMaiden cuts a mark such as "geb." from the start of a word. The mark is empty if the word has
// none. Nee with a capital letter is a name.
func cutMaiden(word string) (mark, rest string) {
	if len(word) > maxTitle || strings.IndexByte("gGnNrR", word[0]) < 0 {
		return "", ""
	}
	plain, rest, _ := strings.Cut(strings.TrimSuffix(word, ":"), ".")
	isWord := plain != "ne" && strings.ToLower(plain) == plain || plain == "Geb" || plain == "GEB" || !fold.IsASCII(plain)
	if !isWord || !maiden[fold.String(plain)] {
		return "", ""
	}
	return plain + ".", rest
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
	after = after || strings.HasPrefix(word, "(")
	period := strings.Contains(folded, ".")
	parts := strings.FieldsFunc(folded, func(r rune) bool { return r == '.' || r == '-' || r == '/' })
	whole := strings.Join(parts, "")
	initials := len(whole) == len(parts) // initials such as J.R., unless a title precedes them
	switch {
	case generations[whole] && !initials, period && dottedGenerations[whole], numerals[strings.Trim(word, "().")], word == "(h)": // hijo
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
