package httpserver

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// Why nobody can listen on an address, for errors.Is.
var (
	ErrPortTaken   = errors.New("the port is used by another program")
	ErrPortRefused = errors.New("the system does not let you use this port; those under 1024 are for administrators")
	ErrNotOurs     = errors.New("that is not an address of this computer")
	ErrNoHost      = errors.New("there is no computer with that name")
)

// Windows has error numbers of its own for these.
const (
	wsaRefused = syscall.Errno(10013)
	wsaTaken   = syscall.Errno(10048)
	wsaNotOurs = syscall.Errno(10049)
)

// Listen listens on an address, as 127.0.0.1:8080. The error is one of the above
// where the cause is known.
func Listen(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", address, reason(err))
	}
	return listener, nil
}

// reason returns why net.Listen failed, without the address.
func reason(err error) error {
	is := func(unix, windows syscall.Errno) bool { return errors.Is(err, unix) || errors.Is(err, windows) }
	switch {
	case is(syscall.EADDRINUSE, wsaTaken):
		return ErrPortTaken
	case is(syscall.EACCES, wsaRefused):
		return ErrPortRefused
	case is(syscall.EADDRNOTAVAIL, wsaNotOurs):
		return ErrNotOurs
	case errors.As(err, new(*net.DNSError)):
		return ErrNoHost
	}
	if inner, ok := errors.AsType[*net.OpError](err); ok {
		return inner.Err
	}
	return err
}

// HostOf returns a host by which clients reach a listener at addr. Where that is
// every address of the machine, it is the IPv4 address of a network: a private
// one if there is one, loopback if there is none at all.
func HostOf(addr net.Addr) string {
	host, _, _ := net.SplitHostPort(addr.String())
	if ip := net.ParseIP(host); ip == nil || !ip.IsUnspecified() {
		return host
	}
	host = "127.0.0.1"
	interfaces, _ := net.Interfaces() // without any, it is loopback
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
