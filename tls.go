package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

const (
	// certificatePoll is how soon a certificate that was renewed is used.
	certificatePoll = time.Second
	// expiryWarning is how long before its end a certificate is warned of.
	expiryWarning = 14 * 24 * time.Hour
)

// certificate is what the service shows that it is. It is read again whenever
// its files change.
type certificate struct {
	certFile, keyFile string
	current           atomic.Pointer[tls.Certificate]

	// These are for watch alone.
	hash    [sha256.Size]byte // of the files that it was read from
	failure string            // of the last look at them
	failed  int               // looks in a row with that failure
	told    string            // about its term
}

func newCertificate(certFile, keyFile string) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile}
	pair, hash, err := c.read()
	if err != nil {
		return nil, hinted{fmt.Errorf("the certificate %q with the key %q cannot be used: %w", certFile, keyFile, err),
			"name PEM files that belong together, and start as a user who may read them"}
	}
	c.current.Store(pair)
	c.hash = hash
	return c, nil
}

// read reads the files. Its errors do not hold their names, for they are for
// the log.
func (c *certificate) read() (pair *tls.Certificate, hash [sha256.Size]byte, err error) {
	cert, err := os.ReadFile(c.certFile)
	if err != nil {
		return nil, hash, fmt.Errorf("the certificate: %w", withoutPath(err))
	}
	key, err := os.ReadFile(c.keyFile)
	if err != nil {
		return nil, hash, fmt.Errorf("the key: %w", withoutPath(err))
	}
	hash = sha256.Sum256(append(append(cert[:len(cert):len(cert)], 0), key...))
	loaded, err := tls.X509KeyPair(cert, key)
	return &loaded, hash, err
}

func withoutPath(err error) error {
	var named *fs.PathError
	if errors.As(err, &named) {
		return named.Err
	}
	return err
}

// config is TLS as this Go thinks it best, from version 1.2 on. HTTP/2 is not
// offered: net/http answers its errors by frames of its own, past
// problemConn, and a department's clients would not notice its speed.
func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return c.current.Load(), nil
		},
	}
}

// watch keeps up with the files until ctx ends.
func (c *certificate) watch(ctx context.Context, log *slog.Logger) {
	ticker := time.NewTicker(certificatePoll)
	defer ticker.Stop()
	for {
		c.look(log)
		c.checkTerm(log, time.Now())
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// look reads the files again. A pair that cannot be used is warned of once,
// and not at first sight: somebody may be about to copy the other file.
func (c *certificate) look(log *slog.Logger) {
	pair, hash, err := c.read()
	if err == nil {
		c.failure = ""
		if hash != c.hash {
			c.current.Store(pair)
			c.hash, c.told = hash, ""
			log.Info("the certificate has changed and the new one is used", "expires", pair.Leaf.NotAfter.UTC())
		}
		return
	}
	if err.Error() != c.failure {
		c.failure, c.failed = err.Error(), 0
	}
	if c.failed++; c.failed == 2 {
		log.Warn("the files of the certificate have changed and cannot be used; the one before stays in use", "cause", c.failure)
	}
}

// checkTerm warns, once each, of a certificate that ends soon, has ended or
// has not begun.
func (c *certificate) checkTerm(log *slog.Logger, now time.Time) {
	leaf, what := c.current.Load().Leaf, ""
	switch {
	case now.After(leaf.NotAfter):
		what = "the certificate has expired: clients will refuse it"
	case now.Before(leaf.NotBefore):
		what = "the certificate is not valid yet, or the clock of this machine is wrong: clients will refuse it"
	case now.Add(expiryWarning).After(leaf.NotAfter):
		what = "the certificate expires soon"
	}
	if what != "" && what != c.told {
		log.Warn(what, "from", leaf.NotBefore.UTC(), "until", leaf.NotAfter.UTC())
	}
	c.told = what
}

// tlsListener accepts connections that speak TLS, and answers others so that
// they understand.
type tlsListener struct {
	net.Listener
	config    *tls.Config
	handshake time.Duration
	refusal   func(*problem) []byte // to who speaks plain HTTP
}

func (l tlsListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c.SetWriteDeadline(time.Now().Add(l.handshake)) // net/http sets others from the first request on
	return tlsConn{tls.Server(c, l.config), l.refusal}, nil
}

type tlsConn struct {
	*tls.Conn
	refusal func(*problem) []byte
}

// Read shakes hands first. Who asks for http:// is told to ask for https://.
func (c tlsConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	var other tls.RecordHeaderError
	if err != nil && errors.As(err, &other) && other.Conn != nil && 'A' <= other.RecordHeader[0] && other.RecordHeader[0] <= 'Z' {
		c.refusePlain(other.Conn)
		return 0, io.EOF
	}
	return n, err
}

func (c tlsConn) refusePlain(plain net.Conn) {
	plain.Write(c.refusal(&problem{Status: http.StatusBadRequest, Detail: "This port speaks HTTPS: ask for https://, not http://."}))
	if half, ok := plain.(halfCloser); ok {
		half.CloseWrite()
		io.CopyN(io.Discard, plain, maxIgnoredBody) // or the client may not see the answer
	}
}

// Close says goodbye in the background, for a client that does not listen
// would hold up who closes its connection.
func (c tlsConn) Close() error {
	go c.Conn.Close()
	return nil
}
