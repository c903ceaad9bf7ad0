//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// TestHangingDisk checks that a backup folder whose disk never answers keeps the service neither from
// applying a change nor from ending, nor from a restore, which ends the background work in the same way.
func TestHangingDisk(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	must(t, r.service.Load().Store.DB().Write(func(tx *sqlite.Tx) error { // the list must be updated, also without a backup
		_, err := tx.Exec(`UPDATE service SET erasures = erasures + 1`)
		return err
	}))
	stick := t.TempDir()
	list := filepath.Join(stick, backup.OwnFolder, backup.ErasedName)
	must(t, os.Mkdir(filepath.Dir(list), 0o700))
	must(t, syscall.Mkfifo(list, 0o600))
	r.setFolder(t, stick)
	for err := error(syscall.ENXIO); err != nil; time.Sleep(10 * time.Millisecond) {
		_, err = syscall.Open(list, syscall.O_WRONLY|syscall.O_NONBLOCK, 0) // stays open: reading it hangs
	}
	for i := range 3 {
		inTime(t, "a change", func() error {
			change := store.SettingChange{What: site.SettingNetwork}
			return r.service.Load().ChangeSettings(change, func(s *store.Settings) { s.Network = i%2 == 0 })
		})
	}
	inTime(t, "the end", r.stop)
}

// inTime fails if a function does not return.
func inTime(t *testing.T, name string, do func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		must(t, err)
	case <-time.After(time.Minute):
		t.Errorf("%s waits for the disk", name)
	}
}
