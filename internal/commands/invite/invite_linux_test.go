package invite

import (
	"context"
	"errors"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// says runs a command with real stores. serviceDB is the database of the installed
// service.
func says(t *testing.T, serviceDB string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	env := cli.Env{Context: t.Context(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, ServiceDB: func() string { return serviceDB }}
	code = cli.PrintError(cli.Program{Commands: Commands{Database: schema}.Table()}.Run(env, args), &errs)
	return code, out.String(), errs.String()
}

// use returns the session that a code opens.
func use(t *testing.T, db, code string) (opened store.Key, err error) {
	t.Helper()
	must(t, withStore(db, func(s *store.Store) error {
		_, opened, err = s.OpenSession(code, "", time.Hour)
		return nil
	}))
	return opened, err
}

// invitations returns how many are open in the department.
func invitations(t *testing.T, db string) (n int) {
	t.Helper()
	must(t, withStore(db, func(s *store.Store) error {
		tenant, err := s.Tenant("Engine 7")
		if err != nil {
			return err
		}
		all, err := s.Invitations(tenant)
		n = len(all)
		return err
	}))
	return n
}

// add adds a department.
func add(t *testing.T, db, name string) {
	t.Helper()
	must(t, withStore(db, func(s *store.Store) error { return s.AddDepartments([]store.Department{{Name: name}}) }))
}

// codeIn returns the code in what a command has printed.
func codeIn(t *testing.T, text string) string {
	t.Helper()
	found := regexp.MustCompile(`(?:Code: |#code=)(\S+)`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("there is no code in %q", text)
	}
	return found[1]
}

// TestInvite: the code opens a session of the department, with the name and the scope
// that were asked for, once.
func TestInvite(t *testing.T) {
	t.Parallel()
	db := served(t)
	for scope, args := range map[string][]string{"write": nil, "read": {"--scope", "read"}, "admin": {"--scope", "admin"}} {
		code, stdout, stderr := says(t, "", append([]string{"invite", "--db", db, "--tenant", "Engine 7", "--name", " Ana Čović "}, args...)...)
		form := regexp.MustCompile(`^Link: (http://127\.0\.0\.1:\d+)/office/sign-in#code=(\S+)\nCode: (\S+)\n$`).FindStringSubmatch(stdout)
		if code != 0 || form == nil || form[2] != form[3] || !strings.Contains(stderr, "once, for 15 minutes") || !strings.Contains(stderr, form[1]+"/office/\n") ||
			!strings.Contains(stderr, "Note: the link works on this computer alone, because the service listens on 127.0.0.1.\n") {
			t.Fatalf("%s: %d, %q, %q", scope, code, stdout, stderr)
		}
		opened, err := use(t, db, form[3])
		if err != nil || opened.Scope != scope || opened.Label != "Ana Čović (browser)" && opened.Label != "Ana Čović" {
			t.Errorf("%s: %+v, %v", scope, opened, err)
		}
		if _, err := use(t, db, form[3]); err == nil {
			t.Error("the code works twice")
		}
	}
	if code, stdout, stderr := says(t, "", "invite", "--db", db, "--tenant", "Engine 8", "--name", "Ana"); code != 1 || stdout != "" || !strings.Contains(stderr, `"Engine 8"`) {
		t.Errorf("another department: %d, %q, %q", code, stdout, stderr)
	}
	if n := invitations(t, db); n != 0 {
		t.Errorf("%d invitations are left", n)
	}
}

// TestInviteWithoutPage: without a service there is a code alone, and with one that has
// no page there is nothing.
func TestInviteWithoutPage(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	for service, hint := range map[string]string{"": "start one: firefighters serve --db " + cli.Quote(db), db: cli.AsAdministrator("firefighters service start")} {
		code, stdout, stderr := says(t, service, "invite", "--db", db, "--tenant", "Engine 7", "--name", "Ana")
		if code != 0 || strings.Contains(stdout, "Link") || !strings.Contains(stderr, "Note: there is no link, because no service runs on this database\nTry: "+hint+"\n") {
			t.Errorf("%d, %q, %q", code, stdout, stderr)
		}
		if _, err := use(t, db, codeIn(t, stdout)); err != nil {
			t.Error(err)
		}
	}
	release, err := sqlite.LockDatabase(db)
	must(t, err)
	defer release()
	closed, err := net.Listen("tcp", "127.0.0.1:0") // of a service that was killed
	must(t, err)
	must(t, closed.Close())
	for _, address := range []string{"", "http://" + closed.Addr().String(), "nonsense"} {
		must(t, withStore(db, func(s *store.Store) error { return s.SetAddress(address) }))
		code, stdout, stderr := says(t, "", "invite", "--db", db, "--tenant", "Engine 7", "--name", "Ana")
		if code != 0 || !strings.Contains(stdout, "Code: ") || strings.Contains(stdout, "Link") || !strings.Contains(stderr, "without the office page") || !strings.Contains(stderr, "without --no-office\n") {
			t.Errorf("%q: %d, %q, %q", address, code, stdout, stderr)
		}
		if code, stdout, stderr := says(t, "", "open", "--db", db); code != 1 || stdout != "" || !strings.Contains(stderr, "without the office page") {
			t.Errorf("open with %q: %d, %q, %q", address, code, stdout, stderr)
		}
	}
}

// TestOpenWithoutBrowser: the link is printed, and opens a session with all rights. It
// cannot run beside others: it sets the environment.
func TestOpenWithoutBrowser(t *testing.T) {
	home, programs := t.TempDir(), t.TempDir()
	for name, value := range map[string]string{"PATH": programs, "HOME": home, "TMPDIR": home, "DISPLAY": ":9", "SUDO_USER": ""} {
		t.Setenv(name, value)
	}
	db := served(t)
	for _, tt := range []struct{ script, want string }{{"", "There is no browser here."}, {"#!/bin/sh\nexit 3\n", "The browser could not be opened (" + programs}} {
		script, want := tt.script, tt.want
		for _, name := range []string{"xdg-open", "open"} {
			if script != "" {
				must(t, os.WriteFile(filepath.Join(programs, name), []byte(script), 0o700))
			}
		}
		code, stdout, stderr := says(t, "", "open", "--db", db)
		if code != 0 || !strings.Contains(stderr, want) || !strings.Contains(stderr, "within 15 minutes") || !strings.Contains(stderr, "on this computer alone") {
			t.Errorf("%q: %d, %q, %q", script, code, stdout, stderr)
		}
		if opened, err := use(t, db, codeIn(t, stdout)); err != nil || opened.Scope != store.ScopeAdmin {
			t.Errorf("%+v, %v", opened, err)
		}
		if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
	t.Setenv("SUDO_USER", "nobody-has-this-name")
	if code, _, stderr := says(t, "", "open", "--db", db); code != 0 || !strings.Contains(stderr, "No browser is opened under sudo.") {
		t.Errorf("under sudo: %d, %q", code, stderr)
	}
}

// TestOpenWhich: the department is the only one, or that of the name.
func TestOpenWhich(t *testing.T) {
	t.Setenv("SUDO_USER", "somebody") // so that no browser opens
	db := served(t)
	add(t, db, "Engine 8")
	code, stdout, stderr := says(t, "", "open", "--db", db)
	if code != 2 || stdout != "" || !strings.Contains(stderr, "open: say which of the 2 departments\nTry: firefighters open --db "+db+` --tenant "Engine 7"`) && !strings.Contains(stderr, "--tenant 'Engine 7'") {
		t.Errorf("of two: %d, %q, %q", code, stdout, stderr)
	}
	code, stdout, _ = says(t, "", "open", "--db", db, "--tenant", "Engine 8")
	opened, err := use(t, db, codeIn(t, stdout))
	var name string
	must(t, withStore(db, func(s *store.Store) error {
		return s.Tenants(func(d store.TenantInfo) {
			if d.ID == opened.Tenant {
				name = d.Name
			}
		})
	}))
	if code != 0 || err != nil || name != "Engine 8" {
		t.Errorf("by name: %d, %q, %v", code, name, err)
	}
	if code, stdout, stderr := says(t, "", "open", "--db", db, "--tenant", "Engine 9"); code != 1 || stdout != "" || !strings.Contains(stderr, "Engine 9") {
		t.Errorf("another: %d, %q, %q", code, stdout, stderr)
	}
}

// TestAnnounce: the link of a first start lets its reader in.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	said := ""
	must(t, withStore(db, func(s *store.Store) error {
		return Announce(s, "Engine 7", "http://127.0.0.1:1", func(text string) error { said = text; return nil })
	}))
	if opened, err := use(t, db, codeIn(t, said)); err != nil || opened.Scope != store.ScopeAdmin || !strings.Contains(said, "\n  http://127.0.0.1:1/office/sign-in#code=") {
		t.Errorf("%+v, %v, %q", opened, err, said)
	}
	broken := errors.New("it broke")
	for name, want := range map[string]error{"Engine 7": broken, "Engine 8": nil} {
		err := withStore(db, func(s *store.Store) error {
			return Announce(s, name, "", func(string) error { return broken })
		})
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := invitations(t, db); n != 0 {
		t.Errorf("%d invitations are left that nobody was told of", n)
	}
}

// TestPoll: it ends when something is done, fails or takes too long.
func TestPoll(t *testing.T) {
	t.Parallel()
	broken, calls := errors.New("it broke"), 0
	if over, err := poll(t.Context(), func() (bool, error) { calls++; return calls == 2, nil }); over || err != nil || calls != 2 {
		t.Errorf("%v, %v, after %d calls", over, err, calls)
	}
	if over, err := poll(t.Context(), func() (bool, error) { return false, broken }); over || err != broken {
		t.Errorf("%v, %v", over, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if over, err := poll(ended, func() (bool, error) { return false, nil }); !over || err != nil {
		t.Errorf("%v, %v", over, err)
	}
}

// TestBrowserFolder: the private file is where a browser from a snap can read it.
func TestBrowserFolder(t *testing.T) {
	home, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for value, want := range map[string]string{home: home, filepath.Join(home, "gone"): temporary, "": temporary} {
		t.Setenv("HOME", value)
		if got := browserFolder(); got != want {
			t.Errorf("at home in %q: %s", value, got)
		}
	}
}

// TestPersonUnderSudo: the session is named after the person who typed the command.
func TestPersonUnderSudo(t *testing.T) {
	other, err := user.Lookup("nobody")
	if err != nil {
		t.Skip("there is no other user of a known name")
	}
	t.Setenv("SUDO_USER", other.Username)
	if got := person(); got != other.Username && got != other.Name {
		t.Errorf("%q", got)
	}
}
