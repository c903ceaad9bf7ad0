//go:build unix

package exchange

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// TestReadIrregularFile checks that a pipe, a socket, a device and a folder are rejected without
// opening them.
func TestReadIrregularFile(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "ff") // a short path, for the socket
	must(t, err)
	defer os.RemoveAll(dir)
	in := func(name string) string { return filepath.Join(dir, name) }
	must(t, syscall.Mkfifo(in("pipe"), 0o600))
	must(t, os.Symlink("pipe", in("link")))
	listener, err := net.Listen("unix", in("socket"))
	must(t, err)
	defer listener.Close()
	for path, want := range map[string]string{
		in("pipe"): " is not a file", in("link"): " is not a file", in("socket"): " is not a file", "/dev/zero": " is not a file", dir: " is not a file",
	} {
		began := time.Now()
		content, err := readFile(cli.Env{Context: t.Context()}, nil, path)
		if content != nil || err == nil || !strings.HasSuffix(err.Error(), want) || time.Since(began) > 5*time.Second {
			t.Errorf("%s: %d bytes, %v after %v", path, len(content), err, time.Since(began))
		}
	}
}
