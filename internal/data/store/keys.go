package store

import (
	"database/sql/driver"
	"slices"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// KeyID is the number of a key, or 0 for a command.
type KeyID int64

// The scopes of keys for people and programs. Each one includes the ones before it.
const (
	ScopeRead  = "read"
	ScopeWrite = "write"
	ScopeAdmin = "admin" // also manages keys and invitations on the office page
)

// The scopes of keys for devices. Each gives access to one resource only.
const (
	ScopePhone    = "phone"    // the address book
	ScopeCalendar = "calendar" // the calendar of birthdays
)

// scopes are the scopes for people and programs, in order.
var scopes = []string{ScopeRead, ScopeWrite, ScopeAdmin}

// ValidScope reports whether a scope is valid for people and programs.
func ValidScope(scope string) bool { return slices.Contains(scopes, scope) }

// IsDeviceScope reports whether a scope is for devices.
func IsDeviceScope(scope string) bool { return scope == ScopePhone || scope == ScopeCalendar }

// ScopeCovers reports whether a scope includes the needed scope.
func ScopeCovers(scope, needed string) bool {
	if IsDeviceScope(needed) {
		return scope == needed
	}
	return ValidScope(needed) && slices.Index(scopes, scope) >= slices.Index(scopes, needed)
}

// Key is an API key, the key of a device, or a browser session. Times are in milliseconds; 0 means
// none. A key with OpenedBy ends no later than that key.
type Key struct {
	ID         KeyID
	Tenant     record.TenantID
	Scope      string
	Label      string
	CreatedAt  int64
	ExpiresAt  int64
	RevokedAt  int64
	LastUsedAt int64
	Lifetime   int64  // of a session, from its last use; 0: not a session
	OpenedBy   KeyID  // key that opened the session, or phone key of a calendar key; 0: none
	Device     string // browser and system of the session, such as "Firefox, Windows"; empty: unknown
	Login      string // login of the invitation that opened the session
	Birthdays  bool   // for ScopePhone: whether contacts include dates of birth
}

// keyColumns are the columns of a key k in keyTables. o is the key that opened k. If o no longer
// exists, k counts as revoked.
const (
	keyColumns = `k.id, k.tenant_id, k.scope, k.label, k.created_at,
		min(ifnull(k.expires_at, o.expires_at), ifnull(o.expires_at, k.expires_at)),
		ifnull(k.revoked_at, iif(k.opened_by IS NULL OR o.id IS NOT NULL, o.revoked_at, k.created_at)),
		k.last_used_at, k.session_lifetime, k.opened_by, k.device, k.login, k.birthdays`
	keyTables = `keys k LEFT JOIN keys o ON o.id = k.opened_by`
	keySQL    = `SELECT ` + keyColumns + ` FROM ` + keyTables
)

// scanKey returns the key in a row that begins with keyColumns.
func scanKey(row sqlite.Row) Key {
	return Key{KeyID(row.Int(0)), record.TenantID(row.Int(1)), row.Text(2), row.Text(3),
		row.Int(4), row.Int(5), row.Int(6), row.Int(7), row.Int(8), KeyID(row.Int(9)), row.Text(10), row.Text(11), row.Int(12) == 1}
}

// IsSession reports whether the key is a browser session, which gives access to the office page but
// not to the API.
func (k Key) IsSession() bool { return k.Lifetime != 0 }

// Expiry returns when the key expires, in milliseconds; 0 means never. A session expires after
// Lifetime without use, or earlier with the key that opened it.
func (k Key) Expiry() int64 {
	if !k.IsSession() {
		return k.ExpiresAt
	}
	at := max(k.CreatedAt, k.LastUsedAt) + k.Lifetime
	if k.ExpiresAt != 0 {
		at = min(at, k.ExpiresAt)
	}
	return at
}

// Expired reports whether the key has expired at a time in milliseconds.
func (k Key) Expired(now int64) bool { at := k.Expiry(); return at != 0 && at <= now }

// Ended returns when the key was revoked or expires, whichever is first, in milliseconds; 0 means
// never.
func (k Key) Ended() int64 {
	if at := k.Expiry(); k.RevokedAt == 0 || at != 0 && at < k.RevokedAt {
		return at
	}
	return k.RevokedAt
}

// StateActive is the state of a valid key.
const StateActive = "active"

// State returns StateActive, "revoked" or "expired".
func (k Key) State(now time.Time) string {
	switch {
	case k.RevokedAt != 0:
		return "revoked"
	case k.Expired(now.UnixMilli()):
		return "expired"
	}
	return StateActive
}

// HasKey reports whether a key with this hash exists.
func (s *Store) HasKey(hash KeyHash) (bool, error) {
	return s.queryBool(`SELECT EXISTS (SELECT 1 FROM keys WHERE hash = ?)`, hash[:])
}

// Keys calls each for all keys and sessions. It skips a key whose hash is damaged.
func (s *Store) Keys(each func(KeyHash, Key)) error {
	return s.query(`SELECT `+keyColumns+`, k.hash FROM `+keyTables, nil,
		func(row sqlite.Row) {
			if hash := row.Bytes(len(row) - 1); len(hash) == len(KeyHash{}) {
				each(KeyHash(hash), scanKey(row))
			}
		})
}

// KeysVersion returns a number that changes whenever any process adds, changes, revokes or deletes
// a key.
func (s *Store) KeysVersion() (int64, error) {
	return s.queryInt(`SELECT keys_version FROM service`)
}

// KeyInfo is the information about a key that its holder may see.
type KeyInfo struct {
	Department string  `json:"department"`
	Label      string  `json:"label"`
	Scope      string  `json:"scope"`
	ExpiresAt  *string `json:"expiresAt"` // null: never
}

// KeyInfo returns the information about a key, or ErrNotFound.
func (s *Store) KeyInfo(id KeyID) (info KeyInfo, err error) {
	err = s.queryRow(`SELECT name, label, scope, expires_at FROM keys JOIN tenants ON tenants.id = tenant_id WHERE keys.id = ?`,
		sqlite.Args{int64(id)}, func(row sqlite.Row) { info = KeyInfo{row.Text(0), row.Text(1), row.Text(2), Moment(row.Int(3))} })
	return info, noRow(err, ErrNotFound)
}

// NewKey describes a key to create.
type NewKey struct {
	Tenant    string // name of the department, normalized by record.NormalizeName
	Label     string // normalized by record.NormalizeLabel
	Scope     string
	Birthdays bool      // for ScopePhone: whether contacts include dates of birth
	ExpiresAt time.Time // the zero time: never
	New       bool      // whether the department may be created in addition to others
}

// CreateKey creates a key, and its department if that does not exist, and passes the key to show.
// The key cannot be read again later. show is called within the transaction: if it fails, the key
// is not created. It is called twice if a transaction that other writes share has to be repeated.
// CreateKey returns the errors of TenantOrNew.
func (s *Store) CreateKey(k NewKey, show func(key string) error) error {
	key := newKeyText()
	hash := HashKey(key)
	expiresAt := max(k.ExpiresAt.UnixMilli(), 0) // the zero time is negative
	return s.db.Write(func(t *sqlite.Tx) error {
		tenant, err := addTenant(t, k.Tenant, k.New)
		if err != nil {
			return err
		}
		_, err = insertKey(t, hash, Key{Tenant: tenant, Label: k.Label, Scope: k.Scope, Birthdays: k.Birthdays, ExpiresAt: expiresAt})
		if err != nil {
			return err
		}
		return show(key)
	})
}

// insertKey adds a key that is created now, and returns its id.
func insertKey(t *sqlite.Tx, hash KeyHash, k Key) (KeyID, error) {
	id, err := t.QueryInt(`
		INSERT INTO keys (hash, tenant_id, label, scope, created_at, expires_at, session_lifetime, opened_by, device, login, birthdays)
		VALUES (?, ?, ?, ?, ?, nullif(?, 0), nullif(?, 0), nullif(?, 0), ?, ?, ?) RETURNING id`,
		hash[:], int64(k.Tenant), k.Label, k.Scope, t.Now, k.ExpiresAt, k.Lifetime, int64(k.OpenedBy), k.Device, k.Login, k.Birthdays)
	return KeyID(id), err
}

// ListKeys calls each for the keys of the department with this name, or of all departments if the
// name is empty.
func (s *Store) ListKeys(tenant string, each func(k Key, tenant string)) error {
	return s.query(`SELECT `+keyColumns+`, t.name FROM `+keyTables+` JOIN tenants t ON t.id = k.tenant_id
		WHERE ?1 IN ('', t.name) ORDER BY k.id`, sqlite.Args{tenant},
		func(row sqlite.Row) { each(scanKey(row), row.Text(len(row)-1)) })
}

// KeysOf returns the keys and sessions of a department, newest first.
func (s *Store) KeysOf(tenant record.TenantID) (all []Key, err error) {
	err = s.query(keySQL+` WHERE k.tenant_id = ? ORDER BY k.id DESC`, sqlite.Args{int64(tenant)},
		func(row sqlite.Row) { all = append(all, scanKey(row)) })
	return all, err
}

// AnyTenant stands for all departments.
const AnyTenant record.TenantID = 0

// RevokeKey revokes a key of a department. already reports whether the key was revoked before.
// RevokeKey returns ErrNotFound if the department has no such key.
func (s *Store) RevokeKey(tenant record.TenantID, id KeyID) (already bool, err error) {
	err = s.db.Write(func(t *sqlite.Tx) error {
		revoked, err := t.QueryInt(`SELECT revoked_at IS NOT NULL FROM keys WHERE id = ? AND ? IN (0, tenant_id)`, int64(id), int64(tenant))
		if err != nil {
			return noRow(err, ErrNotFound)
		}
		already = revoked == 1
		return revoke(t, id)
	})
	return already, err
}

func revoke(t *sqlite.Tx, id KeyID) error {
	_, err := t.Exec(`UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL`, t.Now, int64(id))
	return err
}

// WriteKeyUses stores when keys were last used, in milliseconds.
func (s *Store) WriteKeyUses(uses map[KeyID]int64) error {
	return s.db.Write(func(t *sqlite.Tx) error {
		for id, used := range uses {
			if _, err := t.Exec(`UPDATE keys SET last_used_at = ? WHERE id = ?`, used, int64(id)); err != nil {
				return err
			}
		}
		return nil
	})
}

// getKey returns the key or session that matches a condition, or ErrNotFound.
func getKey(c *sqlite.Conn, condition string, value driver.Value) (k Key, err error) {
	err = c.QueryRow(keySQL+` WHERE `+condition, sqlite.Args{value}, func(row sqlite.Row) { k = scanKey(row) })
	return k, noRow(err, ErrNotFound)
}
