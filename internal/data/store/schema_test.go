package store_test

import (
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestConstraints checks that the database rejects invalid rows, even from other programs.
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
