package acceptance

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestPublicURL checks that browsers behind a reverse proxy can use the page, and that links have the
// address that they use. Other hosts are still rejected. .ci/proxies tests the same with real proxies.
func TestPublicURL(t *testing.T) {
	t.Parallel()
	const public, host = "https://station.example", "station.example"
	s := start(t, "--public-url", "https://Station.example/")
	if !strings.Contains(s.stdout.String(), "\n  "+public+"/office/sign-in#code=") {
		t.Errorf("serve prints\n%s", s.stdout)
	}
	for name, status := range map[string]int{host: 200, "STATION.example:443": 200, "localhost": 200,
		"evil.example": 421, "station.example.evil.example": 421, "station": 421} {
		s.do(t, "GET", collection, "", "Host", name).wants(t, status)
	}
	s.do(t, "GET", collection, "", "Host", "evil.example", "X-Forwarded-Host", host, "Forwarded", "host="+host).wants(t, 421)

	for _, tt := range []struct {
		host, origin string
		status       int
		secure       bool
	}{
		{host, public, http.StatusSeeOther, true},
		{"localhost", public, http.StatusSeeOther, false}, // from a proxy that does not pass on the host
		{"localhost", "http://localhost", http.StatusSeeOther, false},
		{host, "https://evil.example", 403, false},
		{"localhost", "https://evil.example", 403, false},
	} {
		b := s.browser(t, "en")
		p := b.post(t, "/office/sign-in", url.Values{"key": {s.key}}, "Host", tt.host, "Origin", tt.origin, "Sec-Fetch-Site", "")
		if cookie := p.wants(t, tt.status).header.Get("Set-Cookie"); strings.Contains(cookie, "; Secure") != tt.secure {
			t.Errorf("Host %s, Origin %s: %s", tt.host, tt.origin, cookie)
		}
	}

	b := s.signIn(t, s.key, "en")
	link := b.get(t, "/office/access", "X-Forwarded-Host", "evil.example").form(t, "/office/access/invite").set(t, "Name", "Eva").
		send(t, "Invite").wants(t, 200).labelled(t, "Link").attributes["value"]
	phone := b.setUp(t, "computer", "Laptop").labelled(t, "Address of the server").attributes["value"]
	invited, _ := works(t, "invite", "--db", s.db, "--tenant", firstDepartment, "--name", "Ana")
	device, _ := works(t, "invite", "--phone", "--db", s.db, "--tenant", firstDepartment, "--name", "Phone")
	for _, text := range []string{link, phone, invited, device} {
		if !strings.Contains(text, public+"/") || strings.Contains(text, s.url) {
			t.Errorf("a link is not to %s:\n%s", public, text)
		}
	}
	if got := s.as("").do(t, "GET", "/readyz", "", "Host", host).body; strings.Contains(got, "uptimeSeconds") {
		t.Errorf("/readyz through the proxy: %s", got)
	}
	var at string
	if scanSQL(t, s.db, `SELECT address FROM service`, &at); at != public+" "+s.url {
		t.Errorf("the addresses are %s", at)
	}

	plain := start(t, "--public-url", "http://station.example:8081")
	p := plain.browser(t, "en").post(t, "/office/sign-in", url.Values{"key": {plain.key}},
		"Host", "localhost", "Origin", "http://station.example:8081", "Sec-Fetch-Site", "")
	if cookie := p.wants(t, http.StatusSeeOther).header.Get("Set-Cookie"); strings.Contains(cookie, "; Secure") {
		t.Errorf("without HTTPS: %s", cookie)
	}
}
