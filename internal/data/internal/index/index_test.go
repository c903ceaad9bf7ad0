package index

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// tenant is a Source, by default without a history.
type tenant struct {
	version int64
	records []tenantRecord  // in order of row numbers
	builds  int             // number of complete reads
	history map[int64]int64 // row number that each version changed; nil: no history
}

type tenantRecord struct {
	number int64
	record.Fields
	updated int64
}

// newTenant returns a tenant with random records, many of which are similar.
func newTenant(records int) *tenant {
	r := rand.New(rand.NewPCG(1, uint64(records)))
	pick := func(values ...string) string { return values[r.IntN(len(values))] }
	t := &tenant{version: 7}
	for i := range records {
		f := record.Fields{
			FirstName:   pick("Ana", "ana", "Čedo", "Cedo", "Žarko 100%", "\u0301", "Jürgen", "Juergen"),
			LastName:    pick("Babić", "BABIC", "Straße", "O'Neil", "Đ_q", "Ana", "Mu\u0308ller-Jäger", "MUELLER-Jäger"),
			PhoneNumber: pick("", "", "091 234 5678", "(091)2345678", "Ext. A-7/12", "ext. a-7/12", "\u0301", "+385 (0)91 234 5678", "00385912345678", "091 Büro"),
			Email:       pick("", "", "a@x.hr", "A@X.hr", "ana34-56@x.hr", "b@example.com", "á@x.hr", "Á@X.hr", "a\u0301@x.hr"),
			DateOfBirth: pick("", "", "1990-05-15T00:00:00+02:00", "1990-05-14T22:00:00Z", "1990-05-14T23:00:00Z", "1900-01-01T00:00:00Z"),
		}
		t.records = append(t.records, tenantRecord{7<<32 + int64(3*i), f, r.Int64N(20)})
	}
	return t
}

func (t *tenant) State() (State, error) { return t.state(), nil }

func (t *tenant) state() State { return State{t.version, int64(len(t.records))} }

func (t *tenant) Rows(each func(Row)) (last int64, err error) { return t.version, t.read(each) }

func (t *tenant) Changed(after, _ int64) (rows map[int64]*Row, last int64, ok bool, err error) {
	if t.history == nil {
		return nil, 0, false, nil
	}
	rows = map[int64]*Row{}
	for version := after + 1; version <= t.version; version++ {
		number := t.history[version]
		rows[number] = nil
		if i := slices.IndexFunc(t.records, func(r tenantRecord) bool { return r.number == number }); i >= 0 {
			row := t.records[i].row()
			rows[number] = &row
		}
	}
	return rows, t.version, true, nil
}

// reading is a Source without a history.
type reading struct {
	now  State
	read func(each func(Row)) error
}

func (r reading) State() (State, error) { return r.now, nil }

func (r reading) Rows(each func(Row)) (last int64, err error) { return 0, r.read(each) }

func (r reading) Changed(int64, int64) (map[int64]*Row, int64, bool, error) {
	return nil, 0, false, nil
}

// pageOf returns a page and whether the index answered.
func pageOf(c *Cache, number record.TenantID, source Source, q record.Query) (Page, bool, error) {
	p, _, ok, err := c.Page(number, source, q, nil)
	return p, ok, err
}

func (t *tenant) read(each func(Row)) error {
	t.builds++
	return t.each(each)
}

func (t *tenant) each(each func(Row)) error {
	for _, r := range t.records {
		each(r.row())
	}
	return nil
}

// terms returns the search terms of a text.
func terms(t *testing.T, search string) []record.Term {
	t.Helper()
	q, err := record.ParseQuery("search=" + search)
	if err != nil {
		t.Fatal(err)
	}
	return q.Terms
}

func (r tenantRecord) row() Row {
	keys := r.Keys()
	bornAt, hasBirth := keys[4].(int64)
	email := r.Email
	if strings.EqualFold(email, fold.String(email)) {
		email = ""
	}
	return Row{r.number, searchText(r.Fields), r.Expanded(), keys[6].(string), bornAt, hasBirth, r.updated, 0, email}
}

// searchText returns the SearchText of a record.
func searchText(f record.Fields) string {
	phone := cmp.Or(fold.String(f.PhoneNumber), f.PhoneNumber)
	return fold.String(f.FirstName+"\n"+f.LastName+"\n"+f.Email) + "\n" + phone
}

// page requests the first page by first name. It reports whether the index answered.
func (t *tenant) page(test *testing.T, c *Cache) bool {
	test.Helper()
	p, ok, err := pageOf(c, 1, t, byFirstName)
	if err != nil || ok && (p.Total != int64(len(t.records)) || len(p.Rows) != 20) {
		test.Fatalf("%+v, %v", p, err)
	}
	return ok
}

var byFirstName = record.Query{Page: 1, PageSize: 20, SortBy: record.ByFirstName}

// TestWhenTheIndexAnswers checks that the index answers for large tenants if SQL would have to
// sort, search or skip many records.
func TestWhenTheIndexAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		query string
		count int64
		want  bool
	}{
		{"first page", "", 500, false},
		{"near page", "page=10&pageSize=20", 500, false},
		{"far page", "page=11&pageSize=20", 500, true},
		{"past the end", "page=9007199254740991", 500, true},
		{"sorted", "sortBy=email", 500, true},
		{"searched", "search=a", 500, true},
		{"small", "sortBy=email", 199, false},
		{"narrowed", "hasEmail=true", 500, true},
		{"by ids", "sortBy=email&search=a&id=01a1f83c-64f7-795d-bc35-4c6516093415", 500, false},
		{"just large", "sortBy=email", 200, true},
		{"largest", "sortBy=email", 200_000, true},
		{"too large", "sortBy=email", 200_001, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q, err := record.ParseQuery(tt.query)
			if err != nil {
				t.Fatal(err)
			}
			table := newTenant(200)
			_, ok, err := pageOf(NewCache(), 1, reading{State{1, tt.count}, table.read}, q)
			if ok != tt.want || err != nil || (table.builds > 0) != tt.want {
				t.Errorf("%t, %v after %d builds", ok, err, table.builds)
			}
		})
	}
}

// TestVersionMoved checks that a snapshot only answers for its version, and is rebuilt no earlier
// than a second after the last build.
func TestVersionMoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, table := NewCache(), newTenant(300)
		for range 3 {
			if !table.page(t, c) || table.builds != 1 {
				t.Fatalf("%d builds", table.builds)
			}
		}
		time.Sleep(time.Second - 1)
		table.version++
		table.records = table.records[1:]
		if table.page(t, c) || table.builds != 1 {
			t.Errorf("another version within a second: %d builds", table.builds)
		}
		time.Sleep(time.Nanosecond)
		if !table.page(t, c) || table.builds != 2 {
			t.Errorf("another version after a second: %d builds", table.builds)
		}
		table.version--
		if table.page(t, c) {
			t.Error("an earlier version is answered from a later snapshot")
		}
	})
}

// TestOneBuild checks that while one caller reads a tenant, all others use SQL, including callers
// for other tenants.
func TestOneBuild(t *testing.T) {
	t.Parallel()
	c, table := NewCache(), newTenant(300)
	begun, goOn := make(chan bool), make(chan bool)
	var first sync.WaitGroup
	first.Go(func() {
		_, ok, err := pageOf(c, 1, reading{table.state(), func(each func(Row)) error {
			close(begun)
			<-goOn
			return table.read(each)
		}}, byFirstName)
		if !ok || err != nil {
			t.Errorf("the builder: %t, %v", ok, err)
		}
	})
	<-begun
	var others sync.WaitGroup
	for number := range record.TenantID(4) {
		others.Go(func() {
			_, ok, err := pageOf(c, number, reading{table.state(), func(func(Row)) error {
				t.Error("a second build")
				return nil
			}}, byFirstName)
			if ok || err != nil {
				t.Errorf("another caller: %t, %v", ok, err)
			}
		})
	}
	others.Wait()
	close(goOn)
	first.Wait()
	if !table.page(t, c) || table.builds != 1 {
		t.Errorf("%d builds", table.builds)
	}
	if _, ok, err := pageOf(c, 2, table, byFirstName); !ok || err != nil || table.builds != 2 {
		t.Errorf("another tenant after the build: %t, %v after %d builds", ok, err, table.builds)
	}
}

// rebuilt returns the rows of a page from a new index.
func (t *tenant) rebuilt(test *testing.T, q record.Query) []int64 {
	test.Helper()
	p, ok, err := pageOf(NewCache(), 1, reading{t.state(), t.each}, q)
	if !ok || err != nil {
		test.Errorf("%+v: %t, %v", q, ok, err)
	}
	return p.Rows
}

// TestConcurrentUse checks that callers can share a snapshot while its orders are computed.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	c, table := NewCache(), newTenant(300)
	table.page(t, c)
	found := terms(t, "a")
	var callers sync.WaitGroup
	for i := range 12 {
		callers.Go(func() {
			q := record.Query{Page: 1, PageSize: 100, SortBy: record.SortFields[i%len(record.SortFields)], Terms: found}
			p, ok, err := pageOf(c, 1, table, q)
			if !ok || err != nil || !slices.Equal(p.Rows, table.rebuilt(t, q)) {
				t.Errorf("%+v: %t, %v", q, ok, err)
			}
		})
	}
	callers.Wait()
}

// TestFailedBuild checks that an error or panic of the source ends the build.
func TestFailedBuild(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	fails := map[string]func(each func(Row)) error{
		"error": func(each func(Row)) error { each(Row{}); return broken },
		"panic": func(func(Row)) error { panic(broken) },
	}
	for name, fail := range fails {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, table := NewCache(), newTenant(300)
				func() {
					defer func() { recover() }()
					if _, ok, err := pageOf(c, 1, reading{table.state(), fail}, byFirstName); ok || !errors.Is(err, broken) {
						t.Errorf("%t, %v", ok, err)
					}
				}()
				if table.page(t, c) {
					t.Error("built again within a second")
				}
				time.Sleep(time.Second)
				if !table.page(t, c) {
					t.Error("not built again")
				}
			})
		})
	}
}

// TestShrunkTenant checks that a tenant that has become small has no snapshot. When it is large
// again, the minimum time between two builds still applies.
func TestShrunkTenant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, table := NewCache(), newTenant(minRecords)
		table.page(t, c)
		small := State{table.version + 1, minRecords - 1}
		if _, ok, err := pageOf(c, 1, reading{small, table.read}, byFirstName); ok || err != nil {
			t.Errorf("small: %t, %v", ok, err)
		}
		if table.page(t, c) || table.builds != 1 {
			t.Errorf("large again, within a second: %d builds", table.builds)
		}
		time.Sleep(time.Second)
		if !table.page(t, c) || table.builds != 2 {
			t.Errorf("large again, after a second: %d builds", table.builds)
		}
	})
}

// largeTenants are tenants of 300 records with long texts.
type largeTenants struct {
	cache  *Cache
	builds map[record.TenantID]int
}

// page requests a page of a tenant that takes size bytes. It reports whether the index answered. It
// calls during within a build.
func (l *largeTenants) page(t *testing.T, number record.TenantID, size int, during func()) bool {
	t.Helper()
	_, ok, err := pageOf(l.cache, number, reading{State{1, 300}, func(each func(Row)) error {
		l.builds[number]++
		during()
		text := strings.Repeat("x", size/300)
		for i := range 300 {
			each(Row{Number: int64(i), SearchText: text})
		}
		return nil
	}}, byFirstName)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// TestMemory checks that two tenants of 12 MB fit into memory and that a third one replaces both.
func TestMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &largeTenants{NewCache(), map[record.TenantID]int{}}
		page := func(number record.TenantID) bool { return l.page(t, number, 12e6, func() {}) }
		for _, number := range []record.TenantID{1, 2, 1, 2, 3, 3} {
			if !page(number) || l.builds[number] != 1 {
				t.Errorf("tenant %d: %d builds", number, l.builds[number])
			}
		}
		if page(1) || page(2) {
			t.Error("tenants 1 and 2 were not dropped")
		}
		time.Sleep(time.Second)
		if l.page(t, 4, maxBytes, func() {}) || l.builds[4] != 1 {
			t.Errorf("a tenant larger than the memory: %d builds", l.builds[4])
		}
		if !page(2) || !page(3) || l.builds[2] != 2 || l.builds[3] != 1 {
			t.Errorf("the tenant that does not fit replaced others: %v", l.builds)
		}
	})
}

// TestFollow checks that a snapshot follows the history in every order, without a build and without
// a pause between versions.
func TestFollow(t *testing.T) {
	t.Parallel()
	c, table := NewCache(), newTenant(300)
	table.history = map[int64]int64{}
	r := rand.New(rand.NewPCG(3, 4))
	for step := range 60 {
		for _, by := range record.SortFields {
			q := record.Query{Page: 1, PageSize: 1000, SortBy: by, Descending: step%2 == 0, Terms: terms(t, "a")}
			p, ok, err := pageOf(c, 1, table, q)
			if want := table.rebuilt(t, q); !ok || err != nil || !slices.Equal(p.Rows, want) {
				t.Fatalf("step %d, %s: %t, %v: %d, want %d", step, by, ok, err, p.Rows, want)
			}
		}
		for range 1 + r.IntN(3) {
			table.change(r)
		}
	}
	if table.builds != 1 {
		t.Errorf("%d builds", table.builds)
	}
}

// change adds, replaces or removes a record.
func (t *tenant) change(r *rand.Rand) {
	i := r.IntN(len(t.records))
	other := newTenant(300 + r.IntN(50)).records[r.IntN(300)]
	t.version++
	switch kind := r.IntN(3); {
	case kind == 0:
		other.number = t.records[len(t.records)-1].number + 1
		t.records = append(t.records, other)
		t.history[t.version] = other.number
	case kind == 1 || len(t.records) < 250:
		t.records[i].Fields, t.records[i].updated = other.Fields, other.updated
		t.history[t.version] = t.records[i].number
	default:
		t.history[t.version] = t.records[i].number
		t.records = slices.Delete(t.records, i, i+1)
	}
}
