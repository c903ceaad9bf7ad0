package acceptance

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
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

// newRandomDepartment creates a database with a department of random people.
func newRandomDepartment(t *testing.T, random *rand.Rand, count int) (db string) {
	t.Helper()
	db = filepath.Join(t.TempDir(), "x.db")
	s := openAt(t, db, time.Now)
	defer s.Close()
	_, _, err := s.Import(0, store.NewImport{Department: "Engine 7", Hash: make([]byte, 32), Decide: func(store.Roster) (people []store.Person, err error) {
		for range count {
			people = append(people, store.Person{Fields: anyone(random, time.Now())})
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
			db := newRandomDepartment(t, rand.New(rand.NewPCG(7, uint64(i))), 600)
			execSQL(t, db, `UPDATE firefighters SET invitation_status = '=accepted', user_id = id WHERE row % 3 = 0`)
			before := peopleOf(t, db)
			file := filepath.Join(t.TempDir(), "people."+format)
			works(t, "export", "--tenant", "Engine 7", "--db", db, "-o", file)
			stdout, _ := works(t, "import", file, "--tenant", "Engine 7", "--db", db, "--update", "--apply", "--json")
			var report imports.Outcome
			decode(t, stdout, &report)
			if report.Left != len(before) || report.Number != nil || report.Added+report.Changed+report.Refused > 0 {
				t.Errorf("left %d of %d, added %d, changed %d: %+v", report.Left, len(before), report.Added, report.Changed, report.Rows)
			}
			if !slices.Equal(before, peopleOf(t, db)) {
				t.Error("a record changed")
			}
		})
	}
}
