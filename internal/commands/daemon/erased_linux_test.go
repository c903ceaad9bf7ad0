package daemon

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestRewriteFullAsRoot checks that the file is not rewritten each minute while the disk is too full.
func TestRewriteFullAsRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a disk")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("mounting is not possible here: %s", out)
	}
	t.Cleanup(func() { exec.Command("umount", dir).Run() })
	text, err := os.ReadFile("../../../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	schema := database.Schema{Format: store.Format(string(text), 1), Quiet: true}
	opened, err := schema.Open(cli.Env{Context: t.Context()}, filepath.Join(dir, "x.db"), true)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	err = opened.DB().Write(func(tx *sqlite.Tx) error {
		_, err := tx.Exec(`UPDATE service SET erasures = erasures + 1`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(dir, "other"), make([]byte, 2<<20), 0o600) // as much as there is space
	now := time.Now()
	r := &rewriter{ctx: t.Context(), store: opened, next: now}
	if err := r.run(); !errors.Is(err, sqlite.ErrFull) || r.next.Sub(now) < rewriteFull {
		t.Errorf("%v, the next attempt after %v", err, r.next.Sub(now))
	}
}
