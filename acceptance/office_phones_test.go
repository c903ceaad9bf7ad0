package acceptance

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/host/authority"
)

// setUp sets a device up on the page Phones: the one page that shows a key.
func (b *browser) setUp(t *testing.T, kind, name string) *webPage {
	t.Helper()
	p, err := b.trySend(t, http.MethodPost, "/office/phones", url.Values{"kind": {kind}, "name": {name}, "birthdays": {"1"}}, nil)
	must(t, err)
	return p.wants(t, 200)
}

// TestOfficePhoneLink: only the file itself uses the link of an iPhone up. Who looks, asks for
// the head of an answer, or has typed the code where it does not belong, leaves it as it is.
func TestOfficePhoneLink(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	link := s.signIn(t, s.key, "en").setUp(t, "apple", "Ana's <&> phone").labelled(t, "Link").attributes["value"]
	path, ours := strings.CutPrefix(link, s.url)
	if !ours || !strings.HasPrefix(path, "/office/phones/") {
		t.Fatalf("the link is %q", link)
	}
	file := path + "/firefighters.mobileconfig"
	phone := s.browser(t, "en")
	phone.post(t, "/office/sign-in", url.Values{"key": {strings.TrimPrefix(path, "/office/phones/")}}).wants(t, 403)
	for range 2 {
		if got := phone.get(t, path).wants(t, 200).heading(t); got != "Contacts of default" {
			t.Errorf("the page is %q", got)
		}
		for _, looked := range []string{path, file} {
			a, err := phone.trySend(t, http.MethodHead, looked, nil, nil)
			if must(t, err); a.wants(t, 200).header.Get("Content-Length") != "" && looked == file {
				t.Errorf("a profile without keys is not as long: %v", a.header)
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
		phone.get(t, used).wants(t, 404).says(t, "This link was used, or is too old")
	}
}

// TestOfficePhoneKinds: each kind of device is told what it needs, and no more. A computer
// has no camera for a code.
func TestOfficePhoneKinds(t *testing.T) {
	t.Parallel()
	s := start(t, "--tls-self-signed")
	s.trust(t)
	b := s.signIn(t, s.key, "en")
	for _, address := range []string{s.url, "https://192.0.2.7:8443"} {
		execSQL(t, s.db, "UPDATE service SET address = '"+address+"'") // as for others in the network
		trust := address + authority.Path
		for kind, says := range map[string]string{"apple": "This Connection Is Not Private", "android": "accept it: it is that of this computer (" + trust + ")",
			"computer": "must trust the certificate of this computer: " + trust} {
			p := b.setUp(t, kind, "Ana's phone").says(t, says)
			if codes := len(p.all("svg", "aria-label", "QR code for Ana's phone")); (codes == 1) != (kind != "computer") {
				t.Errorf("%s has %d codes", kind, codes)
			}
		}
	}
	for _, kind := range []string{"", "Apple", "windows"} {
		b.post(t, "/office/phones", url.Values{"kind": {kind}, "name": {"Ana"}}).wants(t, 400)
	}
}

// TestOfficePhonesFirst: where no phone could reach the service, or all could listen, the
// page says first what to type.
func TestOfficePhonesFirst(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	b.get(t, "/office/phones").wants(t, 200).says(t, "First do this", "--listen 0.0.0.0:8443 --tls-self-signed")
	execSQL(t, s.db, "UPDATE service SET address = 'http://192.0.2.7:8080'")
	p := b.get(t, "/office/phones").wants(t, 200).says(t, "First do this", "unencrypted", "--tls-self-signed").lacks(t, "--listen")
	if p.one(t, "section", "class", "box warn").one("code").text() != "--tls-self-signed" {
		t.Errorf("%s", p.body)
	}
	for _, scope := range []string{"read", "write"} { // nobody else makes devices
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

// TestOfficePhonesResumed: a session that has ended loses nothing that was typed, and makes no
// device before somebody has seen the form again.
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
