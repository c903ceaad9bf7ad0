package acceptance

import (
	"fmt"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// newTerminal returns a terminal and the output that a program prints on it.
func newTerminal(t *testing.T) (terminal *os.File, printed *syncBuffer) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	must(t, err)
	t.Cleanup(func() { master.Close() })
	number, err := unix.IoctlGetUint32(int(master.Fd()), unix.TIOCGPTN)
	must(t, err)
	must(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	t.Cleanup(func() { terminal.Close() })
	printed = &syncBuffer{}
	go io.Copy(printed, master)
	return terminal, printed
}
