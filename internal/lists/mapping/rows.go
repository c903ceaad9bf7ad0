package mapping

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Codes of row errors, in addition to those of package record.
const (
	CellError  = "cell_error"  // the cell contains a spreadsheet error such as #N/A
	NoYear     = "no_year"     // birthday without a year
	LostDigits = "lost_digits" // a spreadsheet rounded the phone number
	Misplaced  = "misplaced"   // a value of another field: the row has too few or too many cells
)

// extraCells is the field of an error about cells beyond the header row.
const extraCells = "cells"

type mapper struct {
	table   *sheet.Table
	columns []Column
	several []several
	births  *births
	phones  *phones
	names   *names
	now     time.Time
	notes   *tally

	leaveOutBad bool
}

// person converts a row by the rules of a record.
func (m *mapper) person(i int) Person {
	row := m.table.Rows[i]
	p := Person{Row: row.Number}
	var fields record.Fields
	for s := range m.several {
		m.several[s].choose(row, m.notes)
	}
	for at, column := range m.columns {
		if cell := row.Cell(at); column.Field != LeftOut && cell.Text != "" && m.counts(at) {
			m.take(&p, &fields, i, at, cell)
		}
	}
	if extra := beyond(row, len(m.columns)); extra != "" {
		p.Errors.Add(extraCells, record.Invalid, "The row has more cells than the header%s.", quote(": %q", extra))
	}
	if m.table.Format == sheet.VCard && !m.table.Ours {
		m.cardName(&p, &fields, row)
	}
	m.names.tidy(&p, &fields)
	normal, faults := fields.Normalize(m.now)
	if p.Errors.Has(FullName) { // the name cell has an error
		faults = slices.DeleteFunc(faults, func(e record.FieldError) bool { return e.Field == "firstName" || e.Field == "lastName" })
	}
	p.Fields = normal
	p.Errors.Merge(faults)
	m.names.look(&p)
	if m.leaveOutBad {
		p.leaveOut()
	}
	return p
}

// cardName adds titles and suffixes to the structured name of a card. If that name is incomplete, it
// takes the rest of the formatted name, or else splits the formatted name or the part that the card has:
// programs write "FN:Ana Kos" only, or "N:;Ana Kos;;;".
func (m *mapper) cardName(p *Person, f *record.Fields, row sheet.Row) {
	if f.FirstName != "" && f.LastName != "" {
		f.FirstName = strings.TrimSpace(academic(m.cell(row, "N prefix")) + " " + f.FirstName)
		if suffix := m.cell(row, "N suffix"); isTitleAlone(suffix) {
			f.LastName += " " + suffix
		}
		return
	}
	whole := m.cell(row, "FN")
	if first, ok := strings.CutPrefix(whole, f.LastName+" "); ok && f.LastName != "" {
		f.FirstName = first
		return
	}
	if last, ok := strings.CutSuffix(whole, " "+f.FirstName); ok && f.FirstName != "" {
		f.LastName = last
		return
	}
	for _, text := range []string{whole, f.FirstName + f.LastName} {
		if name := m.names.split(text).name; name.First != "" && name.Last != "" {
			m.names.full(p, f, text)
			return
		}
	}
}

// cell returns the text of a column, or an empty string if the table has no such column.
func (m *mapper) cell(row sheet.Row, header string) string {
	if at := slices.Index(m.table.Header, header); at >= 0 {
		return row.Cell(at).Text
	}
	return ""
}

func (p *Person) leaveOut() {
	for d, value := range p.Fields.Each {
		if !d.Required && p.Errors.Has(d.Name) {
			*value = ""
			p.Errors = slices.DeleteFunc(p.Errors, func(e record.FieldError) bool {
				if e.Field == d.Name {
					p.LeftOut = append(p.LeftOut, e)
				}
				return e.Field == d.Name
			})
		}
	}
}

func (m *mapper) take(p *Person, f *record.Fields, row, at int, cell sheet.Cell) {
	field := m.columns[at].Field
	if cell.Kind == sheet.Error {
		if field == LastFirst {
			field = FullName
		}
		p.Errors.Add(field, CellError, "The cell contains a spreadsheet error%s.", quote(": %s", cell.Text))
		return
	}
	if severalFields[field] {
		cell.Text = m.firstOfJoined(at, cell.Text)
	}
	switch field {
	case ID:
		var err error
		if p.ID, err = record.ParseID(cell.Text); err != nil {
			p.Errors.Add(ID, record.Invalid, "id must be the id of a person in this service%s.", quote(", not %q", cell.Text))
		}
	case FullName, LastFirst:
		m.names.full(p, f, cell.Text)
	case "dateOfBirth":
		var fault *record.FieldError
		if f.DateOfBirth, fault = m.births.day(row); fault != nil {
			p.Errors = append(p.Errors, *fault)
		}
	case "phoneNumber":
		if !m.table.Ours && (addressForm().FindString(cell.Text) == cell.Text || m.births.isBirth(cell)) {
			p.misplaced(field, cell.Text)
		}
		if f.PhoneNumber = m.phones.read(at, cell.Text); lostDigits().MatchString(cell.Text) {
			p.Doubts.Add(field, LostDigits, "phoneNumber is %s: a spreadsheet has lost its digits.", cell.Text)
		}
	default:
		for d, value := range f.Each {
			if d.Name == field {
				*value = cell.Text
			}
		}
	}
}

// misplaced adds a doubt about a value that looks like another field.
func (p *Person) misplaced(field, text string) {
	p.Doubts.Add(field, Misplaced, "%s belongs in another column%s. The row may have too few or too many cells.", field, quote(": %q", text))
}

// lostDigits matches a number in scientific notation, which keeps only the first digits.
var lostDigits = lazy(`^[+-]?(?:\d[.,]\d+[eE]\+?\d+|\d[eE]\+\d+)$`)

func beyond(row sheet.Row, width int) string {
	var texts []string
	for _, cell := range row.Cells[min(width, len(row.Cells)):] {
		if cell.Text != "" {
			texts = append(texts, cell.Text)
		}
	}
	return strings.Join(texts, ", ")
}

const maxQuoted = 40

// quote formats text for a sentence. It returns an empty string if text is too long.
func quote(format, text string) string {
	if utf8.RuneCountInString(text) > maxQuoted {
		return ""
	}
	return strings.NewReplacer("%q", `"`+text+`"`, "%s", text).Replace(format)
}
