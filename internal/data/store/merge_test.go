package store_test

import (
	"errors"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func bothAsIs(record.Firefighter, record.Firefighter) error { return nil }

func merge(t *testing.T, s *store.Store, one, other string, fields record.Fields) (kept, removed string) {
	t.Helper()
	kept, removed, err := s.Merge(ours, 0, one, other, fields, bothAsIs)
	must(t, err)
	return kept, removed
}

// setUser writes the columns of the department's platform.
func setUser(t *testing.T, s *store.Store, id string, status, user any) {
	t.Helper()
	exec(t, s, `UPDATE firefighters SET invitation_status = ?, user_id = ? WHERE id = ?`, status, user, id)
}

// TestMerge checks that a merge is a replace and a delete that name each other, that its undo restores
// both records, and that restoring the deleted one alone leaves the other unchanged.
func TestMerge(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	one, other := create(t, s, ours, eva), create(t, s, ours, ana)
	if kept, removed := merge(t, s, one.ID, other.ID, ana); kept != one.ID || removed != other.ID {
		t.Errorf("kept %s, removed %s", kept, removed)
	}
	got := history(t, s, ours, "")
	if actions(got) != "create create replace delete" || got[2].ID != one.ID || *got[2].Merged != other.ID || got[3].ID != other.ID || *got[3].Merged != one.ID {
		t.Errorf("history %+v", got)
	}
	if f, err := s.Get(ours, one.ID); err != nil || f.Fields != ana {
		t.Errorf("kept %+v, %v", f, err)
	}
	past := func(now record.Fields) (record.Fields, error) { return eva, nil }
	must(t, s.UndoMerge(ours, 0, other.ID, one.ID, past))
	for id, want := range map[string]record.Fields{one.ID: eva, other.ID: ana} {
		if f, err := s.Get(ours, id); err != nil || f.Fields != want {
			t.Errorf("after the undo: %+v, %v", f, err)
		}
	}
	merge(t, s, one.ID, other.ID, ana)
	must(t, s.Undelete(ours, 0, []string{other.ID}))
	must(t, s.UndoMerge(ours, 0, other.ID, one.ID, past)) // of what is left
	if got := actions(history(t, s, ours, "")[4:]); got != "undelete replace replace delete undelete replace" {
		t.Errorf("then %s", got)
	}
	merge(t, s, one.ID, other.ID, eva) // changes nothing
	if got := history(t, s, ours, "")[10:]; actions(got) != "delete" || *got[0].Merged != one.ID {
		t.Errorf("a merge without a change: %+v", got)
	}
	checkCounts(t, s)
}

// TestMergeRefuses checks that a rejected merge or undo changes nothing.
func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	one, other, foreign, gone := create(t, s, ours, ana), create(t, s, ours, eva), create(t, s, theirs, ana), createDeleted(t, s, ours, ana)
	before := len(history(t, s, ours, ""))
	for _, with := range []string{one.ID, foreign.ID, gone.ID, nobody} {
		for _, pair := range [][2]string{{one.ID, with}, {with, one.ID}} {
			if _, _, err := s.Merge(ours, 0, pair[0], pair[1], ana, bothAsIs); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("merging %s: %v", pair, err)
			}
		}
	}
	if _, _, err := s.Merge(ours, 0, one.ID, other.ID, record.Fields{FirstName: "Ana"}, bothAsIs); !errors.As(err, new(record.FieldErrors)) {
		t.Error(err)
	}
	no := errors.New("no")
	if _, _, err := s.Merge(ours, 0, one.ID, other.ID, ana, func(a, b record.Firefighter) error {
		if a.ID != one.ID || b.ID != other.ID {
			t.Errorf("checked %s and %s", a.ID, b.ID)
		}
		return no
	}); !errors.Is(err, no) {
		t.Error(err)
	}
	if err := s.UndoMerge(ours, 0, gone.ID, one.ID, func(f record.Fields) (record.Fields, error) { return f, no }); !errors.Is(err, no) {
		t.Error(err)
	}
	if err := s.UndoMerge(theirs, 0, gone.ID, one.ID, nil); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	exec(t, s, `UPDATE firefighters SET last_name = 'X' WHERE id = ?`, other.ID)
	if _, _, err := s.Merge(ours, 0, one.ID, other.ID, ana, bothAsIs); !errors.As(err, new(*record.DamagedError)) {
		t.Errorf("a damaged record: %v", err)
	}
	if after := len(history(t, s, ours, "")); after != before {
		t.Errorf("%d changes", after-before)
	}
}

// TestSurvivor checks that a merge keeps the record with a user, and refuses two users.
func TestSurvivor(t *testing.T) {
	t.Parallel()
	const user, another = "01890000-0000-7000-8000-00000000000a", "01890000-0000-7000-8000-00000000000b"
	for name, tt := range map[string]struct {
		status, user           any // of the first record
		otherStatus, otherUser any
		keepsFirst             bool
	}{
		"no user":            {nil, nil, nil, nil, true},
		"first user":         {nil, user, "invited", nil, true},
		"second user":        {"invited", nil, nil, user, false},
		"same user":          {nil, user, nil, user, true},
		"second invited":     {nil, nil, "invited", nil, false},
		"both invited":       {"invited", nil, "accepted", nil, true},
		"user or invitation": {"accepted", user, "invited", nil, true},
	} {
		s := newStore(t)
		one, other := create(t, s, ours, ana), create(t, s, ours, ana)
		setUser(t, s, one.ID, tt.status, tt.user)
		setUser(t, s, other.ID, tt.otherStatus, tt.otherUser)
		if kept, _ := merge(t, s, one.ID, other.ID, ana); (kept == one.ID) != tt.keepsFirst {
			t.Errorf("%s: kept the wrong record", name)
		}
	}
	s := newStore(t)
	one, other := create(t, s, ours, ana), create(t, s, ours, ana)
	setUser(t, s, one.ID, nil, user)
	setUser(t, s, other.ID, nil, another)
	if _, _, err := s.Merge(ours, 0, one.ID, other.ID, ana, bothAsIs); !errors.Is(err, store.ErrTwoUsers) {
		t.Errorf("two users: %v", err)
	}
}

// TestDistinct checks that different people are remembered per department, in either order, until one
// of them is permanently deleted, also in a restored backup.
func TestDistinct(t *testing.T) {
	t.Parallel()
	for name, erase := range map[string]func(s *store.Store, id string){
		"purge": func(s *store.Store, id string) {
			must(t, s.Delete(ours, 0, id, asIs))
			_, err := s.Purge(ours, 0, stored(t, s, ours, id), nil)
			must(t, err)
		},
		"SQL": func(s *store.Store, id string) { exec(t, s, `DELETE FROM firefighters WHERE id = ?`, id) },
	} {
		s := newStore(t)
		one, other, third := create(t, s, ours, ana), create(t, s, ours, ana), create(t, s, ours, ana)
		foreign := create(t, s, theirs, ana)
		must(t, s.SetDistinct(ours, other.ID, one.ID, true))
		must(t, s.SetDistinct(ours, one.ID, other.ID, true))
		must(t, s.SetDistinct(ours, one.ID, third.ID, true))
		must(t, s.SetDistinct(ours, third.ID, one.ID, false))
		if err := s.SetDistinct(ours, one.ID, foreign.ID, true); !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
		for tenant, want := range map[record.TenantID]bool{ours: true, theirs: false} {
			distinct, err := s.Distinct(tenant)
			if err != nil || distinct(one.ID, other.ID) != want || distinct(other.ID, one.ID) != want || distinct(one.ID, third.ID) {
				t.Errorf("department %d: %v", tenant, err)
			}
		}
		if d, err := s.PersonalData(ours, other.ID); err != nil || len(d.Distinct) != 1 || d.Distinct[0] != one.ID {
			t.Errorf("the report has %v, %v", d.Distinct, err)
		}
		erase(s, other.ID)
		if left := scanInt(t, s, `SELECT count(*) FROM distinct_people`); left != 0 {
			t.Errorf("%s left %d pairs", name, left)
		}
	}
}
