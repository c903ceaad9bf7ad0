package sheet

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
)

// delimiters are tried in this order, from rare to common in text.
const delimiters = "\t;|,"

// noDelimiter is the delimiter of a file with a single column. UTF-8 never contains this byte.
const noDelimiter = 0xff

// sampled is the number of records examined to detect the delimiter.
const sampled = 100

// readCSV reads a CSV. Row numbers match those in a spreadsheet: a record is one row even if it
// spans several lines, an empty line is a row, and a line sep=; does not count because Excel hides
// it.
func readCSV(ctx context.Context, text string) (*Table, error) {
	text = strings.TrimSuffix(text, string(endOfFile))
	text, delimiter := cutSeparator(text)
	text, quotes := unwrapLines(text)
	if delimiter == noDelimiter {
		delimiter = guessDelimiter(text)
	}
	records := scanner{text: text, delimiter: delimiter}
	rows := collector{ctx: ctx, guarded: true}
	for {
		row, err := records.row()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = rows.add(row.Number, row.Cells)
		}
		if err != nil {
			return nil, err
		}
	}
	t, err := rows.table()
	if err != nil {
		return nil, err
	}
	t.Notes = append(t.Notes, quotes...)
	if t.Format = CSV; delimiter != noDelimiter {
		t.Delimiter = string(delimiter)
	}
	return t, nil
}

// cutSeparator removes Excel's line sep=; and returns its delimiter, or noDelimiter if there is no
// such line.
func cutSeparator(text string) (rest string, delimiter byte) {
	end := strings.IndexAny(text, "\r\n")
	if end < 0 {
		return text, noDelimiter
	}
	line := strings.Trim(text[:end], `"`)
	if len(line) != len("sep=;") || !strings.EqualFold(line[:4], "sep=") || strings.IndexByte(delimiters, line[4]) < 0 {
		return text, noDelimiter
	}
	records := scanner{text: text, pos: end}
	records.endLine()
	return text[records.pos:], line[4]
}

// unwrapLines removes the quotes around whole lines, which programs add to a line that they did not
// split: from lines with as many cells as the first line, or from the first and most others.
func unwrapLines(text string) (plain string, notes []Note) {
	if !strings.HasPrefix(text, `"`) && !strings.Contains(text, "\n\"") {
		return text, nil
	}
	var all strings.Builder
	var lines []string // without their quotes
	count := 0
	for line := range strings.Lines(text) {
		trimmed := strings.TrimRight(line, "\r\n")
		if trimmed != "" {
			count++
		}
		if inner, ok := wholeLine(trimmed); ok {
			lines = append(lines, inner)
			all.WriteString(inner + line[len(trimmed):])
		} else {
			all.WriteString(line)
		}
	}
	if len(lines) == 0 {
		return text, nil
	}
	inFirst := strings.HasPrefix(all.String(), lines[0])
	if inFirst && 2*len(lines) <= count {
		return text, nil
	}
	delimiter := guessDelimiter(all.String())
	first, _ := (&scanner{text: all.String(), delimiter: delimiter}).row()
	width := len(first.Cells)
	for _, line := range lines {
		row, err := (&scanner{text: line, delimiter: delimiter}).row()
		if n := len(row.Cells); err != nil || width < 2 || n > width || n < width && !inFirst {
			return text, nil
		}
	}
	return all.String(), []Note{{NoteQuotes, []any{len(lines), Quoted(`"` + lines[0] + `"`), Quoted(lines[0])}}}
}

// wholeLine returns the text of a line that is a single quoted cell with a delimiter.
func wholeLine(line string) (text string, ok bool) {
	if len(line) < 2 || line[0] != '"' {
		return "", false
	}
	s := scanner{text: line, delimiter: noDelimiter}
	text, ok = s.quoted()
	return text, ok && s.pos == len(line) && strings.ContainsAny(text, delimiters)
}

type fit struct {
	rows  int // percentage of rows with no more cells than the header row; halved below a title
	width int // of the header row
}

func guessDelimiter(text string) byte {
	best, bestFit := byte(noDelimiter), fit{}
	for _, delimiter := range []byte(delimiters) {
		f := fitOf(text, delimiter)
		if cmp.Or(cmp.Compare(f.rows, bestFit.rows), cmp.Compare(f.width, bestFit.width)) > 0 {
			best, bestFit = delimiter, f
		}
	}
	return best
}

// fitOf rates a delimiter. It must split the header row and at least half of the rows below, or a
// third below a header row of several cells, because groups of rows can have headings. A title needs
// rows below the header row, and a comma cannot split only two columns below a title: "Name" above
// "Horvat, Ivan" is the header of a single column.
func fitOf(text string, delimiter byte) fit {
	rows, widths := sample(text, delimiter)
	if len(rows) == 0 {
		return fit{}
	}
	at := headerOf(rows)
	if widths[at] < 2 || delimiter == ',' && widths[0] == 1 && widths[at] == 2 {
		return fit{}
	}
	split, good := 0, 0
	below := widths[at+1:]
	if at > 0 && len(below) == 0 {
		return fit{}
	}
	for _, width := range below {
		if width > 1 {
			split++
			if width <= widths[at] {
				good++
			}
		}
	}
	if 2*split < len(below) && (widths[at] < 3 || 3*split < len(below)) {
		return fit{}
	}
	f := fit{100 * (good + 1) / (len(below) + 1), widths[at]}
	if at > 0 {
		f.rows /= 2
	}
	return f
}

// sample returns the first rows with text and their numbers of cells, including trailing empty
// cells. Without any text, it returns the first row.
func sample(text string, delimiter byte) (rows []Row, widths []int) {
	records := scanner{text: text, delimiter: delimiter}
	for len(rows) < sampled {
		row, err := records.row()
		if err != nil {
			break
		}
		for i, cell := range row.Cells {
			row.Cells[i].Text = clean(cell.Text)
		}
		if len(rows) > 0 && filled(rows[0]) == 0 {
			rows, widths = nil, nil
		}
		if filled(row) > 0 || len(rows) == 0 {
			row.Cells = slices.Clone(row.Cells)
			rows, widths = append(rows, row), append(widths, len(row.Cells))
		}
	}
	return rows, widths
}

type scanner struct {
	text      string
	pos       int
	delimiter byte
	number    int // of the last row read
	cells     []Cell
}

// row returns the next record and skips empty lines. It returns io.EOF at the end, or a *FileError
// for an unterminated quote. For records with too many columns it returns one more than the limit.
// The cells are valid until the next call.
func (s *scanner) row() (Row, error) {
	for s.number++; s.pos < len(s.text) && strings.IndexByte("\r\n", s.text[s.pos]) >= 0; s.number++ {
		s.endLine()
	}
	if s.pos == len(s.text) {
		return Row{}, io.EOF
	}
	row := Row{s.number, s.cells[:0]}
	for {
		text, err := s.cell()
		if err != nil {
			return Row{}, err
		}
		if len(row.Cells) < maxColumns || len(row.Cells) == maxColumns && strings.TrimSpace(text) != "" {
			row.Cells = append(row.Cells, Cell{Text: text})
		}
		if s.pos == len(s.text) || s.text[s.pos] != s.delimiter {
			s.endLine()
			s.cells = row.Cells
			return row, nil
		}
		s.pos++
	}
}

// endLine skips a line break: CR, LF or CRLF.
func (s *scanner) endLine() {
	if strings.HasPrefix(s.text[s.pos:], "\r\n") {
		s.pos++
	}
	if s.pos < len(s.text) {
		s.pos++
	}
}

// cell returns the next cell. It permits spaces around quotes. A quote after other text is part of
// the text.
func (s *scanner) cell() (string, error) {
	start := s.pos
	for s.pos < len(s.text) && s.text[s.pos] == ' ' {
		s.pos++
	}
	if s.pos == len(s.text) || s.text[s.pos] != '"' {
		s.pos = start
		return s.plain(), nil
	}
	spaces := s.pos - start
	text, ok := s.quoted()
	tail := s.plain()
	switch {
	case !ok, strings.TrimSpace(tail) != "" && strings.ContainsAny(text, "\r\n"):
		return "", fail(FileQuote, s.number)
	case strings.TrimSpace(tail) == "":
		return text, nil
	case spaces > 0:
		s.pos = start
		return s.plain(), nil
	}
	return text + tail, nil
}

// plain returns the text up to a delimiter or line break.
func (s *scanner) plain() string {
	start := s.pos
	for ; s.pos < len(s.text); s.pos++ {
		if b := s.text[s.pos]; b == '\n' || b == '\r' || b == s.delimiter && (b != ';' || !endsInEntity(s.text[start:s.pos+1])) {
			break
		}
	}
	return s.text[start:s.pos]
}

func (s *scanner) quoted() (text string, ok bool) {
	rest, end := s.text[s.pos+1:], 0
	for {
		i := strings.IndexByte(rest[end:], '"')
		if i < 0 {
			return "", false
		}
		end += i
		if !strings.HasPrefix(rest[end:], `""`) {
			break
		}
		end += 2
	}
	s.pos += 1 + end + 1
	return strings.ReplaceAll(rest[:end], `""`, `"`), true
}
