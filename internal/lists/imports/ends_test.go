package imports_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
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

// works are all ways to work on a file that was read.
var works = map[string]func(context.Context, *imports.File, *store.Store) (any, error){
	"check": func(ctx context.Context, f *imports.File, s *store.Store) (any, error) { return f.Check(ctx, s, ours) },
	"apply": func(ctx context.Context, f *imports.File, s *store.Store) (any, error) {
		return f.Apply(ctx, s, ours, 0, nil)
	},
	"compare": func(ctx context.Context, f *imports.File, s *store.Store) (any, error) {
		return f.Compare(ctx, s, ours)
	},
}

// TestDepartmentThatCannotBeRead: nobody gets a report about a department of which
// a part could not be read.
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

// ending is a context that ends after somebody has asked so often whether it has.
type ending struct {
	context.Context
	left, asked int
}

func (e *ending) Err() error {
	if e.asked++; e.asked > e.left {
		return context.Canceled
	}
	return nil
}

// TestEnds: work on a file asks for each row whether it is still wanted, ends with
// an error that says so, and has changed nothing then.
func TestEnds(t *testing.T) {
	t.Parallel()
	const rows = 200
	var list strings.Builder
	list.WriteString("Vorname;Nachname;Geburtsdatum\n")
	for i := range rows {
		fmt.Fprintf(&list, "Ana;Čović %d;1990-05-15\n", i)
	}
	all := &ending{Context: t.Context(), left: 1 << 30}
	f, err := imports.Read(all, []byte(list.String()), imports.Options{}, now)
	must(t, err)
	if all.asked < 3*rows { // each as cells, as a date and as a person
		t.Errorf("reading asks %d times for %d rows", all.asked, rows)
	}
	for left := range all.asked {
		ctx := &ending{Context: t.Context(), left: left}
		if f, err := imports.Read(ctx, []byte(list.String()), imports.Options{}, now); f != nil || !errors.Is(err, context.Canceled) || ctx.asked > left+5 {
			t.Fatalf("reading asks %d times after the end: %v, %v", ctx.asked-left, f, err)
		}
	}
	s := newStore(t)
	for name, work := range works {
		all := &ending{Context: t.Context(), left: 1 << 30}
		if name == "apply" {
			all.left = 2*rows - 1
		}
		if _, err := work(all, f, s); (err != nil) != (name == "apply") || all.asked < 2*rows {
			t.Errorf("%s asks %d times for %d rows, %v", name, all.asked, rows, err)
		}
		for left := 0; left < 2*rows; left += 7 {
			ctx := &ending{Context: t.Context(), left: left}
			if got, err := work(ctx, f, s); fmt.Sprint(got) != "<nil>" || !errors.Is(err, context.Canceled) || ctx.asked > left+5 {
				t.Fatalf("%s asks %d times after the end: %v, %v", name, ctx.asked-left, got, err)
			}
		}
	}
	if got := names(t, s); got != "" {
		t.Errorf("the department has %s", got)
	}
}

// shortDisk takes so many bytes, and no more.
type shortDisk struct{ left, tries int }

func (d *shortDisk) Write(p []byte) (int, error) {
	if d.left == 0 {
		d.tries++
	}
	n := min(len(p), d.left)
	d.left -= n
	if n < len(p) {
		return n, io.ErrShortWrite
	}
	return n, nil
}
