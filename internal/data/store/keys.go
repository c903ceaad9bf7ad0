package store

import (
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// KeyID is the number of a key, 0 where a command does what otherwise a key
// does.
type KeyID int64

// The scopes of a key for people and programs. Each may do what those before it may.
const (
	ScopeRead  = "read"
	ScopeWrite = "write"
	ScopeAdmin = "admin" // on the office page it also sees keys, revokes them and invites
)

// The scopes of a key for a device. Each opens one thing and nothing else.
const (
	ScopePhone    = "phone"    // the address book
	ScopeCalendar = "calendar" // the calendar of birthdays
)

// scopes are those for people and programs, in their order.
var scopes = []string{ScopeRead, ScopeWrite, ScopeAdmin}

// ValidScope reports whether a scope is one of those for people and programs.
func ValidScope(scope string) bool { return slices.Contains(scopes, scope) }

// IsDeviceScope reports whether a scope is one of those for a device.
func IsDeviceScope(scope string) bool { return scope == ScopePhone || scope == ScopeCalendar }

// ScopeCovers reports whether a key of a scope may do what needs another scope.
func ScopeCovers(scope, needed string) bool {
	if IsDeviceScope(needed) {
		return scope == needed
	}
	return ValidScope(needed) && slices.Index(scopes, scope) >= slices.Index(scopes, needed)
}

// Key is an API key, that of a device or the session of a browser, as it is stored.
// Times are in milliseconds; 0 is none. A key with OpenedBy has ended when that one has.
type Key struct {
	ID         KeyID
	Tenant     record.TenantID
	Scope      string
	Label      string
	CreatedAt  int64
	ExpiresAt  int64
	RevokedAt  int64
	LastUsedAt int64
	Lifetime   int64  // of a session, after its last use; 0: an API key
	OpenedBy   KeyID  // the key that opened the session, or the phone's of a calendar; 0: none
	Device     string // what the session is on, as "Firefox, Windows"; empty: not known
	Login      string // that of the invitation that opened the session
	Birthdays  bool   // of ScopePhone: the cards have dates of birth
}

// keyColumns are the columns of a key k in keyTables. o is the key that opened k. If o was
// erased, k counts as revoked.
const (
	keyColumns = `k.id, k.tenant_id, k.scope, k.label, k.created_at,
		min(ifnull(k.expires_at, o.expires_at), ifnull(o.expires_at, k.expires_at)),
		ifnull(k.revoked_at, iif(k.opened_by IS NULL OR o.id IS NOT NULL, o.revoked_at, k.created_at)),
		k.last_used_at, k.session_lifetime, k.opened_by, k.device, k.login, k.birthdays`
	keyTables = `keys k LEFT JOIN keys o ON o.id = k.opened_by`
	keySQL    = `SELECT ` + keyColumns + ` FROM ` + keyTables
)

// scanKey reads a row that begins with keyColumns.
func scanKey(row sqlite.Row) Key {
	return Key{KeyID(row.Int(0)), record.TenantID(row.Int(1)), row.Text(2), row.Text(3),
		row.Int(4), row.Int(5), row.Int(6), row.Int(7), row.Int(8), KeyID(row.Int(9)), row.Text(10), row.Text(11), row.Int(12) == 1}
}

// IsSession reports whether the key is the session of a browser. It opens the
// office page, and nothing in the API.
func (k Key) IsSession() bool { return k.Lifetime != 0 }

// sessionSuffix ends the label of every session.
const sessionSuffix = " (browser)"

// Person returns whose session a key is: its label without its end.
func (k Key) Person() string { return strings.TrimSuffix(k.Label, sessionSuffix) }

// Expiry returns when the key expires, in milliseconds; 0 is never. A session
// expires its lifetime after its last use, or earlier with the key that opened it.
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

// Expired reports whether the key has expired by a time in milliseconds.
func (k Key) Expired(now int64) bool { at := k.Expiry(); return at != 0 && at <= now }

// Ended returns when the key was revoked or expires, whichever is first, in milliseconds;
// 0 is never.
func (k Key) Ended() int64 {
	if at := k.Expiry(); k.RevokedAt == 0 || at != 0 && at < k.RevokedAt {
		return at
	}
	return k.RevokedAt
}

// StateActive is the state of a key that works.
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

// HasKey reports whether there is a key with this hash.
func (s *Store) HasKey(hash KeyHash) (bool, error) {
	n, err := s.queryInt(`SELECT EXISTS (SELECT 1 FROM keys WHERE hash = ?)`, hash[:])
	return n == 1, err
}

// Keys calls each for all keys and sessions.
func (s *Store) Keys(each func(KeyHash, Key)) error {
	return s.query(`SELECT `+keyColumns+`, k.hash FROM `+keyTables, nil,
		func(row sqlite.Row) {
			if hash := row.Bytes(len(row) - 1); len(hash) == len(KeyHash{}) { // else it is damaged
				each(KeyHash(hash), scanKey(row))
			}
		})
}

// KeysVersion returns a number that changes whenever a key is made, changed,
// revoked or erased, also by another process.
func (s *Store) KeysVersion() (int64, error) {
	return s.queryInt(`SELECT keys_version FROM service`)
}

// KeyInfo is what the holder of a key may know about it.
type KeyInfo struct {
	Department string  `json:"department"`
	Label      string  `json:"label"`
	Scope      string  `json:"scope"`
	ExpiresAt  *string `json:"expiresAt"` // null: never
}

// KeyInfo returns what is known about a key, or ErrNotFound.
func (s *Store) KeyInfo(id KeyID) (info KeyInfo, err error) {
	err = s.queryRow(`SELECT name, label, scope, expires_at FROM keys JOIN tenants ON tenants.id = tenant_id WHERE keys.id = ?`,
		sqlite.Args{int64(id)}, func(row sqlite.Row) { info = KeyInfo{row.Text(0), row.Text(1), row.Text(2), Moment(row.Int(3))} })
	return info, noRow(err, ErrNotFound)
}

// NewKey describes a key to make.
type NewKey struct {
	Tenant    string // the department's name, by record.NormalizeName
	Label     string // by record.NormalizeLabel
	Scope     string
	Birthdays bool      // of ScopePhone: the cards have dates of birth
	ExpiresAt time.Time // the zero time is never
	New       bool      // the department may be created in addition to others
}

// CreateKey makes a key, and its department if that does not exist, and shows
// the key: this is the only time that anybody sees it. If show fails the key is
// not made. So show runs within the transaction. It runs twice if the transaction
// was shared with other callers and failed. It returns the errors of TenantOrNew.
func (s *Store) CreateKey(k NewKey, show func(key string) error) error {
	key := newKeyText()
	hash := HashKey(key)
	expiresAt := int64(0)
	if !k.ExpiresAt.IsZero() {
		expiresAt = k.ExpiresAt.UnixMilli()
	}
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

// insertKey writes a key, which is made now, and returns its number.
func insertKey(t *sqlite.Tx, hash KeyHash, k Key) (KeyID, error) {
	id, err := t.QueryInt(`
		INSERT INTO keys (hash, tenant_id, label, scope, created_at, expires_at, session_lifetime, opened_by, device, login, birthdays)
		VALUES (?, ?, ?, ?, ?, nullif(?, 0), nullif(?, 0), nullif(?, 0), ?, ?, ?) RETURNING id`,
		hash[:], int64(k.Tenant), k.Label, k.Scope, t.Now, k.ExpiresAt, k.Lifetime, int64(k.OpenedBy), k.Device, k.Login, k.Birthdays)
	return KeyID(id), err
}

// ListKeys calls each for the keys of the department of that name, or of all
// departments if it is empty, with the department's name.
func (s *Store) ListKeys(tenant string, each func(k Key, tenant string)) error {
	return s.query(`SELECT `+keyColumns+`, t.name FROM `+keyTables+` JOIN tenants t ON t.id = k.tenant_id
		WHERE ?1 IN ('', t.name) ORDER BY k.id`, sqlite.Args{tenant},
		func(row sqlite.Row) { each(scanKey(row), row.Text(len(row)-1)) })
}

// KeysOf returns the keys and sessions of a department, the newest first.
func (s *Store) KeysOf(tenant record.TenantID) (all []Key, err error) {
	err = s.query(keySQL+` WHERE k.tenant_id = ? ORDER BY k.id DESC`, sqlite.Args{int64(tenant)},
		func(row sqlite.Row) { all = append(all, scanKey(row)) })
	return all, err
}

// AnyTenant stands for all departments.
const AnyTenant record.TenantID = 0

// RevokeKey revokes a key of a department for good. It reports whether the key was
// revoked already. The error is ErrNotFound if the department has no such key.
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

// WriteKeyUses writes when keys were last used, in milliseconds.
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

// keyByID returns a key or a session of any department.
func keyByID(c *sqlite.Conn, id KeyID) (k Key, err error) {
	err = c.QueryRow(keySQL+` WHERE k.id = ?`, sqlite.Args{int64(id)}, func(row sqlite.Row) { k = scanKey(row) })
	return k, noRow(err, ErrNotFound)
}

// keyByHash returns the key or the session with this hash.
func keyByHash(c *sqlite.Conn, hash KeyHash) (k Key, err error) {
	err = c.QueryRow(keySQL+` WHERE k.hash = ?`, sqlite.Args{hash[:]}, func(row sqlite.Row) { k = scanKey(row) })
	return k, noRow(err, ErrNotFound)
}
