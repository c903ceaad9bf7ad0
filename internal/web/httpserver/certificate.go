package httpserver

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const (
	// checkInterval is how often the files are read, at most.
	checkInterval = time.Second
	// expiryWarning is how long before its end a certificate is warned of.
	expiryWarning = 14 * 24 * time.Hour
)

// certificate is a certificate that is loaded again when its files change.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger
	current           atomic.Pointer[tls.Certificate]

	mu      sync.Mutex // held by the handshake that refreshes
	checked time.Time  // when the files were last read
	failure string     // of the last look, "" if it found none
	warning string     // about the validity period, as last logged
}

func newCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	if _, err := c.load(); err != nil {
		return nil, fmt.Errorf("the certificate %s with the key %s cannot be used: %w", osutil.InQuotes(certFile), osutil.InQuotes(keyFile), err)
	}
	return c, nil
}

// get returns the certificate for a handshake. One handshake at a time
// refreshes it; the others do not wait for that.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c.mu.TryLock() {
		defer c.mu.Unlock()
		c.refresh()
	}
	return c.current.Load(), nil
}

// refresh reads the files and checks the validity period, at most once a
// second. The certificate stays while the files cannot be used.
func (c *certificate) refresh() {
	now := time.Now()
	if now.Sub(c.checked) < checkInterval {
		return
	}
	c.checked = now
	changed, err := c.load()
	c.logFailure(err)
	if changed {
		c.warning = ""
		c.log.Info("the certificate has changed and the new one is used", "expires", c.current.Load().Leaf.NotAfter.UTC())
	}
	c.checkValidity(now)
}

// logFailure logs a failure once, until a look finds none.
func (c *certificate) logFailure(err error) {
	before := c.failure
	c.failure = ""
	if err != nil {
		c.failure = err.Error()
	}
	if c.failure != "" && c.failure != before {
		c.log.Warn("the files of the certificate have changed and cannot be used; the one before stays in use", "cause", c.failure)
	}
}

// load reads the files, and reports whether they have another certificate than the one in
// use. Its errors are for the log: they do not name files.
func (c *certificate) load() (changed bool, err error) {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return false, c.withoutPath(err)
	}
	old := c.current.Load()
	if old != nil && slices.EqualFunc(old.Certificate, pair.Certificate, bytes.Equal) {
		return false, nil
	}
	c.current.Store(&pair)
	return true, nil
}

func (c *certificate) withoutPath(err error) error {
	var named *fs.PathError
	switch {
	case !errors.As(err, &named):
		return err
	case named.Path == c.keyFile:
		return fmt.Errorf("the key: %w", named.Err)
	}
	return fmt.Errorf("the certificate: %w", named.Err)
}

// checkValidity logs, once each, that the certificate expires soon, has
// expired or is not valid yet.
func (c *certificate) checkValidity(now time.Time) {
	leaf, warning := c.current.Load().Leaf, ""
	switch {
	case now.After(leaf.NotAfter):
		warning = "the certificate has expired: clients will refuse it"
	case now.Before(leaf.NotBefore):
		warning = "the certificate is not valid yet, or the clock of this computer is wrong: clients will refuse it"
	case now.Add(expiryWarning).After(leaf.NotAfter):
		warning = "the certificate expires soon"
	}
	if warning != "" && warning != c.warning {
		c.log.Warn(warning, "from", leaf.NotBefore.UTC(), "until", leaf.NotAfter.UTC())
	}
	c.warning = warning
}
