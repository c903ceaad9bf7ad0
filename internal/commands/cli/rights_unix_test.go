//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// TestServiceDB checks that a command without a database takes that of the service, and
// that it says what to type to a user who may not read that. It cannot run beside others:
// the folder may have no database of a user.
func TestServiceDB(t *testing.T) {
	t.Chdir(t.TempDir())
	dir := t.TempDir()
	db := filepath.Join(dir, "x.db")
	if err := os.WriteFile(db, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	barred := filepath.Join(dir, "barred.db")
	if err := os.WriteFile(barred, nil, 0); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // whom permissions do not keep away
		barred = ""
	}
	refusal := "Error: only an administrator may use the database of the service\nTry: " + cli.AsAdministrator("firefighters keys list x --tenant 'Engine 7'") + "\n"
	about := "This is about the database of the service: " + cli.Quote(db) + "\n"
	for _, tt := range []struct {
		name, service, line, want, stderr string
	}{
		{name: "none is installed", want: "firefighters.db"},
		{name: "installed", service: db, want: db, stderr: about},
		{name: "named", service: db, line: "--db y.db", want: "y.db"},
		{name: "barred", service: barred, line: "x --tenant Engine_7", want: barred, stderr: refusal},
	} {
		if tt.name != "none is installed" && tt.service == "" {
			continue
		}
		env, _, stderr := newEnv(t)
		env.ServiceDB = func() string { return tt.service }
		flags := env.Flags("keys list", "")
		got := cli.DBFlag(flags)
		flags.String("tenant", "", "")
		args := strings.Fields(tt.line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "_", " ")
		}
		cli.PrintError(env.Parse(flags, args, 1), stderr)
		if *got != tt.want || stderr.String() != tt.stderr {
			t.Errorf("%s: %s, stderr:\n%swant %s and:\n%s", tt.name, *got, stderr, tt.want, tt.stderr)
		}
	}
}
