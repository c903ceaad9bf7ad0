package acceptance

import (
	"fmt"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// newTerminal returns a terminal, and what a program prints on it.
func newTerminal(t *testing.T) (terminal *os.File, printed *syncBuffer) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	must(t, err)
	t.Cleanup(func() { person.Close() })
	number, err := unix.IoctlGetUint32(int(person.Fd()), unix.TIOCGPTN)
	must(t, err)
	must(t, unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0))
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	t.Cleanup(func() { terminal.Close() })
	printed = &syncBuffer{}
	go io.Copy(printed, person)
	return terminal, printed
}
