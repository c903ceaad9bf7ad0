package authority

import (
	"net"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Machine has the names and addresses of a computer for a certificate.
type Machine struct {
	Host      string       // host name without its domain, in its original case
	Names     []string     // host and DNS names in lower case, Host first
	Addresses []netip.Addr // addresses of the network interfaces
}

// suffixes are the usual domains of mDNS and of routers in a local network.
var suffixes = []string{"local", "lan", "home.arpa", "internal", "fritz.box"}

// names matches ASCII DNS names.
var names = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$`)
})

// validName reports whether name is a DNS name for a certificate, and not an address.
func validName(name string) bool {
	_, err := netip.ParseAddr(name)
	return err != nil && len(name) <= 253 && names().MatchString(strings.ToLower(name))
}

// thisMachine returns this computer, without network requests.
func thisMachine() Machine {
	full, _ := os.Hostname() // machine turns an empty name into localhost
	return machine(full, domains(), interfaceAddresses())
}

// machine returns the machine with a host name, which may include a domain, and with more domains.
func machine(full string, domains []string, addresses []netip.Addr) (m Machine) {
	var domain string
	full = strings.Trim(full, ".")
	m.Host, domain, _ = strings.Cut(full, ".")
	if !validName(m.Host) {
		m.Host, domain, domains = "localhost", "", nil
	}
	add := func(name string) {
		if name = strings.ToLower(strings.Trim(name, ".")); validName(name) && !slices.Contains(m.Names, name) {
			m.Names = append(m.Names, name)
		}
	}
	add(m.Host)
	if !strings.EqualFold(m.Host, "localhost") {
		for _, d := range slices.Concat(suffixes[:1], []string{domain}, domains, suffixes[1:]) {
			if d = strings.Trim(d, "."); d != "" {
				add(m.Host + "." + d)
			}
		}
	}
	add("localhost")
	m.Addresses = append([]netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()}, addresses...)
	return m
}

// interfaceAddresses returns the addresses of this machine without IPv6 link-local addresses, which
// browsers cannot open.
func interfaceAddresses() (all []netip.Addr) {
	found, _ := net.InterfaceAddrs() // after an error, machine adds the loopback addresses
	for _, a := range found {
		network, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		address, ok := netip.AddrFromSlice(network.IP)
		if address = address.Unmap(); ok && !(address.Is6() && address.IsLinkLocalUnicast()) {
			all = append(all, address)
		}
	}
	return all
}
