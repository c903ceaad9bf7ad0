// Package authority makes a certificate for the names and private addresses of
// this machine, and the local authority that signs it, and renews the
// certificate. Other machines trust the authority once.
//
// The folder of an authority has three private files. Each is replaced as a whole, so that
// no crash leaves a key without its certificate. The key of the authority is in
// the first and nowhere else.
package authority

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
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

// The files of an authority, in its folder.
const (
	authorityFile = "authority.pem" // its key and its certificate
	publicFile    = "ca.crt"        // its certificate, for all who trust it
	serverFile    = "server.pem"    // the key and the certificate of the server
)

// Path is where a server hands out the certificate of its authority.
const Path = "/ca.crt"

// Folder returns the folder of the authority of a database, as an absolute path
// where that is known.
func Folder(db string) string {
	folder := filepath.Join(filepath.Dir(osutil.Resolve(db)), "firefighters-tls")
	if absolute, err := filepath.Abs(folder); err == nil {
		return absolute
	}
	return folder
}

// ErrLost says that there was an authority, and that it can sign nothing any
// more. Each machine would have to trust another one, so only Replace makes one.
var ErrLost = errors.New("its key is missing or damaged")

// Options are what an Authority is made of.
type Options struct {
	Folder  string
	Listen  string // the address and port that the server listens on
	Log     *slog.Logger
	Now     func() time.Time // nil: time.Now
	Machine func() Machine   // nil: this machine
}

// complete returns the options with the clock and the names of this machine, unless
// others are given.
func (o Options) complete() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Machine == nil {
		o.Machine = thisMachine
	}
	return o
}

// Authority is a local authority, and the certificate of a server from it.
type Authority struct {
	Options

	mu     sync.Mutex
	public []byte            // its certificate (PEM)
	leaf   *x509.Certificate // of the server
	warned map[string]bool   // what was warned of
}

// Open returns the authority in a folder, with a certificate that can be used.
// It makes what is missing, the folder too. Where that is not possible, as on a
// full disk, it uses the certificate that is there for as long as that is valid.
func Open(o Options) (*Authority, error) {
	a := &Authority{Options: o.complete(), warned: map[string]bool{}}
	err := a.open()
	if err == nil {
		err = a.Renew()
	}
	if err != nil && a.leaf != nil && a.Now().Before(a.leaf.NotAfter) {
		a.warnOfFailure(err)
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("the authority in %s cannot be used: %w", osutil.InQuotes(o.Folder), err)
	}
	return a, nil
}

// open makes the folder, and an authority if there never was one.
func (a *Authority) open() error {
	if err := makeFolder(a.Folder); err != nil {
		return err
	}
	if osutil.Exists(a.file(authorityFile)) || osutil.Exists(a.file(publicFile)) {
		return nil
	}
	made, err := newAuthority(a.Machine(), a.listenHost(), a.Now())
	if err != nil {
		return err
	}
	return osutil.WriteFile(a.file(authorityFile), made.encode(), false)
}

// Replace makes another authority in a folder, and a certificate from it. hosts
// are names of this machine that it does not know itself. Each machine that
// trusted the authority before must trust the new one.
func Replace(o Options, hosts ...string) error {
	o = o.complete()
	for _, host := range hosts {
		if !validName(host) {
			return fmt.Errorf("%q is not the name of a computer", host)
		}
	}
	made, err := newAuthority(o.Machine(), strings.ToLower(strings.Join(hosts, " ")), o.Now())
	if err == nil {
		err = makeFolder(o.Folder)
	}
	if err == nil {
		err = osutil.WriteFile(filepath.Join(o.Folder, authorityFile), made.encode(), true)
	}
	if err == nil {
		_, err = Open(o)
	}
	return err
}

// Renew makes a new certificate for the server if the present one expires soon,
// is not from this authority, or lacks a name or an address of the machine.
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
			a.public = d.PEM
		}
		if errors.Is(err, errDamaged) || errors.Is(err, fs.ErrNotExist) {
			err = ErrLost
		}
		return err
	}
	if err := a.publish(ca); err != nil {
		return err
	}
	now := a.Now()
	if end := ca.certificate.NotAfter; now.Add(endWarning).After(end) {
		a.warn("the authority expires, and each computer must trust another one before", "expires", end.Format(time.DateOnly),
			"try", "firefighters cert --new")
	}
	wanted := a.wanted(ca.certificate)
	why := renewal(leaf, ca.certificate, wanted, now)
	if why == "" {
		return nil
	}
	made, err := issue(ca, wanted, now)
	if err != nil {
		return err
	}
	if err := osutil.WriteFile(a.file(serverFile), made.encode(), true); err != nil {
		return err
	}
	a.leaf = made.certificate
	a.Log.Info("made a certificate", "because", why, "addresses", fmt.Sprint(wanted.Addresses), "expires", a.leaf.NotAfter)
	return nil
}

// publish writes the certificate of the authority where others find it.
func (a *Authority) publish(ca *pair) error {
	a.public = encodeCertificate(ca.certificate)
	if there, err := os.ReadFile(a.file(publicFile)); err == nil && bytes.Equal(there, a.public) {
		return nil
	}
	return osutil.WriteFile(a.file(publicFile), a.public, true)
}

// wanted returns the names and addresses that the server's certificate must
// have: all that the authority may certify. It warns of others.
func (a *Authority) wanted(ca *x509.Certificate) (w Machine) {
	m, host := a.Machine(), a.listenHost()
	w = Machine{Host: m.Host, Names: ca.PermittedDNSDomains}
	for _, name := range []string{strings.ToLower(m.Host), host} {
		if validName(name) && !slices.Contains(w.Names, name) {
			a.warn("the authority was made for other names of this computer, so the certificate does not have this one",
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
			a.warn("the authority is for private addresses alone, so the certificate does not have this public one",
				"address", address.String(), "try", "open the page by a name or a private address, or use --tls-cert and --tls-key")
		}
	}
	return w
}

// warnOfFailure warns that the certificate cannot be renewed.
func (a *Authority) warnOfFailure(err error) {
	details := []any{"cause", err.Error(), "expires", a.leaf.NotAfter.Format(time.DateOnly)}
	if errors.Is(err, ErrLost) {
		details = append(details, "try", "firefighters cert --new")
	}
	a.warn("the certificate can be used until it expires, and cannot be renewed", details...)
}

// warn logs a warning once.
func (a *Authority) warn(what string, details ...any) {
	if key := fmt.Sprint(what, details); !a.warned[key] {
		a.warned[key] = true
		a.Log.Warn(what, details...)
	}
}

func (a *Authority) file(name string) string { return filepath.Join(a.Folder, name) }

// listenHost returns the host of the address that the server listens on.
func (a *Authority) listenHost() string {
	host, _, _ := net.SplitHostPort(a.Listen)
	return strings.ToLower(host)
}

// ServerFile is the file with the server's certificate and its key.
func (a *Authority) ServerFile() string { return a.file(serverFile) }

// PrivateFile is the file with the key and the certificate of the authority: all that
// another PC needs to go on with it.
func (a *Authority) PrivateFile() string { return a.file(authorityFile) }

// PublicFile is the file with the certificate of the authority.
func (a *Authority) PublicFile() string { return a.file(publicFile) }

// HostFor returns the host if the server's certificate has it, and otherwise the
// name of this machine that it has.
func (a *Authority) HostFor(host string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.leaf.VerifyHostname(host) == nil {
		return host
	}
	return a.leaf.DNSNames[0]
}

// Certificate returns the certificate of the authority (DER), nil without an authority.
func (a *Authority) Certificate() []byte {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	block, _ := pem.Decode(a.public)
	if block == nil {
		return nil
	}
	return block.Bytes
}

// ServeHTTP answers with the certificate of the authority, as phones take it.
func (a *Authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	text := a.public
	a.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-x509-ca-cert")
	w.Write(text)
}
