package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

const (
	day           = 24 * time.Hour
	authorityLife = 10 * 365 * day
	serverLife    = 397 * day // the longest that browsers accept
	renewBefore   = 30 * day
	endWarning    = 180 * day
)

// firstDay is the first day of validity of every authority. A clock before firstDay is wrong, for
// example on a Raspberry Pi without a network.
var firstDay = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// ranges are the private addresses. An authority certifies no others, so a stolen key cannot
// impersonate a site on the internet.
var ranges = func() (all []netip.Prefix) {
	const local = "127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 100.64.0.0/10 ::1/128 fc00::/7 fe80::/10"
	for text := range strings.FieldsSeq(local) {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}()

// newAuthority creates an authority for a machine. others has more names, separated by spaces.
func newAuthority(m Machine, others string, now time.Time) (*pair, error) {
	names := slices.Clone(m.Names)
	for name := range strings.FieldsSeq(others) {
		if validName(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	host := m.Host[:min(len(m.Host), 64-len("Firefighters at  (local authority, 2026)"))]
	if now.Before(firstDay) {
		now = firstDay
	}
	template := &x509.Certificate{
		Subject: pkix.Name{Organization: []string{"Firefighters"},
			CommonName: fmt.Sprintf("Firefighters at %s (local authority, %d)", host, now.Year())},
		NotBefore: firstDay, NotAfter: now.Add(authorityLife),
		IsCA: true, MaxPathLenZero: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, // not for programs or mail

		PermittedDNSDomainsCritical: true, PermittedDNSDomains: names,
	}
	for _, r := range ranges {
		template.PermittedIPRanges = append(template.PermittedIPRanges,
			&net.IPNet{IP: r.Addr().AsSlice(), Mask: net.CIDRMask(r.Bits(), r.Addr().BitLen())})
	}
	return sign(template, nil)
}

func issue(ca *pair, m Machine, now time.Time) (*pair, error) {
	if now.Before(firstDay) {
		now = firstDay
	}
	template := &x509.Certificate{
		Subject:   pkix.Name{Organization: []string{"Firefighters"}, CommonName: m.Host[:min(len(m.Host), 64)]},
		NotBefore: now.Add(-day), NotAfter: serverEnd(ca.certificate, now),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		DNSNames:              m.Names,
	}
	for _, address := range m.Addresses {
		template.IPAddresses = append(template.IPAddresses, address.AsSlice())
	}
	return sign(template, ca)
}

func serverEnd(ca *x509.Certificate, now time.Time) time.Time {
	if end := now.Add(serverLife - day); end.Before(ca.NotAfter) {
		return end
	}
	return ca.NotAfter
}

// sign creates a key and its certificate, signed by an authority, or self-signed if by is nil.
func sign(template *x509.Certificate, by *pair) (*pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if by == nil {
		by = &pair{key, template}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.certificate, &key.PublicKey, by.key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &pair{key, certificate}, err
}

// renewal returns the reason to replace a server certificate, which may be nil, or "". A clock
// outside the validity of the authority is wrong, so it is no reason.
func renewal(leaf, ca *x509.Certificate, wanted Machine, now time.Time) string {
	switch {
	case leaf == nil:
		return "there was no usable certificate"
	case leaf.CheckSignatureFrom(ca) != nil:
		return "the certificate authority has changed"
	case slices.ContainsFunc(wanted.Names, func(name string) bool { return leaf.VerifyHostname(name) != nil }):
		return "this computer has a new name"
	case slices.ContainsFunc(wanted.Addresses, func(a netip.Addr) bool { return leaf.VerifyHostname(a.String()) != nil }):
		return "this computer has a new address"
	case now.Before(firstDay), now.After(ca.NotAfter):
		return ""
	case now.Before(leaf.NotBefore):
		return "the clock was ahead when the certificate was issued"
	case now.Add(renewBefore).After(leaf.NotAfter) && serverEnd(ca, now).After(leaf.NotAfter):
		return "the certificate expires soon"
	}
	return ""
}

func certifiable(ca *x509.Certificate, address netip.Addr) bool {
	return slices.ContainsFunc(ca.PermittedIPRanges, func(r *net.IPNet) bool { return r.Contains(address.AsSlice()) })
}
