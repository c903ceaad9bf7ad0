//go:build !race

package store_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestRefusedWrites checks that a method fails and writes nothing if SQLite rejects one of its writes
// or cannot read a table that it needs. The test uses one goroutine, so the race detector would only
// make it four times slower.
func TestRefusedWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	noted := w
	noted.file = w.changed(t, noting())
	for name, do := range w.writes() {
		s := noted.open(t, ``)
		must(t, do(s))
		all := written(t, s)
		if len(all) == 0 {
			t.Errorf("%s writes nothing", name)
		}
		must(t, s.Close())
		for _, what := range all {
			s := w.open(t, fmt.Sprintf(`CREATE TRIGGER refuse BEFORE %s BEGIN SELECT RAISE(ABORT, 'refused'); END`, what))
			w.fails(t, s, name, what, do)
			must(t, s.Close()) // open stores would use half a gigabyte
		}
		for _, table := range tables {
			s := noted.open(t, ``)
			exec(t, s, fmt.Sprintf(`ALTER TABLE %s RENAME TO %[1]s_away`, table))
			before := everything(t, s)
			if err := do(s); err != nil {
				if after := everything(t, s); after != before && !strings.HasPrefix(name, "Purge") {
					t.Errorf("%s without %s changed\n%s to\n%s", name, table, before, after)
				}
			} else if got := written(t, s); !reflect.DeepEqual(got, all) {
				t.Errorf("%s without %s writes %q, want %q", name, table, got, all)
			}
			must(t, s.Close())
		}
	}
}
