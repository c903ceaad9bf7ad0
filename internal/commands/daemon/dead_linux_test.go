package daemon

import (
	"fmt"
	"net/http"
	"os"
	"syscall"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// TestDeadDiskAsRoot checks that a backup disk that no longer answers does not keep the service from applying
// changes.
func TestDeadDiskAsRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a disk")
	}
	r, stick := run(t, t.TempDir()), t.TempDir()
	r.setFolder(t, stick)
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there is no FUSE here: %v", err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", device.Fd())
	if err := syscall.Mount("dead", stick, "fuse", 0, options); err != nil {
		device.Close()
		t.Skipf("mounting is not possible here: %v", err)
	}
	t.Cleanup(func() { device.Close(); syscall.Unmount(stick, syscall.MNT_DETACH) }) // no one answers until then
	for i := range 3 {
		inTime(t, "a change", func() error {
			change := store.SettingChange{What: site.SettingNetwork}
			return r.service.Load().ChangeSettings(change, func(s *store.Settings) { s.Network = i%2 == 0 })
		})
		inTime(t, "a request", func() error { return get(http.DefaultClient, r.url) })
	}
}
