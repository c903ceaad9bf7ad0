package daemon

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/httpserver"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func schemaOf(t *testing.T) database.Schema {
	t.Helper()
	text, err := os.ReadFile("../../../schema.sql")
	must(t, err)
	return database.Schema{Format: store.Format(string(text), 1), Quiet: true}
}

// running is an installed service in a test.
type running struct {
	folder  string
	service atomic.Pointer[site.Service] // of the current handler
	url     string                       // on this computer
	log     *syncWriter
	stop    func() error
}

type syncWriter struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *syncWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *syncWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// run runs the service with its files in a folder until the end of the test, or until stop.
func run(t *testing.T, folder string, flags ...string) *running {
	t.Helper()
	return runWith(t, folder, Options{Installed: true, othersAt: "127.0.0.1:0"}, flags...)
}

func runWith(t *testing.T, folder string, o Options, flags ...string) *running {
	t.Helper()
	r := &running{folder: folder, log: &syncWriter{}}
	o.hides = func(string) bool { return false }
	cmd := &cobra.Command{Use: "install"}
	o.AddFlags(cmd)
	o.DB, o.Backups.Dir, o.Listen = filepath.Join(folder, "firefighters.db"), filepath.Join(folder, "backups"), "127.0.0.1:0"
	must(t, cmd.ParseFlags(flags))
	must(t, o.Check(cmd))
	c := Commands{Database: schemaOf(t), NewAPI: func(s site.Service) http.Handler {
		if r.service.Swap(&s) == nil && s.Authority != nil { // other devices already connect
			c := http.Client{Timeout: 100 * time.Millisecond, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
			if err := get(&c, "https://127.0.0.1:"+s.Port); !os.IsTimeout(err) {
				t.Errorf("before the service is ready, a device gets: %v", err)
			}
		}
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			people, err := s.Store.Version(1)
			if err != nil {
				w.WriteHeader(http.StatusInternalServerError)
			}
			fmt.Fprint(w, people)
		})
	}}
	ctx, cancel := context.WithCancel(t.Context())
	listening, ended := make(chan string, 1), make(chan error, 1)
	out := writerFunc(func(b []byte) (int, error) {
		if strings.HasPrefix(string(b), "Listening on") {
			listening <- string(b)
		}
		return len(b), nil
	})
	go func() { ended <- c.Run(cli.Env{Context: ctx, Stdout: out, Stderr: r.log}, o) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { r.stop() })
	select {
	case <-listening:
	case err := <-ended:
		ended <- err
		t.Fatal(err)
	}
	port := r.service.Load().LocalPort
	if port == "" {
		port = r.service.Load().Port
	}
	r.url = "http://127.0.0.1:" + port
	return r
}

// eventually waits until a condition holds.
func eventually(t *testing.T, failure string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(failure)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func (r *running) settings() *site.Settings { return r.service.Load().Settings }

// change changes the settings as Ana would.
func (r *running) change(t *testing.T, what, value string, edit func(*store.Settings)) {
	t.Helper()
	must(t, r.service.Load().ChangeSettings(store.SettingChange{Who: "Ana", What: what, Value: value}, edit))
}

func (r *running) setFolder(t *testing.T, folder string) {
	t.Helper()
	dir, err := r.settings().ChooseFolder(folder)
	must(t, err)
	r.change(t, site.SettingFolder, dir, func(s *store.Settings) { s.Folder = dir })
}

func (r *running) setNetwork(t *testing.T, allowed bool) {
	t.Helper()
	r.change(t, site.SettingNetwork, fmt.Sprint(allowed), func(s *store.Settings) { s.Network = allowed })
}

func (r *running) lastChange(t *testing.T) (c store.SettingChange) {
	t.Helper()
	all, err := r.service.Load().Store.SettingChanges()
	must(t, err)
	if len(all) > 0 {
		c = all[0]
	}
	return c
}

// address returns the URL for other devices, or "".
func (r *running) address(t *testing.T) string {
	t.Helper()
	url, err := r.service.Load().Store.Address()
	must(t, err)
	if site.HereOnly(url) && r.service.Load().Authority == nil {
		return ""
	}
	return url
}

// restore begins to restore the backup with a name, and waits for the result.
func (r *running) restore(t *testing.T, session store.Key, name string) *site.RestoredBackup {
	t.Helper()
	files, err := backup.Restorable(filepath.Join(r.folder, "firefighters.db"), r.settings().Dir)
	must(t, err)
	for _, f := range files {
		if f.Name() == name {
			must(t, r.settings().Restore(session, f.File, nil))
			must(t, get(http.DefaultClient, r.url)) // waits for the result
			return r.settings().Restored
		}
	}
	t.Fatalf("no backup %s", name)
	return nil
}

func get(c *http.Client, url string) error {
	response, err := c.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.ReadAll(response.Body); err != nil || response.StatusCode != 200 {
		return fmt.Errorf("%s, %v", response.Status, err)
	}
	return nil
}

// keepAsking sends requests until end, with and without a new connection, which must all succeed.
func (r *running) keepAsking(t *testing.T) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	for _, fresh := range []bool{true, false} {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: fresh}}
		asking.Go(func() {
			for ctx.Err() == nil {
				if err := get(client, r.url); err != nil {
					t.Errorf("a client: %v", err)
					return
				}
			}
		})
	}
	return func() { cancel(); asking.Wait() }
}

// TestNetworkSetting checks that other devices can connect while the setting allows it, and that clients
// on this computer notice nothing.
func TestNetworkSetting(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	defer r.keepAsking(t)()
	started := r.service.Load().Started
	for range 2 {
		waiting := r.service.Load().Stopping
		r.setNetwork(t, true)
		state := r.settings()
		if !state.Network.Value || state.Network.Fixed || r.address(t) == "" || state.Trouble != nil || waiting.Err() == nil {
			t.Fatalf("allowed: %+v, requests that wait for changes: %v", state, waiting.Err())
		}
		s := r.service.Load()
		pool := x509.NewCertPool()
		ca, err := os.ReadFile(s.Authority.PublicFile())
		must(t, err)
		pool.AppendCertsFromPEM(ca)
		other := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
		must(t, get(other, "https://127.0.0.1:"+s.Port))
		if "http://127.0.0.1:"+s.LocalPort != r.url || s.Expires().IsZero() || !s.Started.Equal(started) {
			t.Errorf("the local port is %s, %s before; started at %v", s.LocalPort, r.url, s.Started)
		}
		must(t, r.settings().BackUp(t.Context()))
		if _, err := os.Stat(filepath.Join(r.folder, "backups", "firefighters-authority.pem")); err != nil {
			t.Error(err)
		}
		r.setNetwork(t, false)
		if r.settings().Network.Value || r.address(t) != "" || r.lastChange(t).Value != "false" {
			t.Errorf("no longer allowed: %+v", r.settings())
		}
		eventually(t, "other devices can still connect", func() bool { return get(other, "https://127.0.0.1:"+s.Port) != nil })
	}
	if log := r.log.String(); !strings.Contains(log, `"setting":"network","value":"true","by":"Ana"`) {
		t.Errorf("the log:\n%s", log)
	}
}

// TestNetworkAtStart checks that devices that connect while the service starts wait until it is ready, as
// run expects.
func TestNetworkAtStart(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	r.setNetwork(t, true)
	must(t, r.stop())
	if r = run(t, r.folder); r.address(t) == "" {
		t.Error("other devices cannot connect")
	}
}

// TestBackupSettings checks that backups follow the settings.
func TestBackupSettings(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	end := r.keepAsking(t)
	stick, err := filepath.EvalSymlinks(t.TempDir()) // on macOS it is a link
	must(t, err)
	r.setFolder(t, stick)
	dir := filepath.Join(stick, backup.OwnFolder)
	if state := r.settings(); state.Dir != dir || state.Folder.Value != dir {
		t.Errorf("the state is %+v, want the folder %s", state, dir)
	}
	identity, err := age.GenerateX25519Identity()
	must(t, err)
	r.change(t, site.SettingRecipients, "1", func(s *store.Settings) { s.Recipients = []string{identity.Recipient().String()} })
	must(t, r.settings().BackUp(t.Context()))
	files, err := backup.List(filepath.Join(r.folder, "firefighters.db"), dir)
	if err != nil || len(files) == 0 || !files[0].Encrypted {
		t.Errorf("the backups are %+v, %v", files, err)
	}
	if _, err := r.settings().ChooseFolder("stick"); err == nil {
		t.Error("an invalid folder was accepted")
	}
	end()
	must(t, r.stop())
	must(t, os.RemoveAll(stick)) // the stick is away
	r = run(t, r.folder)
	if state := r.settings(); state.Dir != dir || len(state.Recipients.Value) != 1 {
		t.Errorf("after a start without the folder: %+v", state)
	}
	r.change(t, site.SettingFolder, "", func(s *store.Settings) { s.Folder = "" })
	if state := r.settings(); state.Dir != filepath.Join(r.folder, "backups") {
		t.Errorf("without a folder: %+v", state)
	}
}

// TestSettingsOfOthers checks that the folder and the network of another PC do not apply until they are
// confirmed, that a change resets them, and that encryption applies anyway.
func TestSettingsOfOthers(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	stick := t.TempDir()
	identity, err := age.GenerateX25519Identity()
	must(t, err)
	recipient := identity.Recipient().String()
	other := func() {
		s := store.Settings{Folder: stick, Recipients: []string{recipient}, Network: true, Machine: "another"}
		must(t, r.service.Load().Store.SetSettings(s, store.SettingChange{Who: "Eva", What: site.SettingNetwork}))
		must(t, r.service.Load().LogSetting(store.SettingChange{Who: "Eva", What: site.SettingName, Value: "x"})) // does not apply settings
		must(t, r.stop())
		r = run(t, r.folder)
		state := r.settings()
		if !state.Unconfirmed || r.address(t) != "" || state.Dir != filepath.Join(r.folder, "backups") || state.Folder.Value != stick {
			t.Errorf("settings of another PC: %+v", state)
		}
		must(t, r.settings().BackUp(t.Context()))
		if files, err := backup.List(filepath.Join(r.folder, "firefighters.db"), state.Dir); err != nil || !files[0].Encrypted {
			t.Errorf("a backup is not encrypted: %+v, %v", files, err)
		}
	}
	other()
	r.change(t, site.SettingConfirmed, "", func(*store.Settings) {})
	if state := r.settings(); state.Unconfirmed || r.address(t) == "" || state.Dir != stick {
		t.Errorf("confirmed: %+v", state)
	}
	other()
	r.setNetwork(t, false)
	if state := r.settings(); state.Unconfirmed || state.Network.Value || state.Folder.Value != "" || len(state.Recipients.Value) != 1 {
		t.Errorf("another setting was changed: %+v", state)
	}
}

// TestUnusableSettings checks that no setting keeps the service from starting, and that a flag takes
// precedence.
func TestUnusableSettings(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer taken.Close()
	r := run(t, t.TempDir())
	for name, s := range map[string]store.Settings{
		"folder":     {Folder: "stick"},
		"network":    {Folder: "//server/share"},
		"control":    {Folder: t.TempDir() + "\x1b[2J"},
		"recipients": {Folder: t.TempDir(), Recipients: []string{"nonsense"}},
		"missing":    {Folder: filepath.Join(t.TempDir(), "a", "b")},
	} {
		r.setNetwork(t, true) // an entry for this PC
		saved, err := r.service.Load().Store.Settings()
		must(t, err)
		s.Machine = saved.Machine
		must(t, r.service.Load().Store.SetSettings(s, store.SettingChange{}))
		must(t, r.stop())
		r = run(t, r.folder)
		if state := r.settings(); name != "missing" && state.Dir != filepath.Join(r.folder, "backups") {
			t.Errorf("%s: backups in %s", name, state.Dir)
		}
	}
	must(t, r.stop())
	fixed := run(t, r.folder, "--backup-dir", t.TempDir(), "--listen", "127.0.0.1:0")
	if s := fixed.settings(); !s.Folder.Fixed || !s.Network.Fixed || s.Recipients.Fixed {
		t.Errorf("with flags: %+v", s)
	}
}

// TestPortTaken checks that the service goes on if the port for other devices is taken, and opens it when
// it is free.
func TestPortTaken(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	r := runWith(t, t.TempDir(), Options{Installed: true, othersAt: taken.Addr().String()})
	r.setNetwork(t, true)
	if state := r.settings(); !errors.Is(state.Trouble, httpserver.ErrPortTaken) || r.address(t) != "" {
		t.Errorf("the port is taken: %+v", state)
	}
	must(t, taken.Close())
	eventually(t, "the port stays closed", func() bool { return r.settings().Trouble == nil && r.address(t) != "" })
}

// TestSettingsByHand checks that the flags of a service that someone started by hand are shown and stay, and
// that there is no page behind a proxy.
func TestSettingsByHand(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "backups")
	r := runWith(t, t.TempDir(), Options{othersAt: "127.0.0.1:0"}, "--backup-dir", dir)
	s := r.settings()
	if s.Dir != dir || !s.Folder.Fixed || !s.Recipients.Fixed || !s.Network.Fixed {
		t.Errorf("the settings are %+v", s)
	}
	must(t, s.BackUp(t.Context()))
	must(t, r.stop())
	if r = run(t, t.TempDir(), "--public-url", "https://station.example"); r.settings() != nil {
		t.Error("there are settings behind a proxy")
	}
}

// TestRestoreByPage checks a restore while clients use the service, and that the service goes on after one
// that fails.
func TestRestoreByPage(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	end := r.keepAsking(t)
	s := r.service.Load().Store
	person := record.Fields{FirstName: "Ana", LastName: "A"}
	add := func() {
		_, err := r.service.Load().Store.Create(1, 0, person, nil)
		must(t, err)
	}
	var key string
	add()
	must(t, s.CreateKey(store.NewKey{Tenant: store.FirstDepartment, Scope: store.ScopeAdmin}, func(k string) error { key = k; return nil }))
	must(t, r.settings().BackUp(t.Context()))
	add()
	secret, session, err := s.OpenSession(key, "", time.Hour)
	must(t, err)
	files, err := backup.List(filepath.Join(r.folder, "firefighters.db"), r.settings().Dir)
	must(t, err)
	name := files[0].Name()
	done := r.restore(t, session, name)
	if done == nil || done.Err != nil || done.Name != name || done.Kept == "" || r.lastChange(t).What != site.SettingRestored {
		t.Fatalf("restored: %+v", done)
	}
	replaced := filepath.Base(done.Kept)
	s = r.service.Load().Store
	if version, err := s.Version(1); err != nil || version != 1 {
		t.Errorf("the version is %d, %v", version, err)
	}
	if known, err := s.HasKey(store.HashKey(secret)); err != nil || !known {
		t.Errorf("the session: %v, %v", known, err)
	}
	add()
	path := filepath.Join(r.settings().Dir, name)
	info, err := os.Stat(path)
	must(t, err)
	must(t, os.Truncate(path, info.Size()/2))
	session.ID = keyID(t, s, secret)
	if done := r.restore(t, session, name); done.Err == nil {
		t.Error("a damaged backup was restored")
	}
	if version, err := r.service.Load().Store.Version(1); err != nil || version != 2 {
		t.Errorf("after a restore that failed: the version is %d, %v", version, err)
	}
	session.ID = keyID(t, r.service.Load().Store, secret)
	if done := r.restore(t, session, replaced); done.Err != nil || done.Name != replaced || done.Records != 2 {
		t.Errorf("back to what was replaced: %+v", done)
	}
	end()
	must(t, r.stop())
	var warnings []string
	backup.ReadNote(filepath.Join(r.folder, "firefighters.db"), backup.NoteWarnings, &warnings)
	if len(warnings) == 0 || len(slices.Compact(slices.Sorted(slices.Values(warnings)))) != len(warnings) {
		t.Errorf("the warnings are missing or repeated: %q", warnings)
	}
}

func keyID(t *testing.T, s *store.Store, secret string) (id store.KeyID) {
	t.Helper()
	must(t, s.Keys(func(hash store.KeyHash, k store.Key) {
		if hash == store.HashKey(secret) {
			id = k.ID
		}
	}))
	return id
}
