package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

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
	root := &cobra.Command{Use: "firefighters"}
	root.AddGroup(cli.Groups...)
	root.AddCommand(service.Service{Format: schema.Format, Daemon: daemon.Commands{Database: schema, NewAPI: newAPI}.Run, Data: data}.All()...)
	if code := cli.Execute(env, root, []string{"service", "run"}, schema.Explain); code != 0 {
		return fmt.Errorf("exit code %d", code)
	}
	return nil
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
	if err == nil || !strings.HasSuffix(stderr.String(), `,"try":`+strconv.Quote(want)+`,"exitCode":1}`+"\n") {
		t.Errorf("%v, %q, not %q", err, &stderr, want)
	}
}
