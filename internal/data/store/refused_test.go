//go:build !race

package store_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Only one goroutine does all of this, and the race detector takes four times as long for
// it.

// TestRefusedWrites: where SQLite refuses one of the writes of a method, or cannot
// read a table that it needs, the method fails and nothing is written.
func TestRefusedWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, do := range w.writes() {
		s := w.open(t, noting())
		must(t, do(s))
		all := written(t, s)
		if len(all) == 0 {
			t.Errorf("%s writes nothing", name)
		}
		for _, what := range all {
			s := w.open(t, fmt.Sprintf(`CREATE TRIGGER refuse BEFORE %s BEGIN SELECT RAISE(ABORT, 'refused'); END`, what))
			w.fails(t, s, name, what, do)
		}
		for _, table := range tables {
			s := w.open(t, noting())
			exec(t, s, fmt.Sprintf(`ALTER TABLE %s RENAME TO %[1]s_away`, table))
			before := everything(t, s)
			if err := do(s); err != nil {
				if after := everything(t, s); after != before && !strings.HasPrefix(name, "Purge") {
					t.Errorf("%s without %s has changed\n%s to\n%s", name, table, before, after)
				}
			} else if got := written(t, s); !reflect.DeepEqual(got, all) {
				t.Errorf("%s without %s writes %q, not %q", name, table, got, all)
			}
		}
	}
}
