package httpserver

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
)

// TestListen checks that errors explain the cause without the system's own text.
func TestListen(t *testing.T) {
	t.Parallel()
	listener, err := Listen("127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	inUse := listener.Addr().String()
	for address, want := range map[string]struct {
		is   error
		text string
	}{
		inUse:             {ErrPortTaken, "the port is used by another program"},
		"203.0.113.1:0":   {ErrNotOurs, "this computer does not have that address"},
		"host..invalid:0": {ErrNoHost, "no computer has that name"},
	} {
		_, err := Listen(address)
		if !errors.Is(err, want.is) || err.Error() != "cannot listen on "+address+": "+want.text {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestReason checks the error numbers of Unix and Windows.
func TestReason(t *testing.T) {
	t.Parallel()
	other := errors.New("it broke")
	for cause, want := range map[error]error{
		syscall.EADDRINUSE: ErrPortTaken, syscall.Errno(10048): ErrPortTaken,
		syscall.EACCES: ErrPortRefused, syscall.Errno(10013): ErrPortRefused,
		syscall.EADDRNOTAVAIL: ErrNotOurs, syscall.Errno(10049): ErrNotOurs,
		other: other,
	} {
		err := reason(&net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", cause)})
		if !errors.Is(err, want) || want != other && err != want {
			t.Errorf("%v: %v", cause, err)
		}
	}
}

// TestHostOf checks that a listener on every address gets a host that other computers can use, if this
// computer is on a network.
func TestHostOf(t *testing.T) {
	t.Parallel()
	private, others := map[string]bool{}, map[string]bool{"127.0.0.1": true}
	addresses, err := net.InterfaceAddrs()
	must(t, err)
	for _, a := range addresses {
		if network, ok := a.(*net.IPNet); ok && network.IP.To4() != nil && network.IP.IsGlobalUnicast() {
			delete(others, "127.0.0.1")
			others[network.IP.String()] = true
			if network.IP.IsPrivate() {
				private[network.IP.String()] = true
			}
		}
	}
	for _, address := range []string{"0.0.0.0:80", "[::]:80"} {
		addr, err := net.ResolveTCPAddr("tcp", address)
		must(t, err)
		if host := HostOf(addr); !private[host] && (len(private) > 0 || !others[host]) {
			t.Errorf("%s: got %s, want one of %v or %v", address, host, private, others)
		}
	}
	for address, want := range map[string]string{"127.0.0.1:80": "127.0.0.1", "[::1]:80": "::1", "203.0.113.1:80": "203.0.113.1"} {
		addr, err := net.ResolveTCPAddr("tcp", address)
		must(t, err)
		if host := HostOf(addr); host != want {
			t.Errorf("%s: %s", address, host)
		}
	}
}
