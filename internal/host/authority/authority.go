// Package authority creates a local certificate authority, and issues and renews a TLS certificate
// for the names and private addresses of this machine. Other machines trust the authority once.
//
// The folder of an authority has three private files. Each write replaces a whole file, so no crash
// leaves a key without its certificate. Only authority.pem has the key of the authority.
package authority

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// The files in the folder of an authority.
const (
	authorityFile = "authority.pem" // key and certificate of the authority
	publicFile    = "ca.crt"        // certificate of the authority
	serverFile    = "server.pem"    // key and certificate of the server
)

// Path is the URL path of the authority's certificate.
const Path = "/ca.crt"

// Folder returns the folder of a database's authority, as an absolute path if possible.
func Folder(db string) string {
	folder := filepath.Join(filepath.Dir(osutil.Resolve(db)), "firefighters-tls")
	if absolute, err := filepath.Abs(folder); err == nil {
		return absolute
	}
	return folder
}

// PrivateFile returns the path of the key and the certificate of a database's authority. Another PC
// needs only this file to continue with the same authority.
func PrivateFile(db string) string { return filepath.Join(Folder(db), authorityFile) }

// ErrLost is the error for an authority without a usable key. Open does not create a new authority
// in its place, because every machine would have to trust it; Replace does.
var ErrLost = errors.New("its key is missing or damaged")

// Options configure an Authority.
type Options struct {
	Folder  string
	Listen  string // the address and port that the server listens on
	Log     *slog.Logger
	Now     func() time.Time // time.Now if nil
	Machine func() Machine   // this machine if nil
}

// complete returns the options with the defaults of Now and Machine.
func (o Options) complete() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Machine == nil {
		o.Machine = thisMachine
	}
	return o
}

// Authority is a local certificate authority with the server certificate that it issued. Its methods
// are safe for concurrent use.
type Authority struct {
	Options

	mu     sync.Mutex
	ca     *x509.Certificate // certificate of the authority; nil if it cannot be read
	leaf   *x509.Certificate // certificate of the server
	warned map[string]bool   // warnings that were logged
}

// Open returns the authority in a folder, with a valid server certificate. It creates the folder and
// missing files. If that fails, for example on a full disk, Open logs a warning and uses the existing
// server certificate until it expires.
func Open(o Options) (*Authority, error) {
	a := &Authority{Options: o.complete(), warned: map[string]bool{}}
	err := a.open()
	if err == nil {
		err = a.Renew()
	}
	if err != nil && a.leaf != nil && a.Now().Before(a.leaf.NotAfter) {
		details := []any{"cause", err.Error(), "expires", a.leaf.NotAfter.Format(time.DateOnly)}
		if errors.Is(err, ErrLost) {
			details = append(details, "try", "firefighters cert --new")
		}
		a.warn("the server certificate cannot be renewed, and works only until it expires", details...)
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("the authority in %s cannot be used: %w", osutil.InQuotes(o.Folder), err)
	}
	return a, nil
}

// open creates the folder, and an authority if the folder has neither file of one.
func (a *Authority) open() error {
	if err := makeFolder(a.Folder); err != nil {
		return err
	}
	if osutil.Exists(a.file(authorityFile)) || osutil.Exists(a.file(publicFile)) {
		return nil
	}
	ca, err := newAuthority(a.Machine(), a.listenHost(), a.Now())
	if err != nil {
		return err
	}
	return osutil.WriteFile(a.file(authorityFile), ca.encode(), false)
}

// Replace creates a new authority in a folder, and a server certificate. hosts are additional names
// of this machine. Every machine that trusted the previous authority must trust the new one.
func Replace(o Options, hosts ...string) error {
	o = o.complete()
	for _, host := range hosts {
		if !validName(host) {
			return fmt.Errorf("%q is not the name of a computer", host)
		}
	}
	ca, err := newAuthority(o.Machine(), strings.ToLower(strings.Join(hosts, " ")), o.Now())
	if err == nil {
		err = makeFolder(o.Folder)
	}
	if err == nil {
		err = osutil.WriteFile(filepath.Join(o.Folder, authorityFile), ca.encode(), true)
	}
	if err == nil {
		_, err = Open(o)
	}
	return err
}

// Renew issues a new server certificate if the current one expires soon, is from another authority,
// or lacks a name or an address of the machine.
func (a *Authority) Renew() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var leaf *x509.Certificate
	if current, err := readPair(a.file(serverFile)); err == nil {
		leaf = current.certificate
		a.leaf = leaf
	}
	ca, err := readPair(a.file(authorityFile))
	if err != nil {
		if d, err := Describe(a.Folder); err == nil {
			a.ca = d.Certificate
		}
		if errors.Is(err, errDamaged) || errors.Is(err, fs.ErrNotExist) {
			err = ErrLost
		}
		return err
	}
	a.ca = ca.certificate
	public := encodeCertificate(a.ca.Raw)
	if current, err := os.ReadFile(a.file(publicFile)); err != nil || !bytes.Equal(current, public) {
		if err := osutil.WriteFile(a.file(publicFile), public, true); err != nil {
			return err
		}
	}
	now := a.Now()
	if end := ca.certificate.NotAfter; now.Add(endWarning).After(end) {
		a.warn("the certificate authority expires soon, and every computer must then trust a new one",
			"expires", end.Format(time.DateOnly), "try", "firefighters cert --new")
	}
	wanted := a.wanted(ca.certificate)
	why := renewal(leaf, ca.certificate, wanted, now)
	if why == "" {
		return nil
	}
	server, err := issue(ca, wanted, now)
	if err != nil {
		return err
	}
	if err := osutil.WriteFile(a.file(serverFile), server.encode(), true); err != nil {
		return err
	}
	a.leaf = server.certificate
	a.Log.Info("created a server certificate", "because", why, "addresses", fmt.Sprint(wanted.Addresses), "expires", a.leaf.NotAfter)
	return nil
}

// wanted returns the names and addresses of the machine that the authority may certify. It logs a
// warning for each other name and IPv4 address.
func (a *Authority) wanted(ca *x509.Certificate) (w Machine) {
	m, host := a.Machine(), a.listenHost()
	w = Machine{Host: m.Host, Names: ca.PermittedDNSDomains}
	for _, name := range []string{strings.ToLower(m.Host), host} {
		if validName(name) && !slices.Contains(w.Names, name) {
			a.warn("the server certificate lacks a name of this computer, because the certificate authority does not allow it",
				"name", name, "try", "open the page by an address, or: firefighters cert --new")
		}
	}
	if listened, err := netip.ParseAddr(host); err == nil && !listened.IsUnspecified() {
		m.Addresses = append(m.Addresses, listened)
	}
	for _, address := range m.Addresses {
		switch address = address.WithZone("").Unmap(); {
		case slices.Contains(w.Addresses, address):
		case certifiable(ca, address):
			w.Addresses = append(w.Addresses, address)
		case address.Is4():
			a.warn("the server certificate lacks a public address, because the certificate authority allows only private ones",
				"address", address.String(), "try", "open the page by a name or a private address, or use --tls-cert and --tls-key")
		}
	}
	return w
}

// warn logs a warning once.
func (a *Authority) warn(message string, details ...any) {
	if key := fmt.Sprint(message, details); !a.warned[key] {
		a.warned[key] = true
		a.Log.Warn(message, details...)
	}
}

func (a *Authority) file(name string) string { return filepath.Join(a.Folder, name) }

func (a *Authority) listenHost() string {
	host, _, _ := net.SplitHostPort(a.Listen)
	return strings.ToLower(host)
}

// ServerFile returns the path of the server's key and certificate.
func (a *Authority) ServerFile() string { return a.file(serverFile) }

// PublicFile returns the path of the authority's certificate.
func (a *Authority) PublicFile() string { return a.file(publicFile) }

// HostFor returns host if the server certificate is valid for it, and otherwise the first name in the
// certificate.
func (a *Authority) HostFor(host string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.leaf.VerifyHostname(host) == nil {
		return host
	}
	return a.leaf.DNSNames[0]
}

// Certificate returns the certificate of the authority (DER). It is nil for a nil Authority.
func (a *Authority) Certificate() []byte {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ca == nil {
		return nil
	}
	return a.ca.Raw
}

// ServeHTTP writes the certificate of the authority, with the media type that phones install.
func (a *Authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-x509-ca-cert")
	w.Write(encodeCertificate(a.Certificate()))
}
