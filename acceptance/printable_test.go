package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// TestForeignNames checks that names in a foreign file do not affect the terminal in any command, and
// that JSON and files keep them unchanged.
func TestForeignNames(t *testing.T) {
	t.Parallel()
	const evil = "A\x1b]0;x\x07\u009b2J\u202e\r"
	db := filepath.Join(t.TempDir(), "x.db")
	newKey(t, db, "default")
	newKey(t, db, "other")
	people := filepath.Join(t.TempDir(), "people.csv")
	must(t, os.WriteFile(people, []byte("First name,Last name\nAna,Horvat\nIvo,Horvat\n"), 0o600))
	works(t, "import", people, "--tenant", "default", "--apply", "--db", db)
	s := startOn(t, db)
	key := newKey(t, db, "default")
	gone := s.as(key).create(t, ana)
	s.as(key).do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	s.stop(t)
	execSQL(t, db, `UPDATE tenants SET name = ?1 WHERE id = 2; UPDATE keys SET label = ?1, scope = 'read'; UPDATE imports SET file = ?1, key_id = 1;
		UPDATE firefighters SET first_name = ?1, id = id; UPDATE changes SET before = json_object('lastName', ?1)`, evil)
	for _, line := range []string{"departments list", "departments list --json", "departments remove EVIL", "keys create --tenant EVIL",
		"keys list", "keys list --json", "keys create --tenant Ä", "history --tenant TENANT", "history --tenant TENANT --json", "deleted --tenant TENANT",
		"import list --tenant TENANT", "import list --tenant TENANT --json", "import PEOPLE --tenant TENANT", "import PEOPLE --tenant TENANT --json",
		"import undo 1 --tenant TENANT", "import PEOPLE --tenant TENANT --compare", "import PEOPLE --tenant TENANT --compare --json", "export --tenant TENANT --format jsonl",
		"check", "check --repair", "backup BACKUP", "restore BACKUP", "purge --tenant TENANT --older-than 0s --yes"} {
		args := append(strings.Fields(line), "--db", db)
		for i := range args {
			args[i] = strings.NewReplacer("TENANT", "default", "EVIL", evil, "PEOPLE", people, "BACKUP", filepath.Join(filepath.Dir(people), "saved\x1b.db")).Replace(args[i])
		}
		_, stdout, stderr := runCommand(t, args...)
		if at := strings.IndexFunc(stdout+stderr, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) || unicode.IsControl(r) && r != '\n' }); at >= 0 {
			t.Errorf("%s prints %q", line, stdout+stderr)
		}
		if line == "departments list --json" && !strings.Contains(stdout, `{"name":"A\u001b]0;x\u0007\u009b2J\u202e\r",`) {
			t.Errorf("%s prints %q", line, stdout)
		}
	}
}

// TestLineInName checks that a file name with a line break does not create a line in the output.
func TestLineInName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if os.WriteFile(filepath.Join(dir, "a\nb"), nil, 0o600) != nil {
		return // Windows has no such names
	}
	const evil = "zz\nError: faked"
	db, people := filepath.Join(dir, evil+".db"), filepath.Join(dir, evil+".csv")
	for _, line := range []string{"check", "keys list", "restore FILE", "keys create --tenant A", "backup FILE", "backup FILE", "restore FILE", "restore PEOPLE", "import PEOPLE --tenant A",
		"export --tenant A -o PEOPLE", "export --tenant A -o PEOPLE", "import PEOPLE --tenant A", "import PEOPLE --tenant A --apply", "import PEOPLE --tenant A --compare", "export --tenant A -o NONE",
		"serve --listen nowhere", "serve --listen 127.0.0.1:1 --tls-cert PEOPLE --tls-key PEOPLE", "serve --tls-cert PEOPLE", "departments list EVIL", "EVIL", "check --EVIL", "check --json=EVIL",
		"cert --new --yes --name EVIL", "keys create --tenant A --expires EVIL", "export --tenant A --format EVIL"} {
		args := strings.Fields(line)
		for i := range args {
			args[i] = strings.NewReplacer("EVIL", evil, "PEOPLE", people, "FILE", filepath.Join(dir, evil+"-copy.db"), "NONE", filepath.Join(dir, evil, "x.csv")).Replace(args[i])
		}
		if args[0] != evil {
			args = append(args, "--db", db)
		}
		_, stdout, stderr := runCommand(t, args...)
		for text := range strings.Lines(stdout + stderr) {
			if strings.HasPrefix(text, "Error: faked") {
				t.Errorf("%s prints %q", line, stdout+stderr)
			}
		}
	}
}
