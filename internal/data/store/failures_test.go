package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// world is a database with rows in each table.
type world struct {
	file          []byte
	live, deleted record.Firefighter
	added         string // record added by import 1
	key           store.KeyID
	secret        string    // text of another key
	session       store.Key // session opened by secret
	code          string    // code of an invitation by session
	phoneCode     string    // code of a phone's invitation
	token         string    // token of a copy that lacks the last change
}

func newWorld(t *testing.T) (w world) {
	t.Helper()
	s := newStoreAt(t, func() time.Time { return noon })
	w.key = newKey(t, s, "Engine 7", "desk")
	w.live = createWith(t, s, ours, keyFor(w.key, "a", "x"))
	w.deleted = createDeleted(t, s, ours, eva)
	_, ids := imports(t, s, ours, adding(store.Person{Fields: ana}, store.Person{ID: w.live.ID, Fields: eva}))
	w.added = ids[0]
	newKey(t, s, "Ladder 1", "")
	gone := createDeleted(t, s, theirs, ana)
	_, err := s.Purge(theirs, 0, stored(t, s, theirs, gone.ID), nil)
	must(t, err)
	exec(t, s, `INSERT INTO replays (key_id, idempotency_key, tenant_id, created_at, request_hash, record_id, answer)
		VALUES (2, 'old', ?, 0, x'00', 'none', '{}')`, theirs)
	exec(t, s, `INSERT INTO imports (tenant_id, number, at, file, hash, added, changed, first_change, last_change)
		VALUES (?, 1, 0, '', zeroblob(32), 0, 0, 1, 1)`, theirs)
	exec(t, s, `INSERT INTO invitations (hash, tenant_id, name, scope, created_at, expires_at) VALUES (zeroblob(32), ?, 'Ana', 'read', 0, 0)`, theirs)
	w.secret = createKey(t, s, store.NewKey{Tenant: "Engine 7", Scope: store.ScopeAdmin})
	_, w.session = openSession(t, s, w.secret)
	w.code = invite(t, s, ours, "Eva", w.session.ID)
	w.phoneCode = invitePhone(t, s, store.NewInvitation{Name: "Ana's phone", By: w.session.ID, Birthdays: true})
	w.token = syncBook(t, s, ours, "", 0).Token
	create(t, s, ours, ana)
	must(t, s.SetAddress("http://127.0.0.1:8080"))
	must(t, s.SetSettings(store.Settings{Folder: "/mnt/stick", Machine: "m"}, store.SettingChange{What: "folder"}))
	must(t, s.Close())
	w.file, err = os.ReadFile(s.DB().Path())
	must(t, err)
	return w
}

// open opens a copy of the database after another program has changed it.
func (w *world) open(t *testing.T, change string) *store.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	must(t, os.WriteFile(path, w.file, 0o600))
	db, err := sql.Open("sqlite", path)
	must(t, err)
	_, err = db.Exec(change)
	must(t, err)
	must(t, db.Close())
	return openStore(t, path, func() time.Time { return noon })
}

// changed returns a copy of the database after another program has changed it.
func (w *world) changed(t *testing.T, change string) []byte {
	t.Helper()
	s := w.open(t, change)
	must(t, s.Close())
	file, err := os.ReadFile(s.DB().Path())
	must(t, err)
	return file
}

// writes returns all methods that write.
func (w *world) writes() map[string]func(*store.Store) error {
	return map[string]func(*store.Store) error{
		"Create":  func(s *store.Store) error { _, err := s.Create(ours, w.key, ana, keyFor(w.key, "b", "y")); return err },
		"Replace": func(s *store.Store) error { _, err := s.Replace(ours, 0, w.live.ID, ana, asIs); return err },
		"Edit": func(s *store.Store) error {
			_, err := s.Edit(ours, 0, w.live.ID, func(record.Fields) (record.Fields, error) { return ana, nil }, asIs)
			return err
		},
		"Delete":   func(s *store.Store) error { return s.Delete(ours, 0, w.live.ID, asIs) },
		"Undelete": func(s *store.Store) error { return s.Undelete(ours, 0, []string{w.deleted.ID}) },
		"Purge": func(s *store.Store) error {
			f, err := s.GetDeleted(ours, w.deleted.ID)
			if err == nil {
				_, err = s.Purge(ours, 0, []record.Stored{f}, nil)
			}
			return err
		},
		"Purge with a replay": func(s *store.Store) error {
			if err := s.Delete(ours, 0, w.live.ID, asIs); err != nil {
				return err
			}
			f, err := s.GetDeleted(ours, w.live.ID)
			if err == nil {
				_, err = s.Purge(ours, 0, []record.Stored{f}, nil)
			}
			return err
		},
		"Import": func(s *store.Store) error {
			n := adding(store.Person{Fields: ana}, store.Person{ID: w.live.ID, Fields: ana})
			n.By, n.Key = w.key, keyFor(w.key, "c", "z")
			n.Replay = func(int64, []string) []byte { return []byte("{}") }
			_, _, err := s.Import(ours, n)
			return err
		},
		"Import into a new department": func(s *store.Store) error {
			n := adding(store.Person{Fields: ana})
			n.Department, n.New = "Rescue 3", true
			_, _, err := s.Import(0, n)
			return err
		},
		"UndoImport":   func(s *store.Store) error { _, err := s.UndoImport(ours, 0, 1, nil); return err },
		"RenameTenant": func(s *store.Store) error { return s.RenameTenant(ours, "Engine 8", false) },
		"RemoveTenant": func(s *store.Store) error { _, err := s.RemoveTenant(theirs); return err },
		"AddDepartments": func(s *store.Store) error {
			return s.AddDepartments([]store.Department{{Name: "Rescue 3", People: []record.Fields{ana}}})
		},
		"CreateKey": func(s *store.Store) error {
			return s.CreateKey(store.NewKey{Tenant: "Rescue 3", New: true, Scope: store.ScopeRead}, func(string) error { return nil })
		},
		"RevokeKey":             func(s *store.Store) error { _, err := s.RevokeKey(ours, w.key); return err },
		"WriteKeyUses":          func(s *store.Store) error { return s.WriteKeyUses(map[store.KeyID]int64{w.key: 60_000}) },
		"EraseOldReplays":       func(s *store.Store) error { return s.EraseOldReplays() },
		"OpenSession by a key":  func(s *store.Store) error { _, _, err := s.OpenSession(w.secret, "", lifetime); return err },
		"OpenSession by a code": func(s *store.Store) error { _, _, err := s.OpenSession(w.code, "", lifetime); return err },
		"EndSession":            func(s *store.Store) error { return s.EndSession(w.session) },
		"Invite": func(s *store.Store) error {
			return s.Invite(store.NewInvitation{Tenant: ours, Name: "Ivo", Scope: store.ScopeRead}, func(string) error { return nil })
		},
		"Invite a login": func(s *store.Store) error {
			return s.Invite(store.NewInvitation{Tenant: ours, Name: "root", Scope: store.ScopeAdmin, Login: "root"}, func(string) error { return nil })
		},
		"AddPhone": func(s *store.Store) error {
			return s.AddPhone(store.NewPhone{Tenant: ours, Name: "Ivo's phone", Birthdays: true}, func(store.Phone) error { return nil })
		},
		"UsePhoneInvitation": func(s *store.Store) error {
			return s.UsePhoneInvitation(w.phoneCode, func(store.Phone) error { return nil })
		},
		"NameSession": func(s *store.Store) error { return s.NameSession(w.session.ID, "Ana Čović") },
		"HideSteps":   func(s *store.Store) error { return s.HideSteps(ours) },
		"Withdraw": func(s *store.Store) error {
			all, err := s.Invitations(ours)
			if err == nil {
				err = s.Withdraw(ours, all[0].ID)
			}
			return err
		},
		"SetSettings": func(s *store.Store) error {
			return s.SetSettings(store.Settings{Network: true, Machine: "m"}, store.SettingChange{What: "network"})
		},
		"LogSetting": func(s *store.Store) error { return s.LogSetting(store.SettingChange{What: "name"}) },
		"SetAddress": func(s *store.Store) error { return s.SetAddress("") },
		"SaveClock":  func(s *store.Store) error { return s.SaveClock() },
		"ResetClock": func(s *store.Store) error { return s.ResetClock() },
	}
}

var tables = strings.Fields("service tenants keys invitations firefighters changes imports replays settings setting_changes")

// everything returns all rows of all tables in a database.
func everything(t *testing.T, s *store.Store) string {
	t.Helper()
	db := openSQL(t, s)
	defer db.Close()
	var all strings.Builder
	for _, table := range tables {
		var name string
		must(t, db.QueryRow(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN (?, ? || '_away')`, table, table).Scan(&name))
		rows, err := db.Query(`SELECT * FROM ` + name)
		must(t, err)
		columns, err := rows.Columns()
		must(t, err)
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		for rows.Next() {
			must(t, rows.Scan(into...))
			fmt.Fprintln(&all, table, values)
		}
		must(t, rows.Close())
	}
	return all.String()
}

// noting returns triggers that log the writes of a method for written.
func noting() string {
	all := []string{`CREATE TABLE written (what TEXT UNIQUE ON CONFLICT IGNORE)`}
	for _, table := range tables {
		for _, verb := range []string{"INSERT", "UPDATE", "DELETE"} {
			all = append(all, fmt.Sprintf(`CREATE TRIGGER note_%s_%s AFTER %[2]s ON %[1]s BEGIN INSERT INTO written VALUES ('%[2]s ON %[1]s'); END`, table, verb))
		}
	}
	return strings.Join(all, "; ")
}

func written(t *testing.T, s *store.Store) (all []string) {
	t.Helper()
	db := openSQL(t, s)
	defer db.Close()
	rows, err := db.Query(`SELECT what FROM written ORDER BY what`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var what string
		must(t, rows.Scan(&what))
		all = append(all, what)
	}
	return all
}

// fails checks that a method returns an error and changes nothing.
func (w *world) fails(t *testing.T, s *store.Store, name, what string, do func(*store.Store) error) {
	t.Helper()
	before := everything(t, s)
	err := do(s)
	if after := everything(t, s); err == nil || errors.Is(err, store.ErrNotFound) || after != before && name != "Purge with a replay" {
		t.Errorf("%s without %s: %v; before:\n%safter:\n%s", name, what, err, before, after)
	}
}

// reads returns all methods that read, with their results.
func (w *world) reads() map[string]func(*store.Store) (any, error) {
	return map[string]func(*store.Store) (any, error){
		"Get":        func(s *store.Store) (any, error) { return s.Get(ours, w.live.ID) },
		"GetDeleted": func(s *store.Store) (any, error) { return s.GetDeleted(ours, w.deleted.ID) },
		"Deleted":    func(s *store.Store) (any, error) { return s.Deleted(ours, noon.Add(time.Hour)) },
		"List": func(s *store.Store) (any, error) {
			return s.List(ours, record.Query{Page: 1, PageSize: 9, SortBy: record.ByLastName})
		},
		"Search":  func(s *store.Store) (any, error) { return s.List(ours, mustParse("search=eva")) },
		"Version": func(s *store.Store) (any, error) { return s.Version(ours) },
		"Replay": func(s *store.Store) (any, error) {
			_, body, err := s.Replay(ours, keyFor(w.key, "a", "x"))
			return body, err
		},
		"Imports":      func(s *store.Store) (any, error) { return s.Imports(ours) },
		"Invitations":  func(s *store.Store) (any, error) { return s.Invitations(ours) },
		"Edits":        func(s *store.Store) (any, error) { return s.Edits(ours, store.EditQuery{}, 9) },
		"GetEdit":      func(s *store.Store) (any, error) { return s.GetEdit(ours, 1) },
		"Editors":      func(s *store.Store) (any, error) { return s.Editors(ours) },
		"ChangedSince": func(s *store.Store) (any, error) { d, _, err := s.ChangedSince(ours, 1); return d, err },
		"Changes":      func(s *store.Store) (any, error) { return s.Changes(ours, "", 9) },
		"Sync":         func(s *store.Store) (any, error) { return s.Sync(ours, "", noLimit) },
		"Sync later":   func(s *store.Store) (any, error) { return s.Sync(ours, w.token, 9) },
		"SyncToken":    func(s *store.Store) (any, error) { return s.SyncToken(ours) },
		"Members":      func(s *store.Store) (any, error) { return s.Members(ours, []string{w.live.ID}) },
		"PhoneInvitation": func(s *store.Store) (any, error) {
			return s.PhoneInvitation(w.phoneCode)
		},
		"SameFile":       func(s *store.Store) (any, error) { return s.SameFile(ours, hash) },
		"HasKey":         func(s *store.Store) (any, error) { return s.HasKey(store.KeyHash{}) },
		"KeysVersion":    func(s *store.Store) (any, error) { return s.KeysVersion() },
		"KeyInfo":        func(s *store.Store) (any, error) { return s.KeyInfo(w.key) },
		"KeysOf":         func(s *store.Store) (any, error) { return s.KeysOf(ours) },
		"Address":        func(s *store.Store) (any, error) { return s.Address() },
		"Settings":       func(s *store.Store) (any, error) { return s.Settings() },
		"SettingChanges": func(s *store.Store) (any, error) { return s.SettingChanges() },
		"Empty":          func(s *store.Store) (any, error) { return s.Empty() },
		"Tenant":         func(s *store.Store) (any, error) { return s.Tenant("Engine 7") },
		"TenantName":     func(s *store.Store) (any, error) { return s.TenantName(ours) },
		"HasNoRecords":   func(s *store.Store) (any, error) { return "fine", s.HasNoRecords(theirs) },
		"Ping":           func(s *store.Store) (any, error) { return "fine", s.Ping() },
		"CheckMark":      func(s *store.Store) (any, error) { return "fine", s.DB().Read(s.CheckMark) },
		"Keys": func(s *store.Store) (any, error) {
			var all []store.Key
			err := s.Keys(func(_ store.KeyHash, k store.Key) { all = append(all, k) })
			return all, err
		},
		"ListKeys": func(s *store.Store) (any, error) {
			var all []string
			err := s.ListKeys("", func(k store.Key, tenant string) { all = append(all, fmt.Sprint(k, tenant)) })
			return all, err
		},
		"Tenants": func(s *store.Store) (any, error) {
			var all []store.TenantInfo
			err := s.Tenants(func(i store.TenantInfo) { all = append(all, i) })
			return all, err
		},
		"Each": func(s *store.Store) (any, error) {
			var all []record.Firefighter
			err := s.Each(ours, mustParse(""), func(f *record.Firefighter) error { all = append(all, *f); return nil })
			return all, err
		},
		"History": func(s *store.Store) (any, error) {
			var all []store.Entry
			err := s.History(ours, "", time.UnixMilli(0), func(ch store.Entry) error { all = append(all, ch); return nil })
			return all, err
		},
		"Roster.Each": func(s *store.Store) (any, error) {
			var all []record.Stored
			err := s.ReadRoster(ours, func(r store.Roster) error {
				return r.Each(context.Background(), func(f *record.Stored) { all = append(all, *f) })
			})
			return all, err
		},
		"Roster.Deleted": func(s *store.Store) (all any, err error) {
			err = s.ReadRoster(ours, func(r store.Roster) (err error) { all, err = r.Deleted([]string{w.deleted.ID}); return err })
			return all, err
		},
	}
}

func mustParse(query string) record.Query {
	q, err := record.ParseQuery(query)
	if err != nil {
		panic(err)
	}
	return q
}

// TestUnreadable checks that a method that cannot read a table returns an error and no partial
// result.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reads := w.reads()
	want := map[string]any{}
	s := w.open(t, ``)
	for name, do := range reads {
		answer, err := do(s)
		if err != nil || reflect.ValueOf(answer).IsZero() && name != "HasKey" && name != "Empty" {
			t.Fatalf("%s: %v, %v", name, answer, err)
		}
		want[name] = answer
	}
	failed := map[string]bool{}
	for _, table := range tables {
		exec(t, s, fmt.Sprintf(`ALTER TABLE %s RENAME TO away`, table))
		for name, do := range reads {
			answer, err := do(s)
			failed[name] = failed[name] || err != nil
			if err == nil && !reflect.DeepEqual(answer, want[name]) {
				t.Errorf("%s without the table %s: %v", name, table, answer)
			}
		}
		exec(t, s, `ALTER TABLE away RENAME TO `+table)
	}
	for name := range reads {
		if !failed[name] {
			t.Errorf("%s never fails", name)
		}
	}
}
