package sheet

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/internal/vcard"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// product names this program in each card that it writes.
const product = "-//Firefighter Records//Export//EN"

// midnight is how a date of birth ends that is a date alone.
const midnight = "T00:00:00Z"

// telURI is how a telephone number begins that is a URI.
const telURI = "tel:"

// vcardWriter writes people as vCards.
type vcardWriter struct {
	vcard.Cards               // those that are not written yet
	out         *bufio.Writer // nil for an address book
	birthday    bool          // with the date of birth
	times       bool          // with the times of the record
}

func newVCard(w io.Writer, times bool) Writer {
	return &vcardWriter{out: bufio.NewWriterSize(w, 64<<10), birthday: true, times: times}
}

func (w *vcardWriter) Close() error { return w.out.Flush() }

func (w *vcardWriter) Write(f *record.Firefighter) error {
	w.begin(f)
	w.Text("X-FIREFIGHTERS-INVITATION-STATUS", platformText(f.InvitationStatus))
	w.Text("X-FIREFIGHTERS-USER-ID", platformText(f.UserID))
	if w.times {
		w.Text("X-FIREFIGHTERS-CREATED-AT", timeText(f.CreatedAt))
		w.revision(f)
	}
	w.End()
	_, err := w.WriteTo(w.out)
	return err
}

// AppendCard appends the card of a person for an address book, with the date of birth if
// birthday is set. The department has no place in it: a new name of it would change every
// card.
func AppendCard(b []byte, f *record.Firefighter, birthday bool) []byte {
	w := vcardWriter{Cards: vcard.Cards{Buffer: *bytes.NewBuffer(b)}, birthday: birthday}
	w.begin(f)
	if f.UpdatedAt != 0 {
		w.revision(f)
	}
	w.End()
	return w.Bytes()
}

// revision writes when the record was last written. Readers know it without a fraction.
func (w *vcardWriter) revision(f *record.Firefighter) {
	w.Text("REV", time.UnixMilli(f.UpdatedAt).UTC().Format("2006-01-02T15:04:05Z"))
}

// begin begins the card of a person with all fields that the card has.
func (w *vcardWriter) begin(f *record.Firefighter) {
	w.Begin(product)
	w.Text("UID", f.ID)
	w.Text("N", f.LastName, f.FirstName, "", "", "")
	w.Text("FN", f.FirstName+" "+f.LastName)
	for _, d := range record.AllFields()[record.NameFields:] {
		property, value := d.VCard, *d.Of(&f.Fields)
		if d.Name == "dateOfBirth" {
			if !w.birthday {
				continue
			}
			date, alone := strings.CutSuffix(value, midnight)
			if value = date; !alone {
				property += ";VALUE=date-time"
			}
		}
		if w.out == nil && d.Name == "phoneNumber" {
			property = "TEL;TYPE=CELL" // phones show the number of a caller of this kind first
		}
		if d.Name == "phoneNumber" && len(value) > len(telURI) && strings.EqualFold(value[:len(telURI)], telURI) {
			property, value = property+";VALUE=uri", telURI+value // readers take one off
		}
		w.Text(property, value)
	}
}

// The columns that come first in a table of cards: these, the other fields of a
// record, and what else N has. The rest have the names of their properties.
const (
	uidColumn = iota
	firstNameColumn
	lastNameColumn
	fullNameColumn
	fieldColumns // the first of them
)

// firstColumns are the headers of the columns that come first.
var firstColumns = slices.Concat(
	[]string{"UID", "firstName", "lastName", "FN"}, record.FieldNames()[record.NameFields:], []string{"N additional", "N prefix", "N suffix"},
)

// firstColumn is the first column for a property. Of several, one has it.
var firstColumn = func() map[string]int {
	columns := map[string]int{"UID": uidColumn, "N": lastNameColumn, "FN": fullNameColumn}
	for i, d := range record.AllFields()[record.NameFields:] {
		property, _, _ := strings.Cut(d.VCard, ";")
		columns[property] = fieldColumns + i
	}
	return columns
}()

// nameColumns are the columns of the components of the property N.
var nameColumns = []int{lastNameColumn, firstNameColumn, len(firstColumns) - 3, len(firstColumns) - 2, len(firstColumns) - 1}

// cardRows gathers cards as rows.
type cardRows struct {
	named
	names  bool // a card has a first or last name of its own
	others bool // a card is not of this program
	kept   bool // a card has something that somebody has typed
}

// readVCards reads a file of vCards. It has the column name only if no card has
// first and last names of its own.
func readVCards(ctx context.Context, text string) (*Table, error) {
	rows := cardRows{named: named{collector{ctx: ctx}, slices.Clone(firstColumns), map[string]int{}}}
	if err := vcard.Read(text, rows.card); err != nil {
		return nil, damaged(err)
	}
	if !rows.kept {
		return nil, fail(FileCards)
	}
	if !rows.names {
		rows.header[fullNameColumn] = "name"
	}
	if !rows.others {
		rows.header[uidColumn] = "id"
	}
	t := &Table{Format: VCard, Ours: !rows.others, Header: rows.header, Rows: rows.rows}
	for i := len(firstColumns) - 1; i >= 0; i-- {
		t.dropUnused(i)
	}
	return t, nil
}

// card adds a card as a row.
func (c *cardRows) card(number int, card vcard.Card) error {
	best, count := map[string]int{}, map[string]int{}
	for name := range firstColumn {
		best[name], count[name] = card.Best(name), 1
	}
	cells, ours := make([]Cell, len(c.header)), false
	for i, p := range card {
		at, first := best[p.Name]
		switch {
		case p.Name == "PRODID":
			ours = p.Text() == product
		case p.Name == "VERSION" || p.Text() == "":
		case first && i == at && p.Name == "N":
			for part, text := range p.Components(len(nameColumns)) {
				cells[nameColumns[part]].Text = text
				c.kept = c.kept || text != ""
			}
		case first && i == at:
			cells[firstColumn[p.Name]].Text = p.Text()
			c.kept = c.kept || p.Name != "UID"
		default:
			name := p.Name
			c.kept = c.kept || name != "REV" && name != "PHOTO" && !strings.HasPrefix(name, "X-")
			if count[name]++; count[name] > 1 {
				name = fmt.Sprintf("%s %d", name, count[name])
			}
			cells = withText(cells, c.columnOf(name), p.Text())
		}
	}
	c.others = c.others || !ours
	c.names = c.names || cells[firstNameColumn].Text+cells[lastNameColumn].Text != ""
	return c.add(number, cells)
}

// dropUnused takes a column out that has no text in any row.
func (t *Table) dropUnused(i int) {
	if slices.ContainsFunc(t.Rows, func(r Row) bool { return i < len(r.Cells) && r.Cells[i].Text != "" }) {
		return
	}
	t.Header = slices.Delete(t.Header, i, i+1)
	for r, row := range t.Rows {
		if i < len(row.Cells) {
			t.Rows[r].Cells = slices.Delete(row.Cells, i, i+1)
		}
	}
}
