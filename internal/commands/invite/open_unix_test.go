//go:build unix

package invite

import (
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

var schema = func() database.Schema {
	text, err := os.ReadFile("../../../schema.sql")
	if err != nil {
		panic(err)
	}
	return database.Schema{Format: store.Format(string(text), 1)}
}()

// newDatabase returns a database with a department.
func newDatabase(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.db")
	must(t, schema.With(cli.Env{Context: t.Context(), Stderr: io.Discard}, path, true, func(s *store.Store) error {
		return s.AddDepartments([]store.Department{{Name: "Engine 7"}})
	}))
	return path
}

// TestNoService checks that open reports why the service does not run, if that is known.
func TestNoService(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	missing := filepath.Join(t.TempDir(), "missing.db")
	start, status := cli.AsAdministrator("firefighters service start"), cli.AsAdministrator("firefighters service status")
	known := func() (string, string) { return "port 8080 is used by another program", "another port" }
	unknown := func() (string, string) { return "", "" }
	for _, tt := range []struct {
		db, service string
		fault       func() (string, string)
		want, hint  string
	}{
		{db, db, known, "the service is not running: port 8080 is used by another program", "another port"},
		{db, db, unknown, "the service is not running", start},
		{db, db, nil, "the service is not running", start},
		{missing, missing, known, "the service has no database: port 8080 is used by another program", "another port"},
		{missing, missing, unknown, "the service has no database", status},
		{db, missing, known, "no server is running on this database", "firefighters serve --db " + cli.Quote(db)},
	} {
		code, stdout, stderr := run(t, Commands{Database: schema, Fault: tt.fault}, tt.service, "open", "--db", tt.db)
		if want := "Error: " + tt.want + "\nTry: " + tt.hint + "\n"; code != 1 || stdout != "" || stderr != want {
			t.Errorf("code %d, stderr:\n%swant:\n%s", code, stderr, want)
		}
	}
}

// TestBarred checks the hint for a user who cannot read the database of the service.
func TestBarred(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root can read everything")
	}
	db := newDatabase(t)
	must(t, os.Chmod(db, 0))
	t.Chdir(t.TempDir())
	want := "Error: " + cli.ErrBarred.Error() + "\nTry: " + cli.AsAdministrator("firefighters open") + "\n"
	if code, _, stderr := run(t, Commands{Database: schema}, db, "open"); code != 1 || stderr != want {
		t.Errorf("code %d, stderr:\n%swant:\n%s", code, stderr, want)
	}
}

// TestPersonUnderSudo checks that the session is named after the user of sudo.
func TestPersonUnderSudo(t *testing.T) {
	other, err := user.Lookup("nobody")
	if err != nil {
		t.Skip("there is no user named nobody")
	}
	for variable, value := range map[string]string{"SUDO_USER": other.Username, "PKEXEC_UID": other.Uid} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, value)
			if got := person(); got != other.Username && got != other.Name {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestElevate checks that open runs itself with pkexec and opens the link that it prints, with
// programs in place of pkexec and xdg-open.
func TestElevate(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("macOS has no pkexec")
	}
	bin, loaded := t.TempDir(), loadLimit
	loadLimit = 2 * time.Second
	t.Cleanup(func() { loadLimit = loaded })
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SUDO_USER", "")
	t.Setenv("DISPLAY", ":0")
	program := func(name, script string) {
		must(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	program("xdg-open", `cat "$1" >`+bin+"/opened")
	program("pkexec", "exit 126") // the person cancelled
	if elevate(t.Context(), []string{"open"}) {
		t.Error("reported success although pkexec failed")
	}
	program("pkexec", `[ "$2 $3" = "open --db" ] && echo http://127.0.0.1:8080/x`)
	if !elevate(t.Context(), []string{"open", "--db"}) {
		t.Fatal("failed")
	}
	opened, err := os.ReadFile(filepath.Join(bin, "opened"))
	if must(t, err); !strings.Contains(string(opened), `href="http://127.0.0.1:8080/x"`) {
		t.Errorf("%s", opened)
	}
	program("xdg-open", "exit 4")
	if elevate(t.Context(), []string{"open", "--db"}) {
		t.Error("reported success although no browser was opened")
	}
	if left, _ := filepath.Glob(os.Getenv("HOME") + "/*"); left != nil {
		t.Errorf("left: %q", left)
	}
}

// TestUnderPkexec checks that the elevated program prints only the link for this computer.
func TestUnderPkexec(t *testing.T) {
	t.Setenv("PKEXEC_UID", "0")
	var out strings.Builder
	o := opening{env: cli.Env{Stdout: &out}, local: "http://127.0.0.1:8080", created: invitation{"https://station:8443", "ABCD"}}
	if must(t, o.show()); !strings.HasPrefix(out.String(), "http://127.0.0.1:8080/") || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%q", out.String())
	}
}
