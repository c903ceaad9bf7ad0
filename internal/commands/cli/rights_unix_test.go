//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// TestServiceDB checks that a command without --db uses the database of the service, and its error
// for a user without access. It changes the working directory, so it cannot be parallel.
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
	if os.Geteuid() == 0 { // root ignores permissions
		barred = ""
	}
	barredText := "Error: only an administrator may use the database of the service\nTry: " + cli.AsAdministrator("firefighters keys list --department 'Engine 7'") + "\n"
	usingText := "Using the database of the service: " + cli.Quote(db) + "\n"
	for _, tt := range []struct {
		name, service, line, want, stderr string
	}{
		{name: "none is installed", want: "list firefighters.db\n"},
		{name: "installed", service: db, want: "list " + db + "\n", stderr: usingText},
		{name: "named", service: db, line: "--db y.db", want: "list y.db\n"},
		{name: "barred", service: barred, line: "--department Engine_7", stderr: barredText},
	} {
		if tt.name != "none is installed" && tt.service == "" {
			continue
		}
		env, stdout, stderr := newEnv(t)
		env.ServiceDB = func() string { return tt.service }
		args := append([]string{"keys", "list"}, strings.Fields(tt.line)...)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "_", " ")
		}
		cli.Execute(env, newRoot(), args, nil)
		if stdout.String() != tt.want || stderr.String() != tt.stderr {
			t.Errorf("%s: %s, stderr:\n%swant %s and:\n%s", tt.name, stdout, stderr, tt.want, tt.stderr)
		}
	}
}
