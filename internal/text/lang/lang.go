// Package lang speaks the languages of the program: it chooses one for a
// request, finds messages with their plurals, writes numbers and dates, and reads
// dates.
package lang

import (
	"math"
	"slices"
	"sync"

	"golang.org/x/text/language"
)

// Language is one of the languages of All. Languages are compared by their
// pointers.
type Language struct {
	Tag      string           // BCP 47, such as "hr"
	Name     string           // in itself, such as "Hrvatski"
	plural   func(n int) form // of a number that is not negative
	grouping grouping
	dates    dateForm
	phone    map[int][]int // groups of a telephone number of so many digits, where they are others than phoneGroups
}

// All returns the languages in the order in which people choose from them. The
// first is English.
func All() []*Language { return slices.Clone(languages) }

// ByTag returns the language with that tag, and nil if there is none.
func ByTag(tag string) *Language {
	for _, l := range languages {
		if l.Tag == tag {
			return l
		}
	}
	return nil
}

// Ungrouped returns the language with numbers as programs read them: 1048576 has no
// separators.
func (l *Language) Ungrouped() *Language {
	plain := *l
	plain.grouping.from = math.MaxInt
	return &plain
}

// matcher is made when it is first needed, so that commands do not pay for it.
var matcher = sync.OnceValue(func() language.Matcher {
	var tags []language.Tag
	for _, l := range languages {
		tags = append(tags, language.Make(l.Tag))
	}
	return language.NewMatcher(tags)
})

// longestHeader is the length in bytes of the longest Accept-Language that counts. No browser sends
// as much, and each entry costs a microsecond.
const longestHeader = 500

// Negotiate returns the language that fits best to the value of Accept-Language
// (RFC 9110, section 12.5.4), English if none fits or the value cannot be read. Related languages
// count: the answer to Bosnian is Croatian.
func Negotiate(acceptLanguage string) *Language {
	if len(acceptLanguage) > longestHeader {
		return languages[0]
	}
	tags, _, _ := language.ParseAcceptLanguage(acceptLanguage)
	_, index, _ := matcher().Match(tags...)
	return languages[index]
}

// Short returns the beginning of a text that has more characters than a sentence or a page
// should show of it.
func Short(text string, most int) string {
	count := 0
	for i := range text {
		if count++; count > most {
			return text[:i] + "…"
		}
	}
	return text
}
