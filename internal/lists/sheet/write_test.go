package sheet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// people have values that some format could lose.
var people = []record.Firefighter{
	{ID: "0198c0de-0000-7000-8000-000000000001", Fields: record.Fields{FirstName: "Ana", LastName: "Čović",
		PhoneNumber: "+385 91 234 5678", Email: "ana@example.com", DateOfBirth: "1990-05-15T00:00:00Z"},
		InvitationStatus: new("accepted"), UserID: new("0198c0de-0000-7000-8000-0000000000ff")},
	{ID: "0198c0de-0000-7000-8000-000000000002", Fields: record.Fields{FirstName: `Zoë "Z", Jr.; \n`, LastName: "'t Hooft",
		PhoneNumber: "'+1", DateOfBirth: "1988-02-29T23:30:00.5+02:00"}},
	{ID: "0198c0de-0000-7000-8000-000000000003", Fields: record.Fields{FirstName: "=1+1", LastName: "_x0041_ O  N"}},
}

// write returns the people as a file.
func write(t testing.TB, format string, people ...record.Firefighter) []byte {
	t.Helper()
	return writeForm(t, format, Form{}, people...)
}

// writeForm returns the people as a file of a form.
func writeForm(t testing.TB, format string, form Form, people ...record.Firefighter) []byte {
	t.Helper()
	var b bytes.Buffer
	w := formats[format].writer(&b, form)
	for i := range people {
		if err := w.Write(&people[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWriteCSV(t *testing.T) {
	t.Parallel()
	later := strings.Repeat(",", len(record.FieldNames())-5) // fields added later
	want := "\ufeffid,firstName,lastName,phoneNumber,email,dateOfBirth" + strings.Join(append([]string{""}, record.FieldNames()[5:]...), ",") + ",invitationStatus,userId\r\n" +
		"0198c0de-0000-7000-8000-000000000001,Ana,Čović,'+385 91 234 5678,ana@example.com,1990-05-15T00:00:00Z" + later + ",accepted,0198c0de-0000-7000-8000-0000000000ff\r\n" +
		`0198c0de-0000-7000-8000-000000000002,"Zoë ""Z"", Jr.; \n",''t Hooft,''+1,,1988-02-29T23:30:00.5+02:00,,` + later + "\r\n" +
		"0198c0de-0000-7000-8000-000000000003,'=1+1,_x0041_ O  N,,,,," + later + "\r\n"
	if got := string(write(t, CSV, people...)); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got := string(write(t, CSV)); got != want[:strings.IndexByte(want, '\n')+1] {
		t.Errorf("no people: got %q", got)
	}
}

// TestWriteForPeople checks that a spreadsheet for people has the labels of the fields, the day of
// birth of every offset, and nothing that only programs need.
func TestWriteForPeople(t *testing.T) {
	t.Parallel()
	form := Form{Labels: []string{"Vorname", "Nachname", "Telefon", "E-Mail", "Geburtsdatum"}, Sheet: "FF Linz 2026-11-27"}
	old := record.Firefighter{ID: "x", Fields: record.Fields{FirstName: "Ivo", LastName: "Kos", DateOfBirth: "1900-01-31T00:00:00Z"}}
	all := append(slices.Clone(people), old)
	want := "\ufeffVorname,Nachname,Telefon,E-Mail,Geburtsdatum\r\n" +
		"Ana,Čović,'+385 91 234 5678,ana@example.com,1990-05-15\r\n" +
		`"'Zoë ""Z"", Jr.; \n",''t Hooft,''+1,,1988-02-29` + "\r\n" +
		"'=1+1,_x0041_ O  N,,,\r\nIvo,Kos,,,1900-01-31\r\n"
	if got := string(writeForm(t, CSV, form, all...)); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	f, err := excelize.OpenReader(bytes.NewReader(writeForm(t, XLSX, form, all...)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for cell, want := range map[string]string{"E2": "1990-05-15 0", "E3": "1988-02-29 0", "E5": fmt.Sprint("1900-01-31 ", excelize.CellTypeInlineString)} {
		text, _ := f.GetCellValue(form.Sheet, cell)
		kind, err := f.GetCellType(form.Sheet, cell)
		if got := fmt.Sprint(text, " ", kind); err != nil || got != want {
			t.Errorf("%s has the text and type %s, want %s: %v", cell, got, want, err)
		}
	}
	rows, err := f.GetRows(form.Sheet)
	if err != nil || len(rows) != 5 || !slices.Equal(rows[0], form.Labels) || rows[1][2] != "+385 91 234 5678" {
		t.Errorf("got %q, %v", rows, err)
	}
}

func TestSheetName(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"FF Linz":                           "FF Linz 2026-11-27",
		"Freiwillige Feuerwehr Sankt Anton": "Freiwillige Feuerweh 2026-11-27",
		"Engine [7]: A/B \\ *?":             "Engine 7 A B 2026-11-27",
		"'t Harde's":                        "t Harde's 2026-11-27",
		"DVD Donji Kraljevec–Hodošan":       "DVD Donji Kraljevec– 2026-11-27",
		"1234567890123456789 a":             "1234567890123456789 2026-11-27",
		strings.Repeat("🚒", 20):             strings.Repeat("🚒", 10) + " 2026-11-27",
		"\x01\ufffe[]":                      "2026-11-27",
	} {
		got := SheetName(title, "2026-11-27")
		if got != want {
			t.Errorf("%q: got %q, want %q", title, got, want)
		}
		if err := excelize.NewFile().SetSheetName("Sheet1", got); err != nil {
			t.Errorf("%q: %v", got, err)
		}
	}
}

// TestGuardOfWorkbook checks that a workbook shows all texts unchanged except those that look
// guarded, and that reading restores all of them.
func TestGuardOfWorkbook(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"''Two": "'''Two", "'=x": "''=x", "'''": "''''", "'": "'", "'Two": "'Two", "=x": "=x", "+385": "+385"} {
		content := write(t, XLSX, record.Firefighter{Fields: record.Fields{FirstName: "Ana", LastName: text, PhoneNumber: text}})
		f, err := excelize.OpenReader(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if shown, err := f.GetCellValue("People", "C2"); err != nil || shown != want {
			t.Errorf("%s is shown as %s, want %s: %v", text, shown, want, err)
		}
		table, err := Read(t.Context(), content, Options{})
		if err != nil || !table.Ours {
			t.Fatalf("ours: %v, %v", table.Ours, err)
		}
		if got := table.Rows[0].Cell(slices.Index(table.Header, "lastName")).Text; got != text {
			t.Errorf("%s is read as %s", text, got)
		}
	}
}

// TestWriteAll checks that all people are written, and that writing stops when the client
// disconnects.
func TestWriteAll(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	each := func(write func(*record.Firefighter) error) error {
		for i := range people {
			if err := write(&people[i]); err != nil {
				return err
			}
		}
		return nil
	}
	var b bytes.Buffer
	if err := WriteAll(ctx, &b, CSV, Form{}, each); err != nil || !bytes.Equal(b.Bytes(), write(t, CSV, people...)) {
		t.Errorf("%v:\n%s", err, &b)
	}
	if err := WriteAll(ctx, failing{}, CSV, Form{}, each); !errors.Is(err, bytes.ErrTooLarge) {
		t.Errorf("failing writer: %v", err)
	}
	leave()
	if err := WriteAll(ctx, &b, CSV, Form{}, each); err != context.Canceled {
		t.Errorf("disconnected client: %v", err)
	}
}

// failing fails immediately, like a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, bytes.ErrTooLarge }

// shortDisk accepts a limited number of bytes.
type shortDisk struct{ left int }

func (d *shortDisk) Write(p []byte) (int, error) {
	n := min(len(p), d.left)
	d.left -= n
	if n < len(p) {
		return n, io.ErrShortWrite
	}
	return n, nil
}

// TestCutOff checks that a full disk causes an error wherever it occurs, and before all rows are
// written.
func TestCutOff(t *testing.T) {
	t.Parallel()
	const rows = 4000
	random := rand.New(rand.NewPCG(5, 6))
	table := &Table{Header: []string{"a"}}
	for i := range rows {
		table.Rows = append(table.Rows, Row{i + 2, []Cell{{Text: fmt.Sprint(random.Uint64(), random.Uint64())}}})
	}
	written := 0
	ways := map[string]func(io.Writer) error{}
	for _, format := range Formats {
		ways[format] = func(to io.Writer) error {
			w := formats[format].writer(to, Form{})
			for i := range table.Rows {
				written = i + 1
				f := people[0]
				f.LastName = table.Rows[i].Cells[0].Text
				if err := w.Write(&f); err != nil {
					return err
				}
			}
			return w.Close()
		}
	}
	for _, format := range []string{CSV, XLSX} {
		ways["table "+format] = func(to io.Writer) error {
			return WriteTable(to, format, table, []string{"n"}, func(row int) []string {
				written = row + 1
				return []string{"x"}
			})
		}
	}
	for name, write := range ways {
		var whole bytes.Buffer
		if err := write(&whole); err != nil {
			t.Fatal(err)
		}
		for room := 0; room < whole.Len(); room += 1 + whole.Len()/15 {
			err := write(&shortDisk{room})
			if !errors.Is(err, io.ErrShortWrite) || room == 0 && written == rows {
				t.Errorf("%s with room for %d of %d bytes, after %d rows: %v", name, room, whole.Len(), written, err)
			}
		}
		if err := write(&shortDisk{whole.Len() - 1}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s, one byte short: %v", name, err)
		}
	}
}
