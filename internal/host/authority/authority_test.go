package authority

import (
	"bytes"
	"crypto/x509"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// station is a machine whose clock and network a test changes.
type station struct {
	Machine
	now    time.Time
	log    *bytes.Buffer
	folder string
	listen string
}

func newStation(t *testing.T) *station {
	t.Helper()
	return &station{
		Machine: machine("STATION-PC", []string{"home.example"}, addresses("192.168.1.20")),
		now:     time.Date(2026, time.November, 22, 9, 0, 0, 0, time.UTC),
		log:     &bytes.Buffer{}, folder: filepath.Join(t.TempDir(), "firefighters-tls"), listen: "0.0.0.0:8443",
	}
}

func addresses(texts ...string) (all []netip.Addr) {
	for _, text := range texts {
		all = append(all, netip.MustParseAddr(text))
	}
	return all
}

func (s *station) options() Options {
	return Options{Folder: s.folder, Listen: s.listen, Log: slog.New(slog.NewTextHandler(s.log, nil)),
		Now: func() time.Time { return s.now }, Machine: func() Machine { return s.Machine }}
}

func (s *station) open(t *testing.T) *Authority {
	t.Helper()
	a, err := Open(s.options())
	must(t, err)
	return a
}

// leaf returns the server certificate.
func (s *station) leaf(t *testing.T) *x509.Certificate {
	t.Helper()
	p, err := readPair(filepath.Join(s.folder, serverFile))
	must(t, err)
	return p.certificate
}

func (s *station) ca(t *testing.T) *x509.Certificate {
	t.Helper()
	p, err := readPair(filepath.Join(s.folder, authorityFile))
	must(t, err)
	return p.certificate
}

// trusted returns the error of a client that trusts ca.crt and connects to a name at a given time.
func (s *station) trusted(t *testing.T, name string, at time.Time) error {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.folder, publicFile))
	must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	_, err = s.leaf(t).Verify(x509.VerifyOptions{Roots: roots, CurrentTime: at, DNSName: name})
	return err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	a := s.open(t)
	for _, name := range []string{"station-pc", "STATION-PC.local", "station-pc.home.example", "station-pc.fritz.box", "localhost",
		"192.168.1.20", "127.0.0.1", "::1"} {
		if err := s.trusted(t, name, s.now); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"bank.example", "192.168.1.21", "station-pc.example"} {
		if s.trusted(t, name, s.now) == nil {
			t.Errorf("the certificate is trusted for %s", name)
		}
	}
	ca, leaf := s.ca(t), s.leaf(t)
	if ca.Subject.CommonName != "Firefighters at STATION-PC (local authority, 2026)" || !ca.MaxPathLenZero || !ca.PermittedDNSDomainsCritical {
		t.Errorf("%v, %+v", ca.Subject, ca)
	}
	if life := leaf.NotAfter.Sub(leaf.NotBefore); life != 397*day || !leaf.NotBefore.Before(s.now) {
		t.Errorf("the certificate is valid for %v from %v", life, leaf.NotBefore)
	}
	again := s.open(t)
	if !s.ca(t).Equal(ca) || !s.leaf(t).Equal(leaf) || strings.Contains(s.log.String(), "WARN") {
		t.Errorf("the second start changes something:\n%s", s.log)
	}
	if a.HostFor("192.168.1.20") != "192.168.1.20" || again.HostFor("203.0.113.7") != "station-pc" {
		t.Error("HostFor returns a host that the certificate lacks")
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("on Windows, files inherit their permissions")
	}
	s := newStation(t)
	s.open(t)
	for name, want := range map[string]fs.FileMode{"": 0o700 | fs.ModeDir, authorityFile: 0o600, serverFile: 0o600, publicFile: 0o600} {
		info, err := os.Stat(filepath.Join(s.folder, name))
		must(t, err)
		if info.Mode() != want {
			t.Errorf("%s: %v", name, info.Mode())
		}
	}
	if entries, err := os.ReadDir(s.folder); err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestStolen checks that clients reject certificates for sites on the internet, even with the
// authority's key.
func TestStolen(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	s.open(t)
	ca, err := readPair(filepath.Join(s.folder, authorityFile))
	must(t, err)
	for name, m := range map[string]Machine{
		"bank.example":            {Names: []string{"bank.example"}},
		"station-pc.bank.example": {Names: []string{"station-pc", "station-pc.bank.example"}},
		"notstation-pc":           {Names: []string{"notstation-pc"}},
		"203.0.113.7":             {Addresses: addresses("203.0.113.7")},
		"2001:db8::1":             {Addresses: addresses("2001:db8::1")},
	} {
		forged, err := issue(ca, m, s.now)
		must(t, err)
		must(t, osutil.WriteFile(filepath.Join(s.folder, serverFile), forged.encode(), true))
		if err := s.trusted(t, name, s.now); err == nil {
			t.Errorf("%s is trusted", name)
		}
	}
	if want := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}; !slices.Equal(ca.certificate.ExtKeyUsage, want) {
		t.Errorf("the authority allows %v, want only server authentication", ca.certificate.ExtKeyUsage)
	}
}

// TestRenewal checks when the certificate is replaced, and that the authority never is.
func TestRenewal(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(s *station)
		renews bool
	}{
		"31 days before the end":      {func(s *station) { s.now = s.now.Add((396 - 31) * day) }, false},
		"29 days before the end":      {func(s *station) { s.now = s.now.Add((396 - 29) * day) }, true},
		"the clock was ahead":         {func(s *station) { s.now = s.now.Add(-5 * day) }, true},
		"the clock stands at 1970":    {func(s *station) { s.now = time.Unix(100, 0) }, false},
		"the clock stands at 2050":    {func(s *station) { s.now = s.now.AddDate(24, 0, 0) }, false},
		"another address":             {func(s *station) { s.Addresses = addresses("10.0.0.9", "fd00::7") }, true},
		"an address less":             {func(s *station) { s.Addresses = nil }, false},
		"a public address":            {func(s *station) { s.Addresses = addresses("203.0.113.7", "2001:db8::7") }, false},
		"another name":                {func(s *station) { s.Machine = machine("other", nil, nil) }, false},
		"the server's file is gone":   {func(s *station) { os.Remove(filepath.Join(s.folder, serverFile)) }, true},
		"the server's file is broken": {func(s *station) { os.WriteFile(filepath.Join(s.folder, serverFile), []byte("x"), 0o600) }, true},
	} {
		s := newStation(t)
		a := s.open(t)
		ca, leaf := s.ca(t), s.leaf(t)
		tt.change(s)
		must(t, a.Renew())
		after := s.leaf(t)
		if renewed := !after.Equal(leaf); renewed != tt.renews || !s.ca(t).Equal(ca) {
			t.Errorf("%s: renewed: %v\n%s", name, renewed, s.log)
		}
		must(t, a.Renew())
		if !s.leaf(t).Equal(after) {
			t.Errorf("%s: the second Renew issues another certificate:\n%s", name, s.log)
		}
	}
}

// TestWarnings checks that each name or address missing from the certificate is logged once.
func TestWarnings(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(s *station)
		warns  string
	}{
		"a public address":         {func(s *station) { s.Addresses = addresses("203.0.113.7") }, "203.0.113.7"},
		"a public address of IPv6": {func(s *station) { s.Addresses = addresses("2001:db8::7") }, ""},
		"another name":             {func(s *station) { s.Machine = machine("other", nil, nil) }, "name=other try=\"open the page by an address, or: firefighters cert --new"},
		"a public name to listen":  {func(s *station) { s.listen = "www.example:8443" }, "name=www.example"},
		"a private listener":       {func(s *station) { s.listen = "10.1.2.3:8443" }, ""},
		"the authority expires":    {func(s *station) { s.now = s.now.Add(authorityLife - 100*day) }, "the certificate authority expires"},
	} {
		s := newStation(t)
		s.open(t)
		tt.change(s)
		a := s.open(t)
		must(t, a.Renew())
		if log := s.log.String(); strings.Count(log, "level=WARN") != min(1, len(tt.warns)) || !strings.Contains(log, tt.warns) {
			t.Errorf("%s: the log:\n%s", name, log)
		}
	}
}

// TestWrongClock checks certificates that were issued while the clock was wrong.
func TestWrongClock(t *testing.T) {
	t.Parallel()
	right := newStation(t).now
	for _, wrong := range []time.Time{time.Unix(17, 0), right.AddDate(14, 0, 0), right.Add(-7 * day)} {
		s := newStation(t)
		s.now = wrong
		a := s.open(t)
		s.now = right
		must(t, a.Renew())
		if err := s.trusted(t, "station-pc", right); err != nil || s.ca(t).NotAfter.Before(right.AddDate(9, 0, 0)) {
			t.Errorf("%v: %v, the authority expires %v", wrong, err, s.ca(t).NotAfter)
		}
	}
}

// TestLost checks that Open does not replace an authority without its key, and that the server
// certificate works until it expires.
func TestLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(path string) error{
		"removed": os.Remove,
		"cut":     func(path string) error { return os.Truncate(path, 200) },
	} {
		s := newStation(t)
		running := s.open(t)
		before, err := os.ReadFile(running.PublicFile())
		must(t, err)
		must(t, lose(filepath.Join(s.folder, authorityFile)))
		if err := running.Renew(); !errors.Is(err, ErrLost) {
			t.Errorf("%s: Renew: %v", name, err)
		}
		s.open(t)
		if log := s.log.String(); strings.Count(log, "WARN") != 1 || !strings.Contains(log, "firefighters cert --new") {
			t.Errorf("%s: the log:\n%s", name, log)
		}
		must(t, s.trusted(t, "station-pc", s.now))
		s.now = s.now.Add(400 * day)
		if _, err := Open(s.options()); !errors.Is(err, ErrLost) {
			t.Errorf("%s: Open with an expired certificate: %v", name, err)
		}
		if after, err := os.ReadFile(running.PublicFile()); err != nil || !bytes.Equal(after, before) {
			t.Errorf("%s: the authority has changed: %v", name, err)
		}
		must(t, Replace(s.options(), "records.example"))
		must(t, s.trusted(t, "records.example", s.now))
	}
}

// TestCannotWrite checks that the existing certificate is used if no file can be written.
func TestCannotWrite(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	before := s.open(t)
	must(t, os.Remove(before.PublicFile()))
	must(t, os.Mkdir(before.PublicFile(), 0o700))
	s.Addresses = addresses("10.0.0.9")
	again := s.open(t)
	if log := s.log.String(); strings.Count(log, "WARN") != 1 || strings.Contains(log, "cert --new") || !again.leaf.Equal(before.leaf) {
		t.Errorf("the log:\n%s", log)
	}
	if again.Renew() == nil {
		t.Error("Renew returns no error")
	}
	must(t, os.Remove(before.PublicFile()))
	must(t, again.Renew())
	must(t, s.trusted(t, "10.0.0.9", s.now))
	s.now = s.now.Add(400 * day)
	must(t, os.Remove(before.PublicFile()))
	must(t, os.Mkdir(before.PublicFile(), 0o700))
	if _, err := Open(s.options()); err == nil {
		t.Error("an expired certificate is used")
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	running := s.open(t)
	before := s.ca(t)
	if err := Replace(s.options(), "not a name"); err == nil || !s.ca(t).Equal(before) {
		t.Errorf("a name with spaces: %v", err)
	}
	must(t, Replace(s.options()))
	if s.ca(t).Equal(before) {
		t.Error("the authority is the same")
	}
	must(t, running.Renew()) // reads the new authority
	response := httptest.NewRecorder()
	running.ServeHTTP(response, httptest.NewRequest(http.MethodGet, Path, nil))
	if !bytes.Equal(response.Body.Bytes(), encodeCertificate(s.ca(t).Raw)) || response.Header().Get("Content-Type") != "application/x-x509-ca-cert" {
		t.Errorf("%v\n%s", response.Header(), response.Body)
	}
}

func TestMachine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ full, domains, host, names string }{
		{"STATION-PC", "", "STATION-PC", "station-pc station-pc.local station-pc.lan station-pc.home.arpa station-pc.internal station-pc.fritz.box localhost"},
		{"pc.example.org.", "lan. .", "pc", "pc pc.local pc.example.org pc.lan pc.home.arpa pc.internal pc.fritz.box localhost"},
		{"Anas-Mac.local", "", "Anas-Mac", "anas-mac anas-mac.local anas-mac.lan anas-mac.home.arpa anas-mac.internal anas-mac.fritz.box localhost"},
		{"station_7", "", "station_7", "station_7 station_7.local station_7.lan station_7.home.arpa station_7.internal station_7.fritz.box localhost"},
		{"čović-pc", "lan", "localhost", "localhost"},
		{"", "lan", "localhost", "localhost"},
	} {
		m := machine(tt.full, strings.Fields(tt.domains), nil)
		if got := strings.Join(m.Names, " "); m.Host != tt.host || got != tt.names {
			t.Errorf("%q: %s, %s", tt.full, m.Host, got)
		}
	}
	for _, address := range thisMachine().Addresses {
		if address.Zone() != "" || address.Is6() && address.IsLinkLocalUnicast() {
			t.Errorf("browsers cannot open %v", address)
		}
	}
}
