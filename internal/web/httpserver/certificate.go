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
	// checkInterval is the minimum time between two checks of the files.
	checkInterval = time.Second
	// expiryWarning is how long before the expiry of a certificate the log warns.
	expiryWarning = 14 * 24 * time.Hour
)

// certificate is a TLS certificate that is reloaded when its files change.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger
	current           atomic.Pointer[tls.Certificate]

	mu      sync.Mutex // held during refresh
	checked time.Time  // when the files were last read
	failure string     // of the last check; "" if it succeeded
	warning string     // about the validity period, as last logged
}

func newCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	if _, err := c.load(); err != nil {
		return nil, fmt.Errorf("cannot use the certificate %s with the key %s: %w", osutil.InQuotes(certFile), osutil.InQuotes(keyFile), err)
	}
	return c, nil
}

// get returns the certificate for a handshake. Only one handshake at a time refreshes it.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c.mu.TryLock() {
		defer c.mu.Unlock()
		c.refresh()
	}
	return c.current.Load(), nil
}

// refresh reloads the files at most once per checkInterval. Unusable files change nothing.
func (c *certificate) refresh() {
	now := time.Now()
	if now.Sub(c.checked) < checkInterval {
		return
	}
	c.checked = now
	changed, err := c.load()
	before := c.failure
	c.failure = ""
	if err != nil {
		c.failure = err.Error()
	}
	if c.failure != "" && c.failure != before {
		c.log.Warn("cannot use the changed certificate files; the previous certificate stays in use", "cause", c.failure)
	}
	if changed {
		c.warning = ""
		c.log.Info("loaded a new certificate", "expires", c.current.Load().Leaf.NotAfter.UTC())
	}
	c.checkValidity(now)
}

// load reads the files and reports whether the certificate has changed. Its errors contain no paths.
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

// checkValidity logs once that the certificate expires soon, has expired or is not valid yet.
func (c *certificate) checkValidity(now time.Time) {
	leaf, warning := c.current.Load().Leaf, ""
	switch {
	case now.After(leaf.NotAfter):
		warning = "the certificate has expired: clients will reject it"
	case now.Before(leaf.NotBefore):
		warning = "the certificate is not valid yet, or the clock of this computer is wrong: clients will reject it"
	case now.Add(expiryWarning).After(leaf.NotAfter):
		warning = "the certificate expires soon"
	}
	if warning != "" && warning != c.warning {
		c.log.Warn(warning, "from", leaf.NotBefore.UTC(), "until", leaf.NotAfter.UTC())
	}
	c.warning = warning
}
