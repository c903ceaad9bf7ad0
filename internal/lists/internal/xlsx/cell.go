package xlsx

import (
	"context"
	"encoding/xml"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Kind is the type of a cell's value.
type Kind uint8

// Kinds of cells.
const (
	Text Kind = iota
	Number
	Error

	// Date is a cell whose text is a date such as 1990-05-15, from FirstDate on. A date with a time, or
	// before FirstDate, is Text. A date that no format shows as one is a Number.
	Date
)

// FirstDate is the first day that a Date can represent. Earlier days differ from the calendar because
// Excel has a 29 February 1900.
const FirstDate = "1900-03-01"

// Cell is a cell. The text of a number has all digits and no exponent. The text of a formula is its
// stored value.
type Cell struct {
	Text  string
	Kind  Kind
	Marks Marks
}

// Marks tell how a file shows a cell.
type Marks uint8

const (
	Struck    Marks = 1 << iota // struck through
	Literal                     // guarded; package sheet sets it
	Invisible                   // invisible characters were removed; package sheet sets it
)

// sharedString is the type of a cell whose value is an index into the shared strings.
const sharedString = "s"

// cell converts the value of a cell whose type attribute is kind.
func (f *File) cell(kind, value string) (Cell, error) {
	trimmed := strings.TrimSpace(value)
	switch kind {
	case sharedString:
		return f.sharedCell(trimmed)
	case "str", "inlineStr":
		return Cell{Text: unescape(value)}, nil
	case "b":
		return Cell{Text: strings.NewReplacer("0", "FALSE", "1", "TRUE").Replace(trimmed)}, nil
	case "e":
		return Cell{Text: trimmed, Kind: Error}, nil
	case "d":
		return Cell{Text: trimmed}, nil
	}
	return number(trimmed), nil
}

func (f *File) sharedCell(index string) (Cell, error) {
	if index == "" {
		return Cell{}, nil
	}
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i/sharedBlock >= len(f.shared) || i%sharedBlock >= len(f.shared[i/sharedBlock]) {
		return Cell{}, errors.New("invalid shared string index")
	}
	return f.shared[i/sharedBlock][i%sharedBlock], nil
}

var integer = regexp.MustCompile(`^-?[0-9]+$`)

// number returns a numeric cell. For a fraction or a number with an exponent it rounds to fifteen
// digits, because further digits are binary noise.
func number(value string) Cell {
	f, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil || math.IsInf(f, 0) || math.IsNaN(f):
		return Cell{Text: value}
	case integer.MatchString(value):
		return Cell{Text: value, Kind: Number}
	}
	f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'e', 14, 64), 64)
	return Cell{Text: strconv.FormatFloat(f, 'f', -1, 64), Kind: Number}
}

// textReader collects the text of a cell or shared string from XML tokens: its value, or all runs
// of rich text. It skips phonetic text.
type textReader struct {
	text     strings.Builder
	open     bool
	phonetic bool
	marks    Marks // Struck if a run is
}

// take processes a token. The error is ErrTooLarge.
func (r *textReader) take(token xml.Token) error {
	switch token := token.(type) {
	case xml.StartElement:
		switch token.Name.Local {
		case "v", "t":
			r.open = !r.phonetic
		case "rPh":
			r.phonetic = true
		case "strike":
			r.marks |= strike(token)
		}
	case xml.EndElement:
		r.open = false
		r.phonetic = r.phonetic && token.Name.Local != "rPh"
	case xml.CharData:
		if !r.open {
			return nil
		}
		if r.text.Write(token); r.text.Len() > longest {
			return ErrTooLarge
		}
	}
	return nil
}

// cut returns the collected text with its marks, and resets the reader.
func (r *textReader) cut() (text string, marks Marks) {
	text, marks = r.text.String(), r.marks
	r.text.Reset()
	r.marks = 0
	return text, marks
}

// strike returns the mark for an element that strikes text through unless its value is false.
func strike(e xml.StartElement) Marks {
	if value := attribute(e, "val"); value == "" || isTrue(value) {
		return Struck
	}
	return 0
}

// longest is the maximum length of a cell's text in bytes, including escapes. Excel allows 32,767
// characters, each of which may be written as _x0041_.
const longest = 256 << 10

// sharedBlock is the number of shared strings in a block. A single slice would be copied as it
// grows, which takes twice the memory.
const sharedBlock = 1000

func (f *File) readStrings(ctx context.Context, part string) error {
	var r textReader
	return f.walk(ctx, part, func(token xml.Token) error {
		if err := r.take(token); err != nil {
			return err
		}
		if e, ok := token.(xml.EndElement); !ok || e.Name.Local != "si" {
			return nil
		}
		text, marks := r.cut()
		cell := Cell{Text: unescape(text), Marks: marks}
		if n := len(f.shared); n == 0 || len(f.shared[n-1]) == sharedBlock {
			f.shared = append(f.shared, make([]Cell, 0, sharedBlock))
		}
		last := &f.shared[len(f.shared)-1]
		*last = append(*last, cell)
		return f.count(cell.Text)
	})
}

// unescape decodes characters that XML cannot represent, written as _x0007_.
func unescape(text string) string {
	before, rest, found := strings.Cut(text, "_x")
	if !found {
		return text
	}
	var plain strings.Builder
	for ; found; before, rest, found = strings.Cut(rest, "_x") {
		plain.WriteString(before)
		if code, ok := escaped(rest); ok {
			plain.WriteRune(code)
			rest = rest[len("0007_"):]
		} else {
			plain.WriteString("_x")
		}
	}
	plain.WriteString(before)
	return plain.String()
}

// escaped parses an escape after its _x.
func escaped(text string) (r rune, ok bool) {
	if len(text) < 5 || text[4] != '_' {
		return 0, false
	}
	code, err := strconv.ParseUint(text[:4], 16, 16)
	return rune(code), err == nil
}

// Day returns the date that a serial number represents, such as 1990-05-15, or 1990-05-15T08:30:00
// with a time. It returns false for a number below firstDate.
func Day(serial string, date1904 bool) (text string, ok bool) {
	if isYear(serial) {
		return "", false
	}
	return date(serial, date1904)
}

// isYear reports whether a number is below firstDate.
func isYear(number string) bool {
	n, err := strconv.ParseFloat(number, 64)
	return err == nil && n < firstDate
}

// date is like Day for all numbers, except for number 60 of the 1900 date system, the nonexistent
// 29 February 1900.
func date(serial string, date1904 bool) (text string, ok bool) {
	const day = 24 * 60 * 60
	days, err := strconv.ParseFloat(serial, 64)
	if err != nil || !(days >= 0 && days < 3_000_000) {
		return "", false
	}
	seconds := int64(math.Round(days * day))
	epoch := time.Date(1899, time.December, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case date1904:
		epoch = time.Date(1904, time.January, 1, 0, 0, 0, 0, time.UTC)
	case seconds < day, seconds/day == 60:
		return "", false
	case seconds < 60*day:
		epoch = epoch.AddDate(0, 0, 1)
	}
	at := epoch.AddDate(0, 0, int(seconds/day)).Add(time.Duration(seconds%day) * time.Second)
	layout := "2006-01-02T15:04:05"
	if seconds%day == 0 {
		layout = time.DateOnly
	}
	return at.Format(layout), at.Year() <= 9999
}
