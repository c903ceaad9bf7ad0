package httpserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const year = 365 * 24 * time.Hour

// pair is the file names of a certificate and its key.
type pair struct{ certFile, keyFile string }

func newPair(t *testing.T) pair {
	dir := t.TempDir()
	return pair{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
}

// issue writes a new certificate and key to the files.
func (p pair) issue(t *testing.T, name string, from, until time.Time) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: from, NotAfter: until, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	must(t, os.WriteFile(p.keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
	must(t, os.WriteFile(p.certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644))
	return p
}

func (p pair) issueNow(t *testing.T, name string) pair {
	t.Helper()
	return p.issue(t, name, time.Now().Add(-time.Hour), time.Now().Add(year))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// watched is a certificate with a log that the test reads.
type watched struct {
	*certificate
	log *strings.Builder
}

func watch(t *testing.T, p pair) watched {
	t.Helper()
	log := &strings.Builder{}
	c, err := newCertificate(p.certFile, p.keyFile, slog.New(slog.NewTextHandler(log, nil)))
	must(t, err)
	return watched{c, log}
}

// expect checks that the next handshake uses the certificate of name, and the number of warnings in
// the log.
func (w watched) expect(t *testing.T, name string, warnings int) {
	t.Helper()
	time.Sleep(checkInterval)
	pair, err := w.get(nil)
	must(t, err)
	if got := pair.Leaf.Subject.CommonName; got != name {
		t.Errorf("got certificate %q, want %q", got, name)
	}
	if got := strings.Count(w.log.String(), "level=WARN"); got != warnings {
		t.Errorf("got %d warnings, want %d:\n%s", got, warnings, w.log)
	}
}

// TestCertificateReload checks that a valid new pair is used, and that an invalid one is logged once
// and ignored.
func TestCertificateReload(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	synctest.Test(t, func(t *testing.T) {
		p.issueNow(t, "first")
		first, err := os.ReadFile(p.certFile)
		must(t, err)
		w := watch(t, p)
		w.expect(t, "first", 0)
		if w.log.Len() > 0 {
			t.Errorf("unexpected log for a valid certificate:\n%s", w.log)
		}
		warnings := 0
		fails := func(name string) {
			t.Helper()
			warnings++
			w.expect(t, name, warnings)
			w.expect(t, name, warnings)
		}
		must(t, os.WriteFile(p.certFile, []byte("nonsense"), 0o644))
		fails("first")
		must(t, os.Remove(p.keyFile))
		fails("first")
		p.issueNow(t, "second")
		w.expect(t, "second", warnings)
		must(t, os.WriteFile(p.certFile, first, 0o644))
		fails("second")
		for _, name := range []string{"third", "fourth"} { // the same failure again, with a success in between
			p.issueNow(t, name)
			w.expect(t, name, warnings)
			must(t, os.Remove(p.keyFile))
			fails(name)
		}
		if text := w.log.String(); strings.Contains(text, p.certFile) || strings.Contains(text, p.keyFile) {
			t.Errorf("the log contains file names:\n%s", text)
		}
	})
}

// TestCertificateExpiry checks for one warning 14 days before expiry, one at expiry, and none for a
// renewed certificate.
func TestCertificateExpiry(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	p := newPair(t)
	synctest.Test(t, func(t *testing.T) {
		p.issue(t, "old", time.Now(), time.Now().Add(30*day))
		w := watch(t, p)
		for age := range 40 {
			warnings := 0
			if age >= 16 {
				warnings++
			}
			if age >= 30 {
				warnings++
			}
			w.expect(t, "old", warnings)
			time.Sleep(day - checkInterval)
		}
		p.issue(t, "new", time.Now(), time.Now().Add(30*day))
		w.expect(t, "new", 2)
		time.Sleep(20 * day)
		w.expect(t, "new", 3)
		if text := w.log.String(); strings.Count(text, "expires soon") != 2 || strings.Count(text, "has expired") != 1 {
			t.Errorf("unexpected log:\n%s", text)
		}
	})
}

func TestCertificateValidity(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		from, until time.Duration
		warning     string
	}{
		{-year, -time.Hour, "has expired"},
		{time.Hour, year, "not valid yet"},
	} {
		p := newPair(t)
		synctest.Test(t, func(t *testing.T) {
			p.issue(t, "name", time.Now().Add(tt.from), time.Now().Add(tt.until))
			w := watch(t, p)
			for range 3 {
				w.expect(t, "name", 1)
			}
			p.issue(t, "next", time.Now().Add(tt.from), time.Now().Add(tt.until))
			w.expect(t, "next", 2)
			if strings.Count(w.log.String(), tt.warning) != 2 {
				t.Errorf("want %q twice in the log:\n%s", tt.warning, w.log)
			}
		})
	}
}

func TestCertificateRefused(t *testing.T) {
	t.Parallel()
	one, other := newPair(t).issueNow(t, "one"), newPair(t).issueNow(t, "other")
	missing := filepath.Join(t.TempDir(), "missing.pem")
	for _, files := range []pair{{one.certFile, other.keyFile}, {one.keyFile, one.certFile}, {one.certFile, one.certFile},
		{one.certFile, missing}, {missing, one.keyFile}, {one.certFile, t.TempDir()}, {one.certFile, ""}, {"", one.keyFile}} {
		_, err := New(Config{CertFile: files.certFile, KeyFile: files.keyFile, Log: slog.New(slog.DiscardHandler)})
		want := `cannot use the certificate "` + files.certFile + `" with the key "` + files.keyFile + `": `
		if err == nil || !strings.HasPrefix(err.Error(), want) || errors.Unwrap(err) == nil {
			t.Errorf("%v: %v", files, err)
		}
	}
	_, err := New(Config{CertFile: one.certFile, KeyFile: missing})
	if want := `cannot use the certificate "` + one.certFile + `" with the key "` + missing + `": the key: `; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s…", err, want)
	}
}
