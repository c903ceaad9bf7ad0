package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/daemon"
	"github.com/firefighter-records/firefighters/internal/commands/service"
	"github.com/firefighter-records/firefighters/internal/host/managers"
)

// The tests of this file never touch the service of the machine that they run on.
// Whatever installs, starts or stops one is tried by .ci/packages, in a container.

// runInstalled runs the service as its manager does, with a folder of data of its own.
func runInstalled(ctx context.Context, data string, stdout, stderr io.Writer) error {
	env := cli.Env{Context: ctx, Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr}
	commands := service.Service{Content: schema, Daemon: daemon.Commands{Database: schema, NewAPI: newAPI}.Run, Data: data}.Table()
	return cli.Program{Commands: commands}.Run(env, []string{"service", "run"})
}

// TestServiceRun: the installed service has everything in its folder, makes backups,
// and prints no key, which a journal would keep.
func TestServiceRun(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	must(t, managers.Settings{"--listen=127.0.0.1:0", "--rate-limit=1000"}.Write(data))
	db := managers.DatabaseIn(data)
	var stderr syncBuffer
	serve := func() *served {
		return serving(t, &stderr, func(ctx context.Context, stdout, stderr io.Writer) error {
			return runInstalled(ctx, data, stdout, stderr)
		})
	}
	s := serve()
	eventually(t, "a warning", func() bool { return strings.Contains(stderr.String(), "same disk") })
	if said := s.stdout.String() + stderr.String(); strings.Contains(said, "ff_") || strings.Contains(said, "code=") {
		t.Errorf("it said %q", said)
	}
	s.key = newKey(t, db, "default")
	s.create(t, `{"firstName":"Ana","lastName":"Čović"}`)
	eventually(t, "a backup", func() bool {
		found, _ := filepath.Glob(filepath.Join(managers.BackupsIn(data), "firefighters-*.db"))
		return len(found) == 1
	})
	if stdout, _ := works(t, "departments", "list", "--db", db); !strings.Contains(stdout, "default") {
		t.Errorf("the departments: %q", stdout)
	}
	s.stop()
	again := serve()
	if again.as(s.key).do(t, "GET", collection, "").wants(t, 200); !strings.HasPrefix(again.url, "http://127.0.0.1:") {
		t.Errorf("the address is %q", again.url)
	}
}

// TestServiceAdvice: under a service the commands of the service help, and the next
// start waits.
func TestServiceAdvice(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	must(t, managers.Settings{"--listen=127.0.0.1:0"}.Write(data))
	db := managers.DatabaseIn(data)
	s := serving(t, io.Discard, func(ctx context.Context, stdout, stderr io.Writer) error {
		return runInstalled(ctx, data, stdout, stderr)
	})
	var found []string
	eventually(t, "a backup", func() bool {
		found, _ = filepath.Glob(filepath.Join(managers.BackupsIn(data), "firefighters-*.db"))
		return len(found) == 1
	})
	s.stop()
	must(t, os.WriteFile(db, bytes.Repeat([]byte("text"), 1000), 0o600))
	var stderr syncBuffer
	err := runInstalled(t.Context(), data, io.Discard, &stderr)
	want := cli.AsAdministrator("firefighters restore "+found[0]+" --db "+db) + ", and then: " + cli.AsAdministrator("firefighters service start")
	if code := cli.PrintError(err, &stderr); code != 1 || cli.HintOf(err) != want || !strings.HasSuffix(stderr.String(), `,"exitCode":1}`+"\n") {
		t.Errorf("%d, %q, not %q", code, &stderr, want)
	}
}

// TestServiceSettings: settings that cannot be are wrong usage, so that no manager
// tries them again and again.
func TestServiceSettings(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"--listen=8080": "--listen takes an address and a port", "--tls-key=/x.pem": "--tls-cert and --tls-key go together", "--backup-keep=0": "--backup-keep takes 1 or more",
		"--lisen=127.0.0.1:8080": "did you mean --listen?", "--backup-every=1x": "--backup-every",
	} {
		data := t.TempDir()
		must(t, managers.Settings{line}.Write(data))
		var stdout, stderr syncBuffer
		err := runInstalled(t.Context(), data, &stdout, &stderr)
		if code := cli.PrintError(err, &stderr); code != 2 || !strings.Contains(stderr.String(), want) || stdout.String() != "" {
			t.Errorf("%s: %d, %q", line, code, &stderr)
		}
		if entries, err := os.ReadDir(data); err != nil || len(entries) != 1 {
			t.Errorf("%s: made %v, %v", line, entries, err)
		}
	}
}

// TestServiceDatabase: commands are about the database of the installed service if
// nothing names another, and say so. It cannot run beside others: the folder may
// have no database of a user.
func TestServiceDatabase(t *testing.T) {
	t.Chdir(t.TempDir())
	db, other := filepath.Join(t.TempDir(), "x.db"), filepath.Join(t.TempDir(), "other.db")
	newKey(t, db, "A")
	newKey(t, other, "A")
	asked := 0
	list := func(args ...string) (code int, stdout, stderr string) {
		var out, errs bytes.Buffer
		env := cli.Env{Context: t.Context(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
			ServiceDB: func() string { asked++; return db }}
		code = cli.PrintError(program().Run(env, append([]string{"keys", "list"}, args...)), &errs)
		return code, out.String(), errs.String()
	}
	note := "This is about the database of the service: " + cli.Quote(db) + "\n"
	if code, stdout, stderr := list(); code != 0 || strings.Count(stdout, "\n") != 1 || !strings.HasPrefix(stderr, note) {
		t.Errorf("without --db: %d %q %q", code, stdout, stderr)
	}
	if code, stdout, stderr := list("--db", other); code != 0 || strings.Count(stdout, "\n") != 1 || strings.Contains(stderr, "service") || asked != 1 {
		t.Errorf("with --db: %d %q %q", code, stdout, stderr)
	}
	db = filepath.Join(t.TempDir(), "missing.db")
	if code, _, stderr := list(); code != 1 || !strings.Contains(stderr, "there is no database at") {
		t.Errorf("the service has none: %d %q", code, stderr)
	}
	db = ""
	if code, _, stderr := list(); code != 1 || !strings.Contains(stderr, `there is no database at "firefighters.db"`) {
		t.Errorf("no service: %d %q", code, stderr)
	}
}
