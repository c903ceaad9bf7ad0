package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pair is a certificate in two files.
type pair struct {
	certFile, keyFile string
	trusted           *x509.CertPool
}

// newPair makes files for a certificate.
func newPair(t *testing.T) *pair {
	dir := t.TempDir()
	return &pair{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), x509.NewCertPool()}
}

// issue writes a new certificate into the files and has the test trust it.
func (p *pair) issue(t *testing.T, name string, from, until time.Time) *pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: from, NotAfter: until, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		BasicConstraintsValid: true, IsCA: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	p.trusted.AppendCertsFromPEM(text)
	must(t, os.WriteFile(p.keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
	must(t, os.WriteFile(p.certFile, text, 0o644))
	return p
}

func (p *pair) issueNow(t *testing.T, name string) *pair {
	t.Helper()
	return p.issue(t, name, time.Now().Add(-time.Hour), time.Now().Add(365*24*time.Hour))
}

// startTLS serves a new database over TLS.
func startTLS(t *testing.T, p *pair) *service {
	t.Helper()
	db := filepath.Join(t.TempDir(), "x.db")
	s := startWith(t, db, "serve", "--db", db, "--tls-cert", p.certFile, "--tls-key", p.keyFile)
	s.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: p.trusted, MinVersion: tls.VersionTLS10}
	return s
}

// shown is the name on the certificate that the service shows.
func (s *service) shown(t *testing.T) string {
	t.Helper()
	_, address, _ := strings.Cut(s.url, "://")
	c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	must(t, err)
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].Subject.CommonName
}

func TestTLS(t *testing.T) {
	t.Parallel()
	p := newPair(t).issueNow(t, "first")
	s := startTLS(t, p)
	if !strings.HasPrefix(s.url, "https://127.0.0.1:") ||
		!strings.Contains(s.stdout.String(), s.key+`" --cacert `+p.certFile+" "+s.url+"/api/v1/firefighters\n") {
		t.Errorf("stdout:\n%s", s.stdout)
	}
	s.create(t, ana)
	a := s.do(t, "GET", collection, "").wants(t, 200)
	if got := a.header.Get("Strict-Transport-Security"); !strings.HasPrefix(got, "max-age=") {
		t.Errorf("Strict-Transport-Security: %q", got)
	}
	c := tls.Client(s.dial(t), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
	must(t, c.Handshake())
	if got := c.ConnectionState().NegotiatedProtocol; got != "http/1.1" { // see certificate.config
		t.Errorf("it speaks %q", got)
	}
	c.Close()
	s.stop(t)
	if log := s.stderr.String(); strings.Contains(log, "WARN") {
		t.Errorf("stderr:\n%s", log)
	}
}

func TestTLSVersions(t *testing.T) {
	t.Parallel()
	s := startTLS(t, newPair(t).issueNow(t, "first"))
	_, address, _ := strings.Cut(s.url, "://")
	for version, served := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, MinVersion: version, MaxVersion: version})
		if served != (err == nil) {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
		if err == nil {
			c.Close()
		}
	}
}

// TestTLSErrors: what is refused before our handlers see it is a problem over
// TLS too, and without it.
func TestTLSErrors(t *testing.T) {
	t.Parallel()
	s := startTLS(t, newPair(t).issueNow(t, "first"))
	for _, request := range []string{"nonsense\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"} {
		c := tls.Client(s.dial(t), &tls.Config{InsecureSkipVerify: true})
		if a := rawRequest(t, c, request); a.status/100 != 4 || a.header.Get("Strict-Transport-Security") == "" {
			t.Errorf("%q: %d %v", request, a.status, a.header)
		}
	}
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"} {
		a := rawRequest(t, s.dial(t), method+" /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"+strings.Repeat("x", 100000))
		if a.wants(t, 400); !strings.Contains(a.body, "https://") || a.header.Get("Strict-Transport-Security") != "" {
			t.Errorf("%s: %v %s", method, a.header, a.body)
		}
	}
}

// TestCertificateReload: a new pair is used, a bad one is not.
func TestCertificateReload(t *testing.T) {
	t.Parallel()
	const warning = "cannot be used"
	p := newPair(t).issueNow(t, "first")
	s := startTLS(t, p)
	s.do(t, "GET", collection, "").wants(t, 200)
	good, err := os.ReadFile(p.certFile)
	must(t, err)
	must(t, os.WriteFile(p.certFile, []byte("nonsense"), 0o644))
	eventually(t, "a warning", func() bool { return strings.Contains(s.stderr.String(), warning) })
	must(t, os.Remove(p.keyFile))
	eventually(t, "another warning", func() bool { return strings.Count(s.stderr.String(), warning) > 1 })
	if name := s.shown(t); name != "first" {
		t.Errorf("it shows the certificate %q", name)
	}
	p.issueNow(t, "second")
	eventually(t, "the new certificate", func() bool { return s.shown(t) == "second" })
	s.Transport.(*http.Transport).CloseIdleConnections()
	s.do(t, "GET", collection, "").wants(t, 200)
	must(t, os.WriteFile(p.certFile, good, 0o644)) // that of the first key
	warnings := strings.Count(s.stderr.String(), warning)
	eventually(t, "a third warning", func() bool { return strings.Count(s.stderr.String(), warning) > warnings })
	p.issueNow(t, "third")
	eventually(t, "the new certificate", func() bool { return s.shown(t) == "third" })
	if log := s.stderr.String(); strings.Contains(log, p.certFile) || strings.Contains(log, p.keyFile) {
		t.Errorf("the log:\n%s", log)
	}
}

// TestCertificateWarnings: a bad pair is warned of once, and not at first
// sight.
func TestCertificateWarnings(t *testing.T) {
	t.Parallel()
	p := newPair(t).issueNow(t, "name")
	c, err := newCertificate(p.certFile, p.keyFile)
	must(t, err)
	text := &syncBuffer{}
	log := slog.New(slog.NewTextHandler(text, nil))
	for i := range 3 {
		must(t, os.WriteFile(p.certFile, []byte("nonsense"), 0o644))
		if c.look(log); strings.Count(text.String(), "cannot be used") != i {
			t.Errorf("the log after the first look:\n%s", text)
		}
		for range 5 {
			c.look(log)
		}
		if strings.Count(text.String(), "cannot be used") != i+1 {
			t.Errorf("the log after more looks:\n%s", text)
		}
		p.issueNow(t, "name")
		c.look(log)
	}
}

func TestCertificateTerm(t *testing.T) {
	t.Parallel()
	now := time.Now()
	const year = 365 * 24 * time.Hour
	for says, term := range map[string][2]time.Time{
		"has expired":   {now.Add(-year), now.Add(-time.Hour)},
		"expires soon":  {now.Add(-year), now.Add(24 * time.Hour)},
		"not valid yet": {now.Add(time.Hour), now.Add(year)},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			s := startTLS(t, newPair(t).issue(t, "name", term[0], term[1]))
			eventually(t, "a warning", func() bool { return strings.Contains(s.stderr.String(), says) })
			if name := s.shown(t); name != "name" {
				t.Errorf("it shows the certificate %q", name)
			}
		})
	}
}

// TestCertificateEnds: one warning a fortnight before, one at the end.
func TestCertificateEnds(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	p := newPair(t).issue(t, "name", begin, begin.Add(30*24*time.Hour))
	c, err := newCertificate(p.certFile, p.keyFile)
	must(t, err)
	log := &syncBuffer{}
	for hour := range 24 * 40 {
		c.checkTerm(slog.New(slog.NewTextHandler(log, nil)), begin.Add(time.Duration(1+hour)*time.Hour))
	}
	if text := log.String(); strings.Count(text, "\n") != 2 || !strings.Contains(text, "soon") || !strings.Contains(text, "has expired") {
		t.Errorf("the log:\n%s", text)
	}
}

func TestCertificateRefused(t *testing.T) {
	t.Parallel()
	one, other := newPair(t).issueNow(t, "one"), newPair(t).issueNow(t, "other")
	db := filepath.Join(t.TempDir(), "x.db")
	for _, files := range [][2]string{{one.certFile, other.keyFile}, {one.keyFile, one.certFile}, {one.certFile, one.certFile},
		{one.certFile, db}, {db, one.keyFile}, {one.certFile, t.TempDir()}} {
		code, stdout, stderr := command(t, "serve", "--db", db, "--listen", "127.0.0.1:0", "--tls-cert", files[0], "--tls-key", files[1])
		if code != 1 || stdout != "" || !strings.Contains(stderr, files[0]) || strings.Count(stderr, "\n") != 2 {
			t.Errorf("%q: code %d, stdout %q, stderr:\n%s", files, code, stdout, stderr)
		}
	}
	if exists(db) {
		t.Error("a database was made")
	}
}
