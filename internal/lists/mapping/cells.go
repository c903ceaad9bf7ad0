package mapping

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/text/fold"
	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// prepared is a copy of a table in which the cells have the values to read.
type prepared struct {
	sheet.Table
	*tally
	changed map[int]bool // rows that are copies
	skips   []string     // by row: the reason to leave it out; nil: none is
	quotes  string       // opening and closing quotation mark of each cell, or empty
}

// prepare returns the table to read. In the cells of imported columns, it removes what does not belong
// to a value, and counts each kind. It empties cells without a value, joins parts, and leaves out
// further rows that only continue the person above.
func (c *choice) prepare(t *sheet.Table, o Options, skips []string) *prepared {
	p := &prepared{Table: *t, tally: &c.tally, changed: map[int]bool{}, skips: skips}
	if t.Ours {
		return p
	}
	p.fillMerged(o, c.columns)
	p.quotes = quotesOf(p.Header)
	for at, column := range c.columns {
		if column.Field == LeftOut {
			continue
		}
		for i, row := range p.Rows {
			cell := row.Cell(at)
			if cell.Text == "" || p.isSkipped(i) {
				continue
			}
			if cell.Marks&sheet.Struck != 0 && !row.IsStruck() {
				p.countCell(NoteStruckCells, "", cell.Text)
			}
			if cell.Marks&sheet.Invisible != 0 {
				p.countCell(NoteInvisible, "", cell.Text)
			}
			plain := cell
			if cell.Kind == sheet.Text {
				plain.Text = p.tidy(column.Field, cell)
			}
			if plain.Text != "" && column.Field != ID && !column.IsName() && cell.Marks&sheet.Literal == 0 && hasNoValue(plain) {
				p.count(NoteNoValue, sheet.Quoted(plain.Text))
				plain.Text = ""
			}
			if plain.Text != cell.Text {
				p.set(i, at, plain.Text)
			}
		}
	}
	for _, j := range c.joins {
		p.joinParts(j, c.columns)
	}
	return p
}

func (p *prepared) isSkipped(row int) bool { return p.skips != nil && p.skips[row] != "" }

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
	p.Rows[row].Cells[column] = sheet.Cell{Text: text, Marks: p.Rows[row].Cells[column].Marks}
}

// countCell counts a changed cell.
func (p *prepared) countCell(code, before, after string) {
	short := func(text string) sheet.Quoted {
		return sheet.Quoted(lang.Short(strings.Join(lines(text), " ↵ "), shownCell))
	}
	p.count(code, short(before), short(after))
}

const shownCell = 80 // characters of a cell in a note

// maxFilled is the maximum number of rows visited for merged cells. Those of a valid workbook do not
// overlap.
const maxFilled = 1_000_000

// fillMerged sets the value of a merged cell in each of its rows. A row that shares all names of the
// first row this way is left out, after its phone number was added to the first row.
func (p *prepared) fillMerged(o Options, columns []Column) {
	left := maxFilled
	shared, first := map[int]int{}, map[int]int{} // by row: merged names, and the first row with them
	for _, r := range p.Merged {
		if r.Column >= len(columns) || columns[r.Column].Field == LeftOut {
			continue
		}
		start, _ := slices.BinarySearchFunc(p.Rows, r.First, func(row sheet.Row, number int) int { return cmp.Compare(row.Number, number) })
		if start == len(p.Rows) || p.Rows[start].Number != r.First {
			continue
		}
		cell := p.Rows[start].Cell(r.Column)
		for i := start + 1; i < len(p.Rows) && p.Rows[i].Number <= r.Last && left > 0 && cell.Text != ""; i++ {
			if left--; p.Rows[i].Cell(r.Column).Text != "" || p.isSkipped(i) {
				continue
			}
			p.set(i, r.Column, cell.Text)
			p.Rows[i].Cells[r.Column].Kind = cell.Kind
			p.countCell(NoteMerged, "", cell.Text)
			if columns[r.Column].IsName() {
				shared[i]++
				first[i] = start
			}
		}
	}
	for _, i := range slices.Sorted(maps.Keys(shared)) {
		names := 0
		for at, column := range columns {
			if column.IsName() && p.Rows[i].Cell(at).Text != "" {
				names++
			}
		}
		if names == shared[i] && !o.Keep[p.Rows[i].Number] {
			p.continueRow(columns, first[i], i)
		}
	}
}

// continueRow leaves out a row about the same person as an earlier one, and adds its values to that
// row: a phone number after the others, and other values where there is none.
func (p *prepared) continueRow(columns []Column, first, row int) {
	if p.skips == nil {
		p.skips = make([]string, len(p.Rows))
	}
	p.skips[row] = SkipContinued
	for at, column := range columns {
		cell, more := p.Rows[first].Cell(at), p.Rows[row].Cell(at)
		switch {
		case column.Field == LeftOut, column.IsName(), more.Text == "", len(cell.Text) > shownName:
		case cell.Text == "":
			p.set(first, at, more.Text)
			p.Rows[first].Cells[at].Kind = more.Kind
		case column.Field == "phoneNumber" && !slices.Contains(lines(cell.Text), more.Text):
			p.set(first, at, cell.Text+"\n"+more.Text)
			p.Rows[first].Cells[at].Kind = sheet.Text
		}
	}
}

// tidy returns the text of a cell without what another program added, and without what does not
// belong to its field.
func (p *prepared) tidy(field string, cell sheet.Cell) string {
	text := cell.Text
	change := func(code, plain string) {
		if plain != text {
			p.countCell(code, text, plain)
			text = plain
		}
	}
	if p.quotes != "" {
		change(sheet.NoteQuotes, unquoted(text, p.quotes))
	}
	if !sheet.IsPlain(text) {
		isLiteral := cell.Marks&sheet.Literal != 0
		if !isLiteral {
			text = sheet.Unwrap(text, p.countCell)
		}
		if between := " "; !isLiteral && strings.ContainsFunc(text, isBreak) || strings.ContainsAny(text, "\t\n\v\f\r") {
			if field == "phoneNumber" {
				between = " / "
			}
			change(NoteLineBreaks, strings.Join(lines(text), between))
		}
	}
	switch {
	case cell.Marks&sheet.Literal != 0:
	case field == "phoneNumber" && strings.HasSuffix(text, "0"):
		change(NotePointZero, pointZero().ReplaceAllString(text, "$1"))
	case field == "email" && !strings.Contains(text, joint):
		change(NoteAddress, addressIn(text))
	case field == "dateOfBirth":
		change(NotePlace, dateIn(text))
	}
	return strings.TrimSpace(text)
}

// quotesOf returns the quotation marks if all headers, at least two, are in the same ones.
func quotesOf(header []string) string {
	for _, quotes := range []string{`""`, "''", "“”", "„“", "«»", "‘’", "””"} {
		inside := func(text string) bool { return unquoted(text, quotes) == text }
		if len(header) > 1 && !slices.ContainsFunc(header, inside) {
			return quotes
		}
	}
	return ""
}

// unquoted returns text without the quotation marks around it.
func unquoted(text, quotes string) string {
	first, size := utf8.DecodeRuneInString(quotes)
	if inner, ok := strings.CutPrefix(text, string(first)); ok {
		if inner, ok = strings.CutSuffix(inner, quotes[size:]); ok {
			return inner
		}
	}
	return text
}

// isBreak reports whether r breaks a line. A tab counts because a record cannot contain it.
func isBreak(r rune) bool {
	return '\t' <= r && r <= '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// lines returns the parts of a text between line breaks, without separators at their ends. Tabs
// become spaces.
func lines(text string) (all []string) {
	for line := range strings.FieldsFuncSeq(strings.ReplaceAll(text, "\t", " "), isBreak) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	for i := range all[:max(len(all)-1, 0)] {
		all[i] = strings.TrimRight(all[i], " ,;/")
	}
	return all
}

var (
	pointZero   = lazy(`^(\+?\d{5,})[.,]00?$`)
	addressForm = lazy(`[^\s<>()\[\]{},;:"=?]+@[^\s<>()\[\]{},;:"=?]+`)
	addressHint = lazy(`(?i)\b(?:mailto|e-?mail|mail)\b|\?\S*`)
)

// dateForm matches a date in a text.
var dateForm = lazy(`\d{1,4} ?[-./] ?\d{1,2} ?[-./] ?\d{2,4}\.?|\d{1,2}(?:\.|er|º)? (?:de )?\pL{3,}\.? (?:de |del )?\d{4}`)

// dateIn returns the date in a text that also has a place, as in "12/04/1985 à Lyon" and "nato a Roma
// il 12/04/1985": words of which one has a capital letter, other than a weekday. Otherwise it returns
// text.
func dateIn(text string) string {
	all := dateForm().FindAllStringIndex(text, 2)
	if len(all) != 1 || len(text) > maxDate {
		return text
	}
	start, end := all[0][0], all[0][1]
	rest := strings.Trim(text[:start]+" "+text[end:], " ,;")
	if !strings.ContainsFunc(rest, unicode.IsUpper) || strings.ContainsFunc(rest, unicode.IsNumber) ||
		weekday().MatchString(fold.String(rest)) {
		return text
	}
	return text[start:end]
}

// addressIn returns the first e-mail address in a text if nothing but other addresses is around it,
// or if it is in angle brackets. Otherwise it returns text.
func addressIn(text string) string {
	if !strings.ContainsAny(text, " <>()[]{},;:\"'?") && !strings.HasSuffix(text, ".") {
		return text
	}
	plain := strings.NewReplacer("(at)", "@", "[at]", "@", "(AT)", "@").Replace(text)
	first := addressForm().FindString(plain)
	rest := addressHint().ReplaceAllString(addressForm().ReplaceAllString(plain, ""), "")
	if first == "" || strings.ContainsFunc(rest, isLetterOrDigit) && !strings.Contains(plain, "<"+first+">") {
		return text
	}
	return strings.Trim(first, "'.")
}

func isLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
