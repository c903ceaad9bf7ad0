package imports

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/internal/charset"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// Where a file does not say its encoding, windows-1252 and windows-1250 are compared.
// Others are thought of where these have in a name what no name has.

// EncodingError says that Options.Encoding must say which of some readings is right.
type EncodingError struct {
	Encodings []string     // that could be meant, the likelier ones first
	Differs   []Difference // up to three rows that they read differently
}

// Difference is what differs in a row as each of the Encodings reads it: the name, or
// else the first cell that is kept.
type Difference struct {
	Row   int
	Texts []string
}

func (e *EncodingError) Error() string { return "the encoding is not sure" }

// NoteEncoding says why a file is not read in windows-1252: a name, the encoding, the
// name in windows-1252.
const NoteEncoding = "encoding"

const (
	shownDifferences = 3 // rows
	shownEncodings   = 4
	longestText      = 200 // characters of a Difference: a cell may have megabytes
)

// reading is a guessed table in one encoding.
type reading struct {
	encoding string
	order    int // among all; 0 and 1 are windows-1252 and windows-1250
	known    int // columns that are fields by their headers
	columns  []mapping.Column
	names    *charset.Reading
}

// readings are those of a guessed table.
type readings struct {
	guess   *sheet.Guess
	all     []*reading
	columns []mapping.Column // with the headers that are known best
}

// settle returns the table in the likeliest encoding. Where another one could be meant,
// it says so. It keeps no other table meanwhile, because a list may be large.
func settle(ctx context.Context, content []byte, t *sheet.Table, m mapping.Options) (*sheet.Table, *EncodingError, error) {
	encoding, unsure, notes := weigh(t, m)
	t.Guess = nil
	if encoding != t.Encoding {
		var err error
		if t, err = sheet.Read(ctx, content, sheet.Options{Encoding: encoding}); err != nil {
			// It is no list in this encoding, for example because its rows are empty.
			t, err = sheet.Read(ctx, content, sheet.Options{Encoding: sheet.Windows1252})
			return t, nil, err
		}
	}
	t.Notes = append(t.Notes, notes...)
	return t, unsure, nil
}

// weigh returns the likeliest encoding of a guessed table, which others could be meant,
// nil for none, and what is to say about it.
func weigh(t *sheet.Table, m mapping.Options) (encoding string, unsure *EncodingError, notes []sheet.Note) {
	r := newReadings(t, m)
	left, notes := r.choose()
	if len(left) > 1 {
		unsure = &EncodingError{Differs: r.differences(left)}
		for _, one := range left {
			unsure.Encodings = append(unsure.Encodings, one.encoding)
		}
	}
	return left[0].encoding, unsure, notes
}

func newReadings(t *sheet.Table, m mapping.Options) *readings {
	r := &readings{guess: t.Guess}
	most := -1
	for i, encoding := range charset.Pages() {
		one := &reading{encoding: encoding, order: i}
		if i == 0 || slices.ContainsFunc(t.Guess.Header, func(h string) bool { return !charset.IsASCII(h) }) {
			read := *t
			read.Header = make([]string, len(t.Guess.Header))
			for c, header := range t.Guess.Header {
				read.Header[c] = decode(header, one)
			}
			one.columns = mapping.Columns(&read, m)
		} else {
			one.columns = r.all[0].columns
		}
		for _, column := range one.columns {
			if column.Field != mapping.LeftOut {
				one.known++
			}
		}
		if one.known > most {
			most, r.columns = one.known, one.columns
		}
		r.all = append(r.all, one)
	}
	return r
}

// named reports whether it is known which columns have the names.
func (r *readings) named() bool { return slices.ContainsFunc(r.columns, mapping.Column.IsName) }

// look reads all names in an encoding. Where it is not known which columns have them, it
// reads all cells.
func (r *readings) look(one *reading) *charset.Reading {
	if one.names != nil {
		return one.names
	}
	one.names = charset.NewReading(one.encoding)
	named := r.named()
	if !named {
		for _, header := range r.guess.Header {
			one.names.Add(header)
		}
	}
	for _, row := range r.guess.Rows {
		for i, cell := range row.Cells {
			if !named || i < len(r.columns) && r.columns[i].IsName() {
				one.names.Add(cell.Text)
			}
		}
	}
	return one.names
}

// possible reports whether all names can be names in an encoding, and its headers are
// known as well as in any other.
func (r *readings) possible(one *reading) bool {
	known := !slices.ContainsFunc(r.all, func(other *reading) bool { return other.known > one.known })
	return known && r.look(one).Impossible() == ""
}

// choose returns the readings that could be meant, the likeliest one first, and what is
// to say about them. Those that read all cells alike that are kept are one.
func (r *readings) choose() ([]*reading, []sheet.Note) {
	both := r.distinct(r.all[:2])
	if !slices.ContainsFunc(r.all[:2], r.dubious) && !r.turkish(len(both) == 2) {
		return both, nil
	}
	var left []*reading
	for _, one := range r.all {
		if r.possible(one) && (one.order < 2 || !r.look(one).Doubtful() && r.look(one).Usual() >= 100) {
			left = append(left, one)
		}
	}
	left = r.distinct(left)
	slices.SortStableFunc(left, func(a, b *reading) int {
		return cmp.Or(cmp.Compare(min(a.order, 2), min(b.order, 2)), cmp.Compare(r.look(b).Usual(), r.look(a).Usual()))
	})
	switch {
	case len(left) == 0:
		return both, []sheet.Note{{Code: sheet.NoteNoEncoding, Args: []any{sheet.Quoted(r.look(r.all[0]).Impossible())}}}
	case len(left) > 1:
		return left[:min(len(left), shownEncodings)], nil
	case left[0].order < 2:
		return both, nil
	}
	for _, d := range r.differences([]*reading{left[0], r.all[0]}) {
		return left, []sheet.Note{{Code: NoteEncoding, Args: []any{sheet.Quoted(d.Texts[0]), left[0].encoding, sheet.Quoted(d.Texts[1])}}}
	}
	return left, nil
}

// dubious reports whether names have in an encoding what no name has, or hardly any.
func (r *readings) dubious(one *reading) bool { return !r.possible(one) || r.look(one).Doubtful() }

// turkish reports whether the names may be Turkish. windows-1252 has other letters there
// that are no less usual, so one of them tells little, unless these are asked about.
func (r *readings) turkish(asked bool) bool {
	one := r.all[slices.IndexFunc(r.all, func(one *reading) bool { return one.encoding == charset.Windows1254 })]
	letters := r.look(one).Turkish()
	return (letters > 1 || letters == 1 && asked) && r.possible(one)
}

// keeps reports whether a column is kept, or could be.
func (r *readings) keeps(column int) bool {
	return !r.named() || column < len(r.columns) && r.columns[column].Field != mapping.LeftOut
}

// distinct returns the first of those readings that read all cells alike that are kept.
func (r *readings) distinct(some []*reading) (left []*reading) {
	seed, seen := maphash.MakeSeed(), map[uint64]bool{}
	for _, one := range some {
		var sum maphash.Hash
		sum.SetSeed(seed)
		for _, row := range r.guess.Rows {
			for i, cell := range row.Cells {
				if !charset.IsASCII(cell.Text) && r.keeps(i) {
					sum.WriteString(decode(cell.Text, one))
					sum.WriteByte(0)
				}
			}
		}
		if !seen[sum.Sum64()] {
			seen[sum.Sum64()] = true
			left = append(left, one)
		}
	}
	return left
}

// differences returns the first rows in which readings differ in a cell that is kept.
// Where these rows do not tell all readings apart, the last one is a row that does more.
func (r *readings) differences(some []*reading) (all []Difference) {
	told := 0 // pairs that the rows tell apart
	pairs := map[[2]int]bool{}
	for _, row := range r.guess.Rows {
		d := Difference{row.Number, r.differing(row, some)}
		if d.Texts == nil {
			continue
		}
		for a := range some {
			for b := range a {
				if d.Texts[a] != d.Texts[b] {
					pairs[[2]int{a, b}] = true
				}
			}
		}
		switch {
		case len(all) < shownDifferences:
			all = append(all, d)
		case len(pairs) > told:
			all[len(all)-1] = d
		}
		if told = len(pairs); len(all) == shownDifferences && told == len(some)*(len(some)-1)/2 {
			break
		}
	}
	return all
}

// differing returns what differs in a row as each reading has it, nil if nothing does.
func (r *readings) differing(row sheet.Row, some []*reading) []string {
	var names []string
	for i, column := range r.columns {
		if column.IsName() {
			names = append(names, row.Cell(i).Text)
		}
	}
	if all := decoded(strings.Join(names, " "), some); all != nil {
		return all
	}
	for i, cell := range row.Cells {
		if r.keeps(i) {
			if all := decoded(cell.Text, some); all != nil {
				return all
			}
		}
	}
	return nil
}

// decoded returns a text as each reading has it, nil if all have the same.
func decoded(text string, some []*reading) (all []string) {
	if charset.IsASCII(text) {
		return nil
	}
	for _, one := range some {
		all = append(all, decode(text, one))
	}
	if different(all) == 1 {
		return nil
	}
	for i, text := range all {
		all[i] = lang.Short(text, longestText)
	}
	return all
}

// decode returns the bytes of a cell as a text.
func decode(cell string, in *reading) string {
	return strings.TrimSpace(charset.Decode(cell, in.encoding))
}
