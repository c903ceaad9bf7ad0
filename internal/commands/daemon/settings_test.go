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

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// state returns the state after a request, which waits until the last change applies.
func (r *running) state(t *testing.T) site.SettingsState {
	t.Helper()
	must(t, get(http.DefaultClient, r.url))
	state, err := r.service.Load().Settings.Read()
	must(t, err)
	return state
}

func (r *running) settings() *site.Settings { return r.service.Load().Settings }

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
		must(t, r.settings().SetNetwork("Ana", true))
		state := r.state(t)
		if !state.Network.Value || state.Network.Flag || len(state.Listening) != 1 || state.Trouble != nil || waiting.Err() == nil {
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
		must(t, r.settings().SetNetwork("Ana", false))
		if state := r.state(t); state.Network.Value || len(state.Listening) > 0 || len(state.Changes) == 0 || state.Changes[0].Value != "off" {
			t.Errorf("no longer allowed: %+v", state)
		}
		if err := get(other, "https://127.0.0.1:"+s.Port); err == nil {
			t.Error("other devices can still connect")
		}
	}
	if log := r.log.String(); !strings.Contains(log, `"setting":"network","value":"on","by":"Ana"`) {
		t.Errorf("the log:\n%s", log)
	}
}

// TestNetworkAtStart checks that devices that connect while the service starts wait until it is ready, as
// run expects.
func TestNetworkAtStart(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	must(t, r.settings().SetNetwork("Ana", true))
	r.state(t)
	must(t, r.stop())
	if r = run(t, r.folder); len(r.state(t).Listening) != 1 {
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
	must(t, r.settings().SetFolder("Ana", stick))
	dir := filepath.Join(stick, backup.OwnFolder)
	if state := r.state(t); state.Dir != dir || state.Folder.Value != dir {
		t.Errorf("the state is %+v, want the folder %s", state, dir)
	}
	identity, err := age.GenerateX25519Identity()
	must(t, err)
	must(t, r.settings().SetRecipients("Ana", []string{identity.Recipient().String()}))
	r.state(t)
	must(t, r.settings().BackUp(t.Context()))
	files, err := backup.List(filepath.Join(r.folder, "firefighters.db"), dir)
	if err != nil || len(files) == 0 || !files[0].Encrypted {
		t.Errorf("the backups are %+v, %v", files, err)
	}
	for _, err := range []error{r.settings().SetFolder("Ana", "stick"), r.settings().SetRecipients("Ana", []string{"age1x"})} {
		if err == nil {
			t.Error("an invalid setting was accepted")
		}
	}
	end()
	must(t, r.stop())
	must(t, os.RemoveAll(stick)) // the stick is away
	r = run(t, r.folder)
	if state := r.state(t); state.Dir != dir || len(state.Recipients.Value) != 1 {
		t.Errorf("after a start without the folder: %+v", state)
	}
	must(t, r.settings().SetFolder("Ana", ""))
	if state := r.state(t); state.Dir != filepath.Join(r.folder, "backups") {
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
		r.settings().Log("Eva", site.SettingName, "x") // does not apply settings
		must(t, r.stop())
		r = run(t, r.folder)
		state := r.state(t)
		if !state.Unconfirmed || len(state.Listening) > 0 || state.Dir != filepath.Join(r.folder, "backups") || state.Folder.Value != stick {
			t.Errorf("settings of another PC: %+v", state)
		}
		must(t, r.settings().BackUp(t.Context()))
		if files, err := backup.List(filepath.Join(r.folder, "firefighters.db"), state.Dir); err != nil || !files[0].Encrypted {
			t.Errorf("a backup is not encrypted: %+v, %v", files, err)
		}
	}
	other()
	must(t, r.settings().Confirm("Ana"))
	if state := r.state(t); state.Unconfirmed || len(state.Listening) != 1 || state.Dir != stick {
		t.Errorf("confirmed: %+v", state)
	}
	other()
	must(t, r.settings().SetNetwork("Ana", false))
	if state := r.state(t); state.Unconfirmed || state.Network.Value || state.Folder.Value != "" || len(state.Recipients.Value) != 1 {
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
		must(t, r.settings().SetNetwork("Ana", true)) // an entry for this PC
		saved, err := r.service.Load().Store.Settings()
		must(t, err)
		s.Machine = saved.Machine
		must(t, r.service.Load().Store.SetSettings(s, store.SettingChange{}))
		must(t, r.stop())
		r = run(t, r.folder)
		if state := r.state(t); name != "missing" && state.Dir != filepath.Join(r.folder, "backups") {
			t.Errorf("%s: backups in %s", name, state.Dir)
		}
	}
	must(t, r.stop())
	fixed := run(t, r.folder, "--backup-dir", t.TempDir(), "--listen", "127.0.0.1:0")
	state := fixed.state(t)
	if !state.Folder.Flag || !state.Network.Flag || state.Recipients.Flag {
		t.Errorf("with flags: %+v", state)
	}
	for _, err := range []error{fixed.settings().SetFolder("Ana", t.TempDir()), fixed.settings().SetNetwork("Ana", true)} {
		if !errors.Is(err, site.ErrFixed) {
			t.Errorf("a fixed setting: %v", err)
		}
	}
}

// TestPortTaken checks that the service goes on if the port for other devices is taken, and opens it when
// it is free.
func TestPortTaken(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	r := runWith(t, t.TempDir(), Options{Installed: true, othersAt: taken.Addr().String()})
	must(t, r.settings().SetNetwork("Ana", true))
	if state := r.state(t); !errors.Is(state.Trouble, httpserver.ErrPortTaken) || len(state.Listening) > 0 {
		t.Errorf("the port is taken: %+v", state)
	}
	must(t, taken.Close())
	for deadline := time.Now().Add(time.Minute); r.state(t).Trouble != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the port stays closed")
		}
	}
	if state := r.state(t); len(state.Listening) != 1 {
		t.Errorf("the port is free: %+v", state)
	}
}

// TestSettingsByHand checks that the flags of a service that someone started by hand are shown and stay, and
// that there is no page behind a proxy.
func TestSettingsByHand(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "backups")
	r := runWith(t, t.TempDir(), Options{othersAt: "127.0.0.1:0"}, "--backup-dir", dir)
	state := r.state(t)
	if s := r.settings(); s.Mode != site.ByHand || !state.Folder.Flag || state.Folder.Value != dir ||
		!state.Recipients.Flag || !state.Network.Flag {
		t.Errorf("the settings are %+v", state)
	}
	s := r.settings()
	for _, err := range []error{
		s.SetFolder("Ana", dir), s.SetRecipients("Ana", nil), s.SetNetwork("Ana", true), s.Confirm("Ana"), s.Restore(store.Key{}, "x", ""),
	} {
		if !errors.Is(err, site.ErrFixed) {
			t.Errorf("a change: %v", err)
		}
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
	files, err := backup.List(filepath.Join(r.folder, "firefighters.db"), r.state(t).Dir)
	must(t, err)
	name := files[0].Name()
	must(t, r.settings().Restore(session, name, ""))
	state := r.state(t)
	if done := state.Restored; done == nil || done.Err != nil || done.Name != name || done.Kept == "" ||
		state.Changes[0].What != site.SettingRestored {
		t.Fatalf("restored: %+v", state.Restored)
	}
	replaced := filepath.Base(state.Restored.Kept)
	s = r.service.Load().Store
	if version, err := s.Version(1); err != nil || version != 1 {
		t.Errorf("the version is %d, %v", version, err)
	}
	if known, err := s.HasKey(store.HashKey(secret)); err != nil || !known {
		t.Errorf("the session: %v, %v", known, err)
	}
	add()
	path := filepath.Join(state.Dir, name)
	info, err := os.Stat(path)
	must(t, err)
	must(t, os.Truncate(path, info.Size()/2))
	session.ID = keyID(t, s, secret)
	must(t, r.settings().Restore(session, name, ""))
	if state = r.state(t); state.Restored.Err == nil {
		t.Error("a damaged backup was restored")
	}
	if version, err := r.service.Load().Store.Version(1); err != nil || version != 2 {
		t.Errorf("after a restore that failed: the version is %d, %v", version, err)
	}
	session.ID = keyID(t, r.service.Load().Store, secret)
	must(t, r.settings().Restore(session, replaced, ""))
	if state = r.state(t); state.Restored.Err != nil || state.Restored.Name != replaced || state.Restored.Records != 2 {
		t.Errorf("back to what was replaced: %+v", state.Restored)
	}
	for _, name := range []string{"x", "../firefighters.db"} {
		if err := r.settings().Restore(session, name, ""); !errors.Is(err, backup.ErrNone) {
			t.Errorf("%s: %v", name, err)
		}
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
