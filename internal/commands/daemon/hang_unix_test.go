//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
)

// TestHangingDisk checks that a backup whose disk never answers does not keep the service from ending,
// nor from a restore, which ends the background work in the same way.
func TestHangingDisk(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	stick := t.TempDir()
	list := filepath.Join(stick, backup.OwnFolder, backup.ErasedName)
	must(t, os.Mkdir(filepath.Dir(list), 0o700))
	must(t, syscall.Mkfifo(list, 0o600))
	must(t, r.settings().SetFolder("Ana", stick))
	for err := error(syscall.ENXIO); err != nil; time.Sleep(10 * time.Millisecond) {
		_, err = syscall.Open(list, syscall.O_WRONLY|syscall.O_NONBLOCK, 0) // stays open: reading it hangs
	}
	stopped := make(chan error, 1)
	go func() { stopped <- r.stop() }()
	select {
	case err := <-stopped:
		must(t, err)
	case <-time.After(time.Minute):
		t.Error("the service waits for the disk")
	}
}
