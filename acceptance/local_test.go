package acceptance

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var localForm = regexp.MustCompile(`(?m)^On this computer, without a certificate: (http://(127\.0\.0\.1:\d+))$`)

// startForAll starts a service with TLS for all hosts. The returned client local connects to it
// without TLS on this computer. The client of s uses TLS.
func startForAll(t *testing.T, flags ...string) (s *testService, local client) {
	t.Helper()
	db := filepath.Join(t.TempDir(), "x.db")
	cmd, _ := process(t, append([]string{"serve", "--db", db, "--listen", "0.0.0.0:0", "--local", "127.0.0.1:0"}, flags...)...)
	s = serving(t, db, cmd)
	s.logs(t, "On this computer")
	local = newClient(t, localForm.FindStringSubmatch(s.stderr.String())[1], s.key)
	s.url = "https://127.0.0.1" + s.url[strings.LastIndexByte(s.url, ':'):]
	return s, local
}

// TestLocal checks that programs and browsers on the same computer need no certificate while
// others use TLS, and that others cannot connect without TLS.
func TestLocal(t *testing.T) {
	t.Parallel()
	s, local := startForAll(t, "--tls-self-signed")
	s.trust(t)
	id := local.create(t, ana)
	local.do(t, "POST", importsPath+"?apply=true", "Name,First name\nIvić,Iva\n", "Content-Type", "text/csv").wants(t, 201)
	s.do(t, "GET", collection+"/"+id, "").wants(t, 200)
	if n := s.list(t, "").TotalCount; n != 2 {
		t.Errorf("%d people", n)
	}
	local.do(t, "GET", "/readyz", "").wants(t, 200)
	local.do(t, "GET", collection, "", "Host", "localhost").wants(t, 200)
	local.do(t, "GET", collection, "", "Host", "station.example").wants(t, 421)
	s.do(t, "GET", collection, "", "Host", "station.example").wants(t, 200)
	local.as("ff_wrong").do(t, "GET", collection, "").wants(t, 401)

	secure := s.signIn(t, s.key, "en") // one browser for both, because browsers share cookies between ports
	secure.get(t, "/office/").wants(t, 200)
	plain := &browser{client{secure.Client, local.url, ""}, "en"}
	plain.get(t, "/office/").wants(t, http.StatusSeeOther)
	for _, b := range []*browser{plain, secure} {
		_, port, _ := net.SplitHostPort(b.url[strings.LastIndexByte(b.url, '/')+1:])
		cookie := b.post(t, "/office/sign-in", url.Values{"key": {s.key}}).wants(t, http.StatusSeeOther).header.Get("Set-Cookie")
		if !strings.HasPrefix(cookie, "firefighters-"+port+"=") || strings.Contains(cookie, "; Secure") != (b == secure) {
			t.Errorf("%s: %s", b.url, cookie)
		}
	}
	for _, b := range []*browser{secure, plain} {
		b.get(t, "/office/").wants(t, 200).says(t, "Čović")
		b.upload(t, "/office/import", "people.csv", "Name,First name\nBabić,Mia\n", nil).follow(t).wants(t, 200).says(t, "Babić")
	}
	plain.post(t, "/office/import", nil, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example").wants(t, 403)

	at := ""
	scanSQL(t, s.db, `SELECT address FROM service`, &at)
	if urls := strings.Fields(at); len(urls) != 2 || !strings.HasPrefix(urls[0], "https://") || urls[1] != local.url {
		t.Errorf("the addresses are %s", at)
	}
	_, link, _ := runCommand(t, "invite", "--db", s.db, "--tenant", firstDepartment, "--name", "Ana")
	if strings.Contains(link, local.url) {
		t.Errorf("the invitation for others has the local address: %s", link)
	}
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(local.url, "http://"))
	all, err := net.InterfaceAddrs()
	must(t, err)
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			if c, err := net.DialTimeout("tcp", net.JoinHostPort(n.IP.String(), port), time.Second); err == nil {
				c.Close()
				t.Errorf("others can connect at %s", n.IP)
			}
		}
	}
	finish := local.beginCreate(t) // a stop waits for requests of both listeners
	s.cancel()
	local.takesNoMore(t)
	if status := finish(); status != 201 {
		t.Errorf("a request in progress returned %d", status)
	}
	s.stop(t)
}

// TestLocalHSTS checks that with a certificate from files the service sends HSTS over TLS, and
// not at the address without TLS.
func TestLocalHSTS(t *testing.T) {
	t.Parallel()
	certFile, keyFile, trusted := newCertificate(t)
	s, local := startForAll(t, "--tls-cert", certFile, "--tls-key", keyFile)
	s.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: trusted}
	if got := s.do(t, "GET", "/healthz", "").header.Get("Strict-Transport-Security"); got == "" {
		t.Error("Strict-Transport-Security is missing with TLS")
	}
	if got := local.do(t, "GET", "/healthz", "").header["Strict-Transport-Security"]; got != nil {
		t.Errorf("Strict-Transport-Security without TLS: %q", got)
	}
}

// TestLocalRefused checks that --local rejects addresses that other hosts could reach. A used
// default port is a warning, but a used port from the flag is an error.
func TestLocalRefused(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	serve := []string{"serve", "--db", db, "--listen", "0.0.0.0:0", "--tls-self-signed"}
	for _, address := range []string{"0.0.0.0:8080", ":8080", "[::]:8080", "192.0.2.1:8080", "station.example:80", "127.0.0.1", "on"} {
		code, _, stderr := runCommand(t, append(serve, "--local", address)...)
		if want := "Error: --local must be a loopback address and a port, or off, not \"" + address + "\"\nTry: firefighters "; code != 2 || !strings.HasPrefix(stderr, want) {
			t.Errorf("%s: %d, %s", address, code, stderr)
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer taken.Close()
	code, _, stderr := runCommand(t, append(serve, "--local", taken.Addr().String())...)
	want := "Error: cannot listen on " + taken.Addr().String() + ": the port is used by another program\nTry: another port, --local 127.0.0.1:8081, or --local off\n"
	if code != 1 || !strings.HasSuffix(stderr, want) || exists(db) {
		t.Errorf("a used port: %d, %s", code, stderr)
	}
	if usual, err := net.Listen("tcp", "127.0.0.1:8080"); err == nil { // otherwise another program uses it
		defer usual.Close()
	}
	cmd, _ := process(t, serve...)
	s := serving(t, db, cmd)
	s.logs(t, "Warning: plain HTTP is not available on this computer: cannot listen on 127.0.0.1:8080: the port is used by another program\n"+
		"Try: another port, --local 127.0.0.1:8081, or --local off\n")
	cmd, _ = process(t, append(serve, "--db", db+"2", "--local", "off")...)
	s = serving(t, db+"2", cmd)
	if log := s.stderr.String(); strings.Contains(log, "On this computer") || strings.Contains(log, "without TLS") {
		t.Errorf("--local off:\n%s", log)
	}
}
