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
	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/text/phone"
)

// product identifies this program in exported cards.
const product = "-//Firefighter Records//Export//EN"

// midnight ends a date of birth without a time.
const midnight = "T00:00:00Z"

// vcardWriter writes people as vCards.
type vcardWriter struct {
	vcard.Cards               // buffered cards
	out         *bufio.Writer // nil for an address book
	birthday    bool          // include the date of birth
	times       bool          // include the times of the record
}

func newVCard(w io.Writer, form Form) Writer {
	return &vcardWriter{out: bufio.NewWriterSize(w, 64<<10), birthday: true, times: form.Times}
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

// AppendCard appends the card of a person for an address book, with the date of birth if birthday
// is set. Each number in the phone text is a TEL that can be dialled. The card omits the department,
// because renaming the department would change every card.
func AppendCard(b []byte, f *record.Firefighter, birthday bool) []byte {
	w := vcardWriter{Cards: vcard.Cards{Lines: calendar.Lines{Buffer: *bytes.NewBuffer(b)}}, birthday: birthday}
	w.begin(f)
	if f.UpdatedAt != 0 {
		w.revision(f)
	}
	w.End()
	return w.Bytes()
}

// revision writes the time of the last change without a fraction, as readers expect.
func (w *vcardWriter) revision(f *record.Firefighter) {
	w.Text("REV", time.UnixMilli(f.UpdatedAt).UTC().Format("2006-01-02T15:04:05Z"))
}

// begin writes the start of a card with all fields.
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
			if w.out == nil { // phones drop or shift a time
				date, _, _ = strings.Cut(value, "T")
			} else if !alone {
				property += ";VALUE=date-time"
			}
			value = date
		}
		if w.out == nil && d.Name == "phoneNumber" {
			for _, number := range phone.Numbers(value) {
				w.Text("TEL;TYPE=CELL", number.Contact()) // phones prefer this type for caller ID
			}
			continue
		}
		w.Text(property, value)
	}
}

// First columns of a table of vCards, followed by the other record fields and the remaining
// components of N. Further columns are named after their properties.
const (
	uidColumn = iota
	firstNameColumn
	lastNameColumn
	fullNameColumn
	fieldColumns // the first of them
)

// firstColumns are the headers of the first columns.
var firstColumns = slices.Concat(
	[]string{"UID", "firstName", "lastName", "FN"}, record.FieldNames()[record.NameFields:], []string{"N additional", "N prefix", "N suffix"},
)

// firstColumn maps properties to their first column, which holds the preferred value.
var firstColumn = func() map[string]int {
	columns := map[string]int{"UID": uidColumn, "N": lastNameColumn, "FN": fullNameColumn}
	for i, d := range record.AllFields()[record.NameFields:] {
		property, _, _ := strings.Cut(d.VCard, ";")
		columns[property] = fieldColumns + i
	}
	return columns
}()

// nameColumns are the columns for the components of property N.
var nameColumns = []int{lastNameColumn, firstNameColumn, len(firstColumns) - 3, len(firstColumns) - 2, len(firstColumns) - 1}

// cardRows converts cards to rows.
type cardRows struct {
	named
	names   bool // some card has a structured name
	others  bool // some card is not from this program
	hasData bool // some card has data entered by a person

	organizations []int // numbers of cards that are not of a person
}

// readVCards reads vCards. The column with formatted names has the header FN, or "name" if no card
// has a structured name.
func readVCards(ctx context.Context, text string) (*Table, error) {
	rows := cardRows{named: named{collector{ctx: ctx}, slices.Clone(firstColumns), map[string]int{}}}
	if err := vcard.Read(text, rows.card); err != nil {
		return nil, damaged(err)
	}
	if !rows.hasData {
		return nil, fail(FileCards)
	}
	if !rows.names {
		rows.header[fullNameColumn] = "name"
	}
	if !rows.others {
		rows.header[uidColumn] = "id"
	}
	t := &Table{Format: VCard, Ours: !rows.others, Header: rows.header, Rows: rows.rows, Organizations: rows.organizations}
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
				c.hasData = c.hasData || text != ""
			}
		case first && i == at:
			cells[firstColumn[p.Name]].Text = p.Text()
			c.hasData = c.hasData || p.Name != "UID"
		default:
			name := p.Name
			c.hasData = c.hasData || name != "REV" && name != "PHOTO" && !strings.HasPrefix(name, "X-")
			if count[name]++; count[name] > 1 {
				name = fmt.Sprintf("%s %d", name, count[name])
			}
			cells = withText(cells, c.columnOf(name), p.Text())
		}
	}
	if !card.IsPerson() {
		c.organizations = append(c.organizations, number)
	}
	c.others = c.others || !ours
	c.names = c.names || cells[firstNameColumn].Text+cells[lastNameColumn].Text != ""
	return c.add(number, cells)
}

// dropUnused removes a column if it has no text.
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
