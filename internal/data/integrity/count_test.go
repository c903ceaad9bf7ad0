package integrity_test

import (
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// TestCountDamaged counts damaged records, deleted ones included.
func TestCountDamaged(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, 4)
	execSQL(t, path, `UPDATE firefighters SET first_name = 'Anb' WHERE row & 3 > 1`)
	c, err := sqlite.OpenImmutable(path)
	must(t, err)
	defer c.Close()
	if n, err := integrity.CountDamaged(t.Context(), c); err != nil || n != 2 {
		t.Errorf("%d records, %v", n, err)
	}
}
