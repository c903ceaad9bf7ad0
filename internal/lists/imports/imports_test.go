package imports_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

const ours = record.TenantID(1)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newStore returns a store with the department ours, which is empty. Its schema is
// the real one.
func newStore(t testing.TB) *store.Store {
	t.Helper()
	schema, err := os.ReadFile("../../../schema.sql")
	must(t, err)
	path := filepath.Join(t.TempDir(), "x.db")
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, store.Format(string(schema), 1).Migrate(path, 0, 1, func(c *sqlite.Conn) error { return store.Create(c, string(schema)) }))
	s, err := store.Open(path, func() time.Time { return now })
	must(t, err)
	t.Cleanup(func() { s.Close() })
	must(t, s.AddDepartments([]store.Department{{Name: "Engine 7"}}))
	return s
}

func read(t testing.TB, content string, o imports.Options) *imports.File {
	t.Helper()
	f, err := imports.Read(t.Context(), []byte(content), o, now)
	must(t, err)
	return f
}

func apply(t testing.TB, s *store.Store, content string, o imports.Options) *imports.Outcome {
	t.Helper()
	r, err := read(t, content, o).Apply(t.Context(), s, ours, 0, nil)
	must(t, err)
	return r
}

func check(t testing.TB, s *store.Store, tenant record.TenantID, content string, o imports.Options) *imports.Outcome {
	t.Helper()
	r, err := read(t, content, o).Check(t.Context(), s, tenant)
	must(t, err)
	return r
}

// names returns the people of the department in the order of creation.
func names(t testing.TB, s *store.Store) string {
	t.Helper()
	var all []string
	must(t, s.ReadRoster(ours, func(r store.Roster) error {
		return r.Each(func(f *record.Stored) { all = append(all, f.FirstName+" "+f.LastName) })
	}))
	return strings.Join(all, ", ")
}

func counts(r *imports.Outcome) string {
	number := "no number"
	if r.Number != nil {
		number = fmt.Sprint(*r.Number)
	}
	return fmt.Sprintf("%s applied %t: %d added, %d changed, %d left, %d refused", number, r.Applied, r.Added, r.Changed, r.Left, r.Refused)
}

const list = "First name,Last name,E-mail,Phone\nAna,Čović,ana@example.com,091 234\nIvan,Horvat,,\n"

func TestApply(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, step := range []struct {
		content string
		o       imports.Options
		want    string
		names   string
	}{
		{list, imports.Options{Name: "list.csv"}, "1 applied true: 2 added, 0 changed, 0 left, 0 refused", "Ana Čović, Ivan Horvat"},
		{list, imports.Options{Update: true}, "no number applied true: 0 added, 0 changed, 2 left, 0 refused", "Ana Čović, Ivan Horvat"},
		{"First name,Last name,Phone\nAna,Čović,1\nEva,B,2\n,C,3\n", imports.Options{},
			"no number applied false: 1 added, 0 changed, 1 left, 1 refused", "Ana Čović, Ivan Horvat"},
		{"First name,Last name,Phone\nAna,Covic,1\nEva,B,2\n,C,3\n", imports.Options{Update: true, SkipBad: true, Spelling: true},
			"2 applied true: 1 added, 1 changed, 0 left, 1 refused", "Ana Covic, Ivan Horvat, Eva B"},
		{"First name,Last name,Phone\n,C,3\n", imports.Options{SkipBad: true},
			"no number applied true: 0 added, 0 changed, 0 left, 1 refused", "Ana Covic, Ivan Horvat, Eva B"},
	} {
		before := check(t, s, ours, step.content, step.o)
		r := apply(t, s, step.content, step.o)
		if got := counts(r); got != step.want || names(t, s) != step.names {
			t.Errorf("%q: %s, %s; want %s, %s", step.content, got, names(t, s), step.want, step.names)
		}
		before.Applied, before.Number = r.Applied, r.Number
		if before, after := counts(before), counts(r); before != after {
			t.Errorf("%q: the dry run said %s, and it did %s", step.content, before, after)
		}
	}
	made, err := s.Imports(ours)
	must(t, err)
	if len(made) != 2 || made[1].File != "list.csv" || made[1].Added != 2 || made[0].Changed != 1 {
		t.Errorf("the imports are %+v", made)
	}
}

func TestSameFile(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	apply(t, s, list, imports.Options{})
	want := "This file was imported before: import 1 on 22 November 2026."
	for name, r := range map[string]*imports.Outcome{
		"dry run": check(t, s, ours, list, imports.Options{}), "apply": apply(t, s, list, imports.Options{}),
	} {
		if len(r.Warnings) != 1 || r.Warnings[0] != want || r.Same == nil {
			t.Errorf("%s: %q", name, r.Warnings)
		}
	}
	_, err := s.TakeBack(ours, 0, 1)
	must(t, err)
	if r := check(t, s, ours, list, imports.Options{}); len(r.Warnings) != 0 {
		t.Errorf("after the import was taken back: %q", r.Warnings)
	}
}

func TestNewDepartment(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	if got := counts(check(t, nil, 0, list, imports.Options{})); got != "no number applied false: 2 added, 0 changed, 0 left, 0 refused" {
		t.Errorf("the dry run says %s", got)
	}
	r, err := read(t, list, imports.Options{Department: "Ladder 1"}).Apply(t.Context(), s, 0, 0, nil)
	must(t, err)
	tenant, err := s.Tenant("Ladder 1")
	if err != nil || r.Added != 2 || *r.Number != 1 {
		t.Errorf("%s, %v", counts(r), err)
	}
	if r := check(t, s, tenant, list, imports.Options{}); r.Left != 2 {
		t.Errorf("then %s", counts(r))
	}
}

func TestReportJSON(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	content := "Vorname;Name;Geburtsdatum;Spind;E-Mail\nAna;B;15.05.1990;x;a@\nEva;C;;;\n"
	var got, want any
	must(t, json.Unmarshal(check(t, s, ours, content, imports.Options{}).JSON(), &got))
	must(t, json.Unmarshal([]byte(`{"number": null, "applied": false, "added": 1, "changed": 0, "left": 0, "refused": 1, "perhaps": 0, "differ": 0, "leftOut": 0,
		"file": {"format": "csv", "encoding": "utf-8", "delimiter": ";", "sheet": null}, "dates": "dmy",
		"columns": [{"header": "Vorname", "field": "firstName"}, {"header": "Name", "field": "lastName"}, {"header": "Geburtsdatum", "field": "dateOfBirth"},
			{"header": "Spind", "field": null}, {"header": "E-Mail", "field": "email"}],
		"rows": [{"row": 2, "result": "refused", "id": null, "errors": [
			{"field": "email", "code": "invalid", "detail": "email must be one bare e-mail address, like name@example.org."}]}],
		"warnings": []}`), &want))
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

func TestIdempotentApply(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	must(t, s.CreateKey(store.NewKey{Tenant: "Engine 7", Scope: store.ScopeWrite}, func(string) error { return nil }))
	key := &store.IdempotencyKey{By: 1, Key: "once", Hash: make([]byte, 32)}
	r, err := read(t, list, imports.Options{}).Apply(t.Context(), s, ours, 1, key)
	must(t, err)
	_, err = read(t, list, imports.Options{}).Apply(t.Context(), s, ours, 1, key)
	_, stored, readErr := s.Replay(ours, key)
	if !errors.As(err, new(*store.RepeatedError)) || readErr != nil || string(stored) != string(r.JSON()) {
		t.Errorf("sent again: %v; the first answer was %s, and %s is stored", err, r.JSON(), stored)
	}
	if names(t, s) != "Ana Čović, Ivan Horvat" {
		t.Errorf("the department has %s", names(t, s))
	}
}

// TestRowsOfJSON: it has the rows that are not plainly added or left, or all of them, and
// all have the ids that their people have now, also where the answer is sent again.
func TestRowsOfJSON(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	must(t, s.CreateKey(store.NewKey{Tenant: "Engine 7", Scope: store.ScopeWrite}, func(string) error { return nil }))
	first := apply(t, s, "firstName,lastName,phoneNumber\nAna,Kos,1\nEva,Kos,2\n", imports.Options{})
	ids := []string{*first.All[0].ID, *first.All[1].ID}
	if len(first.Rows) != 0 || ids[0] == ids[1] {
		t.Fatalf("first %+v, and %q", first.Rows, ids)
	}
	const content = "firstName,lastName,phoneNumber\nIva,Kos,3\nAna,Kos,1\nMia,,\nEva,Kos,22\n"
	for _, tt := range []struct {
		o    imports.Options
		want string
	}{
		{imports.Options{Update: true}, "4 refused -, 5 changed eva"},
		{imports.Options{Update: true, AllRows: true}, "2 added -, 3 left ana, 4 refused -, 5 changed eva"},
		{imports.Options{Update: true, SkipBad: true, Apply: true, AllRows: true}, "2 added iva, 3 left ana, 4 refused -, 5 changed eva"},
	} {
		f, r := read(t, content, tt.o), (*imports.Outcome)(nil)
		var err error
		key := &store.IdempotencyKey{By: 1, Key: "rows", Hash: make([]byte, 32)}
		if tt.o.Apply {
			r, err = f.Apply(t.Context(), s, ours, 1, key)
		} else {
			r, err = f.Check(t.Context(), s, ours)
		}
		must(t, err)
		known := map[string]string{ids[0]: "ana", ids[1]: "eva"}
		must(t, s.ReadRoster(ours, func(r store.Roster) error {
			return r.Each(func(p *record.Stored) {
				if p.FirstName == "Iva" {
					known[p.ID] = "iva"
				}
			})
		}))
		var got []string
		for _, row := range r.Rows {
			name := "-"
			if row.ID != nil {
				name = known[*row.ID]
			}
			got = append(got, fmt.Sprint(row.Row, " ", row.Result, " ", name))
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%+v: %s", tt.o, strings.Join(got, ", "))
		}
		if _, stored, err := s.Replay(ours, key); tt.o.Apply && (err != nil || string(stored) != string(r.JSON())) {
			t.Errorf("%v; %s is stored, and the answer was %s", err, stored, r.JSON())
		}
	}
}

// in1250 is "Čović" in windows-1250.
const in1250 = "Vorname;Nachname;Spind\nAna;\xc8ovi\xe6;x\nEva;B;\xe6\nIvan;Kova\xe8;\n"

// TestEncodingThatIsNotCertain: the dry run names the candidates, and the import waits.
func TestEncodingThatIsNotCertain(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f := read(t, in1250, imports.Options{})
	r, err := f.Check(t.Context(), s, ours)
	must(t, err)
	for _, warning := range []string{
		`The encoding is not certain. In windows-1252: "Ana Èoviæ", "Ivan Kovaè".`,
		`The encoding is not certain. In windows-1250: "Ana Čović", "Ivan Kovač".`,
	} {
		if !slices.Contains(r.Warnings, warning) {
			t.Errorf("the dry run warns %q", r.Warnings)
		}
	}
	if _, err = f.Apply(t.Context(), s, ours, 0, nil); !errors.As(err, new(*imports.EncodingError)) {
		t.Errorf("it was applied: %v", err)
	}
	apply(t, s, in1250, imports.Options{Encoding: sheet.Windows1250})
	if got := names(t, s); got != "Ana Čović, Eva B, Ivan Kovač" {
		t.Errorf("the department has %s", got)
	}
	if f := read(t, "Vorname;Nachname;Spind\nEva;B;\xe6\n", imports.Options{}); f.Unsure != nil {
		t.Errorf("a column that is left out matters: %v", f.Unsure)
	}
}

func TestFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for content, want := range map[string]any{
		"%PDF-1.7\n1 0 obj": new(*sheet.FileError),
		"a,b\n1,2\n":        new(*mapping.ColumnsError),
		"First name,Last name,Birthday\nAna,B,05/06/1990\n": new(*mapping.DatesError),
	} {
		f, err := imports.Read(t.Context(), []byte(content), imports.Options{}, now)
		if !errors.As(err, want) {
			t.Errorf("%q: %v", content, err)
		}
		if f == nil {
			continue
		}
		_, checked := f.Check(t.Context(), s, ours)
		_, applied := f.Apply(t.Context(), s, ours, 0, nil)
		_, compared := f.Compare(t.Context(), s, ours)
		for _, err := range []error{checked, applied, compared} {
			if !errors.As(err, want) {
				t.Errorf("%q: %v", content, err)
			}
		}
	}
}

// TestForeignIDs: ids of another department are refused, those who were deleted are named
// as such, and without the column of the ids they are new people.
func TestForeignIDs(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	r := apply(t, s, list, imports.Options{})
	export := fmt.Sprintf("id,firstName,lastName,email\n%s,Ana,Čović,ana@example.com\n%s,Ivan,Horvat,\n", *r.All[0].ID, *r.All[1].ID)
	must(t, s.AddDepartments([]store.Department{{Name: "Ladder 1"}}))
	const other = ours + 1
	if r := check(t, s, other, export, imports.Options{}); r.Refused != 2 || r.All[0].Deleted != "" || r.All[0].Errors[0].Detail != "id is that of nobody in this department." {
		t.Errorf("in another department: %+v", r)
	}
	without := imports.Options{Headers: []mapping.Header{{Header: "id", Field: mapping.LeftOut}}}
	if r, err := read(t, export, without).Apply(t.Context(), s, other, 0, nil); err != nil || r.Added != 2 || r.Refused != 0 {
		t.Errorf("without their ids: %+v, %v", r, err)
	}
	_, err := s.TakeBack(ours, 0, *r.Number)
	must(t, err)
	if again := check(t, s, ours, export, imports.Options{}); again.Refused != 2 || again.All[1].Deleted != *r.All[1].ID {
		t.Errorf("after an undo: %+v", again)
	}
}

// says reports whether an outcome has a note with a code.
func says(o *imports.Outcome, code string) bool {
	return slices.ContainsFunc(o.Notes, func(n sheet.Note) bool { return n.Code == code })
}

// groups returns the names of the rows of each group of a comparison, with what differs.
func groups(found *imports.Comparison) string {
	var all []string
	for _, group := range found.Groups {
		for _, r := range group.Rows {
			all = append(all, strings.TrimSpace(fmt.Sprint(group.Name, " ", r.Name, " ", r.Changes())))
		}
	}
	return strings.ReplaceAll(strings.Join(all, "; "), " []", "")
}

// TestCompare: each person of ours and each row is in one group at most, each group is sorted
// by last name, and the names of several rows or people that could be one are in no group.
func TestCompare(t *testing.T) {
	t.Parallel()
	const mixed = "Name\n\"Kos, Eva\"\n\"Kos, Mia\"\nNovak Ana\nSteiner Maria\n"
	for _, tt := range []struct {
		ours, theirs, want string
		same               int
	}{
		{"Ime,Prezime,Mobitel\nAna,Čović,091 234\nIvan,Horvat,1\nMia,Perić,\n", "Ime,Prezime,Mobitel\nAna,Čović,099\nIvan,Horvat,\nNew,One,\n,X,\n",
			"onlyTheirs New One; onlyOurs Mia Perić; differ Ana Čović [{phoneNumber 091 234 099}]; refused X", 1},
		{"Ime,Prezime,Datum rođenja\nAna,Kos,15.05.1990\nIvo,Kos,15.05.1990\n", "Ime,Prezime,Datum rođenja\nEva,Kos,15.05.1990\n",
			"onlyOurs Ivo Kos; probably Eva Kos [{firstName Ana Eva}]", 0},
		{"Ime,Prezime\nAna,Novak\n", mixed, "onlyTheirs Eva Kos; onlyTheirs Mia Kos; onlyOurs Ana Novak; refused Novak Ana; refused Steiner Maria", 0},
		{"Ime,Prezime,Mobitel\nJürgen,Müller,091 234\nAna,Čović,\nIvan,Horvat,\nMia,Žic,\nEva,Babić,\n",
			"Ime,Prezime,Mobitel\nZoe,Neu,\nJuergen,Mueller,1\nANA,COVIC,\nHorvat,Ivan,\nAda,Alt,\nAda,Alt,\n",
			"onlyTheirs Ada Alt; onlyTheirs Zoe Neu; onlyOurs Eva Babić; onlyOurs Mia Žic; probably Horvat Ivan [{firstName Ivan Horvat} {lastName Horvat Ivan}]; " +
				"probably Juergen Mueller [{firstName Jürgen Juergen} {lastName Müller Mueller} {phoneNumber 091 234 1}]", 1},
		{"Ime,Prezime,Mobitel,E-mail\nIvan,Horvat,1,a@example.com\nIvan,Horvat,2,b@example.com\nEva,Babić,,\n", "Ime,Prezime\nIvan,Horvat\n", "onlyOurs Eva Babić; refused Ivan Horvat", 0},
	} {
		s := newStore(t)
		apply(t, s, tt.ours, imports.Options{})
		before := names(t, s)
		found, err := read(t, tt.theirs, imports.Options{}).Compare(t.Context(), s, ours)
		must(t, err)
		if got := groups(found); got != tt.want || found.Same != tt.same || names(t, s) != before || says(found.Outcome, imports.NoteSpelling) {
			t.Errorf("%s\nwant %s\n%d are the same, and then the department has %s", got, tt.want, found.Same, names(t, s))
		}
	}
}

// writeReport writes a report with the result and the first error of each row.
func writeReport(w io.Writer, format string, f *imports.File, o *imports.Outcome) error {
	return imports.WriteReport(w, format, f, o, []string{"result", "reason"}, func(r imports.Row) []string {
		if len(r.Errors) == 0 {
			return []string{r.Result, ""}
		}
		return []string{r.Result, r.Errors[0].Detail}
	})
}

func TestWriteReport(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f := read(t, "Vorname;Nachname;Spind\nAna;B;x\n\nEva;;y\n", imports.Options{})
	r, err := f.Check(t.Context(), s, ours)
	must(t, err)
	var out bytes.Buffer
	must(t, writeReport(&out, sheet.CSV, f, r))
	want := "Vorname;Nachname;Spind;result;reason\r\nAna;B;x;added;\r\nEva;;y;refused;lastName is required.\r\n"
	if got := strings.TrimPrefix(out.String(), "\ufeff"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWriteJSON: a report that is written row by row is the same as a whole.
func TestWriteJSON(t *testing.T) {
	t.Parallel()
	for _, list := range []string{
		"Vorname;Nachname;Geburtsdatum;<b>\nAna;Čović;<i>;\n",
		"Vorname;Nachname;\"\"\"rows\"\":[\"\n" + strings.Repeat(";\"\"\"rows\"\":[]\";x\n", 1000),
	} {
		r, err := read(t, list, imports.Options{}).Check(t.Context(), nil, 0)
		must(t, err)
		var b strings.Builder
		must(t, r.WriteJSON(&b))
		if strings.Contains(list, "<b>") != strings.Contains(b.String(), `"<b>"`) || strings.Contains(b.String(), `\u003c`) {
			t.Errorf("it escapes what HTML does: %s", b.String())
		}
		var whole strings.Builder
		encoder := json.NewEncoder(&whole)
		encoder.SetEscapeHTML(false)
		must(t, encoder.Encode(r))
		if want := strings.TrimSuffix(whole.String(), "\n"); b.String() != want || string(r.JSON()) != want || len(r.Rows) != r.Refused {
			t.Errorf("it is written as\n%.500s\nwant\n%.500s", b.String(), want)
		}
		for room := 0; room < b.Len(); room += 1 + b.Len()/100 {
			disk := &shortDisk{left: room}
			if err := r.WriteJSON(disk); err == nil || disk.tries > 1 {
				t.Fatalf("room for %d of %d bytes: %v, and %d tries more", room, b.Len(), err, disk.tries)
			}
		}
	}
}

// TestRelease: nothing stays of a file that was read but its people and, for each
// column, the first text. It can be imported and compared.
func TestRelease(t *testing.T) {
	t.Parallel()
	f := read(t, "First name,Last name,Locker,Empty\nAna,Horvat\nIva,Babić,captain\n", imports.Options{})
	f.Release()
	var first []string
	for _, cell := range f.Table.Rows[0].Cells {
		first = append(first, cell.Text)
	}
	if len(f.Table.Rows) != 1 || strings.Join(first, ",") != "Ana,Horvat,captain," {
		t.Errorf("%d rows stay, and of the columns %q", len(f.Table.Rows), first)
	}
	r, err := f.Check(t.Context(), nil, 0)
	if err != nil || r.Added != 2 || r.All[1].Name != "Iva Babić" {
		t.Errorf("got %+v, %v", r, err)
	}
}
