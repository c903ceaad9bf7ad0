package httpserver

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func startTLS(t *testing.T, limits ...func(*Server)) (r *running, files pair) {
	t.Helper()
	files = newPair(t).issueNow(t, "first")
	return start(t, Config{CertFile: files.certFile, KeyFile: files.keyFile}, ok, limits...), files
}

// dialTLS connects with TLS and returns the name in the server's certificate.
func (r *running) dialTLS(t *testing.T, config *tls.Config) (c *tls.Conn, name string, err error) {
	t.Helper()
	config.InsecureSkipVerify = true
	c = tls.Client(r.dial(t), config)
	if err := c.Handshake(); err != nil {
		return nil, "", err
	}
	return c, c.ConnectionState().PeerCertificates[0].Subject.CommonName, nil
}

func TestTLS(t *testing.T) {
	t.Parallel()
	r, files := startTLS(t)
	c, name, err := r.dialTLS(t, &tls.Config{NextProtos: []string{"h2", "http/1.1"}})
	must(t, err)
	if got := c.ConnectionState().NegotiatedProtocol; got != "http/1.1" || name != "first" {
		t.Errorf("protocol %q, certificate %q", got, name)
	}
	if status, body := send(t, c, get); status != 200 || body != "ok" {
		t.Errorf("%d %s", status, body)
	}
	files.issueNow(t, "second")
	for deadline := time.Now().Add(patience); name != "second"; time.Sleep(short) {
		if c, name, err = r.dialTLS(t, &tls.Config{}); err != nil || time.Now().After(deadline) {
			t.Fatalf("the certificate is %q, %v", name, err)
		}
		c.Close() // otherwise the shutdown waits for its first request
	}
	if status, _ := send(t, r.dial(t), get); status != 400 { // plain HTTP
		t.Errorf("%d", status)
	}
	r.stop()
	must(t, r.ends(t))
}

func TestTLSVersions(t *testing.T) {
	t.Parallel()
	r, _ := startTLS(t)
	for version, served := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		if _, _, err := r.dialTLS(t, &tls.Config{MinVersion: version, MaxVersion: version}); served != (err == nil) {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
	}
}

// TestHandshakeLog checks that failed handshakes are not logged and other failures are.
func TestHandshakeLog(t *testing.T) {
	t.Parallel()
	files := newPair(t).issueNow(t, "first")
	r := start(t, Config{CertFile: files.certFile, KeyFile: files.keyFile}, func(http.ResponseWriter, *http.Request) { panic("broken") })
	plain := r.dial(t)
	io.WriteString(plain, get)
	io.ReadAll(plain) // its connection is closed after the line would have been logged
	c, _, err := r.dialTLS(t, &tls.Config{})
	must(t, err)
	io.WriteString(c, get)
	io.ReadAll(c)
	r.stop()
	must(t, r.ends(t))
	if log := r.log.String(); strings.Contains(log, "handshake") || !strings.Contains(log, `level=WARN msg="http: panic serving`) {
		t.Errorf("unexpected log:\n%s", log)
	}
}
