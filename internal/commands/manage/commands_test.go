package manage_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/commands/manage"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// run runs a command without a database schema.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return runOn(t.Context(), database.Schema{}, args...)
}

// runOn runs a command with a database schema.
func runOn(ctx context.Context, schema database.Schema, args ...string) (code int, stdout, stderr string) {
	root := &cobra.Command{Use: "firefighters"}
	root.AddGroup(cli.Groups...)
	root.AddCommand(manage.Commands{Database: schema}.All()...)
	var out, errs strings.Builder
	env := cli.Env{Context: ctx, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
	code = cli.Execute(env, root, args, schema.Explain)
	return code, out.String(), errs.String()
}

const id = "01a1f83c-64f7-795d-bc35-4c6516093415"

// TestUsage checks usage errors, which are found before a database is opened.
func TestUsage(t *testing.T) {
	t.Parallel()
	deleted := "Try: firefighters list --deleted --db x.db\n"
	for line, want := range map[string]string{
		"backup monday":                "Error: FILE must contain a dot or a slash, not \"monday\"\nTry: firefighters backup ./monday\nTry: to list backups: firefighters backup list\n",
		"backup lsit --db x.db":        "Error: FILE must contain a dot or a slash, not \"lsit\"\nTry: firefighters backup ./lsit --db x.db\nTry: to list backups: firefighters backup list\n",
		"undelete 7 --db x.db":         "Error: \"7\" is not the id of a record\n" + deleted,
		"purge 7 --db x.db":            "Error: \"7\" is not the id of a record\n" + deleted,
		"purge":                        "Error: purge needs either ids or --older-than\nTry: firefighters purge --help\n",
		"purge --older-than 1y " + id:  "Error: purge needs either ids or --older-than\nTry: firefighters purge --help\n",
		"purge --older-than 101y":      "Error: --older-than must be like 7y, 26w or 90d, not \"101y\"\n",
		"history --id 7":               "Error: --id: \"7\" is not the id of a record\n",
		"history --since ever":         "Error: --since must be like 30d or 2027-01-31, not \"ever\"\n",
		"history " + id + " --db x.db": "Error: unexpected argument \"" + id + "\"\nTry: firefighters history --db x.db --id " + id + "\n",
		"history Ana":                  "Error: unexpected argument \"Ana\"\nTry: firefighters history --id Ana\n",
		"list Ana":                     "Error: unexpected argument \"Ana\"\nTry: firefighters list --search Ana\n",
		"keys create --scope all":      "Error: --scope must be read, write, admin, phone or calendar\n",
		"keys create --department \a":  "Error: --department contains a control character\n",
		"keys create --label \a":       "Error: --label contains a control character\n",
		"keys create --birthdays":      "Error: --birthdays needs --scope phone\n",
		"keys create --expires soon":   "Error: --expires must be like 90d or 2027-01-31, not \"soon\"\n",
		"keys create --expires 0s":     "Error: --expires must be in the future, not 0s\n",
		"keys revoke Ana --db x.db":    "Error: \"Ana\" is not the id of a key\nTry: firefighters keys list --db x.db\n",
		"departments rename A \a":      "Error: the new name contains a control character\n",
	} {
		code, stdout, stderr := run(t, strings.Split(line, " ")...)
		if code != 2 || stdout != "" || stderr != want {
			t.Errorf("%s: code %d, stdout %q, stderr:\n%swant:\n%s", line, code, stdout, stderr, want)
		}
	}
	for _, line := range []string{"list --search a --deleted", "check --repair --backup-dir x", "check --repair --identity x"} {
		if code, _, stderr := run(t, strings.Fields(line)...); code != 2 || !strings.Contains(stderr, "cannot be combined") {
			t.Errorf("%s: code %d, stderr %q", line, code, stderr)
		}
	}
}

// TestStoreErrors checks that every command rejects a file that is not a database.
func TestStoreErrors(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "my x.db")
	if err := os.WriteFile(db, []byte("a letter"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("Error: %s is not a database of this program\nTry: ", osutil.InQuotes(db))
	for _, line := range []string{"check", "check --repair", "list", "list --deleted", "deleted --department A", "history", "history --since 30d --id " + strings.ToUpper(id),
		"keys list", "keys revoke 1", "departments list", "departments rename A B", "departments remove A", "keys create --expires 90d", "purge --older-than 7y", "undelete " + id,
		"backup " + filepath.Join(t.TempDir(), "y.db")} {
		if code, stdout, stderr := run(t, append(strings.Fields(line), "--db", db)...); code != 1 || stdout != "" || !strings.HasPrefix(stderr, want) {
			t.Errorf("%s: code %d, stdout %q, stderr %q", line, code, stdout, stderr)
		}
	}
}

// TestStopped checks that Ctrl-C stops commands that read all records, or that copy or check a
// database, and that they change no files.
func TestStopped(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	schema, db := database.Schema{Format: store.Format(string(text), 1)}, filepath.Join(t.TempDir(), "x.db")
	err = schema.With(cli.Env{Context: t.Context(), Stderr: io.Discard}, db, true, func(s *store.Store) error {
		if err := s.AddDepartments([]store.Department{{Name: "A"}}); err != nil {
			return err
		}
		tenant, err := s.Tenant("A")
		if err != nil {
			return err
		}
		ana := record.Fields{FirstName: "Ana", LastName: "Anić"}
		f, err := s.Create(tenant, 0, ana, nil)
		if err == nil {
			err = s.Delete(tenant, 0, f.ID, func(record.Firefighter) error { return nil })
		}
		if err == nil {
			_, err = s.Create(tenant, 0, ana, nil)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	saved := filepath.Join(t.TempDir(), "saved.db")
	if code, _, stderr := runOn(t.Context(), schema, "backup", saved, "--db", db); code != 0 {
		t.Fatal(stderr)
	}
	if code, _, stderr := runOn(t.Context(), schema, "keys", "create", "--department", "A", "--db", db); code != 0 { // after the backup
		t.Fatal(stderr)
	}
	contents := func() (all string) {
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(db), "*"))
		for _, path := range append(found, saved) {
			text, err := os.ReadFile(path)
			all += fmt.Sprint(path, err, string(text))
		}
		return all
	}
	before := contents()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for line, want := range map[string]string{
		"backup " + saved + " --force": "Stopped. No backup was written.\n",
		"restore " + saved:             "Stopped. Nothing was changed.\n",
		"check":                        "Stopped. Not everything was checked.\n",
	} {
		if code, _, stderr := runOn(stopped, schema, append(strings.Fields(line), "--db", db)...); code != 1 || !strings.HasSuffix(stderr, want) {
			t.Errorf("%s: code %d, stderr %q", line, code, stderr)
		}
	}
	if contents() != before {
		t.Error("the database, its folder or the backup has changed")
	}
	for _, line := range []string{"list", "list --deleted", "list --json", "history"} {
		args := append(strings.Fields(line), "--db", db)
		if code, stdout, stderr := runOn(stopped, schema, args...); code != 1 || stdout != "" || stderr != "Stopped.\n" {
			t.Errorf("%s: code %d, stdout %q, stderr %q", line, code, stdout, stderr)
		}
	}
}

// TestBackupList lists two backups of a missing database.
func TestBackupList(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"x-20260101T000000Z.db", "x-20260102T000000Z.db.age", "y-20260102T000000Z.db", "x-other.db"} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 3e5), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db := filepath.Join(t.TempDir(), "x.db")
	args := []string{"backup", "list", "--db", db, "--backup-dir", dir}
	age := cli.FormatSpan(time.Since(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	code, stdout, _ := run(t, args...)
	if lines := strings.Split(stdout, "\n"); code != 0 || len(lines) != 3 ||
		strings.Join(strings.Fields(lines[1]), " ") != "2026-01-01T00:00:00Z "+age+" 0.3 MB x-20260101T000000Z.db no -" {
		t.Errorf("code %d, stdout:\n%s", code, stdout)
	}
	want := fmt.Sprintf(`{"file":%q,"madeAt":"2026-01-02T00:00:00.000Z","bytes":300000,"encrypted":true,"verifiedAt":null}`+"\n",
		filepath.Join(dir, "x-20260102T000000Z.db.age"))
	if _, stdout, stderr := run(t, append(args, "--json")...); !strings.HasPrefix(stdout, want) || stderr != "" {
		t.Errorf("stdout:\n%sstderr %q", stdout, stderr)
	}
	args[3] = filepath.Join(t.TempDir(), "z.db")
	if code, stdout, stderr := run(t, args...); code != 0 || stdout != "" || stderr != fmt.Sprintf("There are no backups of %s made by the server in %s.\n", osutil.InQuotes(args[3]), osutil.InQuotes(dir)) {
		t.Errorf("another database: code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	args[5] = filepath.Join(dir, "absent")
	if code, _, stderr := run(t, args...); code != 1 || stderr != fmt.Sprintf("Error: the folder %s does not exist\n", osutil.InQuotes(args[5])) {
		t.Errorf("no folder: code %d, stderr %q", code, stderr)
	}
	if code, _, stderr := run(t, args[:4]...); code != 1 || !strings.HasPrefix(stderr, "Error: there is no database ") {
		t.Errorf("no database: code %d, stderr %q", code, stderr)
	}
}

// TestBackupKeyExists checks that backup-key replaces no file.
func TestBackupKeyExists(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "k.txt")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := run(t, "backup-key", "-o", file); code != 1 || stdout != "" || stderr != fmt.Sprintf("Error: %s already exists\n", osutil.InQuotes(file)) {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// TestHelp checks that the help of every command fits a terminal and has an example.
func TestHelp(t *testing.T) {
	t.Parallel()
	var check func(cmd *cobra.Command, path string)
	check = func(cmd *cobra.Command, path string) {
		for _, sub := range cmd.Commands() {
			check(sub, path+" "+sub.Name())
		}
		if !cmd.Hidden && !strings.Contains(cmd.Example, "  firefighters"+path) {
			t.Errorf("%s has no example", path)
		}
		for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
			if len([]rune(line)) > 84 {
				t.Errorf("%s: the line is too long: %s", path, line)
			}
		}
	}
	for _, cmd := range (manage.Commands{}).All() {
		check(cmd, " "+cmd.Name())
	}
}

// TestCheckOld checks that check neither upgrades nor copies a database of an older version.
func TestCheckOld(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(t.TempDir(), "x.db")
	old := database.Schema{Format: store.Format(string(text), 1)}
	if code, _, stderr := runOn(t.Context(), old, "keys", "create", "--db", db); code != 0 {
		t.Fatal(stderr)
	}
	next := database.Schema{Format: store.Format(string(text)+"ALTER TABLE tenants ADD COLUMN note TEXT;", 2)} // without steps
	const want = "The database has the schema of an older version. The next start upgrades it.\n"
	code, stdout, stderr := runOn(t.Context(), next, "check", "--db", db)
	if code != 0 || stdout != "The database is sound.\n" || stderr != want {
		t.Errorf("code %d, %s%s", code, stdout, stderr)
	}
	if copies, err := filepath.Glob(db + ".before*"); err != nil || copies != nil || old.Format.HeaderVersion(db) != 1 {
		t.Errorf("the database was upgraded: %q, %v", copies, err)
	}
}

// TestKeysCreateOutput checks that a file that cannot be created leaves no new database.
func TestKeysCreateOutput(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	schema, db := database.Schema{Format: store.Format(string(text), 1)}, filepath.Join(t.TempDir(), "x.db")
	for file, want := range map[string]string{t.TempDir(): " already exists\n", filepath.Join(db, "key.txt"): " does not exist\n"} {
		code, _, stderr := runOn(t.Context(), schema, "keys", "create", "--db", db, "--output", file)
		if _, err := os.Stat(db); code != 1 || !strings.HasSuffix(stderr, want) || !os.IsNotExist(err) {
			t.Errorf("%s: code %d, %s%v", file, code, stderr, err)
		}
	}
}
