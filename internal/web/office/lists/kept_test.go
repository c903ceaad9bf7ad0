package lists

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

func TestKeptLists(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	u := newKeptLists()
	u.now = func() time.Time { return now }
	first := u.add(&keptList{tenant: 1, name: "people.csv", file: upload.FromText(1, "a")})
	if got := u.find(1, first.token); got != first || got.name != "people.csv" || len(got.token) < 20 {
		t.Errorf("found %+v, want the added list", got)
	}
	if u.find(2, first.token) != nil || u.find(1, "") != nil || u.find(1, first.token+"x") != nil {
		t.Error("found a list with another department or token")
	}
	now = now.Add(keptFor - 1)
	second := u.add(&keptList{tenant: 1, file: upload.FromText(1, "")})
	if u.find(1, first.token) == nil {
		t.Error("a list was evicted too early")
	}
	now = now.Add(1)
	if u.find(1, first.token) != nil || u.find(1, second.token) == nil || len(u.all) != 1 {
		t.Error("an expired list was kept, or a new list was evicted")
	}
}

func TestKeptListsAreBounded(t *testing.T) {
	t.Parallel()
	large, many := newKeptLists(), newKeptLists()
	first := large.add(&keptList{tenant: 1, file: upload.FromText(1, strings.Repeat("x", 10<<20))})
	small := many.add(&keptList{tenant: 1, file: upload.FromText(1, "")})
	for range 3 {
		large.add(&keptList{tenant: 1, file: upload.FromText(1, strings.Repeat("x", 10<<20))})
	}
	for range mostKept - 1 {
		many.add(&keptList{tenant: 1, file: upload.FromText(1, "")})
	}
	if large.find(1, first.token) == nil || many.find(1, small.token) == nil {
		t.Error("a list was evicted despite enough room")
	}
	large.add(&keptList{tenant: 1, file: upload.FromText(1, "x")})
	many.add(&keptList{tenant: 1, file: upload.FromText(1, "")})
	if large.find(1, first.token) != nil || len(large.all) != 4 || many.find(1, small.token) != nil || len(many.all) != mostKept {
		t.Errorf("%d large and %d small lists are kept, want 4 and %d without the oldest", len(large.all), len(many.all), mostKept)
	}
}

// TestKeptListsAreFair checks that the lists of one department do not evict the lists of a
// department that uses less.
func TestKeptListsAreFair(t *testing.T) {
	t.Parallel()
	large, many := newKeptLists(), newKeptLists()
	first := large.add(&keptList{tenant: 1, file: upload.FromText(1, "a")})
	small := many.add(&keptList{tenant: 1, file: upload.FromText(1, "")})
	for range 9 {
		large.add(&keptList{tenant: 2, file: upload.FromText(2, strings.Repeat("x", 10<<20))})
	}
	for range 2 * mostKept {
		many.add(&keptList{tenant: 2, file: upload.FromText(2, "")})
	}
	if large.find(1, first.token) == nil || many.find(1, small.token) == nil {
		t.Error("the list of another department was evicted")
	}
}

// TestNewestListStays checks that a new list is not evicted itself. The oldest list of the department
// with the most bytes is evicted, or the oldest list of equal departments.
func TestNewestListStays(t *testing.T) {
	t.Parallel()
	size := func(megabytes int) *upload.File { return upload.FromText(1, strings.Repeat("x", megabytes<<20)) }
	other := size(9)
	for name, newest := range map[string]*upload.File{"as large as the others": other, "the largest": size(10)} {
		for range 20 { // a random order shows only in several runs
			k := newKeptLists()
			first := k.add(&keptList{tenant: 1, file: other})
			for tenant := range record.TenantID(3) {
				k.add(&keptList{tenant: 2 + tenant, file: other})
			}
			last := k.add(&keptList{tenant: 5, file: newest})
			if k.find(5, last.token) == nil || k.find(1, first.token) != nil || len(k.all) != 4 {
				t.Fatalf("newest list %s: it was evicted, or the oldest list was kept", name)
			}
		}
	}
}

// listOnDisk returns an uploaded list in a temporary file.
func listOnDisk(t *testing.T, text string) *keptList {
	r := httptest.NewRequest("POST", importPath, strings.NewReader(text))
	file, err := upload.ReceiveBody(httptest.NewRecorder(), r, 1, upload.MaxFile)
	if err != nil {
		t.Fatal(err)
	}
	return &keptList{tenant: 1, file: file}
}

// people returns a list of people with at least size bytes.
func people(size int) string {
	const row = "Ana;Horvat\n"
	return "First name;Last name\n" + strings.Repeat(row, size/len(row)+1)
}

// TestPreviewOfEvictedList checks that a preview gets the whole list or no list while another upload
// evicts it. Only the race detector finds an unsafe use of the file.
func TestPreviewOfEvictedList(t *testing.T) {
	t.Parallel()
	k, text, now := newKeptLists(), people(100<<10), time.Now()
	preview := onList(func(v visit) error {
		list := k.find(1, v.form().Get("token"))
		v.W.WriteHeader(http.StatusOK)
		if list == nil {
			return nil
		}
		cells, err := k.read(t.Context(), list, imports.Options{}, now)
		if errors.Is(err, os.ErrClosed) {
			return nil
		}
		if err == nil && cells.Size() < len(text) {
			t.Errorf("%d of %d bytes were read", cells.Size(), len(text))
		}
		return err
	})
	var tokens []string
	for range mostKept {
		tokens = append(tokens, k.add(listOnDisk(t, text)).token)
	}
	for _, token := range tokens {
		var all sync.WaitGroup
		for range 8 {
			r := httptest.NewRequest("GET", importPath+"?token="+token, nil)
			v := visit{view.Visit{Visit: &site.Visit{W: httptest.NewRecorder(), R: r, Session: store.Key{Tenant: 1}}}, k}
			v.Query() // parses the query before the list can be evicted
			all.Go(func() {
				if err := preview(v); err != nil {
					t.Error(err)
				}
			})
		}
		k.add(listOnDisk(t, text))
		all.Wait()
		if k.find(1, token) != nil {
			t.Fatal("the oldest list was not evicted")
		}
	}
}

// TestListIsReadOnce checks that a list is parsed again only for options that change its cells or if
// there is no room, and that an evicted list cannot be read.
func TestListIsReadOnce(t *testing.T) {
	t.Parallel()
	k, now := newKeptLists(), time.Now()
	read := func(l *keptList, o imports.Options) *imports.List {
		t.Helper()
		cells, err := k.read(t.Context(), l, o, now)
		if err != nil {
			t.Fatal(err)
		}
		return cells
	}
	list := k.add(listOnDisk(t, people(100<<10)))
	first := read(list, imports.Options{})
	if read(list, imports.Options{Update: true, Columns: map[int]string{0: ""}}) != first {
		t.Error("the list was read again for options that do not change its cells")
	}
	if utf8 := read(list, imports.Options{Answers: sheet.Answers{sheet.AskEncoding: "utf-8"}}); utf8 == first || read(list, imports.Options{Answers: sheet.Answers{sheet.AskEncoding: "utf-8"}}) != utf8 {
		t.Error("the list was not read exactly once for another encoding")
	}
	total, large := 0, people(900<<10)
	for range 5 {
		l := k.add(listOnDisk(t, large))
		read(l, imports.Options{})
	}
	for _, l := range k.all {
		if l.cells != nil {
			total += l.cells.Size()
		}
	}
	if total == 0 || total > mostRead || list.cells != nil {
		t.Errorf("%d bytes of cells are kept, want at most %d; the oldest list is kept: %t", total, mostRead, list.cells != nil)
	}
	list.file.Close()
	if _, err := k.read(t.Context(), list, imports.Options{}, now); !errors.Is(err, os.ErrClosed) {
		t.Errorf("read of an evicted list: got %v, want os.ErrClosed", err)
	}
}
