package store_test

import (
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// insertRow adds a record by its sequence number as another program does.
const insertRow = `INSERT INTO firefighters (row, id, tenant_id, created_at, updated_at,
	first_name, last_name, first_key, last_key, search_text, phone_digits)
	VALUES (1 << 32 | ?1, printf('%036d', ?1), 1, 0, 0, 'A', 'B', 'a', 'b', '', '')`

// TestRowsOutOfOrder: another program that writes a lower number after a higher
// one does not make the store use the higher one again.
func TestRowsOutOfOrder(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, sequence := range []int{100, 50, 101, 1} {
		exec(t, s, insertRow, sequence)
		checkCounts(t, s)
	}
	f := create(t, s, ours, ana)
	if sequence := scanInt(t, s, `SELECT row & 0xffffffff FROM firefighters WHERE id = ?`, f.ID); sequence != 102 {
		t.Errorf("the next record has the number %d", sequence)
	}
}

// TestChangesByOthers: totals and the version stay right when another program
// erases rows or brings them back.
func TestChangesByOthers(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for range 4 {
		create(t, s, ours, ana)
	}
	createDeleted(t, s, ours, ana)
	for _, change := range []struct {
		sql   string
		total int64
	}{
		{`DELETE FROM firefighters WHERE deleted_at IS NOT NULL`, 4},
		{`DELETE FROM firefighters WHERE row & 0xffffffff = 2`, 3},
		{`UPDATE firefighters SET deleted_at = 1, checksum = ~checksum`, 0},
		{`UPDATE firefighters SET deleted_at = NULL, checksum = ~checksum`, 3},
	} {
		before := list(t, s, ours, "").Version
		exec(t, s, change.sql)
		all, found := list(t, s, ours, ""), list(t, s, ours, "search=ana")
		if all.Total != change.total || found.Total != change.total || all.Version == before {
			t.Errorf("%s: %d records, of which a search finds %d, not %d; version %d, before %d",
				change.sql, all.Total, found.Total, change.total, all.Version, before)
		}
		checkCounts(t, s)
	}
}

// TestConstraints: what must not be in the database is refused, also by hand.
func TestConstraints(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	create(t, s, ours, ana)
	createKey(t, s, store.NewKey{Tenant: "Engine 7", Scope: store.ScopeRead})
	for _, bad := range []string{
		`UPDATE firefighters SET tenant_id = 2, row = row + (1 << 32)`, // another department
		`UPDATE firefighters SET tenant_id = 2`,
		`UPDATE firefighters SET row = row + 1`,
		`UPDATE firefighters SET id = upper(id)`,
		`UPDATE firefighters SET first_name = ''`,
		`UPDATE firefighters SET last_name = NULL`,
		`UPDATE firefighters SET first_name = printf('%0101d', 1)`,
		`UPDATE firefighters SET phone_number = ''`,
		`UPDATE firefighters SET phone_number = NULL`, // without its key
		`UPDATE firefighters SET email_key = NULL`,
		`UPDATE firefighters SET born_at = NULL`,
		`UPDATE firefighters SET user_id = 'short'`,
		`UPDATE firefighters SET created_at = 'text'`,
		`INSERT INTO tenants (name, created_at) VALUES ('Engine 7', 0)`,
		`INSERT INTO tenants (name, created_at) VALUES ('', 0)`,
		`INSERT INTO tenants (id, name, created_at) VALUES (1 << 31, 'C', 0)`,
		`UPDATE keys SET hash = x'00'`,
		`UPDATE keys SET scope = 'root'`,
		`UPDATE keys SET session_lifetime = 0`,
		`PRAGMA foreign_keys = 1; UPDATE keys SET tenant_id = 99`,
		`PRAGMA foreign_keys = 1; DELETE FROM tenants WHERE id = 1`,
		`INSERT INTO service (only_row, latest_time) VALUES (2, 0)`,
		`UPDATE changes SET action = 'move'`,
		`INSERT INTO imports SELECT 1, 1, 0, NULL, printf('%0201d', 1), zeroblob(32), 0, 0, 1, 1, NULL`,
		`INSERT INTO imports SELECT 1, 1, 0, NULL, '', x'00', 0, 0, 1, 1, NULL`,
	} {
		if err := tryExec(t, s, bad); err == nil {
			t.Errorf("the database accepts %s", bad)
		}
	}
	if f := list(t, s, ours, "").Items[0]; f.Fields != ana {
		t.Errorf("the record is %+v", f)
	}
}
