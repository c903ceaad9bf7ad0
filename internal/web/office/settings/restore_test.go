package settings_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// format is the format of the database of newPC.
func format(t *testing.T) sqlite.Format {
	t.Helper()
	schema, err := os.ReadFile("../../../../schema.sql")
	must(t, err)
	return store.Format(string(schema), 1)
}

// newBackedUpPC returns a PC with 2 people, and with their backup, an encrypted one, and the copy that a
// restore kept. One of the two was added after the backups.
func newBackedUpPC(t *testing.T) (p *pc, plain, encrypted, kept string) {
	t.Helper()
	p = newPC(t, func(s *site.Service) {
		s.Settings.Restore = func(session store.Key, file backup.File, key backup.Key) error {
			p.calls = append(p.calls, fmt.Sprint(session.Label, " ", file.Name(), " ", len(key)))
			return p.err
		}
		s.Search.Database = s.Store.DB().Path()
	})
	create := func(name string) {
		_, err := p.store.Create(1, 0, record.Fields{FirstName: name, LastName: "Čović"}, nil)
		must(t, err)
	}
	create("Ana")
	_, public, err := backup.NewKey()
	must(t, err)
	to, err := backup.ParseRecipients([]string{public})
	must(t, err)
	p.state.Dir = t.TempDir()
	db := p.service.Search.Database
	at := func(days int) string { return time.Now().AddDate(0, 0, -days).UTC().Format("20060102T150405Z") }
	plain, encrypted, kept = "x-"+at(1)+".db", "x-"+at(2)+".db.age", filepath.Base(db)+".before-restore-"+at(3)
	save := func(target string, to backup.Recipients) {
		_, err := backup.Job{Format: format(t), Source: db, Target: target, EncryptTo: to}.Run(t.Context())
		must(t, err)
	}
	save(filepath.Join(p.state.Dir, plain), nil)
	save(filepath.Join(p.state.Dir, encrypted), to)
	save(filepath.Join(filepath.Dir(db), kept), nil)
	for last := time.Now().UnixMilli(); time.Now().UnixMilli() == last; { // a backup contains the changes of its millisecond
	}
	create("Eva")
	return p, plain, encrypted, kept
}

// TestRestore checks what the page says before a restore, and that it restores the backup in its form.
func TestRestore(t *testing.T) {
	t.Parallel()
	p, plain, encrypted, kept := newBackedUpPC(t)
	secret, _, err := backup.NewKey()
	must(t, err)
	b := p.admin("Engine 7")
	const path = "/office/settings/restore"
	b.get("/office/settings", nil).wants(200, path)
	b.get(path, nil).wants(200, p.state.Dir, "1 day ago", "2 days ago", "3 days ago", "1 person", "before a restore", "encrypted").
		lacks("unknown", "2 people")
	for _, name := range []string{plain, encrypted, kept} {
		a := b.get(path+"?name="+name, nil).wants(200, "1 person", "2 people", "1 change since then will be lost.", "This concerns 1 person.",
			"all departments", "Confirm")
		if name == encrypted {
			a.wants(200, "AGE-SECRET-KEY-1")
		} else {
			a.lacks("AGE-SECRET-KEY-1")
		}
	}
	p.called()
	b.post(path, url.Values{"name": {plain}}, nil).wants(303)
	b.post(path, url.Values{"name": {encrypted}, "key": {" " + secret + "\n"}}, nil).wants(303)
	b.post(path, url.Values{"name": {kept}}, nil).wants(303)
	p.called("Ana "+plain+" 0", "Ana "+encrypted+" 1", "Ana "+kept+" 0")

	for _, name := range []string{"../" + plain, filepath.Base(p.service.Search.Database), "missing", ""} {
		a := b.post(path, url.Values{"name": {name}}, nil).wants(303)
		b.get(a.Header().Get("Location"), nil).wants(200, "This backup is no longer there.")
	}
	p.called()
	b.post(path, url.Values{"name": {encrypted}, "key": {"SECRET-TEXT"}}, nil).wants(422, "Type the private key.").lacks("SECRET-TEXT")
	p.called()
	for err, text := range map[error]string{backup.ErrEncrypted: "Type the private key.",
		&backup.WrongKeyError{}: "This key does not open this backup.", os.ErrInvalid: "This backup cannot be used."} {
		p.err = err
		b.post(path, url.Values{"name": {encrypted}, "key": {secret}}, nil).wants(422, text).lacks(secret)
	}
}

// TestRestored checks what the page says after a restore, and without the disk.
func TestRestored(t *testing.T) {
	t.Parallel()
	p, _, _, kept := newBackedUpPC(t)
	b := p.admin("Engine 7")
	last := &site.RestoredBackup{Name: "x.db", By: "Eva <b>", Restored: backup.Restored{Kept: "/somewhere/" + kept}}
	last.Records, p.state.Restored = 1, last
	b.get("/office/settings/restore", nil).wants(200, "The backup was restored", "1 person", "Eva <b>", "Go back to it", "?name="+kept+`">Go`).
		lacks("may be back", "may be valid", "confirm the settings")
	last.ErasedUnknown, last.RevokedUnknown, last.Damaged, p.state.Unconfirmed = os.ErrNotExist, true, 2, true
	b.get("/office/settings/restore", nil).wants(200, "may be back", "may be valid", "2 people in it are damaged", "confirm the settings")
	last.Err = os.ErrInvalid
	b.get("/office/settings/restore", nil).wants(200, "The backup was not restored", "Nothing was changed").lacks("Go back to it")
	must(t, os.RemoveAll(p.state.Dir))
	b.get("/office/settings/restore", nil).wants(200, "Connect the disk", "before a restore").lacks("encrypted")
}

// TestCard checks that the sheet has the commands of this PC.
func TestCard(t *testing.T) {
	t.Parallel()
	p, plain, encrypted, _ := newBackedUpPC(t)
	must(t, p.store.SetAddress("https://station:8443", "http://127.0.0.1:8080"))
	b := p.admin("Engine 7")
	newest := filepath.Join(p.state.Dir, plain)
	b.get("/office/settings/card", nil).wants(200, "http://127.0.0.1:8080/office/", p.service.Search.Database, newest,
		managers.AdminCommand("restore", newest), managers.AdminCommand("service", "install", "--backup-dir", p.state.Dir)).lacks("--identity")
	must(t, os.Remove(newest))
	newest = filepath.Join(p.state.Dir, encrypted)
	b.get("/office/settings/card", nil).wants(200, managers.AdminCommand("restore", newest, "--identity", "-"), "asks for the private key")
}

// TestRestoreRejected checks who cannot restore a backup.
func TestRestoreRejected(t *testing.T) {
	t.Parallel()
	p, plain, _, _ := newBackedUpPC(t)
	form := url.Values{"name": {plain}}
	rejected := func(b session, change func(*http.Request)) {
		t.Helper()
		for _, path := range []string{"/office/settings/restore", "/office/settings/restore?name=" + plain, "/office/settings/card"} {
			b.get(path, change).wants(403).lacks(p.state.Dir)
		}
		b.post("/office/settings/restore", form, change).wants(403)
	}
	rejected(p.admin("Ladder 1"), nil)
	rejected(p.signIn("Engine 7", store.ScopeWrite), nil)
	b := p.admin("Engine 7")
	rejected(b, func(r *http.Request) { r.RemoteAddr = "192.168.1.5:5" })
	rejected(b, func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Origin", "https://evil.example")
	})
	p.called()
	p = newPC(t, func(s *site.Service) { s.Installed = false })
	rejected(p.admin("Engine 7"), nil)
}
