package acceptance

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// scripts are the characters of each script, in the order of the names of the scripts.
var scripts = func() (all [][]rune) {
	var names []string
	for name := range unicode.Scripts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		var letters []rune
		for _, r := range unicode.Scripts[name].R16 {
			for c := rune(r.Lo); c <= rune(r.Hi) && len(letters) < 500; c += rune(r.Stride) {
				letters = append(letters, c)
			}
		}
		for _, r := range unicode.Scripts[name].R32 {
			for c := rune(r.Lo); c <= rune(r.Hi) && len(letters) < 500; c += rune(r.Stride) {
				letters = append(letters, c)
			}
		}
		all = append(all, letters)
	}
	return all
}()

// awkward are texts that a format or a program could misread.
var awkward = []string{
	"]]>", "'", "''", "=1+1", "+1", "'+1", "-", "@home", "'@home", `"`, `"a";b`, "a,b", "a|b", "a;b", `a\b`, `a\nb`, `\`, "_x0041_", "_xD83D_", "1E5", "007", "1/2/90",
	"4.41E+11", "TRUE", "#N/A", "NULL", "-", "sep=;", "id", "null", "<b>&amp;", "x  y", "\u200fa\u200e", "\ufeffa", "a\u2028b", "a\u00a0b", "👩‍🚒", "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A",
	"BEGIN:VCARD", "a:b", "=20", "_x005F_", "tel:5", "data:x", "'=", "0049", "1990-05-15", "\ufffe", "\uffff", "a\U0010ffff", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "0/0/00", "ﷺ", "İ", "ǅ",
	strings.Repeat("ж", 100), strings.Repeat("😀", 50),
}

// anyText returns a random text of one script, or an awkward one.
func anyText(random *rand.Rand) string {
	if random.IntN(4) == 0 {
		return awkward[random.IntN(len(awkward))]
	}
	letters := scripts[random.IntN(len(scripts))]
	text := ""
	for range 1 + random.IntN(12) {
		text += string(letters[random.IntN(len(letters))])
	}
	return text
}

// anyone returns a random person with valid fields.
func anyone(random *rand.Rand, now time.Time) record.Fields {
	births := []string{"", "1990-05-15", "1990-05-15T00:00:00+02:00", "1990-05-14T23:30:00-09:30", "1988-02-29T12:34:56.789Z", "1900-01-01", "2000-01-01T00:00:00.00000000000000000001Z"}
	mails := []string{"", "ana@example.com", "ANA@Example.COM", "čović@example.com", "'x@example.com", "=x@example.com", "-x@example.com", "x+y@example.com"}
	for {
		f := record.Fields{FirstName: anyText(random), LastName: anyText(random), Email: mails[random.IntN(len(mails))], DateOfBirth: births[random.IntN(len(births))]}
		if random.IntN(2) == 0 {
			f.PhoneNumber = anyText(random)
		}
		if f, errs := f.Normalize(now); len(errs) == 0 && len([]rune(f.PhoneNumber)) <= 50 {
			return f
		}
	}
}

// newRandomDepartment creates a database with a department of random people, whose names differ if unique
// is set.
func newRandomDepartment(t *testing.T, random *rand.Rand, count int, unique bool) (db string) {
	t.Helper()
	db = filepath.Join(t.TempDir(), "x.db")
	s := openAt(t, db, time.Now)
	defer s.Close()
	_, _, err := s.Import(0, store.NewImport{Department: "Engine 7", Hash: make([]byte, 32), Decide: func(store.Roster) (people []store.Person, err error) {
		names := map[string]bool{}
		for len(people) < count {
			f := anyone(random, time.Now())
			if name := fold.String(f.FirstName + " " + f.LastName); !names[name] || !unique {
				names[name] = true
				people = append(people, store.Person{Fields: f})
			}
		}
		return people, nil
	}})
	must(t, err)
	return db
}

// TestRoundTrip checks that an import of an exported department changes nothing, whatever the
// names.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for i, format := range sheet.Formats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			db := newRandomDepartment(t, rand.New(rand.NewPCG(7, uint64(i))), 600, false)
			execSQL(t, db, `UPDATE firefighters SET invitation_status = '=accepted', user_id = id WHERE row % 3 = 0`)
			before := peopleOf(t, db)
			file := filepath.Join(t.TempDir(), "people."+format)
			works(t, "export", "--tenant", "Engine 7", "--db", db, "-o", file)
			changesNothing(t, db, file, before)
		})
	}
}

// changesNothing checks that an import of a file changes nothing in a department of these people, and
// has no question without an answer.
func changesNothing(t *testing.T, db, file string, people []string) {
	t.Helper()
	stdout, _ := works(t, "import", file, "--tenant", "Engine 7", "--db", db, "--update", "--apply", "--json")
	var report struct {
		Number    *int
		Left      int
		Rows      []json.RawMessage
		Questions []struct{ Answer string }
	}
	must(t, json.Unmarshal([]byte(stdout), &report))
	if report.Left != len(people) || report.Number != nil || len(report.Rows) > 0 {
		t.Errorf("left %d of %d: %s", report.Left, len(people), report.Rows)
	}
	for _, q := range report.Questions {
		if q.Answer == "" {
			t.Errorf("a question without an answer: %s", stdout)
		}
	}
	if !slices.Equal(people, peopleOf(t, db)) {
		t.Error("a record changed")
	}
}

// TestRoundTripForPeople is TestRoundTrip for the form without ids, of people with different names.
func TestRoundTripForPeople(t *testing.T) {
	t.Parallel()
	for i, format := range []string{sheet.CSV, sheet.XLSX} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			db := newRandomDepartment(t, rand.New(rand.NewPCG(8, uint64(i))), 600, true)
			before := peopleOf(t, db)
			var b bytes.Buffer
			s := openAt(t, db, time.Now)
			form := sheet.Form{Labels: []string{"Prénom", "Nom", "Téléphone", "E-mail", "Date de naissance"}}
			must(t, sheet.WriteAll(t.Context(), &b, format, form, func(write func(*record.Firefighter) error) error {
				return s.Each(1, record.Query{SortBy: record.ByLastName}, write)
			}))
			must(t, s.Close())
			file := filepath.Join(t.TempDir(), "people."+format)
			must(t, os.WriteFile(file, b.Bytes(), 0o600))
			changesNothing(t, db, file, before)
		})
	}
}
