package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// walk reads a list page by page through cursors while the list changes.
type walk struct {
	query  string
	values url.Values
	q      record.Query
	page   store.Page
	met    map[string]int
	// stayed are the initial states of the records that have not left the list or moved in it.
	stayed map[string]modelRecord
}

// walks are the walks through one department in all orders.
type walks struct {
	*modelRun
	of  *model
	all []*walk
}

// TestWalks checks that a reader who follows cursors sees each record that stays in its place
// exactly once. Small departments use SQL. The large one mostly uses the index, except after writes
// by another program.
func TestWalks(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"small": 60, "large": 215} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { runWalks(t, size) })
		})
	}
}

func runWalks(t *testing.T, size int) {
	m := &modelRun{T: t, random: rand.New(rand.NewPCG(*modelSeed, uint64(size))), store: newStore(t)}
	m.departments = [2]*model{{tenant: ours}, {tenant: theirs}}
	w := &walks{modelRun: m, of: m.departments[0]}
	for range size {
		m.create(w.of)
	}
	for _, field := range record.SortFields {
		for _, rest := range []string{"asc", "desc", m.pick([]string{"asc", "desc"}) + m.pick([]string{"&search=a", "&search=9", "&hasEmail=true", "&search=a&birthMonth=5"})} {
			w.all = append(w.all, w.begin(fmt.Sprintf("sortBy=%s&sortDir=%s&pageSize=%d", field, rest, 1+m.random.IntN(size/5))))
		}
	}
	t.Logf("-model.seed=%d", *modelSeed)
	for turn := 0; len(w.all) > 0 && !t.Failed(); turn++ {
		w.change(w.all[m.random.IntN(len(w.all))])
		if m.random.IntN(10) == 0 {
			time.Sleep(rest)
		}
		for range 6 {
			if len(w.all) > 0 {
				w.advance(m.random.IntN(len(w.all)))
			}
		}
	}
}

func (w *walks) begin(query string) *walk {
	values, err := url.ParseQuery(query)
	must(w, err)
	one := &walk{query: query, values: values, q: parse(w, query), met: map[string]int{}, stayed: map[string]modelRecord{}}
	for _, r := range w.of.records {
		if one.has(r) {
			one.stayed[r.ID] = *r
		}
	}
	one.take(list(w, w.store, ours, query))
	return one
}

// has reports whether a record is on the list.
func (one *walk) has(r *modelRecord) bool {
	return r.matches(one.values.Get("search")) && r.lets(one.values)
}

func (one *walk) take(p store.Page) {
	one.page = p
	for _, f := range p.Items {
		one.met[f.ID]++
	}
}

// advance reads the next page of a walk, or ends the walk.
func (w *walks) advance(i int) {
	w.Helper()
	one := w.all[i]
	if one.page.Next == "" {
		for id := range one.stayed {
			if one.met[id] != 1 {
				w.Errorf("%s: %s was read %d times", one.query, id, one.met[id])
			}
		}
		w.all = slices.Delete(w.all, i, i+1)
		return
	}
	if len(one.page.Next) > 500 {
		w.Errorf("%s: a cursor of %d characters", one.query, len(one.page.Next))
	}
	p, err := w.store.List(ours, parse(w, one.query+"&cursor="+one.page.Next))
	switch {
	case errors.Is(err, store.ErrCursor) && w.erased(one):
		w.all[i] = w.begin(one.query)
	case err != nil:
		w.Errorf("%s: %v", one.query, err)
	default:
		one.take(p)
		if w.random.IntN(8) == 0 {
			w.checkPage(one)
		}
	}
}

// checkPage compares a page and its totals with the current list.
func (w *walks) checkPage(one *walk) {
	w.Helper()
	var found []*modelRecord
	for _, r := range w.of.records {
		if one.has(r) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *modelRecord) int { return compare(one.q, a, b) })
	p := one.page
	if p.Total != int64(len(found)) || p.People != int64(len(w.of.records)) || p.Version != w.of.version {
		w.Errorf("%s: total %d of %d, version %d", one.query, p.Total, p.People, p.Version)
	}
	if len(p.Items) == 0 {
		return // the remaining records have left the list
	}
	first := slices.IndexFunc(found, func(r *modelRecord) bool { return r.ID == p.Items[0].ID })
	for i, f := range p.Items {
		if first+i >= len(found) || f.ID != found[first+i].ID {
			w.Fatalf("%s: the page is not part of the list", one.query)
		}
	}
	if end := first + len(p.Items); (p.Next != "") != (end < len(found)) {
		w.Errorf("%s: the cursor is %q, and %d records follow", one.query, p.Next, len(found)-end)
	}
}

// erased reports whether a purge has deleted all records of a cursor, in an order that needs one of
// them.
func (w *walks) erased(one *walk) bool {
	items := one.page.Items
	for _, f := range items[max(0, len(items)-3):] {
		if slices.ContainsFunc(slices.Concat(w.of.records, w.of.deleted), func(r *modelRecord) bool { return r.ID == f.ID }) {
			return false
		}
	}
	return one.q.SortBy != record.ByCreatedAt && one.q.SortBy != record.ByUpdatedAt
}

// change changes a random record, half of the time the record at the cursor of a walk.
func (w *walks) change(one *walk) {
	w.Helper()
	d := w.of
	var at *modelRecord
	if items := one.page.Items; len(items) > 0 && w.random.IntN(2) == 0 {
		for _, r := range d.records {
			if r.ID == items[len(items)-1].ID {
				at = r
			}
		}
	}
	if at == nil {
		for _, do := range []func(*model){w.create, w.replace, w.delete, w.undelete, w.platform, w.purge} {
			if w.random.IntN(3) == 0 {
				do(d)
				w.changed()
			}
		}
		return
	}
	for range w.random.IntN(3) {
		w.replaceOne(d, at)
		w.changed()
	}
	if w.random.IntN(2) == 0 {
		return
	}
	w.deleteOne(d, at)
	w.changed()
	switch w.random.IntN(4) {
	case 0:
		w.purgeOne(d, at)
	case 1, 2:
		w.undeleteOne(d, at)
		if w.random.IntN(2) == 0 {
			w.replaceOne(d, at)
		}
	}
	w.changed()
}

// changed updates stayed of each walk after the last change.
func (w *walks) changed() {
	id := w.of.done[len(w.of.done)-1].ID
	for _, one := range w.all {
		was, has := one.stayed[id]
		if has && !slices.ContainsFunc(w.of.records, func(r *modelRecord) bool {
			return r.ID == id && one.has(r) && compare(one.q, &was, r) == 0
		}) {
			delete(one.stayed, id)
		}
	}
}

func TestCursorsRefused(t *testing.T) {
	t.Parallel()
	now := noon
	s := newStoreAt(t, func() time.Time { return now })
	must(t, s.AddDepartments([]store.Department{{Name: "Rescue 3", People: people(9)}}))
	rescue, err := s.Tenant("Rescue 3")
	must(t, err)
	const query = "sortBy=lastName&search=a&pageSize=3"
	p := list(t, s, rescue, query)
	check := func(s *store.Store, tenant record.TenantID, query, cursor string, want error) {
		t.Helper()
		q := parse(t, query)
		q.Cursor = cursor
		if _, err := s.List(tenant, q); !errors.Is(err, want) {
			t.Errorf("%s&cursor=%s: %v, want %v", query, cursor, err, want)
		}
	}
	for _, same := range []string{query, query + "&page=9", "search=a&sortBy=lastName&sortDir=desc&pageSize=100"} {
		check(s, rescue, same, p.Next, nil)
	}
	for _, other := range []string{"", "sortBy=lastName", query + "&sortDir=asc", "sortBy=firstName&search=a&pageSize=3", "sortBy=lastName&search=b"} {
		check(s, rescue, other, p.Next, store.ErrCursor)
	}
	check(s, ours, query, p.Next, store.ErrCursor)
	for _, damaged := range []string{"x", p.Next + "A", p.Next[:len(p.Next)-1], "B" + p.Next[1:], p.Next + "=", strings.Repeat("A", 5000),
		changes(t, s, rescue, "", 1).Next, syncBook(t, s, rescue, "", 1).Token} {
		check(s, rescue, query, damaged, store.ErrCursor)
	}

	now = noon.Add(24 * time.Hour)
	check(s, rescue, query, p.Next, nil)
	now = now.Add(time.Millisecond)
	check(s, rescue, query, p.Next, store.ErrCursor)
	p = list(t, s, rescue, query)
	must(t, s.RenewHistory()) // as a restore does
	check(s, rescue, query, p.Next, store.ErrCursor)
}

// TestCursorErased checks that a cursor works until all of its records are purged.
func TestCursorErased(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, f := range people(9) {
		create(t, s, ours, f)
	}
	all := list(t, s, ours, "sortBy=lastName").Items
	first := list(t, s, ours, "sortBy=lastName&pageSize=4")
	for i, want := range []error{nil, nil, store.ErrCursor} {
		id := first.Items[3-i].ID
		must(t, s.Delete(ours, 0, id, asIs))
		purge(t, s, ours, id)
		p, err := s.List(ours, parse(t, "sortBy=lastName&pageSize=4&cursor="+first.Next))
		if !errors.Is(err, want) || want == nil && !slices.Equal(ids(p.Items), ids(all[4:8])) {
			t.Errorf("%d erased: %v, %v", i+1, ids(p.Items), err)
		}
	}
}

// FuzzCursor checks that a list accepts no cursor but its own.
func FuzzCursor(f *testing.F) {
	s := newStore(f)
	for _, fields := range people(9) {
		create(f, s, ours, fields)
	}
	next := list(f, s, ours, "sortBy=email&pageSize=3").Next
	for _, seed := range []string{next, next[1:], "", "A", "\r\n", strings.Repeat("A", len(next))} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		q := parse(t, "sortBy=email&pageSize=3")
		q.Cursor = cursor
		p, err := s.List(ours, q)
		good := cursor == "" || cursor == next
		if good != (err == nil) || good != (len(p.Items) == 3) || err != nil && !errors.Is(err, store.ErrCursor) {
			t.Errorf("%q: %d people, %v", cursor, len(p.Items), err)
		}
	})
}
