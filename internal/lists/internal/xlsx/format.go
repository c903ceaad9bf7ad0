package xlsx

import (
	"context"
	"encoding/xml"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Limits of the styles of a workbook. Excel has about as many.
const (
	maxStyles = 1 << 16
	maxFormat = 1000 // bytes; Excel takes 255 characters
)

// numberFormat is a number format that shows digits as they are dialled or filed, such as
// 0000 000000. It is nil for all others: those show an amount, a date or a text.
type numberFormat []section

// section is one of the parts of a number format, which semicolons divide.
type section struct {
	operator string // of the condition under which it counts, as <=; empty: none
	limit    float64
	pieces   []piece // nil: it shows a number in another way than digit by digit
}

// piece is a text, or else the place of a digit.
type piece struct {
	text  string
	place byte // '0' shows a zero where there is no digit, '#' and '?' nothing; 0: a text
}

// readStyles reads the styles of the cells. A part that is damaged says no more:
// the cells have their numbers without it.
func (f *File) readStyles(ctx context.Context, part string) error {
	known, inside := map[string]numberFormat{}, ""
	err := f.walk(ctx, part, func(token xml.Token) error {
		if e, ok := token.(xml.EndElement); ok && e.Name.Local == inside {
			inside = ""
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			return nil
		}
		switch name := e.Name.Local; {
		case name == "numFmts" || name == "cellXfs":
			inside = name
		case name == "numFmt" && inside == "numFmts":
			known[attribute(e, "numFmtId")] = parseFormat(attribute(e, "formatCode"))
		case name == "xf" && inside == "cellXfs":
			f.formats = append(f.formats, known[attribute(e, "numFmtId")])
		}
		if len(known) > maxStyles || len(f.formats) > maxStyles {
			return ErrTooLarge
		}
		return nil
	})
	if errors.Is(err, ErrTooLarge) || ctx.Err() != nil {
		return err
	}
	return nil
}

// styled returns a cell as its style has it: a number as it is shown, where the format shows
// digits one by one, which makes it a text. number is that of the style.
func (f *File) styled(cell Cell, number string) Cell {
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(f.formats) || cell.Kind != Number {
		return cell
	}
	if text := f.formats[i].show(cell.Text); text != cell.Text {
		return Cell{Text: text}
	}
	return cell
}

// parseFormat returns a number format, nil for one that shows no number digit by digit.
func parseFormat(code string) (f numberFormat) {
	if len(code) > maxFormat {
		return nil
	}
	for rest, more := code, true; more; {
		var s section
		s, rest, more = parseSection(rest)
		f = append(f, s)
	}
	if !slices.ContainsFunc(f, func(s section) bool { return s.pieces != nil }) {
		return nil
	}
	return f
}

// parseSection returns the section at the beginning of a format, and what follows it.
func parseSection(code string) (s section, rest string, more bool) {
	digits := true // it has nothing that shows a number in another way
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case c == ';':
			s.pieces = digitByDigit(s.pieces, digits)
			return s, code[i+1:], true
		case c == '"':
			text, _, _ := strings.Cut(code[i+1:], `"`)
			s.add(text)
			i += len(text) + 1
		case c == '[':
			text, _, _ := strings.Cut(code[i+1:], "]")
			digits = s.bracket(text) && digits
			i += len(text) + 1
		case c == '\\' || c == '_' || c == '*':
			text := firstRune(code[i+1:])
			if c == '\\' {
				s.add(text)
			} else if c == '_' { // a space as wide as the character; * fills the cell with it
				s.add(" ")
			}
			i += len(text)
		case c == '0' || c == '#' || c == '?':
			s.pieces = append(s.pieces, piece{place: c})
		case isGeneral(code[i:]):
			s.pieces = append(s.pieces, piece{place: '0'})
			i += len(general) - 1
		case strings.IndexByte(".,/%@:", c) >= 0, 'a' <= c|0x20 && c|0x20 <= 'z':
			digits = false
		default:
			s.add(code[i : i+1])
		}
	}
	s.pieces = digitByDigit(s.pieces, digits)
	return s, "", false
}

// general is the format of a cell that has none. It can stand in another one.
const general = "General"

func isGeneral(code string) bool {
	return len(code) >= len(general) && strings.EqualFold(code[:len(general)], general)
}

func firstRune(text string) string {
	for i := range text {
		if i > 0 {
			return text[:i]
		}
	}
	return text
}

func (s *section) add(text string) { s.pieces = append(s.pieces, piece{text: text}) }

// bracket takes what stands in brackets: a condition, a colour, or a currency with a
// language. It reports whether that leaves a number as it is.
func (s *section) bracket(text string) (plain bool) {
	number := strings.TrimLeft(text, "<>=")
	lower := strings.ToLower(text)
	currency, ofLanguage := strings.CutPrefix(text, "$")
	switch {
	case len(number) < len(text):
		limit, err := strconv.ParseFloat(number, 64)
		s.operator, s.limit = text[:len(text)-len(number)], limit
		return err == nil
	case ofLanguage:
		currency, _, _ = strings.Cut(currency, "-")
		s.add(currency)
		return true
	}
	return strings.HasPrefix(lower, "color") ||
		slices.Contains([]string{"black", "blue", "cyan", "green", "magenta", "red", "white", "yellow"}, lower)
}

// digitByDigit returns pieces that show leading zeros, a plus, or parts divided by more than a
// space. It returns nil for others, and where the number is shown in another way.
func digitByDigit(pieces []piece, digits bool) []piece {
	before, between, places := "", "", 0
	zeros := 0 // places from the first on that shows a zero
	text := "" // since the last place
	for _, p := range pieces {
		switch {
		case p.place == 0:
			text += p.text
			continue
		case places == 0:
			before = strings.TrimLeft(text, " (")
		default:
			between += text
		}
		text = ""
		if places++; p.place == '0' || zeros > 0 {
			zeros++
		}
	}
	international := strings.HasPrefix(before, "+") || strings.HasPrefix(before, "0")
	if !digits || places == 0 || zeros < 2 && !international && !strings.ContainsAny(between, "()-/") {
		return nil
	}
	return pieces
}

// show returns a number as the format shows it. Numbers with a sign, a fraction or more
// digits than a spreadsheet has stay as they are.
func (f numberFormat) show(number string) string {
	const digits = 15 // of a number of Excel
	if number == "" || len(number) > digits || strings.Trim(number, "0123456789") != "" {
		return number
	}
	value, _ := strconv.ParseFloat(number, 64)
	i := f.sectionFor(value)
	if i < 0 || f[i].pieces == nil {
		return number
	}
	pieces := f[i].pieces
	left := strings.TrimLeft(number, "0")
	places := 0
	for _, p := range pieces {
		if p.place != 0 {
			places++
		}
	}
	var text strings.Builder
	for _, p := range pieces {
		if p.place == 0 {
			text.WriteString(p.text)
			continue
		}
		take := max(len(left)-places+1, 0) // all that have no place of their own, at the first
		if take == 0 && p.place == '0' {
			text.WriteByte('0')
		}
		text.WriteString(left[:take])
		left, places = left[take:], places-1
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

// sectionFor returns the section for a number that is not negative, -1 if there is none.
func (f numberFormat) sectionFor(value float64) int {
	numbers := f[:min(len(f), 3)] // the fourth is for texts
	for i, s := range numbers {
		last := i == len(numbers)-1
		switch {
		case s.operator == "":
			if i == 0 && (value > 0 || len(numbers) < 3) || i > 0 && last && (i == 2 || f[0].operator != "") {
				return i
			}
		case strings.Contains(s.operator, "<") && value < s.limit, strings.Contains(s.operator, ">") && value > s.limit,
			strings.Contains(s.operator, "=") && value == s.limit:
			return i
		}
	}
	return -1
}
