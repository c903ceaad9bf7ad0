package acceptance

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/host/authority"
)

// setUp sets up a device on the page Phones, the only page that shows a key.
func (b *browser) setUp(t *testing.T, kind, name string) *webPage {
	t.Helper()
	p, err := b.trySend(t, http.MethodPost, "/office/phones", url.Values{"kind": {kind}, "name": {name}, "birthdays": {"1"}}, nil)
	must(t, err)
	return p.wants(t, 200)
}

// TestOfficePhoneLink checks that only a download of the profile uses up the link for an iPhone.
// Viewing the page, a HEAD request and a sign-in with the code do not.
func TestOfficePhoneLink(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	link := s.signIn(t, s.key, "en").setUp(t, "apple", "Ana's <&> phone").labelled(t, "Link").attributes["value"]
	path, ok := strings.CutPrefix(link, s.url)
	if !ok || !strings.HasPrefix(path, "/office/phones/") {
		t.Fatalf("the link is %q", link)
	}
	file := path + "/firefighters.mobileconfig"
	phone := s.browser(t, "en")
	phone.post(t, "/office/sign-in", url.Values{"key": {strings.TrimPrefix(path, "/office/phones/")}}).wants(t, 403)
	for range 2 {
		if got := phone.get(t, path).wants(t, 200).heading(t); got != "Contacts of default" {
			t.Errorf("the heading is %q", got)
		}
		for _, viewed := range []string{path, file} {
			a, err := phone.trySend(t, http.MethodHead, viewed, nil, nil)
			if must(t, err); a.wants(t, 200).header.Get("Content-Length") != "" && viewed == file {
				t.Errorf("HEAD of the profile has a Content-Length: %v", a.header)
			}
		}
	}
	profile, err := phone.trySend(t, http.MethodGet, file, nil, nil)
	must(t, err)
	if profile.wants(t, 200); profile.header.Get("Content-Type") != "application/x-apple-aspen-config" || profile.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", profile.header)
	}
	keys := keyForm.FindAllString(profile.body, -1)
	if len(keys) != 2 {
		t.Fatalf("%d keys in %s", len(keys), profile.body)
	}
	s.device(keys[0]).send(t, "GET", cardPath(id), "").wants(t, 200)
	s.device("").send(t, "GET", birthdaysPath+keys[1], "").wants(t, 200)
	for _, used := range []string{file, path} {
		phone.get(t, used).wants(t, 404).says(t, "This link has been used or has expired")
	}
}

// TestOfficePhoneKinds checks that the page shows each kind of device only what it needs. A
// computer, which cannot scan, gets no QR code.
func TestOfficePhoneKinds(t *testing.T) {
	t.Parallel()
	s := start(t, "--tls-self-signed")
	s.trust(t)
	b := s.signIn(t, s.key, "en")
	for _, address := range []string{s.url, "https://192.0.2.7:8443"} {
		execSQL(t, s.db, "UPDATE service SET address = '"+address+"'") // like for others in the network
		trust := address + authority.Path
		for kind, text := range map[string]string{"apple": "This Connection Is Not Private",
			"android":  "accept it. It is the certificate of this computer (" + trust + ")",
			"computer": "must trust the certificate of this computer: " + trust} {
			p := b.setUp(t, kind, "Ana's phone").says(t, text)
			if codes := len(p.all("svg", "aria-label", "QR code for Ana's phone")); (codes == 1) != (kind != "computer") {
				t.Errorf("%s gets %d QR codes", kind, codes)
			}
		}
	}
	for _, kind := range []string{"", "Apple", "windows"} {
		b.post(t, "/office/phones", url.Values{"kind": {kind}, "name": {"Ana"}}).wants(t, 400)
	}
}

// TestOfficePhonesFirst checks that the page first shows the missing flags if phones cannot reach
// the service or the connection is not encrypted.
func TestOfficePhonesFirst(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	b.get(t, "/office/phones").wants(t, 200).says(t, "Do this first", "--listen 0.0.0.0:8443 --tls-self-signed")
	execSQL(t, s.db, "UPDATE service SET address = 'http://192.0.2.7:8080'")
	p := b.get(t, "/office/phones").wants(t, 200).says(t, "Do this first", "unencrypted", "--tls-self-signed").lacks(t, "--listen")
	if p.one(t, "section", "class", "box warn").one("code").text() != "--tls-self-signed" {
		t.Errorf("%s", p.body)
	}
	for _, scope := range []string{"read", "write"} { // only admins set up devices
		other := s.signIn(t, newKey(t, s.db, "default", "--scope", scope), "en")
		other.get(t, "/office/phones").wants(t, 403)
		other.post(t, "/office/phones", url.Values{"kind": {"android"}, "name": {"Ana"}}).wants(t, 403)
	}
	for _, header := range [][]string{{"Origin", "https://evil.example", "Sec-Fetch-Site", ""}, {"Origin", "null", "Sec-Fetch-Site", ""}, {"Sec-Fetch-Site", "cross-site"}} {
		b.post(t, "/office/phones", url.Values{"kind": {"android"}, "name": {"Ana"}}, header...).wants(t, http.StatusForbidden)
	}
	if keys, _ := works(t, "keys", "list", "--db", s.db); strings.Contains(keys, " phone ") {
		t.Errorf("the keys are\n%s", keys)
	}
}

// TestOfficePhonesResumed checks that the end of a session loses no typed text and that no device
// is created before the user has seen the form again.
func TestOfficePhonesResumed(t *testing.T) {
	t.Parallel()
	s := start(t)
	typed := url.Values{"kind": {"android"}, "name": {"Ana's phone"}, "birthdays": {"1"}}
	late := s.browser(t, "en").post(t, "/office/phones", typed).wants(t, 401).form(t, "/office/sign-in").set(t, "Key or code", s.key)
	signedIn := late.send(t, "Sign in").wants(t, http.StatusTemporaryRedirect)
	again := signedIn.browser.post(t, signedIn.header.Get("Location"), late.values).wants(t, 200).form(t, "/office/phones")
	if again.values.Get("kind") != "android" || again.values.Get("name") != "Ana's phone" || again.values.Get("birthdays") != "1" {
		t.Errorf("the form has %v", again.values)
	}
	if keys, _ := works(t, "keys", "list", "--db", s.db); strings.Contains(keys, " phone ") {
		t.Errorf("the keys are\n%s", keys)
	}
}
