package mapping

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// CellError is the code of an error of the spreadsheet in a cell, such as #N/A.
const CellError = "cell_error"

// extraCells is the field of an error about cells beyond the header.
const extraCells = "cells"

// mapper reads people by the columns of a table.
type mapper struct {
	table   *sheet.Table
	columns []Column
	births  *births
	now     time.Time
	splits  splits
}

// person reads a row by the rules of a record.
func (m *mapper) person(i int) Person {
	row := m.table.Rows[i]
	p := Person{Row: row.Number, Original: i}
	var fields record.Fields
	for at, column := range m.columns {
		if cell := row.Cell(at); column.Field != LeftOut && cell.Text != "" {
			m.take(&p, &fields, column.Field, cell)
		}
	}
	if extra := beyond(row, len(m.columns)); extra != "" {
		p.Errors.Add(extraCells, record.Invalid, "The row has more cells than the header%s.", quote(": %q", extra))
	}
	normal, faults := fields.Normalize(m.now)
	p.Fields = normal
	p.Errors.Merge(withoutNames(faults, p.Errors))
	return p
}

// take takes over a cell that has something in it.
func (m *mapper) take(p *Person, f *record.Fields, field string, cell sheet.Cell) {
	if cell.Kind == sheet.Error {
		p.Errors.Add(subject(field), CellError, "The cell holds an error of the spreadsheet%s.", quote(": %s", cell.Text))
		return
	}
	switch field {
	case ID:
		id, ok := parseID(cell.Text)
		if p.ID = id; !ok {
			p.Errors.Add(ID, record.Invalid, "id must be the id of a person in this service%s.", quote(", not %q", cell.Text))
		}
	case FullName, LastFirst:
		var guessed bool
		f.FirstName, f.LastName, guessed = splitName(cell.Text, field == LastFirst)
		m.splits.add(cell.Text, f.FirstName, f.LastName, guessed)
	case "dateOfBirth":
		var fault *record.FieldError
		if f.DateOfBirth, fault = m.births.day(p.Original); fault != nil {
			p.Errors = append(p.Errors, *fault)
		}
	case "phoneNumber":
		if f.PhoneNumber = cell.Text; lostDigits.MatchString(cell.Text) {
			f.PhoneNumber, p.LostPhone = "", cell.Text
		}
	default:
		for d, value := range f.Each {
			if d.Name == field {
				*value = cell.Text
			}
		}
	}
}

// subject returns the field that an error of a cell is about.
func subject(field string) string {
	if field == LastFirst {
		return FullName
	}
	return field
}

// lostDigits is how a spreadsheet writes a long number, of which it keeps the first
// digits.
var lostDigits = regexp.MustCompile(`^[+-]?(?:\d[.,]\d+[eE]\+?\d+|\d[eE]\+\d+)$`)

// withoutNames returns faults without those of names that could not be read
// because their cell has an error.
func withoutNames(faults, known record.FieldErrors) (rest record.FieldErrors) {
	broken := false
	for _, k := range known {
		broken = broken || k.Field == FullName
	}
	for _, fault := range faults {
		if name := fault.Field == "firstName" || fault.Field == "lastName"; !broken || !name {
			rest = append(rest, fault)
		}
	}
	return rest
}

// beyond returns the text of the cells of a row that have no header.
func beyond(row sheet.Row, width int) string {
	var texts []string
	for _, cell := range row.Cells[min(width, len(row.Cells)):] {
		if cell.Text != "" {
			texts = append(texts, cell.Text)
		}
	}
	return strings.Join(texts, ", ")
}

// maxQuoted is how many characters of a cell stand in a sentence.
const maxQuoted = 40

// quote formats a text for a sentence. It returns nothing for a long one.
func quote(format, text string) string {
	if utf8.RuneCountInString(text) > maxQuoted {
		return ""
	}
	return strings.NewReplacer("%q", `"`+text+`"`, "%s", text).Replace(format)
}
