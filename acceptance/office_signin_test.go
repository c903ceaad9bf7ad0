package acceptance

import (
	"net/url"
	"strings"
	"testing"
)

// secret returns the session cookie of a browser in the format of the header.
func (b *browser) secret(t *testing.T) string {
	t.Helper()
	root, err := url.Parse(b.url + "/office/")
	must(t, err)
	for _, cookie := range b.Jar.Cookies(root) {
		if strings.HasPrefix(cookie.Value, "ff_") {
			return cookie.Name + "=" + cookie.Value
		}
	}
	t.Fatal("no session cookie")
	return ""
}

// TestOfficeCookies checks that a cookie of another program on the same host does not prevent
// access, and that only a limited number of cookies is checked.
func TestOfficeCookies(t *testing.T) {
	t.Parallel()
	s := start(t)
	cookie := s.signIn(t, s.key, "en").secret(t)
	name, _, _ := strings.Cut(cookie, "=")
	for header, status := range map[string]int{
		cookie: 200,
		name + "=x; " + name + "=; " + name + "=" + s.key + "; " + cookie: 200,
		strings.Repeat(name+"=x; ", 10) + cookie:                          303,
		name + "=" + s.key:                                                303,
		"x" + cookie:                                                      303,
	} {
		s.browser(t, "en").get(t, "/office/", "Cookie", header).wants(t, status)
	}
}

// TestOfficeSessionEndsAtOnce checks that a session has ended once the answer is sent, also for a
// copy of the cookie.
func TestOfficeSessionEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	b, visitor := s.signIn(t, s.key, "en"), s.browser(t, "en")
	cookie := b.secret(t)
	for range 20 {
		b.lets(t)
	}
	b.post(t, "/office/sign-out", url.Values{}).wants(t, 303)
	visitor.get(t, "/office/", "Cookie", cookie).wants(t, 303)

	b = s.signIn(t, s.key, "en")
	old := b.secret(t)
	b.lets(t)
	b.post(t, "/office/sign-in", url.Values{"key": {s.key}}).wants(t, 303)
	visitor.get(t, "/office/", "Cookie", old).wants(t, 303)
	b.lets(t)
}

// TestOfficeSignOutBusy checks that a browser forgets its session although the database is locked,
// because another person may use the browser next.
func TestOfficeSignOutBusy(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.mayFail = true
	b := s.signIn(t, s.key, "en")
	b.lets(t)
	unlock := lockForWriting(t, s.db)
	p := b.post(t, "/office/sign-out", url.Values{}).wants(t, 503).says(t, "The program is busy")
	if p.header.Get("Retry-After") == "" || len(p.all("nav")) != 0 {
		t.Errorf("%v %s", p.header, p.text())
	}
	b.get(t, "/office/").wants(t, 303)
	unlock()
	s.logs(t, `"method":"POST","path":"/office/sign-out"`)
}

// TestOfficeBadBytes checks that invalid UTF-8 is a fault of its field, also after a new sign-in.
func TestOfficeBadBytes(t *testing.T) {
	t.Parallel()
	s := start(t)
	bad := url.Values{"firstName": {"A\xff"}, "lastName": {"B"}, "\xff": {"\xff"}}
	for _, b := range []*browser{s.signIn(t, s.key, "en"), s.browser(t, "en")} {
		p := b.post(t, "/office/people", bad)
		if !strings.Contains(p.body, `value="A`+"\uFFFD"+`"`) || strings.ToValidUTF8(p.body, "") != p.body {
			t.Errorf("%d %s", p.status, p.body)
		}
	}
}

// TestOfficePastedLink checks that a whole invitation link is accepted as a code.
func TestOfficePastedLink(t *testing.T) {
	t.Parallel()
	s := start(t)
	stdout, _ := works(t, "invite", "--db", s.db, "--tenant", "default", "--name", "Ana")
	link := strings.TrimPrefix(strings.Split(stdout, "\n")[0], "Link: ")
	s.signIn(t, " "+link+" ", "en").get(t, "/office/").says(t, "Ana")
}

// TestOfficeSignOutAsks checks that a user with an invitation has to confirm the sign-out and can
// return to the same page, and that a user with a key does not.
func TestOfficeSignOutAsks(t *testing.T) {
	t.Parallel()
	s := start(t)
	stdout, _ := works(t, "invite", "--db", s.db, "--tenant", "default", "--name", "Ana")
	b := s.signIn(t, strings.TrimPrefix(strings.Split(stdout, "\n")[0], "Link: "), "en")
	p := b.get(t, "/office/birthdays?month=5").press(t, "Sign out").wants(t, 200).says(t, "To sign in again, you need a new code", "firefighters open")
	if p.method != "GET" || p.heading(t) != "Sign out" {
		t.Errorf("%s %s: %s", p.method, p.path, p.text())
	}
	stay := p.one(t, "main").all("a")[0]
	if stay.text() != "Stay signed in" || stay.attributes["href"] != "/office/birthdays?month=5" {
		t.Errorf("the link %q is %q", stay.text(), stay.attributes["href"])
	}
	b.lets(t)
	if sent := b.get(t, "/office/sign-out?next=http://elsewhere.example/").one(t, "main").all("a")[0]; sent.attributes["href"] != "/office/" {
		t.Errorf("the link back is %q", sent.attributes["href"])
	}
	p = p.form(t, "/office/sign-out").send(t, "Sign out").wants(t, 303).follow(t)
	if p.notice(t) != "You are signed out" || p.heading(t) != "Sign in" {
		t.Errorf("%s: %s", p.path, p.text())
	}
	b.ended(t)
	b.get(t, "/office/sign-out").follow(t).says(t, "You are signed out") // in another window
	s.browser(t, "en").get(t, "/office/sign-in?signedOut=1", "Sec-Fetch-Site", "cross-site").lacks(t, "You are signed out")

	b = s.signIn(t, s.key, "en")
	b.get(t, "/office/sign-in?signedOut=1").lacks(t, "You are signed out")
	if p = b.get(t, "/office/").press(t, "Sign out").wants(t, 303); p.method != "POST" {
		t.Errorf("with a key, the sign-out uses %s", p.method)
	}
	b.ended(t)
}

// TestOfficeTypeTheCode checks that the page asks for the code without scripts, because it cannot
// read the code from the link.
func TestOfficeTypeTheCode(t *testing.T) {
	t.Parallel()
	p := start(t).browser(t, "en").get(t, "/office/sign-in").wants(t, 200)
	if text := p.one(t, "span", "class", "box unscripted").text(); !strings.HasPrefix(text, "If you followed a link, type this code: the 12 characters at the end") {
		t.Errorf("the text without scripts is %q", text)
	}
}

// TestOfficeRevoked checks that the sign-in page reports that access was revoked, only to the browser
// that had it.
func TestOfficeRevoked(t *testing.T) {
	t.Parallel()
	s := start(t)
	const revoked = "Your access was revoked"
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	adding := b.get(t, newPerson).form(t, "/office/people").set(t, "First name", "Mia").set(t, "Last name", "Kovač")
	s.endSessions(t, b)
	b.get(t, "/office/birthdays").follow(t).says(t, revoked, "Sign in")
	adding.send(t, "Add person").wants(t, 401).says(t, revoked, "Your input is not lost")
	b.post(t, "/office/sign-in", url.Values{"key": {"wrong"}}).wants(t, 403).says(t, revoked)
	s.browser(t, "en").get(t, "/office/").follow(t).lacks(t, revoked)
	b.post(t, "/office/sign-in", url.Values{"key": {s.key}}).follow(t).press(t, "Sign out").follow(t).says(t, "You are signed out").lacks(t, revoked)
}
