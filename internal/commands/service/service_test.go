package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/daemon"
	common "github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// On macOS the temporary folder is a link, and messages have resolved paths.
func init() {
	if folder, err := filepath.EvalSymlinks(os.TempDir()); err == nil {
		os.Setenv("TMPDIR", folder)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// format returns the format of the program's databases.
func format(t *testing.T) sqlite.Format {
	t.Helper()
	schema, err := os.ReadFile("../../../schema.sql")
	must(t, err)
	return store.Format(string(schema), 1)
}

// newService returns a Service with a temporary data folder. served receives the options of its daemon.
func newService(t *testing.T) (s Service, served *[]string) {
	served = &[]string{}
	serve := func(_ cli.Env, o daemon.Options) error {
		*served = []string{o.DB, o.Backups.Dir, o.Listen, strings.Join(o.Origins, " ")}
		return nil
	}
	s = Service{Format: format(t), Daemon: serve, Data: t.TempDir()}
	s.Host.Root = t.TempDir()
	return s, served
}

// runService runs a subcommand of service.
func runService(t *testing.T, s Service, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return execute(t, s, append([]string{"service"}, args...)...)
}

func execute(t *testing.T, s Service, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	env := cli.Env{Context: t.Context(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
	root := &cobra.Command{Use: "firefighters"}
	root.AddGroup(cli.Groups...)
	root.AddCommand(s.All()...)
	code = cli.Execute(env, root, args, common.Schema{}.Explain)
	return code, out.String(), errs.String()
}

// TestRun checks the folders of the service, and that invalid settings are a usage error, so that the
// service is not restarted.
func TestRun(t *testing.T) {
	t.Parallel()
	s, served := newService(t)
	code, stdout, stderr := runService(t, s, "run")
	want := []string{filepath.Join(s.Data, "firefighters.db"), filepath.Join(s.Data, "backups"), "127.0.0.1:8080", ""}
	if code != 0 || stdout+stderr != "" || !slices.Equal(*served, want) {
		t.Errorf("without settings: %d, %q, served with %q", code, stderr, *served)
	}
	must(t, managers.Settings{"--backup-dir=/mnt/a b", "--listen=[::1]:81", "--cors-origin=https://a.example", "--cors-origin=https://b.example"}.Write(s.Data))
	code, _, stderr = runService(t, s, "run")
	want = []string{want[0], "/mnt/a b", "[::1]:81", "https://a.example https://b.example"}
	if code != 0 || !slices.Equal(*served, want) {
		t.Errorf("with settings: %d, %q, served with %q", code, stderr, *served)
	}
	for line, want := range map[string]string{"--listen=nonsense": "--listen", "--lissen=x": "unknown flag", "serve": "unexpected argument", "--db=": "--db is empty",
		"--backup-dir=/x\rExecStartPre=+/y": "control character", "--backup-dir=/x\x00ExecStartPre=+/y": "control character"} {
		must(t, managers.Settings{line}.Write(s.Data))
		if code, _, stderr := runService(t, s, "run"); code != 2 || !strings.Contains(stderr, want) || !strings.Contains(stderr, "service.conf") {
			t.Errorf("%s: %d, %q", line, code, stderr)
		}
	}
	s.Data = filepath.Join(s.Data, "missing")
	if code, _, stderr := runService(t, s, "run"); code != 1 || !strings.Contains(stderr, `"level":"ERROR","msg":"the service is not installed on this PC","try":"`) {
		t.Errorf("without its folder: %d, %q", code, stderr)
	}
}

// TestServiceHints checks the hints of errors of the installed service.
func TestServiceHints(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	broken := errors.New("it broke")
	barred := &fs.PathError{Op: "open", Path: "/x", Err: fs.ErrPermission}
	sudo := cli.AsAdministrator
	restore := sudo("firefighters restore FILE --db x") + ", and then: " + sudo("firefighters service start")
	notBack := &sqlite.FileError{Op: "making", Path: "x", Err: sqlite.ErrNotBack}
	install := sudo("firefighters service install") + ", which corrects the permissions, or reports unreadable files"
	for _, tt := range []struct {
		err  error
		want string
	}{
		{nil, ""}, {broken, ""}, {cli.WithHint(broken, "repair it"), "repair it"},
		{cli.WithHint(&sqlite.FileError{Op: "opening", Path: "/x", Err: barred}, "start as the user who owns it"), install},
		{barred, install},
		{&net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EACCES)}, ""},
		{&sqlite.FileError{Op: "locking", Path: "/x", Err: sqlite.ErrInUse}, "stop the other firefighters that serves this database; the service then starts automatically"},
		{common.Schema{}.Advise(t.Context(), &sqlite.FileError{Op: "opening", Path: "x", Err: sqlite.ErrCorrupt}, "x", ""), restore},
		{common.Schema{}.Advise(t.Context(), notBack, "x", ""), restore + ", or, to continue without the lost changes: " + sudo("firefighters service start --new")},
		{&daemon.LostError{Before: "first this; then: ", File: "FILE", DB: "x"}, "first this; then: " + restore},
	} {
		err := s.withHint(t.Context(), tt.err, daemon.Options{DB: "x"})
		if got := cli.HintOf(err); got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%v: %q", tt.err, got)
		}
	}
}

// TestSettingsOf checks that paths become absolute, and that defaults are not settings.
func TestSettingsOf(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	must(t, err)
	_, cmd := installFlags()
	must(t, cmd.ParseFlags([]string{"--backup-dir", "copies", "--listen", "127.0.0.1:8080", "--tls-cert=", "--cors-origin", "x", "--cors-origin", "y", "--no-office"}))
	lines, unset, err := settingsOf(cmd)
	if want := (managers.Settings{"--backup-dir=" + filepath.Join(here, "copies"), "--cors-origin=x", "--cors-origin=y", "--no-office=true"}); err != nil || !slices.Equal(lines, want) {
		t.Errorf("%q, %v", lines, err)
	}
	if want := []string{"listen", "tls-cert"}; !slices.Equal(unset, want) {
		t.Errorf("unset %q", unset)
	}
	for _, value := range []string{"1h\n--listen=0.0.0.0:80", "1h\rX", "1h\x00X"} {
		_, cmd = installFlags()
		must(t, cmd.ParseFlags([]string{"--backup-every", value}))
		if _, _, err := settingsOf(cmd); !errors.As(err, new(*cli.UsageError)) {
			t.Errorf("the value %q: %v", value, err)
		}
	}
}

// TestDefine checks the definition of the service for its settings.
func TestDefine(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	for listen, want := range map[string]managers.Definition{
		"127.0.0.1:8080": {Port: 8080}, "localhost:81": {Port: 81}, "[::1]:8080": {Port: 8080},
		"0.0.0.0:8443": {Port: 8443, Shared: true}, ":443": {Port: 443, Shared: true}, "station.example:8080": {Port: 8080, Shared: true},
	} {
		folder := t.TempDir()
		o, err := s.options(managers.Settings{"--listen=" + listen, "--backup-dir=" + folder})
		must(t, err)
		in := installation{Service: s, options: o}
		d, err := in.define()
		if err != nil || d.Port != want.Port || d.Shared != want.Shared || d.Data != s.Data || !slices.Equal(d.Writes, []string{folder}) || !filepath.IsAbs(d.Program) {
			t.Errorf("%s: %+v, %v", listen, d, err)
		}
	}
}

// TestCheckPaths checks that unusable paths are rejected.
func TestCheckPaths(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	paths := map[string]string{"--tls-cert=/nowhere/missing.pem": "--tls-cert and --tls-key: ", "--listen=x:1": ""}
	if runtime.GOOS == "linux" {
		paths["--backup-dir=/home/ana/copies"] = "the service cannot see"
		paths["--tls-key=/run/user/1000/key.pem"] = "the service cannot see"
	}
	for line, want := range paths {
		flags := managers.Settings{line}
		in := installation{Service: s, flags: flags, settings: flags}
		if err := in.checkPaths(); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// TestDiskAway checks that no backup folder is created in the mount point of a disconnected disk. For a
// previous setting that is only a warning.
func TestDiskAway(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	dir, db := filepath.Join(root, "stick", "backups"), filepath.Join(root, "x.db")
	must(t, os.Mkdir(filepath.Dir(dir), 0o700))
	must(t, os.WriteFile(db, nil, 0o600))
	must(t, backup.WriteNote(db, "backupDisk", dir))
	settings := managers.Settings{"--backup-dir=" + dir, "--db=" + db}
	o, err := s.options(settings)
	must(t, err)
	for _, flags := range []managers.Settings{settings[:1], nil} {
		in := installation{Service: s, flags: flags, settings: settings, options: o}
		if err := in.checkFiles(); errors.Is(err, backup.ErrAway) != (flags != nil) {
			t.Errorf("%q: %v", flags, err)
		}
		if osutil.Exists(dir) {
			t.Error("checkFiles created the folder")
		}
	}
}

// TestOldSettings checks that folders of previous settings are not shared with the service, which can
// write its own settings.
func TestOldSettings(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the account of the service does not exist")
	}
	s, _ := newService(t)
	me, err := user.Current()
	must(t, err)
	s.Host.User = me.Username
	kept, other := filepath.Join(s.Data, "kept"), filepath.Join(s.Data, "other")
	must(t, managers.Settings{"--backup-dir=" + kept}.Write(s.Data))
	for _, tt := range []struct{ flags, shared string }{{"", ""}, {"--backup-every=48h", ""}, {"--backup-dir=" + other, other}, {"--backup-dir=" + kept, kept}} {
		_, cmd := installFlags()
		must(t, cmd.ParseFlags(strings.Fields(tt.flags)))
		in := installation{Service: s}
		in.plan(cmd) // without a service manager it fails, but only after it has set the settings
		must(t, in.checkFiles())
		for _, folder := range []string{kept, other} {
			if osutil.Exists(folder) != (folder == tt.shared) {
				t.Errorf("%q: %s", tt.flags, folder)
			}
			os.Remove(folder)
		}
	}
}

// newDatabase creates a database with a schema version and an address in the data folder of a Service.
func newDatabase(t *testing.T, s Service, version int, address string) (path string) {
	t.Helper()
	path = managers.DatabaseIn(s.Data)
	must(t, os.WriteFile(path, nil, 0o600))
	f := format(t)
	must(t, f.Migrate(path, 0, version, func(c *sqlite.Conn) error {
		err := store.Create(c, f.Schema)
		if err == nil {
			_, err = c.Exec(`UPDATE service SET address = ?`, address)
		}
		return err
	}))
	return path
}

// backUp adds a copy of a database to the backups, with a time.
func backUp(t *testing.T, s Service, path string, at time.Time) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	folder := managers.BackupsIn(s.Data)
	must(t, os.MkdirAll(folder, 0o700))
	must(t, os.WriteFile(filepath.Join(folder, "firefighters-"+at.UTC().Format("20060102T150405Z")+".db"), text, 0o600))
}

// overviewOf returns the overview of a Service, and its text.
func overviewOf(t *testing.T, s Service, state managers.State) (overview, string) {
	t.Helper()
	r := s.overview(t.Context(), state)
	return r, strings.Join(r.lines(time.Now()), "\n")
}

func TestOverview(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			fmt.Fprint(w, `{"status":"ready","version":"1.2.3","uptimeSeconds":180000,"backup":{"ok":false,"detail":"too little room"}}`)
		}
	}))
	defer web.Close()
	path := newDatabase(t, s, 1, web.URL)
	at := time.Now().Add(-3 * time.Hour).UTC().Truncate(time.Second)
	backUp(t, s, path, at)
	backUp(t, s, path, at.Add(-time.Hour))
	must(t, managers.Settings{"--listen=127.0.0.1:81"}.Write(s.Data))
	must(t, backup.WriteNote(path, backup.NoteWarnings, []string{"the cellar\nis wet", daemon.SameDisk}))
	r, text := overviewOf(t, s, managers.State{Installed: true, Running: true})
	if r.Address != web.URL || r.Answers == nil || !*r.Answers || r.Backups.Count != 2 || !r.Backups.Newest.Equal(at) || !r.Backups.SameDisk ||
		r.Database.Bytes < 1000 || r.Database.Fault != "" || r.Disk.Free <= 0 || r.Missing != "" {
		t.Errorf("%+v, %+v, %+v", r, r.Database, r.Backups)
	}
	for _, want := range []string{"(2 days)", web.URL, "(3 hours ago), 2 in\n", "would be lost with it",
		"           WARNING: the cellar is wet\n", "they fail: too little room", "1.2.3, ", "--listen=127.0.0.1:81", path} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	web.Close()
	if r, text := overviewOf(t, s, managers.State{Installed: true, Running: true}); *r.Answers || !strings.Contains(text, "does not answer") {
		t.Errorf("the service does not answer:\n%s", text)
	}
	r, text = overviewOf(t, s, managers.State{Installed: true, Detail: "failed"})
	if r.Warnings != nil || r.Address != "" || !strings.Contains(text, "does not run: failed") {
		t.Errorf("the service does not run:\n%s", text)
	}
	_, recipient, err := backup.NewKey()
	must(t, err)
	must(t, managers.Settings{"--backup-encrypt-to=" + recipient}.Write(s.Data))
	r, text = overviewOf(t, s, managers.State{Installed: true})
	if r.Backups.Plain != 2 || !strings.Contains(text, "WARNING: 2 unencrypted backups can be read by") {
		t.Errorf("unencrypted backups:\n%s", text)
	}
	entries, err := os.ReadDir(s.Data)
	must(t, err)
	for _, entry := range entries {
		if name := entry.Name(); name != "backups" && name != "service.conf" && !strings.Contains(name, "firefighters.db") {
			t.Errorf("overview created %s", entry.Name())
		}
	}
}

// TestOverviewOfPage checks that the settings of the page are reported as the service applies them: on this
// PC, and where service.conf has no flag.
func TestOverviewOfPage(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	path, dir := newDatabase(t, s, 1, ""), t.TempDir()
	_, recipient, err := backup.NewKey()
	must(t, err)
	for _, tt := range []struct {
		machine string
		conf    managers.Settings
		dir     string
		want    int // number of settings
	}{
		{osutil.Machine(), nil, dir, 3}, {"", nil, managers.BackupsIn(s.Data), 1}, // encryption always applies
		{osutil.Machine(), managers.Settings{"--backup-dir=/mnt/x", "--listen=127.0.0.1:81"}, "/mnt/x", 3},
	} {
		opened, err := store.Open(path, time.Now)
		must(t, err)
		settings := store.Settings{Folder: dir, Recipients: []string{recipient}, Network: true, Machine: tt.machine}
		must(t, errors.Join(opened.SetSettings(settings, store.SettingChange{}), opened.Close(), tt.conf.Write(s.Data)))
		if r, text := overviewOf(t, s, managers.State{Installed: true}); r.Backups.Folder != tt.dir || len(r.Settings) != tt.want {
			t.Errorf("%+v:\n%s", tt, text)
		}
	}
}

// TestOverviewOfLoss checks a service that rejects all requests because its database was lost.
func TestOverviewOfLoss(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"status":503,"detail":"The files have gone."}`)
	}))
	defer web.Close()
	saved := backup.SavedName(managers.DatabaseIn(s.Data), time.Now())
	must(t, os.WriteFile(saved, nil, 0o600))
	r, text := overviewOf(t, s, managers.State{Installed: true, Running: true, Address: web.URL})
	if r.Fault != "The files have gone." || r.Database.Saved != saved || !strings.Contains(text, "rejects all requests. The files have gone.") ||
		!strings.Contains(text, "service stop, which prints") || !strings.Contains(text, saved) {
		t.Errorf("%+v:\n%s", r, text)
	}
}

// TestOverviewOfFaults checks that faults of the database and the settings are reported, and that no
// file changes.
func TestOverviewOfFaults(t *testing.T) {
	t.Parallel()
	for want, prepare := range map[string]func(s Service) string{
		"there is no database": func(s Service) string { return managers.DatabaseIn(s.Data) },
		"it was created by a newer version of this program (schema version 2, supported up to 1)": func(s Service) string { return newDatabase(t, s, 2, "") },
		"it is not a database of this program": func(s Service) string {
			path := managers.DatabaseIn(s.Data)
			must(t, os.WriteFile(path, []byte(strings.Repeat("text ", 1000)), 0o600))
			return path
		},
	} {
		s, _ := newService(t)
		path := prepare(s)
		before, _ := os.ReadFile(path)
		r, text := overviewOf(t, s, managers.State{Installed: true})
		if !strings.Contains(r.Database.Fault, want) || !strings.Contains(text, want) || !strings.Contains(text, "is its disk connected?") {
			t.Errorf("%s: %q\n%s", want, r.Database.Fault, text)
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s: the file was changed", want)
		}
	}
	s, _ := newService(t)
	if _, text := overviewOf(t, s, managers.State{Installed: true, Manual: true}); !strings.Contains(text, "does not start with the PC") {
		t.Errorf("a disabled service:\n%s", text)
	}
	must(t, managers.Settings{"--listen=nonsense"}.Write(s.Data))
	if _, text := overviewOf(t, s, managers.State{Installed: true}); !strings.Contains(text, "the settings are invalid: --listen") {
		t.Errorf("invalid settings:\n%s", text)
	}
}

// TestHint checks that the hint of the service is used, unless a shell would run more than one command
// or it has control characters.
func TestHint(t *testing.T) {
	t.Parallel()
	log := asReader(cli.Typed() + " service log")
	for hint, want := range map[string]string{
		"": log, "firefighters restore x --db y": cli.AsAdministrator("firefighters restore x --db y"), "install the newer version; it was left": "install the newer version; it was left",
		"firefighters restore x; rm y": log, "a | b": log, "firefighters $(x)": log, "red \x1b[31m": log,
	} {
		if got := hintOf(managers.State{Hint: hint}); got != want {
			t.Errorf("%q: %q", hint, got)
		}
	}
}

// output is the output of a service that a test reads concurrently.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// runReal runs the service with the real server, but without its API, and returns the exit code.
func runReal(ctx context.Context, s Service, o *output) (code int) {
	schema := common.Schema{Format: s.Format}
	s.Daemon = daemon.Commands{Database: schema, NewAPI: func(site.Service) http.Handler { return http.NotFoundHandler() }}.Run
	root := &cobra.Command{Use: "firefighters"}
	root.AddGroup(cli.Groups...)
	root.AddCommand(s.All()...)
	return cli.Execute(cli.Env{Context: ctx, Stdin: strings.NewReader(""), Stdout: o, Stderr: o}, root, []string{"service", "run"}, schema.Explain)
}

// TestRunServes checks that the service creates its database and backups, prints no key, and has a hint
// for a damaged database.
func TestRunServes(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	must(t, managers.Settings{"--listen=127.0.0.1:0", "--rate-limit=1000"}.Write(s.Data))
	db := managers.DatabaseIn(s.Data)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var o output
	done := make(chan int, 1)
	go func() { done <- runReal(ctx, s, &o) }()
	var backups []string
	for deadline := time.Now().Add(2 * time.Minute); len(backups) == 0 || !strings.Contains(o.String(), "same disk"); time.Sleep(5 * time.Millisecond) {
		if backups, _ = filepath.Glob(filepath.Join(managers.BackupsIn(s.Data), "firefighters-*.db")); time.Now().After(deadline) {
			t.Fatalf("no backup or no warning: %s", &o)
		}
	}
	if r, _ := overviewOf(t, s, managers.State{Installed: true, Running: true}); !slices.Contains(r.Warnings, daemon.SameDisk) {
		t.Errorf("the status has the warnings %q", r.Warnings)
	}
	stop()
	if code, text := <-done, o.String(); code != 0 || !strings.Contains(text, "Listening on http://127.0.0.1:") ||
		strings.Contains(text, "ff_") || strings.Contains(text, "code=") {
		t.Errorf("code %d, output %s", code, text)
	}
	if _, err := os.Stat(db); err != nil || len(backups) != 1 {
		t.Errorf("%v, %q", err, backups)
	}

	must(t, os.WriteFile(db, bytes.Repeat([]byte("text"), 1000), 0o600))
	var after output
	code := runReal(t.Context(), s, &after)
	try := cli.AsAdministrator("firefighters restore "+backups[0]+" --db "+db) + ", and then: " + cli.AsAdministrator("firefighters service start")
	if code != 1 || !strings.HasSuffix(after.String(), `,"try":`+strconv.Quote(try)+`,"exitCode":1}`+"\n") {
		t.Errorf("code %d, output %s, want %q", code, &after, try)
	}
}

// TestFolderError checks the hint for a folder that belongs to the account of another PC, and that no
// other folder is to be given to the service.
func TestFolderError(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("other rights")
	}
	for folder, want := range map[string]string{
		"/mnt/usb/firefighters": "if it is from another PC: sudo chown -R " + managers.Account + " /mnt/usb/firefighters\n",
		"/":                     "a folder for the service: /firefighters\n",
		"/home":                 "a folder for the service: /home/firefighters\n",
	} {
		err := folderError(folder, &fs.PathError{Op: "open", Path: folder, Err: fs.ErrPermission})
		if hint := cli.HintOf(err); !strings.HasPrefix(hint, want) {
			t.Errorf("%v: %q", err, hint)
		}
	}
}
