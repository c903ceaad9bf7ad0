package imports_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// roster returns the people of a department by their ids, and the ids in the order of
// creation.
func roster(t *testing.T, s *store.Store, tenant record.TenantID) (ids []string, people map[string]record.Fields) {
	t.Helper()
	people = map[string]record.Fields{}
	must(t, s.ReadRoster(tenant, func(r store.Roster) error {
		return r.Each(func(f *record.Stored) {
			ids = append(ids, f.ID)
			people[f.ID] = f.Fields
		})
	}))
	return ids, people
}

// FuzzSaid: an import does what the check before it has said, row by row, and nothing
// else, whatever somebody has said about the rows.
func FuzzSaid(f *testing.F) {
	for seed := range uint64(30) {
		f.Add(seed)
	}
	s := newStore(f)
	departments := 0
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 5))
		pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
		departments++
		name := fmt.Sprint("Ladder ", departments)
		must(t, s.AddDepartments([]store.Department{{Name: name}}))
		tenant, err := s.Tenant(name)
		must(t, err)
		for range 4 {
			ids, before := roster(t, s, tenant)
			anyID := func() string { return append(ids, "0198c0de-0000-7000-8000-000000000001")[random.IntN(len(ids)+1)] }
			o := imports.Options{Update: random.IntN(2) == 0, Spelling: random.IntN(4) == 0, SkipBad: random.IntN(3) > 0, AddPerhaps: random.IntN(4) == 0,
				LeaveOutBad: random.IntN(2) == 0, Same: map[int]string{}, Add: map[int]bool{}, Dates: "dmy"}
			list, rows := "id,First name,Last name,Phone,Email,Birthday\n", 1+random.IntN(6)
			for row := range rows {
				id := ""
				switch random.IntN(8) {
				case 0:
					id = anyID()
				case 1:
					o.Same[row+2] = anyID()
				case 2:
					o.Add[row+2] = true
				}
				list += strings.Join([]string{id, pick("Jürgen", "Juergen", "Ana", "Müller", ""), pick("Müller", "MUELLER", "Kos", "Jürgen"),
					pick("", "091 234 5678", "+385912345678"), pick("", "", "a@x.org", "A@x.org", "bad@"), pick("", "", "15.5.1990", "2.1.1960", "15.5.")}, ",") + "\n"
			}
			told, done := check(t, s, tenant, list, o), (*imports.Outcome)(nil)
			done, err := read(t, list, o).Apply(t.Context(), s, tenant, 0, nil)
			must(t, err)
			after, people := roster(t, s, tenant)
			says := fmt.Sprintf("%s%+v", list, o)
			if told.Added+told.Changed+told.Left+told.Refused+told.Perhaps != rows || len(told.All) != rows {
				t.Fatalf("%s: %s, %d perhaps", says, counts(told), told.Perhaps)
			}
			if done.Applied != (told.Refused+told.Perhaps == 0 || o.SkipBad) {
				t.Fatalf("%s: applied %t", says, done.Applied)
			}
			for i, row := range told.All {
				did := done.All[i]
				if row.Result == imports.Added && done.Applied {
					before[after[len(before)]] = *row.After
				}
				if row.Result == imports.Changed && done.Applied {
					before[*row.ID] = *row.After
				}
				if row.Result != did.Result || !reflect.DeepEqual(row.Errors, did.Errors) || !reflect.DeepEqual(row.Like, did.Like) ||
					!reflect.DeepEqual(row.After, did.After) || !reflect.DeepEqual(row.LeftOut, did.LeftOut) {
					t.Fatalf("%s: row %d was told %+v, and is %+v", says, row.Row, row, did)
				}
			}
			if !reflect.DeepEqual(before, people) {
				t.Fatalf("%s: the department is %v, want %v", says, people, before)
			}
		}
	})
}
