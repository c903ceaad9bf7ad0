package mapping

import (
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// particles begin a last name: "van der Berg", "de la Cruz". suffixes end it.
var (
	particles = words(`von van vom zu zum zur de der den des del della di da dal do dos das du la le les
		af av ten ter te op bin ibn el`)
	suffixes = words(`jr jr. sr sr. jun. sen. ii iii iv`)
)

func words(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		all[word] = true
	}
	return all
}

// splitName splits a full name. A comma stands behind the last name. Without one
// the last word is the last name, or the first one where lastFirst says so, with
// the particles before it. A single word is the first name. guessed says that
// there were more than two words.
func splitName(name string, lastFirst bool) (first, last string, guessed bool) {
	if before, after, ok := strings.Cut(name, ","); ok {
		last, first = strings.Join(strings.Fields(before), " "), strings.Join(strings.Fields(after), " ")
		return first, last, false
	}
	all := strings.Fields(name)
	at := startOfLast(all)
	if lastFirst {
		at = endOfLast(all)
		all, at = slices.Concat(all[at:], all[:at]), len(all)-at
	}
	return strings.Join(all[:at], " "), strings.Join(all[at:], " "), len(all) > 2
}

// startOfLast returns where the last name begins in words of which the first name
// stands first. One word at least is the first name.
func startOfLast(all []string) int {
	at := len(all) - 1
	if at > 1 && suffixes[fold.String(all[at])] {
		at--
	}
	for at > 1 && particles[fold.String(all[at-1])] {
		at--
	}
	return max(at, min(1, len(all)))
}

// endOfLast returns where the last name ends in words of which it stands first.
func endOfLast(all []string) int {
	at := 0
	for at < len(all)-2 && particles[fold.String(all[at])] {
		at++
	}
	if len(all) < 2 {
		return 0
	}
	return at + 1
}

// splits remembers how full names were split, for the notes.
type splits struct {
	plain, doubtful []sheet.Note
	guessed         int
}

const (
	shownSplits = 3   // names
	shownName   = 200 // bytes of the longest one
)

func (s *splits) add(cell, first, last string, guessed bool) {
	list := &s.plain
	if guessed {
		s.guessed++
		list = &s.doubtful
	}
	if len(*list) < shownSplits && len(cell) <= shownName {
		*list = append(*list, sheet.Note{Code: NoteSplit, Args: []any{sheet.Quoted(cell), sheet.Quoted(first), sheet.Quoted(last)}})
	}
}

// notes returns up to three names, the doubtful ones first.
func (s *splits) notes() []sheet.Note {
	all := slices.Concat(s.doubtful, s.plain)
	all = all[:min(len(all), shownSplits)]
	if s.guessed > 0 {
		all = append(all, sheet.Note{Code: NoteGuessedName, Args: []any{s.guessed}})
	}
	return all
}
