package mapping

import (
	"cmp"
	"slices"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// tally collects the notes of a result. Most of them count something.
type tally struct{ notes []sheet.Note }

func (t *tally) add(code string, args ...any) {
	t.notes = append(t.notes, sheet.Note{Code: code, Args: args})
}

// count counts a cell, a person or a row. The arguments of the note are the number, and the example of the
// first call.
func (t *tally) count(code string, example ...any) (note *sheet.Note) {
	at := slices.IndexFunc(t.notes, func(n sheet.Note) bool { return n.Code == code })
	if at < 0 {
		at = len(t.notes)
		t.add(code, append([]any{0}, example...)...)
	}
	t.notes[at].Args[0] = t.notes[at].Args[0].(int) + 1
	return &t.notes[at]
}

// countPlace is count with the first texts and their rows as an example.
func (t *tally) countPlace(code, text string, row int) {
	note := t.count(code, sheet.Places{})
	places := note.Args[1].(sheet.Places)
	if places.More = len(places.First) == shownExamples; !places.More {
		places.First = append(places.First, sheet.Place{Text: lang.Short(text, shownName), Row: row})
	}
	note.Args[1] = places
}

// lastNotes are the codes of the last notes of a result. The others keep the order of their first cells.
var lastNotes = []string{NoteNoValue, NoteNoTitles, NoteNoFax, NoteJoined, NoteZero, NoteNoZero, NoteSplit, NoteGuessedName,
	NoteTitles, NoteCapitals, NoteByCapitals, NoteRemarks, NoteUsual, NoteTwoDigits}

func inOrder(notes []sheet.Note) []sheet.Note {
	slices.SortStableFunc(notes, func(a, b sheet.Note) int {
		return cmp.Compare(slices.Index(lastNotes, a.Code), slices.Index(lastNotes, b.Code))
	})
	return notes
}
