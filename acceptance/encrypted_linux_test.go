package acceptance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEncryptedOnFullDisk: where there is no room a backup, a check and a restore leave nothing
// that can be read. A limit on the size of files stands for the full disk.
func TestEncryptedOnFullDisk(t *testing.T) {
	t.Parallel()
	db, dir := invented(t, 1, 600), t.TempDir()
	key, recipient, _ := newIdentity(t)
	saved := filepath.Join(dir, "saved.db.age")
	works(t, "backup", saved, "--db", db, "--backup-encrypt-to", recipient)
	private, plain := t.TempDir(), filepath.Join(t.TempDir(), "plain.db")
	works(t, "backup", plain, "--db", db)
	info, err := os.Stat(plain)
	must(t, err)
	beside := namesIn(t, filepath.Dir(db))
	save := []string{"backup", filepath.Join(dir, "x.age"), "--db", db, "--backup-encrypt-to", recipient}
	for _, tt := range []struct {
		blocks int64 // of 512 bytes
		want   string
		args   []string
	}{
		{100, "Error: copying database ", save},
		{info.Size() / 512, "Error: writing ", save}, // enough for the plain copy, and not for the encrypted one
		{100, "the disk is full", []string{"restore", saved, "--db", filepath.Join(dir, "new.db"), "--identity", key}},
		{100, "the disk is full", []string{"check", "--db", saved, "--identity", key}},
	} {
		args := tt.args
		cmd, _ := process(t, args...)
		cmd.Args = append([]string{"sh", "-c", fmt.Sprintf(`ulimit -S -f %d; exec "$0" "$@"`, tt.blocks), cmd.Path}, cmd.Args[1:]...)
		cmd.Path = "/bin/sh"
		cmd.Env = append(cmd.Env, "TMPDIR="+private)
		cmd.Stdout, cmd.Stderr = nil, nil
		out, err := cmd.CombinedOutput()
		if _, failed := err.(*exec.ExitError); !failed || !strings.Contains(string(out), tt.want) {
			t.Errorf("%q: %v, %s", args, err, out)
		}
	}
	if found := namesIn(t, dir); !slices.Equal(found, []string{"new.db-lock", "saved.db.age"}) {
		t.Errorf("there is %q", found)
	}
	if found := namesIn(t, filepath.Dir(db)); !slices.Equal(found, beside) {
		t.Errorf("beside the database there is %q", found)
	}
	if found := namesIn(t, private); len(found) > 0 {
		t.Errorf("among the temporary files there is %q", found)
	}
}
