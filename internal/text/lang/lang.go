// Package lang supports the languages of the program. It selects a language for a request, looks up
// messages and plurals, formats numbers and dates, and parses dates.
package lang

import (
	"math"
	"slices"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// Language is a language of the program. Compare languages by pointer.
type Language struct {
	Tag      string // BCP 47, such as "hr"
	Name     string // in the language itself, such as "Hrvatski"
	grouping grouping
	dates    dateForm
}

// plural returns the CLDR plural category of a number that is not negative, named as in message files.
func (l *Language) plural(n int) string {
	switch plural.Cardinal.MatchPlural(language.Make(l.Tag), n, 0, 0, 0, 0) {
	case plural.One:
		return "one"
	case plural.Few:
		return "few"
	}
	return "other"
}

// All returns the languages in the order in which the program offers them. The first is English.
func All() []*Language { return slices.Clone(languages) }

// ByTag returns the language with the given tag, or nil.
func ByTag(tag string) *Language {
	for _, l := range languages {
		if l.Tag == tag {
			return l
		}
	}
	return nil
}

// Ungrouped returns a copy of l that formats numbers without separators, as in 1048576.
func (l *Language) Ungrouped() *Language {
	plain := *l
	plain.grouping.from = math.MaxInt
	return &plain
}

// matcher is created on first use to keep commands that do not need it fast.
var matcher = sync.OnceValue(func() language.Matcher {
	var tags []language.Tag
	for _, l := range languages {
		tags = append(tags, language.Make(l.Tag))
	}
	return language.NewMatcher(tags)
})

// longestHeader is the maximum length of an Accept-Language header in bytes. Browsers send less,
// and each entry costs a microsecond.
const longestHeader = 500

// Negotiate returns the best language for an Accept-Language header (RFC 9110, section 12.5.4), or
// English if none matches or the header is invalid. It matches related languages: Bosnian gets
// Croatian.
func Negotiate(acceptLanguage string) *Language {
	if len(acceptLanguage) > longestHeader {
		return languages[0]
	}
	tags, _, _ := language.ParseAcceptLanguage(acceptLanguage)
	_, index, _ := matcher().Match(tags...)
	return languages[index]
}

// Short returns the first most characters of text. It appends an ellipsis if text is longer.
func Short(text string, most int) string {
	count := 0
	for i := range text {
		if count++; count > most {
			return text[:i] + "…"
		}
	}
	return text
}
