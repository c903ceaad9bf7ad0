package imports_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func exec(t *testing.T, s *store.Store, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", s.DB().Path()+"?_pragma=busy_timeout(10000)")
	must(t, err)
	defer db.Close()
	_, err = db.Exec(query)
	must(t, err)
}

// works are all operations on a file.
var works = map[string]func(context.Context, *imports.File, *store.Store) (any, error){
	"check": func(ctx context.Context, f *imports.File, s *store.Store) (any, error) { return f.Check(ctx, s, ours) },
	"apply": func(ctx context.Context, f *imports.File, s *store.Store) (any, error) {
		return f.Apply(ctx, s, ours, 0, nil)
	},
	"compare": func(ctx context.Context, f *imports.File, s *store.Store) (any, error) {
		return f.Compare(ctx, s, ours)
	},
}

// TestDepartmentThatCannotBeRead checks that no operation returns a result if part of the
// department cannot be read.
func TestDepartmentThatCannotBeRead(t *testing.T) {
	t.Parallel()
	const list = "Vorname;Nachname\nAna;Čović\nIvan;Horvat\n"
	for name, work := range works {
		for _, fault := range []string{
			`UPDATE firefighters SET last_name = 'X' WHERE last_name = 'Horvat'`,
			`ALTER TABLE firefighters RENAME TO gone`,
			`ALTER TABLE imports RENAME TO gone`,
		} {
			s := newStore(t)
			apply(t, s, list, imports.Options{})
			exec(t, s, fault)
			got, err := work(t.Context(), read(t, list, imports.Options{}), s)
			if damaged := errors.As(err, new(*record.DamagedError)); err == nil || damaged != strings.HasPrefix(fault, "UPDATE") || fmt.Sprint(got) != "<nil>" {
				t.Errorf("%s after %s: %v, %v", name, fault, got, err)
			}
		}
	}
}

// TestEnds checks that every operation stops without changes when its context ends.
func TestEnds(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f := read(t, list, imports.Options{})
	ctx, leave := context.WithCancel(t.Context())
	leave()
	for name, work := range works {
		if got, err := work(ctx, f, s); fmt.Sprint(got) != "<nil>" || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := imports.Read(ctx, []byte(list), imports.Options{}, now); !errors.Is(err, context.Canceled) || names(t, s) != "" {
		t.Errorf("reading: %v; department: %s", err, names(t, s))
	}
}
