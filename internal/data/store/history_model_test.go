//go:build !race

package store_test

// This test calls a store at random and compares its history with a simple model. A program that
// follows the changes must end up with the current list.
//
// The test uses one goroutine, so the race detector would only make it four times slower.

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// historyModel is the expected state of a department.
type historyModel struct {
	tenant  record.TenantID
	live    map[string]record.Fields
	deleted map[string]record.Fields
	version int64
	edits   []historyEdit
	past    []moment
	purged  map[string]int64 // version after the purge, by record
	imports []historyImport
}

// historyEdit is an edit with the fields before and after it.
type historyEdit struct {
	action, id    string
	before, after *record.Fields
}

// moment is the list at a version.
type moment struct {
	version int64
	fields  map[string]record.Fields
}

// historyImport is an import and the index of the first edit after it.
type historyImport struct {
	edits     []historyEdit
	takenBack bool
}

// addEdit adds a change to a record.
func (d *historyModel) addEdit(action, id string, before, after *record.Fields) {
	d.edits = append(d.edits, historyEdit{action, id, before, after})
	d.version++
	delete(d.live, id)
	delete(d.deleted, id)
	switch {
	case after != nil:
		d.live[id] = *after
	case action == "delete":
		d.deleted[id] = *before
	}
}

func (d *historyModel) now() moment { return moment{d.version, maps.Clone(d.live)} }

// historyRun is a random run over two departments.
type historyRun struct {
	*testing.T
	random      *rand.Rand
	store       *store.Store
	departments [2]*historyModel
	copies      []*copyOf
}

// copyOf is a program that keeps a copy of a department.
type copyOf struct {
	of       *historyModel
	position string
	records  map[string]record.Fields
	seen     map[string]bool // positions
}

func TestHistoryModel(t *testing.T) {
	t.Parallel()
	m := &historyRun{T: t, random: rand.New(rand.NewPCG(*modelSeed, 1)), store: newStore(t)}
	for i := range m.departments {
		d := &historyModel{tenant: ours + record.TenantID(i), live: map[string]record.Fields{}, deleted: map[string]record.Fields{}, purged: map[string]int64{}}
		m.departments[i] = d
		m.begin(d)
	}
	t.Logf("-model.seed=%d -model.steps=%d", *modelSeed, *modelSteps)
	for step := range *modelSteps * 3 / 2 {
		if m.step(); m.Failed() {
			m.Fatalf("at step %d of seed %d", step, *modelSeed)
		}
	}
	for _, d := range m.departments {
		m.begin(d)
		for id := range d.live {
			m.compareEdits(d, id, len(d.edits))
		}
		m.compareEdits(d, "", len(d.edits)+1)
		for _, then := range d.past {
			m.compareSince(d, then)
		}
	}
	for _, c := range m.copies {
		for m.poll(c) {
		}
		m.same("a copy", c.records, c.of.live)
	}
}

func (m *historyRun) step() {
	m.Helper()
	d := m.departments[m.random.IntN(2)]
	switch n := m.random.IntN(100); {
	case n < 18:
		m.create(d)
	case n < 26:
		m.replace(d)
	case n < 38:
		m.delete(d)
	case n < 42:
		m.undelete(d)
	case n < 47:
		m.purge(d)
	case n < 52:
		m.importPeople(d)
	case n < 57:
		m.takeBack(d)
	case n < 59:
		m.platform(d)
	case n < 60:
		m.addAndRemove()
	case n < 63:
		d.past = append(d.past, d.now())
	case n < 66:
		m.compareEdits(d, "", 1+m.random.IntN(9))
	case n < 69 && len(d.past) > 0:
		m.compareSince(d, d.past[m.random.IntN(len(d.past))])
	case n < 71 && len(m.copies) < 12:
		m.begin(d)
	default:
		m.poll(m.copies[m.random.IntN(len(m.copies))])
	}
}

// begin adds a copy that starts without a position.
func (m *historyRun) begin(d *historyModel) {
	m.copies = append(m.copies, &copyOf{of: d, records: map[string]record.Fields{}, seen: map[string]bool{}})
}

// poll applies the next changes to a copy, possibly only the first of them. It reports whether
// there are more.
func (m *historyRun) poll(c *copyOf) (more bool) {
	m.Helper()
	limit := 1 + m.random.IntN(6)
	feed, err := m.store.Changes(c.of.tenant, c.position, limit)
	must(m.T, err)
	if len(feed.Items) > limit || feed.More && len(feed.Items) < limit || feed.Next == "" {
		m.Errorf("%d changes, limit %d: %+v", len(feed.Items), limit, feed)
	}
	stopped := m.random.IntN(2*limit + 2)
	for i, item := range feed.Items {
		if c.seen[item.Position] {
			m.Errorf("received twice: %+v", item)
		}
		c.seen[item.Position] = true
		delete(c.records, item.ID)
		if item.Record != nil {
			c.records[item.ID] = item.Record.Fields
		}
		c.position = item.Position
		if i == stopped {
			return true
		}
	}
	c.position = feed.Next
	if !feed.More {
		m.same("a copy", c.records, c.of.live)
	}
	return feed.More
}

func (m *historyRun) same(about string, got, want any) {
	m.Helper()
	if !reflect.DeepEqual(got, want) {
		m.Errorf("%s\ngot  %+v\nwant %+v", about, got, want)
	}
}

// fields returns a choice of few fields, so that some changes have no effect.
func (m *historyRun) fields() record.Fields {
	return record.Fields{FirstName: string(rune('A' + m.random.IntN(6))), LastName: "B"}
}

// anyRecord returns a random record.
func (m *historyRun) anyRecord(from map[string]record.Fields) (id string, before record.Fields, ok bool) {
	if len(from) == 0 {
		return "", before, false
	}
	ids := slices.Sorted(maps.Keys(from))
	id = ids[m.random.IntN(len(ids))]
	return id, from[id], true
}

func (m *historyRun) create(d *historyModel) {
	f := create(m.T, m.store, d.tenant, m.fields())
	d.addEdit("create", f.ID, nil, &f.Fields)
}

func (m *historyRun) replace(d *historyModel) {
	if id, before, ok := m.anyRecord(d.live); ok {
		f := replace(m.T, m.store, d.tenant, id, m.fields())
		d.addEdit("replace", id, &before, &f.Fields)
	}
}

func (m *historyRun) delete(d *historyModel) {
	if id, before, ok := m.anyRecord(d.live); ok {
		must(m.T, m.store.Delete(d.tenant, 0, id, asIs))
		d.addEdit("delete", id, &before, nil)
	}
}

func (m *historyRun) undelete(d *historyModel) {
	if id, fields, ok := m.anyRecord(d.deleted); ok {
		must(m.T, m.store.Undelete(d.tenant, 0, []string{id}))
		d.addEdit("undelete", id, nil, &fields)
	}
}

func (m *historyRun) purge(d *historyModel) {
	var ids []string
	for id := range d.deleted {
		if len(ids) < 2 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids) // in the order of creation
	purge(m.T, m.store, d.tenant, ids...)
	for _, id := range ids {
		d.edits = slices.DeleteFunc(d.edits, func(e historyEdit) bool { return e.id == id })
	}
	all, err := m.store.Deleted(d.tenant, time.UnixMilli(1<<53))
	must(m.T, err)
	m.same("the deleted", len(all), len(d.deleted)-len(ids))
	for _, ch := range m.newest(d, len(ids)) {
		d.addEdit("purge", ch, nil, nil)
		d.purged[ch] = d.version
	}
}

// newest returns the ids of the last changes.
func (m *historyRun) newest(d *historyModel, count int) (ids []string) {
	edits, err := m.store.Edits(d.tenant, store.EditQuery{}, count)
	must(m.T, err)
	for _, e := range slices.Backward(edits) {
		ids = append(ids, e.ID)
	}
	return ids
}

func (m *historyRun) importPeople(d *historyModel) {
	people := []store.Person{{Fields: m.fields()}}
	for id := range d.live {
		if len(people) < 4 {
			people = append(people, store.Person{ID: id, Fields: m.fields()})
		}
	}
	people = append(people, store.Person{Fields: m.fields()})
	n := store.NewImport{Hash: make([]byte, 32), Decide: func(store.Roster) ([]store.Person, error) { return people, nil }}
	number, ids, err := m.store.Import(d.tenant, n)
	must(m.T, err)
	m.same("the number", number, int64(len(d.imports)+1))
	var made historyImport
	for i, p := range people {
		if p.ID == "" {
			d.addEdit("create", ids[i], nil, &p.Fields)
		} else {
			before := d.live[p.ID]
			d.addEdit("replace", p.ID, &before, &p.Fields)
		}
		made.edits = append(made.edits, d.edits[len(d.edits)-1])
	}
	d.imports = append(d.imports, made)
}

func (m *historyRun) takeBack(d *historyModel) {
	if len(d.imports) == 0 {
		return
	}
	number := m.random.IntN(len(d.imports))
	i := &d.imports[number]
	done, err := m.store.UndoImport(d.tenant, 0, int64(number+1), nil)
	if i.takenBack {
		if _, ok := err.(*store.UndoneError); !ok {
			m.Errorf("a second undo: %v", err)
		}
		return
	}
	must(m.T, err)
	i.takenBack = true
	left := 0
	for _, e := range i.edits {
		last := slices.IndexFunc(d.edits, func(other historyEdit) bool { return other == e })
		changed := last < 0 || slices.ContainsFunc(d.edits[last+1:], func(other historyEdit) bool { return other.id == e.id })
		switch {
		case changed:
			left++
		case e.action == "create":
			d.addEdit("delete", e.id, e.after, nil)
			done.Deleted--
		default:
			d.addEdit("replace", e.id, e.after, e.before)
			done.Restored--
		}
	}
	m.same("taken back and left alone", []int{done.Deleted, done.Restored, len(done.Left)}, []int{0, 0, left})
}

// platform writes a column that the service only reads.
func (m *historyRun) platform(d *historyModel) {
	if id, _, ok := m.anyRecord(d.live); ok {
		exec(m.T, m.store, `UPDATE firefighters SET invitation_status = 'sent' WHERE id = ?`, id)
		d.version++
	}
}

// addAndRemove adds and removes a department that has the latest changes.
func (m *historyRun) addAndRemove() {
	must(m.T, m.store.AddDepartments([]store.Department{{Name: "Rescue 3"}}))
	tenant, err := m.store.Tenant("Rescue 3")
	must(m.T, err)
	for range 5 {
		purge(m.T, m.store, tenant, createDeleted(m.T, m.store, tenant, eva).ID)
	}
	_, err = m.store.RemoveTenant(tenant)
	must(m.T, err)
}

// compareEdits compares the edits of a department or a record, page by page.
func (m *historyRun) compareEdits(d *historyModel, id string, limit int) {
	m.Helper()
	var want, got []historyEdit
	for _, e := range slices.Backward(d.edits) {
		if id == "" || e.id == id {
			want = append(want, e)
		}
	}
	add := func(page []store.Edit) {
		for _, e := range page {
			got = append(got, historyEdit{e.Action, e.ID, fieldsOf(e.Before), fieldsOf(e.After)})
		}
	}
	q := store.EditQuery{}
	if id != "" {
		q.Records = []string{id}
	}
	for {
		page, err := m.store.Edits(d.tenant, q, limit)
		must(m.T, err)
		for _, e := range page {
			q.Before = e.Number
			switch {
			case e.ID != "":
				add([]store.Edit{e})
				continue
			case e.Action == "takeBack" && len(e.Edits) < e.People: // the others are in the histories of their records
				all, err := m.store.Edits(d.tenant, store.EditQuery{Records: allIDs(d.edits), Before: e.Edits[0].Number + 1}, e.People)
				must(m.T, err)
				e.Edits = all
			}
			add(e.Edits)
			if e.Action == "takeBack" {
				continue
			}
			for of := (store.EditQuery{Import: e.Import.Number}); len(e.Edits) == limit; add(e.Edits) {
				of.Before = e.Edits[limit-1].Number
				e.Edits, err = m.store.Edits(d.tenant, of, limit)
				must(m.T, err)
			}
		}
		if len(page) < limit {
			break
		}
	}
	m.same("the edits of "+id, show(got), show(want))
}

func allIDs(edits []historyEdit) (ids []string) {
	for _, e := range edits {
		ids = append(ids, e.id)
	}
	return ids
}

func show(edits []historyEdit) (lines []string) {
	for _, e := range edits {
		lines = append(lines, fmt.Sprintf("%s %s %+v %+v", e.action, e.id, e.before, e.after))
	}
	return lines
}

func fieldsOf(f *record.Firefighter) *record.Fields {
	if f == nil {
		return nil
	}
	return &f.Fields
}

// compareSince compares the result of ChangedSince for a moment.
func (m *historyRun) compareSince(d *historyModel, then moment) {
	m.Helper()
	type pair struct{ then, now *record.Fields }
	want, got, erased := map[string]pair{}, map[string]pair{}, 0
	for _, list := range []map[string]record.Fields{then.fields, d.live} {
		for id := range list {
			var p pair
			if a, ok := then.fields[id]; ok {
				p.then = &a
			}
			if b, ok := d.live[id]; ok {
				p.now = &b
			}
			if _, purged := d.purged[id]; !purged && (p.then == nil || p.now == nil || *p.then != *p.now) {
				want[id] = p
			}
		}
	}
	for _, version := range d.purged {
		if version > then.version {
			erased++
		}
	}
	differences, count, err := m.store.ChangedSince(d.tenant, then.version)
	must(m.T, err)
	for _, e := range differences {
		got[e.ID] = pair{fieldsOf(e.Then), fieldsOf(e.Now)}
	}
	m.same("what has changed", got, want)
	m.same("the number of differences and of erased records", []int{len(differences), count}, []int{len(want), erased})
}
