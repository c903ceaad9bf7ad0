package httpserver

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// Errors of Listen, for errors.Is.
var (
	ErrPortTaken   = errors.New("the port is used by another program")
	ErrPortRefused = errors.New("you are not allowed to use this port; ports below 1024 are for administrators")
	ErrNotOurs     = errors.New("this computer does not have that address")
	ErrNoHost      = errors.New("no computer has that name")
)

// Windows error numbers.
const (
	wsaRefused = syscall.Errno(10013)
	wsaTaken   = syscall.Errno(10048)
	wsaNotOurs = syscall.Errno(10049)
)

// Listen listens on a TCP address, like 127.0.0.1:8080. If the cause of a failure is known, the error
// wraps ErrPortTaken, ErrPortRefused, ErrNotOurs or ErrNoHost.
func Listen(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", address, reason(err))
	}
	return listener, nil
}

// reason returns the cause of an error from net.Listen, without the address.
func reason(err error) error {
	matches := func(unix, windows syscall.Errno) bool { return errors.Is(err, unix) || errors.Is(err, windows) }
	switch {
	case matches(syscall.EADDRINUSE, wsaTaken):
		return ErrPortTaken
	case matches(syscall.EACCES, wsaRefused):
		return ErrPortRefused
	case matches(syscall.EADDRNOTAVAIL, wsaNotOurs):
		return ErrNotOurs
	case errors.As(err, new(*net.DNSError)):
		return ErrNoHost
	}
	if inner, ok := errors.AsType[*net.OpError](err); ok {
		return inner.Err
	}
	return err
}

// HostOf returns a host at which clients reach a listener on addr. If addr is unspecified, this is an
// IPv4 address of the computer: a private one if possible, and loopback if there is no other.
func HostOf(addr net.Addr) string {
	host, _, _ := net.SplitHostPort(addr.String())
	if ip := net.ParseIP(host); ip == nil || !ip.IsUnspecified() {
		return host
	}
	host = "127.0.0.1"
	interfaces, _ := net.Interfaces() // on an error, use loopback
	for _, i := range interfaces {
		addresses, _ := i.Addrs()
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		for _, a := range addresses {
			network, ok := a.(*net.IPNet)
			switch {
			case !ok || network.IP.To4() == nil || !network.IP.IsGlobalUnicast():
			case network.IP.IsPrivate():
				return network.IP.String()
			case host == "127.0.0.1":
				host = network.IP.String()
			}
		}
	}
	return host
}
