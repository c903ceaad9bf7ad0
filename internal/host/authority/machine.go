package authority

import (
	"net"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Machine is what a certificate names.
type Machine struct {
	Host      string       // the name of the machine, as its owner has written it
	Names     []string     // all by which others find it, in lower case; the host comes first
	Addresses []netip.Addr // of its network interfaces
}

// suffixes are the domains of a local network in which routers and mDNS find a
// machine.
var suffixes = []string{"local", "lan", "home.arpa", "internal", "fritz.box"}

// names are what a certificate can have: no spaces, no accents, not too long.
var names = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$`)

// validName reports whether a certificate can have a name, which is no address.
func validName(name string) bool {
	_, err := netip.ParseAddr(name)
	return err != nil && len(name) <= 253 && names.MatchString(strings.ToLower(name))
}

// thisMachine returns what is known without asking the network.
func thisMachine() Machine {
	full, _ := os.Hostname() // machine makes localhost of an empty name
	return machine(full, domains(), interfaceAddresses())
}

// machine returns a machine of a host name, which may be in a domain, in other
// domains.
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

// interfaceAddresses returns the addresses of this machine. It leaves out those of
// IPv6 that hold for one cable only: no browser can open them.
func interfaceAddresses() (all []netip.Addr) {
	found, _ := net.InterfaceAddrs() // machine adds those of loopback
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
