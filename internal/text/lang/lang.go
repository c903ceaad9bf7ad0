// Package lang speaks the languages of the program: it chooses one for a
// request, finds messages with their plurals, writes numbers and dates, and reads
// dates.
package lang

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/language"

	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// Language is one of the languages of All. Languages are compared by their
// pointers.
type Language struct {
	Tag       string           // BCP 47, such as "hr"
	Name      string           // in itself, such as "Hrvatski"
	plural    func(n int) form // of a number that is not negative
	forms     []form           // that plural returns
	oneIsMore bool             // the form one also stands for numbers other than 1
	grouping  grouping
	dates     dateForm
	phone     map[int][]int // groups of a telephone number of so many digits, where they are others than phoneGroups
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

// Article returns what stands before a name in "There is already an Ana Čović": "a" or "an"
// in English. Other languages have nothing there.
func (l *Language) Article(name string) string {
	folded := fold.String(name)
	switch {
	case l.Tag != "en":
		return ""
	case folded != "" && strings.Contains("aeiou", folded[:1]):
		return "an"
	}
	return "a"
}

// matcher is made when it is first needed, so that commands do not pay for it.
var matcher = sync.OnceValue(func() language.Matcher {
	var tags []language.Tag
	for _, l := range languages {
		tags = append(tags, language.Make(l.Tag))
	}
	return language.NewMatcher(tags)
})

// maxPreferences is the number of entries of Accept-Language that count. No
// browser sends as many, and each costs a microsecond.
const maxPreferences = 20

// Negotiate returns the language that fits best to the value of Accept-Language
// (RFC 9110, section 12.5.4), English if none fits. Related languages count: the
// answer to Bosnian is Croatian. Entries that cannot be read do not count.
func Negotiate(acceptLanguage string) *Language {
	type preference struct {
		tag    language.Tag
		weight float32
	}
	var wanted []preference
	for entry := range strings.SplitSeq(acceptLanguage, ",") {
		tags, weights, err := language.ParseAcceptLanguage(entry)
		if err == nil && len(tags) == 1 {
			wanted = append(wanted, preference{tags[0], weights[0]})
		}
		if len(wanted) == maxPreferences {
			break
		}
	}
	slices.SortStableFunc(wanted, func(a, b preference) int { return -cmp.Compare(a.weight, b.weight) })
	tags := make([]language.Tag, len(wanted))
	for i, p := range wanted {
		tags[i] = p.tag
	}
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
