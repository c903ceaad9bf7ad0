package mapping

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// phones reads phone numbers, of which a spreadsheet may have dropped the 0 or the +
// in front.
type phones struct {
	zero     bool           // put a 0 before them
	fronts   map[int]fronts // by the column
	without  int            // numbers that lack a 0 in front
	repaired int            // those that got it
	foreign  int            // numbers that lack a +
}

// fronts are how the numbers of a column begin that have a 0 or + in front: with that
// alone, and with a country code after + or 00. A column without such
// numbers has none.
type fronts map[string]bool

// readPhones looks at the columns of phone numbers of a table.
func readPhones(t *sheet.Table, columns []Column, o Options) *phones {
	p := &phones{zero: o.Zero, fronts: map[int]fronts{}}
	for at, column := range columns {
		if column.Field == "phoneNumber" {
			p.fronts[at] = frontsOf(t, at)
		}
	}
	return p
}

func frontsOf(t *sheet.Table, at int) fronts {
	all := fronts{}
	for _, row := range t.Rows {
		text := strings.TrimLeft(row.Cell(at).Text, "( ")
		if text == "" || text[0] != '0' && text[0] != '+' {
			continue
		}
		all[text[:1]] = true
		digits := record.Digits(text)
		if strings.HasPrefix(digits, "00") {
			digits = digits[2:]
		} else if text[0] != '+' {
			continue
		}
		all[codeOf(digits)] = true
	}
	return all
}

// codeOf returns how the country code of a number begins: its first two digits, or the
// one of North America, of Russia and of Kazakhstan.
func codeOf(digits string) string {
	if strings.HasPrefix(digits, "1") || strings.HasPrefix(digits, "7") {
		return digits[:1]
	}
	return digits[:min(2, len(digits))]
}

// bareNumber is how a number looks that has no 0 or + in front.
var bareNumber = regexp.MustCompile(`^[1-9][\d /.()-]*$`)

// Digits of a number that can lack a 0 or +. Shorter ones are those of a place or of an
// emergency, such as 112. From the last on it has a country code.
const (
	fewestDigits  = 6
	mostDigits    = 15
	foreignDigits = 11
)

// read returns the number of a cell, with a 0 in front if it lacks one and the options
// ask for it. A number that begins with a country code that others of its column have
// lacks a + instead, and stays.
func (p *phones) read(at int, text string) string {
	digits, others := record.Digits(text), p.fronts[at]
	switch {
	case len(others) == 0, len(digits) < fewestDigits, len(digits) > mostDigits, !bareNumber.MatchString(text):
		return text
	case others[codeOf(digits)] && len(digits) >= foreignDigits:
		p.foreign++
		return text
	case p.zero:
		p.repaired++
		return "0" + text
	}
	p.without++
	return text
}

// notes counts the numbers that lack a 0 or +, and those that got a 0.
func (p *phones) notes() (all []sheet.Note) {
	if p.repaired > 0 {
		all = append(all, sheet.Note{Code: NoteZero, Args: []any{p.repaired}})
	}
	if lacking := p.without + p.foreign; lacking > 0 {
		all = append(all, sheet.Note{Code: NoteNoZero, Args: []any{lacking}})
	}
	return all
}

// dateAlone is how a date looks that has the digits of a phone number. clearNumber is how
// a number begins that is no other number, with a 0, a + or a bracket, or in three
// groups as in North America.
var (
	dateAlone   = regexp.MustCompile(`^\d{1,4}[./-]\d{1,2}[./-]\d{2,4}$`)
	clearNumber = regexp.MustCompile(`^(?:[0+(]|\d{3}[-. ]\d{3}[-. ]\d{4}$)`)
)

// isNumber reports whether a text has the digits of a phone number, or of a date, and no
// letters.
func isNumber(text string) bool {
	return len(record.Digits(text)) >= fewestDigits && !strings.ContainsFunc(text, unicode.IsLetter)
}

// hasPhones reports whether all cells of a column look like phone numbers, and one is
// clearly one.
func (c *choice) hasPhones(at int) bool {
	sure := false
	for _, row := range c.table.Rows {
		text := row.Cell(at).Text
		if text == "" {
			continue
		}
		if !isNumber(text) || dateAlone.MatchString(text) {
			return false
		}
		sure = sure || clearNumber.MatchString(text)
	}
	return sure
}
