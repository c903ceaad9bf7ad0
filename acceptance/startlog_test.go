package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hasEntry checks that the log has an entry with this level and beginning, with or without a hint.
func (b *syncBuffer) hasEntry(t *testing.T, level, begins string, tries bool) {
	t.Helper()
	for line := range strings.Lines(b.raw()) {
		entry, _ := readEntry(line)
		message, _ := entry["msg"].(string)
		hint, _ := entry["try"].(string)
		if entry["level"] == level && strings.HasPrefix(message, begins) && (hint != "") == tries {
			return
		}
	}
	t.Errorf("the log has no entry %s %q:\n%s", level, begins, b.raw())
}

// TestStartInLog checks that on a standard error that is not a terminal everything is a log entry: the
// notes at startup, each with its level, and the final error. serving checks all other lines.
func TestStartInLog(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "Dropbox", "x.db")
	must(t, os.Mkdir(filepath.Dir(db), 0o700))
	backups := filepath.Join(t.TempDir(), "absent", "backups")
	cmd, _ := process(t, "serve", "--db", db, "--backup-dir", backups, "--listen", "0.0.0.0:0")
	cmd.Env = append(cmd.Env, "FIREFIGHTERS_LISTN=1", "FIREFIGHTERS_NEW=1")
	s := serving(t, db, cmd)
	s.mayFail = true
	s.create(t, ana)
	s.logs(t, `"level":"ERROR","msg":"no backups are made"`) // written in the background after the start
	s.stop(t)
	s.stderr.hasEntry(t, "WARN", "the environment variable FIREFIGHTERS_LISTN has no effect", false)
	s.stderr.hasEntry(t, "WARN", "the environment variable FIREFIGHTERS_NEW has no effect", false)
	s.stderr.hasEntry(t, "WARN", "the database is in a folder of Dropbox, which copies and replaces files in use and can damage it", true)
	s.stderr.hasEntry(t, "INFO", "Created the database "+db, false)
	s.stderr.hasEntry(t, "WARN", "other computers reach the service without TLS", true)
	s.stderr.hasEntry(t, "WARN", "no backups are made: ", false)

	shared := startWith(t, db, "serve", "--db", db, "--tls-self-signed")
	shared.stop(t)
	shared.stderr.hasEntry(t, "INFO", "there are no backups. For a daily backup", false)
}

// TestErrorInLog checks that the final error of a server is one log entry with the exit code, and that
// other commands print their error in words.
func TestErrorInLog(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	foreign := filepath.Join(folder, "foreign.db")
	must(t, os.WriteFile(foreign, []byte("no database"), 0o600))
	for line, want := range map[string]string{
		"serve --db " + foreign:       `"level":"ERROR","msg":"\"` + foreign + `\" is not a database of this program",`,
		"serve --nope":                `"level":"ERROR","msg":"unknown flag: --nope","try":"firefighters serve --help","exitCode":2}`,
		"--listen nowhere":            `"level":"ERROR","msg":"--listen must be an address and a port, not \"nowhere\"","try":"firefighters serve --listen 127.0.0.1:8080","exitCode":2}`,
		"demo --listen 203.0.113.1:1": `"level":"ERROR","msg":"cannot listen on 203.0.113.1:1: this computer does not have that address","try":"`,
		"serve --db " + filepath.Join(folder, "no", "x.db"): `"exitCode":1}`,
		"serve --tls-cert no.pem --tls-key no.pem":          `"exitCode":1}`,
	} {
		cmd, output := process(t, strings.Fields(line)...)
		cmd.Run()
		if log := output.raw(); strings.Count(log, "\n") != 1 || !strings.Contains(log, want) {
			t.Errorf("%s: %s\nwant %s", line, log, want)
		}
		output.checkLog(t)
	}
	if _, _, stderr := runCommand(t, "keys", "list", "--db", foreign); !strings.HasPrefix(stderr, "Error: ") {
		t.Errorf("keys list: %s", stderr)
	}
}
