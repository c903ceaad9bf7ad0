package store_test

import (
	"errors"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// each returns the records that Each yields.
func each(t *testing.T, s *store.Store, tenant record.TenantID, query string) (all []record.Firefighter) {
	t.Helper()
	must(t, s.Each(tenant, parse(t, query), func(f *record.Firefighter) error { all = append(all, *f); return nil }))
	return all
}

// TestEachAtOnce checks that Each returns the records as of a single moment while others change
// them.
func TestEachAtOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for range 600 {
		create(t, s, ours, eva)
	}
	seen := 0
	must(t, s.Each(ours, parse(t, "sortDir=asc"), func(f *record.Firefighter) error {
		if seen++; seen == 1 {
			exec(t, s, `DELETE FROM firefighters WHERE row & 0xffffffff > 550`)
			create(t, s, ours, ana)
		}
		if f.Fields != eva {
			t.Errorf("a record from another moment: %+v", f)
		}
		return nil
	}))
	if seen != 600 || len(each(t, s, ours, "")) != 551 {
		t.Errorf("%d records", seen)
	}
}

func TestEachFails(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	objection := errors.New("an objection")
	f := create(t, s, ours, ana)
	gone := create(t, s, ours, eva)
	calls := 0
	if err := s.Each(ours, parse(t, ""), func(*record.Firefighter) error { calls++; return objection }); err != objection || calls != 1 {
		t.Errorf("the error is %v after %d calls", err, calls)
	}
	must(t, s.Delete(ours, 0, gone.ID, asIs))
	exec(t, s, `UPDATE firefighters SET last_name = 'X'`)
	err := s.Each(ours, parse(t, ""), func(*record.Firefighter) error { t.Error("a damaged record was returned"); return nil })
	if damaged, ok := errors.AsType[*record.DamagedError](err); !ok || damaged.ID != f.ID {
		t.Errorf("the error is %v", err)
	}
	if err := s.Each(99, parse(t, ""), func(*record.Firefighter) error { return nil }); !errors.Is(err, store.ErrRemoved) {
		t.Errorf("the error is %v", err)
	}
}
