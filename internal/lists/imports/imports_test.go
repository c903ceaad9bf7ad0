package imports_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
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

// newStore returns a store with the production schema and an empty department ours.
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
	f, err := tryRead(t, []byte(content), o)
	must(t, err)
	return f
}

func tryRead(t testing.TB, content []byte, o imports.Options) (*imports.File, error) {
	t.Helper()
	list, err := imports.Read(t.Context(), content, o, now)
	if err != nil {
		return nil, err
	}
	return list.Map(t.Context(), o, now)
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

// names returns the people of the department in creation order.
func names(t testing.TB, s *store.Store) string {
	t.Helper()
	var all []string
	must(t, s.ReadRoster(ours, func(r store.Roster) error {
		return r.Each(t.Context(), func(f *record.Stored) { all = append(all, f.FirstName+" "+f.LastName) })
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

// hasNote reports whether an outcome has a note with a code.
func hasNote(o *imports.Outcome, code string) bool {
	return slices.ContainsFunc(o.Notes, func(n sheet.Note) bool { return n.Code == code })
}

// groups returns the names in each group of a comparison, with their differences.
func groups(found *imports.Comparison) string {
	var all []string
	for _, group := range found.Groups {
		for _, r := range group.Rows {
			all = append(all, strings.TrimSpace(fmt.Sprint(group.Name, " ", r.Name, " ", r.Changes())))
		}
	}
	return strings.ReplaceAll(strings.Join(all, "; "), " []", "")
}

// TestCompare checks that each person and row is in at most one group, that groups are sorted by
// last name, and that ambiguous people are in no group.
func TestCompare(t *testing.T) {
	t.Parallel()
	const mixed = "Name\n\"Kos, Eva\"\n\"Kos, Mia\"\nNovak Ana\nSteiner Maria\n"
	for _, tt := range []struct {
		ours, theirs, want string
		same               int
	}{
		{"Ime,Prezime,Mobitel\nAna,Čović,091 234\nIvan,Horvat,1\nMia,Perić,\n", "Ime,Prezime,Mobitel\nAna,Čović,099\nIvan,Horvat,\nNew,One,\n,X,\n",
			"onlyTheirs New One; onlyOurs Mia Perić; probably Ana Čović [{phoneNumber 091 234 099}]; refused X", 1},
		{"Ime,Prezime,Datum rođenja\nAna,Kos,15.05.1990\nIvo,Kos,15.05.1990\n", "Ime,Prezime,Datum rođenja\nEva,Kos,15.05.1990\n",
			"probably Eva Kos [{firstName Ana Eva}]", 0}, // Eva could also be Ivo
		{"Ime,Prezime,Mobitel,E-mail\nAna,Čović,091 234,a@example.com\nIvan,Horvat,1,i@example.com\n",
			"Ime,Prezime,Mobitel,E-mail\nAna,Čović,091 234,b@example.com\nIVAN,HORVAT,2,I@Example.com\n",
			"differ Ana Čović [{email a@example.com b@example.com}]; differ IVAN HORVAT [{phoneNumber 1 2}]", 0},
		{"Ime,Prezime,Mobitel,E-mail\nAna,Kos,091/234-5678,A@x.hr\nIvo,Kos,+385 91 111 2222,\nUta,Müller,,\n",
			"Ime,Prezime,Mobitel,E-mail\nAna,Kos,091 234 5678,a@X.hr\nIvo,Kos,091 1112222,\nUta,Müller,01 222,\n",
			"differ Uta Müller [{phoneNumber  01 222}]", 2},
		{"Ime,Prezime\nAna,Novak\n", mixed, "onlyTheirs Eva Kos; onlyTheirs Mia Kos; refused Steiner Maria", 1}, // Ana Novak in the other reading,
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
		if got := groups(found); got != tt.want || found.Same != tt.same || names(t, s) != before || hasNote(found.Outcome, imports.NoteSpelling) {
			t.Errorf("%s\nwant %s\n%d equal, department: %s", got, tt.want, found.Same, names(t, s))
		}
	}
}

// TestOnlyOurs checks that people whom a refused or undecided row may mean do not count as missing.
func TestOnlyOurs(t *testing.T) {
	t.Parallel()
	const header = "Ime,Prezime,Mobitel,E-mail,Datum rođenja\n"
	for _, tt := range []struct {
		name, theirs string
		unclear      int
		want         string
	}{
		{"nobody", "Eva,Kos,,,\n", 0, "Ana Čović, Jürgen Müller, Ana-Marija Kos, Ivan Horvat"},
		{"a bad e-mail", "Juergen,Mueller,,nothing,\nAna Marija,Kos,,nothing,\n", 1, "Ana Čović, Ivan Horvat"}, // Jürgen is certain
		{"a possible duplicate", "Ana,Čović,092 999,,\nAna Marija,Kos,,,\n", 0, "Jürgen Müller, Ivan Horvat"},
		{"one person twice", "Ana,Čović,092 999,,\nAna,Čović,092 998,,\n", 1, "Jürgen Müller, Ana-Marija Kos, Ivan Horvat"},
		{"the son with a bad e-mail", "Ivan,Horvat,,nothing,15.1.1990.\n", 0, "Ana Čović, Jürgen Müller, Ana-Marija Kos, Ivan Horvat"},
		{"the son, perhaps, with a bad e-mail", "Ivan,Horvat,1,nothing,15.1.1990.\n", 1, "Ana Čović, Jürgen Müller, Ana-Marija Kos"},
	} {
		s := newStore(t)
		apply(t, s, header+"Ana,Čović,091 234,,\nJürgen,Müller,,,\nAna-Marija,Kos,,,\nIvan,Horvat,1,,13.1.1960.\n", imports.Options{})
		found, err := read(t, header+tt.theirs, imports.Options{}).Compare(t.Context(), s, ours)
		must(t, err)
		var missing []string
		for _, row := range found.Rows(imports.OnlyOurs) {
			missing = append(missing, row.Name)
		}
		slices.Sort(missing)
		want := strings.Split(tt.want, ", ")
		slices.Sort(want)
		if !slices.Equal(missing, want) || found.Unclear != tt.unclear {
			t.Errorf("%s: missing %v, %d unclear, want %v, %d", tt.name, missing, found.Unclear, want, tt.unclear)
		}
	}
}

// TestSettledQuestions checks that a list raises no question if all of its values are in the department.
func TestSettledQuestions(t *testing.T) {
	t.Parallel()
	const list = "Ime,Prezime,Datum rođenja\nAna,Kos,05/06/1990\nIvo,Kos,07/08/1991\n"
	s := newStore(t)
	apply(t, s, list, imports.Options{Answers: map[string]string{"dates": "dmy"}})
	for _, tt := range []struct {
		list string
		open int
	}{
		{list, 0}, {"Ime,Prezime,Datum rođenja\nIVO,KOS,07/08/1991\n", 0}, {list + "Mia,Kos,01/02/1990\n", 1}, {list + "Ana,Kos,05/06/1990\n", 0},
		{"Ime,Prezime,Datum rođenja\nAna,Kos,06/05/1990\nIvo,Kos,08/07/1991\n", 1}, {"Ime,Prezime,Datum rođenja\nAna,Kos,05/06/1990\n,Kos,\n", 1},
	} {
		o := check(t, s, ours, tt.list, imports.Options{Update: true})
		if len(o.Open()) != tt.open {
			t.Errorf("%q asks about %v", tt.list, o.Open())
		}
		if o = apply(t, s, tt.list, imports.Options{}); o.Applied != (tt.open == 0) {
			t.Errorf("%q: applied %t", tt.list, o.Applied)
		}
	}
	const late = "Ime,Prezime,Datum rođenja\nEva,Perić,1985-04-12T22:00:00Z\nMia,Perić,1990-01-14T23:00:00Z\n"
	apply(t, s, late, imports.Options{Answers: map[string]string{"midnight": "change"}})
	for more, open := range map[string]int{"": 0, "Jan,Perić,\n": 0, "Jan,Perić,1990-01-14T23:00:00Z\n": 1} {
		if o := check(t, s, ours, late+more, imports.Options{}); len(o.Open()) != open {
			t.Errorf("%q more asks about %v", more, o.Open())
		}
	}
	latin := "Ime;Prezime\nJ\xfcrgen;M\xfcller\n" // in many encodings
	apply(t, s, latin, imports.Options{Answers: map[string]string{"encoding": "windows-1252"}})
	if o := check(t, s, ours, latin, imports.Options{}); o.Open() != nil {
		t.Errorf("the same list again asks about %v", o.Open())
	}
}

// TestJSON checks that the JSON of an outcome has no HTML escapes.
func TestJSON(t *testing.T) {
	t.Parallel()
	r, err := read(t, "Vorname;Nachname;Geburtsdatum;<b>\nAna;Čović;<i>;\n", imports.Options{}).Check(t.Context(), nil, 0)
	must(t, err)
	if text := string(r.JSON()); !strings.Contains(text, `"<b>"`) || strings.Contains(text, `\u003c`) || !strings.HasSuffix(text, "}") {
		t.Error(text)
	}
}

// TestRelease checks that a released file keeps only its people and the first text of each column,
// and can still be imported and compared.
func TestRelease(t *testing.T) {
	t.Parallel()
	f := read(t, "First name,Last name,Locker,Empty\nAna,Horvat\nIva,Babić,captain\n", imports.Options{})
	f.Release()
	var first []string
	for _, cell := range f.Table.Rows[0].Cells {
		first = append(first, cell.Text)
	}
	if len(f.Table.Rows) != 1 || strings.Join(first, ",") != "Ana,Horvat,captain," {
		t.Errorf("%d rows remain, columns %q", len(f.Table.Rows), first)
	}
	r, err := f.Check(t.Context(), nil, 0)
	if err != nil || r.Added != 2 || r.All[1].Name != "Iva Babić" {
		t.Errorf("got %+v, %v", r, err)
	}
}
