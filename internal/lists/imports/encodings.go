package imports

import (
	"context"
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/lists/internal/charset"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/text/fold"
	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// Candidate is a possible encoding with up to three names read in it. If all encodings agree on the
// name of a row, another cell replaces it.
type Candidate struct {
	Encoding string
	Names    []string
}

// askEncoding returns the question for the encoding.
func askEncoding(all []Candidate) sheet.Question {
	q := sheet.Question{Kind: sheet.AskEncoding}
	for _, c := range all {
		q.Options = append(q.Options, sheet.Option{Value: c.Encoding, Example: sheet.Examples(c.Names)})
	}
	return q
}

const (
	shownNames  = 3
	longestName = 200 // characters of a name; cells may have megabytes
)

// settle returns the table in the likeliest encoding, and the candidates, the likeliest first, if
// there are several. It holds only one table in memory.
func settle(ctx context.Context, content []byte, t *sheet.Table, o Options, now time.Time) (*sheet.Table, []Candidate, error) {
	all := candidates(t, o.mapping(now), append(slices.Clone(o.Languages), o.Country))
	t.Guess = nil
	if t.Encoding != all[0].Encoding {
		t = nil
	}
	for t == nil {
		read, err := sheet.Read(ctx, content, sheet.Options{Encoding: all[0].Encoding})
		switch {
		case err == nil:
			t = read
		case ctx.Err() != nil || len(all) == 1:
			return nil, nil, err
		default: // the file is not a list in this encoding
			all = all[1:]
		}
	}
	if len(all) == 1 {
		return t, nil, nil
	}
	return t, all, nil
}

// guess is a table with unknown encoding.
type guess struct {
	*sheet.Guess
	columns []mapping.Column
	named   bool // some column contains names
}

// candidates returns the possible encodings, at least one: those that recognize the most headers
// and contain all characters. It omits encodings that read all imported cells like an earlier one.
func candidates(t *sheet.Table, o mapping.Options, languages []string) []Candidate {
	g, encodings := &guess{Guess: t.Guess}, charset.Pages(languages...)
	if slices.ContainsFunc(g.Header, isForeign) {
		encodings = g.byHeader(t, o, encodings)
	} else {
		g.columns = mapping.Columns(t, o)
	}
	g.named = slices.ContainsFunc(g.columns, mapping.Column.IsName)
	return g.withNames(g.likely(g.distinct(encodings), o.Country))
}

// likely returns only the first encoding, which is usual in the country, if all imported cells look
// like text in it: with letters of that country, or of any if they look like text in no other encoding.
// Otherwise it returns all.
func (g *guess) likely(encodings []string, country string) []string {
	known := charset.Letters("")
	isText := func(encoding string) bool { return g.isText(encoding, known) }
	if country != "" && (g.isText(encodings[0], charset.Letters(country)) ||
		isText(encodings[0]) && !slices.ContainsFunc(encodings[1:], isText)) {
		return encodings[:1]
	}
	return encodings
}

// isText reports whether all imported cells look like text in an encoding, with some letters.
func (g *guess) isText(encoding, letters string) bool {
	for text := range g.cells(encoding) {
		if !charset.IsText(text, letters) {
			return false
		}
	}
	return true
}

// cells are the imported cells with bytes outside ASCII, in an encoding.
func (g *guess) cells(encoding string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, row := range g.Rows {
			for i, cell := range row.Cells {
				if isForeign(cell.Text) && g.keeps(i) && !yield(decode(cell.Text, encoding)) {
					return
				}
			}
		}
	}
}

// byHeader returns the encodings that recognize the most headers, and sets the columns.
func (g *guess) byHeader(t *sheet.Table, o mapping.Options, encodings []string) (best []string) {
	most := -1
	for _, encoding := range encodings {
		read := *t
		read.Header = make([]string, len(g.Header))
		for i, header := range g.Header {
			read.Header[i] = decode(header, encoding)
		}
		columns, known := mapping.Columns(&read, o), 0
		for _, column := range columns {
			if column.Field != mapping.LeftOut && !column.Asked {
				known++
			}
		}
		if known > most {
			most, best, g.columns = known, nil, columns
		}
		if known == most {
			best = append(best, encoding)
		}
	}
	return best
}

// isForeign reports whether text has bytes outside ASCII.
func isForeign(text string) bool { return !fold.IsASCII(text) }

// keeps reports whether a column is imported. Without a recognized name column, any column could
// be.
func (g *guess) keeps(column int) bool {
	return !g.named || column < len(g.columns) && g.columns[column].Field != mapping.LeftOut
}

// distinct drops encodings that read all imported cells like an earlier one. It also drops
// encodings in which a cell is not text, unless that applies to all.
func (g *guess) distinct(encodings []string) []string {
	seed := maphash.MakeSeed()
	sums, texts := make([]uint64, len(encodings)), make([]bool, len(encodings))
	for i, encoding := range encodings {
		sums[i], texts[i] = g.sum(encoding, seed)
	}
	var some []string
	for i, encoding := range encodings {
		if (texts[i] || !slices.Contains(texts, true)) && slices.Index(sums, sums[i]) == i {
			some = append(some, encoding)
		}
	}
	return some
}

// sum returns a hash of all imported cells in an encoding, and whether all are text.
func (g *guess) sum(encoding string, seed maphash.Seed) (sum uint64, isText bool) {
	var hash maphash.Hash
	hash.SetSeed(seed)
	isText = true
	for text := range g.cells(encoding) {
		isText = isText && !strings.ContainsFunc(text, isNoText)
		hash.WriteString(text)
		hash.WriteByte(0)
	}
	return hash.Sum64(), isText
}

// isNoText reports whether a character outside ASCII rules out an encoding: it is unassigned, a
// control character or private.
func isNoText(c rune) bool {
	return c == utf8.RuneError || c >= utf8.RuneSelf && unicode.IsControl(c) || unicode.Is(unicode.Co, c)
}

// withNames returns the encodings with sample names that distinguish as many of them as possible.
func (g *guess) withNames(encodings []string) []Candidate {
	var rows [][]string // by sample row: its name in each encoding
	apart := 1
	for _, row := range g.Rows {
		names := g.names(row, encodings)
		if names == nil {
			continue
		}
		more := append(slices.Clone(rows[:min(len(rows), shownNames-1)]), names)
		if n := toldApart(more); n > apart || len(rows) < shownNames {
			rows, apart = more, n
		}
		if len(rows) == shownNames && apart == len(encodings) {
			break
		}
	}
	all := make([]Candidate, len(encodings))
	for i, encoding := range encodings {
		all[i].Encoding = encoding
		for _, names := range rows {
			all[i].Names = append(all[i].Names, names[i])
		}
	}
	return all
}

// toldApart returns the number of encodings that rows distinguish.
func toldApart(rows [][]string) int {
	different := map[string]bool{}
	for i := range rows[0] {
		var all strings.Builder
		for _, names := range rows {
			all.WriteString(names[i] + "\x00")
		}
		different[all.String()] = true
	}
	return len(different)
}

// names returns the name of a row in each encoding, or else its first imported cell that differs.
// It returns nil if nothing differs.
func (g *guess) names(row sheet.Row, encodings []string) []string {
	var name []string
	for i, column := range g.columns {
		if column.IsName() {
			name = append(name, row.Cell(i).Text)
		}
	}
	if all := readings(strings.Join(name, " "), encodings); all != nil {
		return all
	}
	for i, cell := range row.Cells {
		if g.keeps(i) {
			if all := readings(cell.Text, encodings); all != nil {
				return all
			}
		}
	}
	return nil
}

// readings returns text in each encoding, or nil if all agree.
func readings(text string, encodings []string) (all []string) {
	if !isForeign(text) {
		return nil
	}
	for _, encoding := range encodings {
		all = append(all, lang.Short(decode(text, encoding), longestName))
	}
	if !slices.ContainsFunc(all, func(one string) bool { return one != all[0] }) {
		return nil
	}
	return all
}

// decode returns the text of a raw cell.
func decode(cell, encoding string) string { return strings.TrimSpace(charset.Decode(cell, encoding)) }
