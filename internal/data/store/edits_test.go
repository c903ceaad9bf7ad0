package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func showEdits(edits []store.Edit) string {
	var lines []string
	for _, e := range edits {
		lines = append(lines, fmt.Sprintf("%+v before %+v after %+v", e, e.Before, e.After))
	}
	return strings.Join(lines, "\n")
}

// TestSomeEdits selects changes by record, key, time and import. An import and its undo are one
// edit each. Each edit has the state after it, even if the next change is not selected.
func TestSomeEdits(t *testing.T) {
	t.Parallel()
	now := noon
	s := newStoreAt(t, func() time.Time { return now })
	desk := newKey(t, s, "Engine 7", "desk")
	a := create(t, s, ours, eva) // change 1
	now = noon.Add(time.Hour)
	_, err := s.Replace(ours, desk, a.ID, ana, asIs) // 2
	must(t, err)
	n := adding(store.Person{ID: a.ID, Fields: eva}, store.Person{Fields: ana}, store.Person{Fields: ana}) // 3, 4, 5
	n.By = desk
	now = noon.Add(2 * time.Hour)
	imports(t, s, ours, n)
	now = noon.Add(3 * time.Hour)
	create(t, s, ours, eva) // 6
	now = noon.Add(4 * time.Hour)
	takeBack(t, s, 1) // 7, 8, 9
	now = noon.Add(5 * time.Hour)
	must(t, s.Delete(ours, desk, a.ID, asIs)) // 10

	check := func(q store.EditQuery, limit int, want string) {
		t.Helper()
		edits, err := s.Edits(ours, q, limit)
		must(t, err)
		var got []string
		for _, e := range edits {
			line := fmt.Sprint(e.Number, " ", e.Action)
			for _, one := range e.Edits {
				line += fmt.Sprint(" ", one.Number)
			}
			if e.ID == "" {
				line += fmt.Sprint(" of ", e.People)
			}
			if e.Import != nil {
				line += fmt.Sprint(" import ", e.Import.Number)
			}
			got = append(got, line)
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%+v returns %s, want %s", q, text, want)
		}
	}
	check(store.EditQuery{}, 9, "10 delete, 7 takeBack 9 8 7 of 3 import 1, 6 create, 5 import 5 4 3 of 3 import 1, 2 replace, 1 create")
	check(store.EditQuery{}, 2, "10 delete, 7 takeBack 9 8 of 3 import 1")
	check(store.EditQuery{Before: 7}, 2, "6 create, 5 import 5 4 of 3 import 1")
	check(store.EditQuery{Before: 5}, 9, "2 replace, 1 create")
	check(store.EditQuery{Before: 4}, 9, "2 replace, 1 create")
	check(store.EditQuery{Keys: []store.KeyID{desk}}, 9, "10 delete, 5 import 5 4 3 of 3 import 1, 2 replace")
	check(store.EditQuery{Keys: []store.KeyID{0}}, 9, "7 takeBack 9 8 7 of 3 import 1, 6 create, 1 create")
	check(store.EditQuery{Keys: []store.KeyID{}}, 9, "")
	check(store.EditQuery{Since: noon.Add(time.Hour), Until: noon.Add(3 * time.Hour)}, 9, "5 import 5 4 3 of 3 import 1, 2 replace")
	check(store.EditQuery{Since: noon.Add(time.Hour), Until: noon.Add(2 * time.Hour)}, 9, "2 replace")
	check(store.EditQuery{Records: []string{a.ID}}, 9, "10 delete, 7 replace, 3 replace import 1, 2 replace, 1 create")
	check(store.EditQuery{Records: []string{}}, 9, "")
	check(store.EditQuery{Import: 1}, 9, "5 create import 1, 4 create import 1, 3 replace import 1")
	check(store.EditQuery{Import: 1, Before: 5}, 1, "4 create import 1")
	for _, q := range []store.EditQuery{{Import: 2}, {Import: -1}} {
		if _, err := s.Edits(ours, q, 9); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	for number, want := range map[int64]string{1: "Eva", 2: "Ana", 3: "Eva", 7: "Ana"} {
		if e, err := s.GetEdit(ours, number); err != nil || e.Number != number || e.ID != a.ID || e.After == nil || e.After.FirstName != want {
			t.Errorf("edit %d: %v, %s", number, err, showEdits([]store.Edit{e}))
		}
	}
	edits, err := s.Edits(ours, store.EditQuery{Keys: []store.KeyID{desk}}, 9)
	must(t, err)
	if first := edits[1].Edits[2]; *first.Before != (record.Firefighter{ID: a.ID, Fields: ana}) || first.After.Fields != eva || edits[2].After.Fields != ana {
		t.Errorf("with gaps: %s", showEdits(append(edits[1].Edits, edits...)))
	}
	for _, number := range []int64{0, 11, -1, 1<<32 | 1} {
		if _, err := s.GetEdit(ours, number); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("edit %d: %v", number, err)
		}
	}
	if _, err := s.GetEdit(theirs, 1); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an edit of another department: %v", err)
	}
	editors, err := s.Editors(ours)
	if err != nil || len(editors) != 1 || editors[0].ID != desk || editors[0].Label != "desk" {
		t.Errorf("%v, %+v", err, editors)
	}
}

// TestDamagedEdits checks that a damaged record is not shown as an earlier or later state.
func TestDamagedEdits(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f := create(t, s, ours, ana)
	version, err := s.Version(ours)
	must(t, err)
	_, err = s.Replace(ours, 0, f.ID, eva, asIs)
	must(t, err)
	exec(t, s, `UPDATE changes SET before = '{"id":' WHERE action = 'replace'`)
	edits, err := s.Edits(ours, store.EditQuery{}, 9)
	if err != nil || len(edits) != 2 || edits[0].Before != nil || edits[0].After == nil || edits[1].After != nil {
		t.Errorf("%v, %s", err, showEdits(edits))
	}
	d, _, err := s.ChangedSince(ours, version)
	if err != nil || len(d) != 1 || d[0].Then == nil || *d[0].Then != (record.Firefighter{ID: f.ID}) || d[0].Now == nil {
		t.Errorf("%v, %+v", err, d)
	}
	exec(t, s, `UPDATE firefighters SET last_name = 'X'`)
	edits, err = s.Edits(ours, store.EditQuery{}, 9)
	if err != nil || len(edits) != 2 || edits[0].After != nil {
		t.Errorf("%v, %s", err, showEdits(edits))
	}
	must(t, s.Delete(ours, 0, f.ID, asIs))
	edits, err = s.Edits(ours, store.EditQuery{}, 1)
	if err != nil || len(edits) != 1 || edits[0].Before != nil {
		t.Errorf("deleted: %v, %s", err, showEdits(edits))
	}
	must(t, s.Undelete(ours, 0, []string{f.ID}))
	if _, _, err = s.ChangedSince(ours, version); err == nil {
		t.Error("a damaged record counts as intact")
	}
}
