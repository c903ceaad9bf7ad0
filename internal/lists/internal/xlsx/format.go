package xlsx

import (
	"context"
	"encoding/xml"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of the styles of a workbook, similar to those of Excel.
const (
	maxStyles = 1 << 16
	maxFormat = 1000 // bytes; Excel allows 255 characters
)

// numberFormat is a number format for digits that are dialed or filed, such as 0000 000000. It is
// nil for all others, which show amounts, dates or text.
type numberFormat []section

// style is the style of a cell.
type style struct {
	format numberFormat
	marks  Marks
	date   bool // shows dates
}

// section is a section of a number format. Semicolons separate sections.
type section struct {
	operator string // comparison that selects the section, such as <=; may be empty
	limit    float64
	pieces   []piece // nil: does not show the digits of the number one by one
}

// piece is literal text or a digit placeholder.
type piece struct {
	text  string
	place byte // '0' pads with zeros, '#' and '?' do not; 0: literal text
}

// readStyles reads the cell styles. It ignores damage, because cells can be read without styles.
func (f *File) readStyles(ctx context.Context, part string) error {
	known, inside, dates := map[string]numberFormat{}, "", map[string]bool{}
	var fonts []Marks
	err := f.walk(ctx, part, func(token xml.Token) error {
		if e, ok := token.(xml.EndElement); ok && e.Name.Local == inside {
			inside = ""
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			return nil
		}
		switch name := e.Name.Local; {
		case name == "numFmts" || name == "fonts" || name == "cellXfs":
			inside = name
		case name == "numFmt" && inside == "numFmts":
			id, code := attribute(e, "numFmtId"), attribute(e, "formatCode")
			known[id] = parseFormat(code)
			dates[id] = len(code) <= maxFormat && strings.ContainsAny(formatText.ReplaceAllString(code, ""), "yYdD")
		case name == "xf" && inside == "cellXfs":
			id := attribute(e, "numFmtId")
			one := style{format: known[id], date: dates[id] || builtInDate.MatchString(id)}
			if font, err := strconv.Atoi(attribute(e, "fontId")); err == nil && font >= 0 && font < len(fonts) {
				one.marks = fonts[font]
			}
			f.styles = append(f.styles, one)
		case name == "font" && inside == "fonts":
			fonts = append(fonts, 0)
		case name == "strike" && len(fonts) > 0 && inside == "fonts":
			fonts[len(fonts)-1] = strike(e)
		}
		if max(len(known), len(fonts), len(f.styles)) > maxStyles {
			return ErrTooLarge
		}
		return nil
	})
	if errors.Is(err, ErrTooLarge) || ctx.Err() != nil {
		return err
	}
	return nil
}

// formatText matches the parts of a number format that are text, conditions or languages.
// builtInDate matches the numbers of formats for dates that no workbook defines.
var (
	formatText  = regexp.MustCompile(`"[^"]*"|\\.|\[[^\]]*\]`)
	builtInDate = regexp.MustCompile(`^(?:1[4-7]|22|2[789]|3[0-6]|5[0-8])$`)
)

// firstDate is the first number that is a date in any cell. A lower number may be a year.
const firstDate = 3000

// styled applies the style with the given number to a cell. If the style shows a number as a date, the
// cell becomes a date or text, and if it shows the number digit by digit, the cell becomes text.
func (f *File) styled(cell Cell, number string) Cell {
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(f.styles) {
		return cell
	}
	cell.Marks |= f.styles[i].marks
	if cell.Kind != Number {
		return cell
	}
	if text, ok := date(cell.Text, f.Date1904); ok && f.styles[i].date {
		cell.Text, cell.Kind = text, Text
		if len(text) == len(FirstDate) && text >= FirstDate {
			cell.Kind = Date
		}
		return cell
	}
	if text := f.styles[i].format.show(cell.Text); text != cell.Text {
		cell.Text, cell.Kind = text, Text
	}
	return cell
}

// parseFormat parses a number format. It returns nil for formats that do not show digits one by
// one.
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

// parseSection parses the first section of a format and returns the rest.
func parseSection(code string) (s section, rest string, more bool) {
	digits := true // the section shows digits one by one
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
			_, size := utf8.DecodeRuneInString(code[i+1:])
			if c == '\\' {
				s.add(code[i+1 : i+1+size])
			} else if c == '_' { // a space as wide as the character; * repeats the character
				s.add(" ")
			}
			i += size
		case c == '0' || c == '#' || c == '?':
			s.pieces = append(s.pieces, piece{place: c})
		case strings.EqualFold(code[i:min(i+len(general), len(code))], general):
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

// general is the default format. Other formats may contain it.
const general = "General"

func (s *section) add(text string) { s.pieces = append(s.pieces, piece{text: text}) }

// bracket handles the text between brackets: a condition, a color, or a currency with a locale. It
// reports whether the section still shows plain digits.
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

// digitByDigit returns pieces if they pad with zeros, start with a plus or 0, or separate digits
// with more than a space. Otherwise, or if digits is false, it returns nil.
func digitByDigit(pieces []piece, digits bool) []piece {
	before, between, places := "", "", 0
	zeros := 0 // number of digits from the first zero placeholder
	text := "" // literal text after the last placeholder
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

// show formats a number. It returns numbers with a sign, a fraction or more than fifteen digits
// unchanged.
func (f numberFormat) show(number string) string {
	const digits = 15 // maximum precision of Excel
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
		take := max(len(left)-places+1, 0) // the first placeholder takes all extra digits
		if take == 0 && p.place == '0' {
			text.WriteByte('0')
		}
		text.WriteString(left[:take])
		left, places = left[take:], places-1
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

// sectionFor returns the index of the section for a number that is not negative, or -1 if there is
// none.
func (f numberFormat) sectionFor(value float64) int {
	numbers := f[:min(len(f), 3)] // the fourth is for text
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
