package integrity_test

import (
	"fmt"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// TestCountDamaged: deleted records count, and a database without checksums
// has none that are damaged.
func TestCountDamaged(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, 4)
	execSQL(t, path, `UPDATE firefighters SET first_name = 'Anb' WHERE row & 3 > 1`)
	for _, version := range []struct{ number, want int64 }{{2, 2}, {1, 0}} {
		execSQL(t, path, fmt.Sprint(`PRAGMA user_version = `, version.number))
		c, err := sqlite.OpenImmutable(path)
		must(t, err)
		if n, err := integrity.CountDamaged(t.Context(), c); err != nil || n != version.want {
			t.Errorf("version %d: %d records, %v", version.number, n, err)
		}
		must(t, c.Close())
	}
}

// TestCountDamagedInOlderSchema: a field that the table does not have yet is no
// damage.
func TestCountDamagedInOlderSchema(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, 4)
	execSQL(t, path, `ALTER TABLE firefighters DROP COLUMN email`)
	execSQL(t, path, `UPDATE firefighters SET first_name = 'Anb' WHERE row & 3 = 1`)
	c, err := sqlite.OpenImmutable(path)
	must(t, err)
	defer c.Close()
	if n, err := integrity.CountDamaged(t.Context(), c); err != nil || n != 1 {
		t.Errorf("%d records, %v", n, err)
	}
}
