package mapping

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/phone"
)

// phones reads phone numbers and detects a leading 0 or + that a spreadsheet dropped.
type phones struct {
	zero    bool           // add missing zeros
	fronts  map[int]fronts // by column
	lacking string         // the first number without a leading 0, as in the cell
	notes   *tally
}

// fronts are the prefixes of numbers in a column that start with 0 or +: the character itself, and
// the country code after + or 00. It is empty if there are no such numbers.
type fronts map[string]bool

func readPhones(t *sheet.Table, columns []Column, o Options, notes *tally) *phones {
	p := &phones{zero: o.Answers[AskZero] == "true", fronts: map[int]fronts{}, notes: notes}
	for at, column := range columns {
		if column.Field == "phoneNumber" && !t.Ours && phone.HasZero(o.Country) {
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
		code, _ := phone.CutCode(digits)
		all[code] = true
	}
	return all
}

var bareNumber = lazy(`^[1-9][\d /.()-]*$`)

// Digits of a number that may lack a 0 or +. Shorter numbers are local or emergency numbers, such
// as 112. Numbers with foreignDigits or more include a country code.
const (
	fewestDigits  = 6
	mostDigits    = 15
	foreignDigits = 11
)

// read returns the phone number in a cell, with a 0 added if it is missing and the option is set. A
// number with a country code used by other numbers in the column lacks a + instead and stays
// unchanged.
func (p *phones) read(at int, text string) string {
	digits, others := record.Digits(text), p.fronts[at]
	code, _ := phone.CutCode(digits)
	switch {
	case len(others) == 0, len(digits) < fewestDigits, len(digits) > mostDigits, !bareNumber().MatchString(text), dateAlone().MatchString(text):
		return text
	case others[code] && len(digits) >= foreignDigits:
		p.notes.count(NoteNoZero)
		return text
	}
	p.lacking = cmp.Or(p.lacking, text)
	if p.zero {
		p.notes.count(NoteZero)
		return "0" + text
	}
	p.notes.count(NoteNoZero)
	return text
}

// questions returns the question for missing zeros, if numbers lack one. By default, they stay as
// they are.
func (p *phones) questions() []sheet.Question {
	if p.lacking == "" {
		return nil
	}
	return []sheet.Question{{Kind: AskZero, Answer: strconv.FormatBool(p.zero), Options: []sheet.Option{
		{Value: "false", Example: sheet.Examples{p.lacking}}, {Value: "true", Example: sheet.Examples{"0" + p.lacking}}}}}
}

// dateAlone matches a date with enough digits for a phone number. clearNumber matches a number that
// must be a phone number: it starts with 0, + or a bracket, or has three groups as in North
// America.
var (
	dateAlone   = lazy(`^\d{1,4}[./-]\d{1,2}[./-]\d{2,4}$`)
	clearNumber = lazy(`^(?:[0+(]|\d{3}[-. ]\d{3}[-. ]\d{4}$)`)

	extensionAtEnd = lazy(`(?i),? *(?:x|ext\.?|dw\.?) *\d+$`)
)

// isNumber reports whether text has enough digits for a phone number or a date, and no letters.
func isNumber(text string) bool {
	return len(record.Digits(text)) >= fewestDigits && !strings.ContainsFunc(text, unicode.IsLetter)
}

// hasPhones reports whether most cells of a column look like phone numbers, and at least one clearly
// is.
func (c *choice) hasPhones(at int) bool {
	sure := false
	return c.most(at, func(cell sheet.Cell) bool {
		text := extensionAtEnd().ReplaceAllString(addressForm().ReplaceAllString(cell.Text, ""), "")
		sure = sure || clearNumber().MatchString(text) && isNumber(text)
		return isNumber(text) && !dateAlone().MatchString(text)
	}) && sure
}
