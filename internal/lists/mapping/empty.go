package mapping

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// emptyWords are the letters of cells without a value, folded: what people write into a cell, the
// empty values of programs, and the masks of forms. refusals precede a heading: "no phone".
const (
	emptyWords = `null nil nan nat none n na tbd tba undefined unknown notknown notavailable notapplicable missing xxx
		kein keine keinen keiner keins ohne aucun aucune sans ninguno ninguna notiene nema bez nessun nessuno nessuna brak geen
		ka keineangabe keineangaben unbekannt unbek nichtbekannt nichtvorhanden entfallt fehlt offen nv
		inconnu inconnue neant nonrenseigne nonrenseignee noncommunique absent nc nr so
		sindatos nodisponible noconsta desconocido desconocida vacio sd nd ns
		nepoznato nepoznat nepoznata nijepoznato nemapodataka np
		sconosciuto sconosciuta nondisponibile assente neznano nipodatka brakdanych nieznany nieznana niedotyczy onbekend nvt
		ddmmyyyy ddmmyy mmddyyyy mmddyy yyyymmdd ttmmjjjj ttmmjj jjjjmmtt jjmmaaaa jjmmaa ddmmaaaa ddmmaa ddmmgggg ddmmgg`
	refusals = `no without kein keine keinen ohne aucun aucune pasde pasd sans ninguno ninguna notiene sin nema bez
		nessun nessuna senza ni brak geen`
)

var emptyCell = sync.OnceValue(func() *regexp.Regexp {
	var headings string
	for _, f := range record.AllFields()[record.NameFields:] {
		headings += f.Headings + " " + f.Besides + " "
	}
	return whole(either(emptyWords) + "|" + either(refusals) + either(headings) + "+")
})

// hasNoValue reports whether a cell for anything but a name contains no value although it has text:
// only marks and zeros, or words for an empty cell. Christopher Null keeps his name.
func hasNoValue(cell sheet.Cell) bool {
	text := cell.Text
	if cell.Kind == sheet.Error {
		return text == "#N/A"
	}
	if len(text) > maxHeader || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsNumber(r) && r != '0' }) {
		return false
	}
	word := letters(text)
	return word == "" || !strings.Contains(text, "@") && emptyCell().MatchString(word)
}

// prepared is a copy of a table in which the cells have the values to read.
type prepared struct {
	sheet.Table
	changed map[int]bool // rows that are copies

	empty   int // cells without a value
	example string
	joined  []sheet.Note
}

// prepare returns the table to read, in which cells without a value are empty and parts are joined.
func (c *choice) prepare(t *sheet.Table) *prepared {
	p := &prepared{Table: *t, changed: map[int]bool{}}
	if t.Ours {
		return p
	}
	for at, column := range c.columns {
		if f := column.Field; f == LeftOut || f == ID || column.IsName() {
			continue
		}
		for i, row := range t.Rows {
			if cell := row.Cell(at); cell.Text != "" && hasNoValue(cell) {
				p.count(cell.Text)
				p.set(i, at, "")
			}
		}
	}
	for _, j := range c.joins {
		p.joinParts(j, c.columns)
	}
	return p
}

// count counts a cell without a value.
func (p *prepared) count(text string) {
	if p.empty++; p.empty == 1 {
		p.example = text
	}
}

// set replaces the text of a cell, which may be beyond the end of a row.
func (p *prepared) set(row, column int, text string) {
	if len(p.changed) == 0 {
		p.Rows = slices.Clone(p.Rows)
	}
	if !p.changed[row] {
		p.changed[row] = true
		p.Rows[row].Cells = slices.Clone(p.Rows[row].Cells)
	}
	if cells := &p.Rows[row].Cells; column >= len(*cells) {
		*cells = append(*cells, make([]sheet.Cell, column+1-len(*cells))...)
	}
	p.Rows[row].Cells[column] = sheet.Cell{Text: text}
}

func (p *prepared) notes() []sheet.Note {
	return append(p.joined, countNote(NoteNoValue, p.empty, sheet.Quoted(p.example))...)
}
