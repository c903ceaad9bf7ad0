package acceptance

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/authority"
)

// row returns the texts of the cells of a name in the table with that heading, or nil if the
// table lacks the name.
func (p *webPage) row(t *testing.T, table, name string) (cells []string) {
	t.Helper()
	for _, tr := range p.rows(table) {
		if th := tr.one("th"); th != nil && strings.TrimSuffix(th.text(), " this browser") == name {
			for _, td := range tr.all("td") {
				cells = append(cells, td.text())
			}
			return cells
		}
	}
	return nil
}

// rows returns the rows of the table with that heading.
func (p *webPage) rows(table string) []*element {
	for _, e := range p.all("table") {
		for _, heading := range p.all("", "id", e.attributes["aria-labelledby"]) {
			if heading.text() == table {
				return e.all("tbody")[0].all("tr")
			}
		}
	}
	return nil
}

// one returns the first element below e with a tag, or nil.
func (e *element) one(tag string) *element {
	if all := e.all(tag); len(all) > 0 {
		return all[0]
	}
	return nil
}

// press submits the form of the only button with that text.
func (p *webPage) press(t *testing.T, button string) *webPage {
	t.Helper()
	for _, form := range p.all("form") {
		for _, b := range form.all("button") {
			if b.text() == button {
				return (&webForm{page: p, form: form, values: form.values()}).send(t, button)
			}
		}
	}
	t.Fatalf("%s has no button %q: %s", p.path, button, p.text())
	return nil
}

// ended waits until the session of a browser has ended.
func (b *browser) ended(t *testing.T) {
	t.Helper()
	eventually(t, "a session to end", func() bool {
		p := b.get(t, "/office/history")
		return p.status == http.StatusSeeOther && p.header.Get("Location") == "/office/sign-in?next=%2Foffice%2Fhistory"
	})
}

// lets checks that a session works.
func (b *browser) lets(t *testing.T) {
	t.Helper()
	b.get(t, "/office/history").wants(t, 200)
}

const (
	signedIn = "Signed in"
	forKeys  = "Keys for programs"
	mayAll   = "read, change and manage access"
)

var shownDay = regexp.MustCompile(`^\d{1,2} [A-Z][a-z]+ \d{4}$`)

// TestOfficeAccess checks the keys and sessions of the department, and that revoking a key ends
// it and its sessions but no others.
func TestOfficeAccess(t *testing.T) {
	t.Parallel()
	s := start(t)
	chief := newKey(t, s.db, "default", "--scope", "admin", "--label", "chief <&>", "--expires", "30d")
	desk := newKey(t, s.db, "default", "--label", "desk")
	plain := newKey(t, s.db, "default", "--scope", "read") // key 4, without a label
	newKey(t, s.db, "Engine 7", "--label", "another department")
	b, atDesk, atHome, plainly := s.signIn(t, chief, "en"), s.signIn(t, desk, "en"), s.signIn(t, desk, "en"), s.signIn(t, plain, "en")
	p := b.get(t, "/office/access").wants(t, 200).says(t, "Revoke access that you do not recognize").lacks(t, "another department", "Revoked and expired")
	links := p.all("a", "href", "/office/access", "aria-current", "page") // in the menu, and next to Phones
	if len(p.rows(signedIn)) != 4 || len(p.rows(forKeys)) != 4 || len(links) != 2 {
		t.Errorf("page: %s", p.text())
	}
	for _, tt := range []struct{ table, name, may, used, button string }{
		{signedIn, "chief <&>", mayAll, "a day", "Revoke chief <&>"},
		{signedIn, "key 4", "only read", "a day", "Revoke key 4"},
		{forKeys, "chief <&>", mayAll, "never", "ends 1 session Revoke chief <&>"},
		{forKeys, "desk", "read and change", "never", "ends 2 sessions Revoke desk"},
		{forKeys, "key 4", "only read", "never", "ends 1 session Revoke key 4"},
	} {
		cells := p.row(t, tt.table, tt.name)
		used := 1
		if tt.table == signedIn {
			used = 2 // the column follows the device
		}
		if len(cells) != 5 || cells[0] != tt.may || (cells[used] == "never") != (tt.used == "never") || tt.used == "a day" && !shownDay.MatchString(cells[used]) || cells[4] != tt.button {
			t.Errorf("%s: the row of %q is %q", tt.table, tt.name, cells)
		}
	}
	if own := p.all("span", "class", "tag"); len(own) != 1 || own[0].parent.text() != "chief <&> this browser" {
		t.Errorf("the mark of this browser: %s", p.text())
	}
	if key, session := p.row(t, forKeys, "desk")[3], p.row(t, signedIn, "desk")[3]; key != "never" || !shownDay.MatchString(session) {
		t.Errorf("the key expires %q and the session %q", key, session)
	}

	p = b.post(t, "/office/access/revoke", url.Values{"id": {"3"}}).follow(t)
	if p.notice(t) != "desk was revoked" || p.row(t, forKeys, "desk") != nil || p.row(t, signedIn, "desk") != nil {
		t.Errorf("%q: %s", p.notice(t), p.text())
	}
	if ended := p.rows("Revoked and expired"); len(ended) != 3 || p.row(t, "Revoked and expired", "desk")[1] != "revoked" {
		t.Errorf("revoked and expired: %s", p.text())
	}
	s.as(desk).refused(t, "revoked")
	atDesk.ended(t)
	atHome.ended(t)
	plainly.lets(t)
	p.press(t, "Revoke key 4").follow(t).says(t, "key 4 was revoked")
	plainly.ended(t)
	s.as(plain).do(t, "GET", collection, "").wants(t, 200)
	b.post(t, "/office/access/revoke", url.Values{"id": {"3"}}).follow(t).says(t, "desk was revoked") // a second time
	b.get(t, "/office/access?revoked=1").lacks(t, "was revoked")
}

// TestOfficeAccessOwn checks that revoking one's own session, or the key that opened it, signs
// the user out.
func TestOfficeAccessOwn(t *testing.T) {
	t.Parallel()
	s := start(t)
	chief := newKey(t, s.db, "default", "--scope", "admin", "--label", "chief")
	root, err := url.Parse(s.url + "/office/")
	must(t, err)
	for _, id := range []string{"3", "2"} { // the session, then the key
		b := s.signIn(t, chief, "en")
		p := b.post(t, "/office/access/revoke", url.Values{"id": {id}})
		if at := p.follow(t); at.notice(t) != "You are signed out" || at.heading(t) != "Sign in" || len(at.one(t, "main").all("p", "class", "fault")) != 0 {
			t.Errorf("%s shows %s: %s", id, at.path, at.text())
		}
		if len(b.Jar.Cookies(root)) != 0 {
			t.Errorf("%s: the cookie is still there", id)
		}
	}
	s.as(chief).refused(t, "revoked")
}

// atFirst is the number of open invitations of a new database: the link that its first start
// prints.
const atFirst = 1

// TestOfficeAccessRefusals checks that the access page needs the scope admin and a request from
// the page itself, and that it affects only its own department.
func TestOfficeAccessRefusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	key := newKey(t, s.db, "default", "--label", "ours") // key 2
	chief := s.signIn(t, newKey(t, s.db, "default", "--scope", "admin", "--label", "chief"), "en")
	stranger := s.signIn(t, newKey(t, s.db, "Engine 7", "--scope", "admin", "--label", "stranger"), "en")
	invited := chief.post(t, "/office/access/invite", url.Values{"name": {"Ana"}, "scope": {"read"}}).wants(t, 200)
	invitation := invited.form(t, "/office/access/withdraw").values.Get("id")
	forms := map[string]url.Values{
		"revoke": {"id": {"2"}}, "invite": {"name": {"Eva"}, "scope": {"admin"}}, "withdraw": {"id": {invitation}},
	}
	for _, scope := range []string{"read", "write"} {
		b := s.signIn(t, newKey(t, s.db, "default", "--scope", scope), "en")
		b.get(t, "/office/access").wants(t, 403).says(t, "You are not allowed to do this")
		if len(b.get(t, "/office/history").all("a", "href", "/office/access")) != 0 {
			t.Errorf("%s sees a link to the page", scope)
		}
		for action, form := range forms {
			b.post(t, "/office/access/"+action, form).wants(t, 403).says(t, "You are not allowed to do this")
		}
	}
	visitor := s.browser(t, "en")
	visitor.get(t, "/office/access").wants(t, 303)
	for action, form := range forms {
		visitor.post(t, "/office/access/"+action, form).wants(t, 401)
		chief.post(t, "/office/access/"+action, form, "Sec-Fetch-Site", "cross-site").wants(t, 403).says(t, "did not come from this page")
		chief.post(t, "/office/access/"+action, form, "Sec-Fetch-Site", "", "Origin", "http://elsewhere.example").wants(t, 403)
		chief.get(t, "/office/access/"+action).wants(t, 405)
	}
	for _, id := range []string{"2", invitation, "99999", "0", "-1", "", "x", "99999999999999999999"} {
		for _, action := range []string{"revoke", "withdraw"} {
			if stranger.post(t, "/office/access/"+action, url.Values{"id": {id}}).wants(t, 404).says(t, "does not exist"); id != "2" && id != invitation {
				chief.post(t, "/office/access/"+action, url.Values{"id": {id}}).wants(t, 404).says(t, "does not exist")
			}
		}
	}
	p := chief.get(t, "/office/access")
	if len(p.rows("Open invitations")) != atFirst+1 || p.row(t, "Open invitations", "Ana") == nil || len(p.rows(forKeys)) != 5 {
		t.Errorf("afterwards: %s", p.text())
	}
	stranger.get(t, "/office/access").lacks(t, "Ana", "ours", "chief")
	s.as(key).do(t, "GET", collection, "").wants(t, 200)
}

// TestOfficeInvite checks that an invitation is shown once, opens one session, and can be
// withdrawn.
func TestOfficeInvite(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "admin", "--label", "chief"), "en")
	p := b.get(t, "/office/access").form(t, "/office/access/invite").set(t, "Name", " Ana <&> Čović ").send(t, "Invite").wants(t, 200)
	p.says(t, "Invitation for Ana <&> Čović", "one sign-in within 15 minutes", "Only this computer can reach this program", "--listen 0.0.0.0:8443")
	code, link := p.labelled(t, "Code"), p.labelled(t, "Link")
	section := p.one(t, "section", "id", "made")
	p.one(t, "h2", "id", "made-for", "autofocus", "")
	qr := section.all("svg", "role", "img", "aria-label", "QR code of the link for Ana <&> Čović")
	if len(qr) != 1 || len(section.all("button", "data-print", "")) != 1 {
		t.Errorf("the QR code or the print button is missing: %s", p.body)
	}
	p.says(t, "Valid until "+p.row(t, "Open invitations", "Ana <&> Čović")[1])
	_, readonly := link.attributes["readonly"]
	if link.attributes["value"] != s.url+"/office/sign-in#code="+code.text() || code.attributes["class"] != "code" || !readonly {
		t.Errorf("the link is %q, the code %q", link.attributes["value"], code.text())
	}
	if cells := p.row(t, "Open invitations", "Ana <&> Čović"); len(cells) != 3 || cells[0] != "read and change" || !shownMoment.MatchString(cells[1]) {
		t.Errorf("the invitation is %q", cells)
	}
	if again := b.get(t, "/office/access"); strings.Contains(again.body, code.text()) {
		t.Error("the code is shown twice")
	}
	ana := s.signIn(t, strings.ToLower(code.text()), "en")
	ana.lets(t)
	p = b.get(t, "/office/access")
	if len(p.rows("Open invitations")) != atFirst || p.row(t, signedIn, "Ana <&> Čović")[0] != "read and change" {
		t.Errorf("after signing in: %s", p.text())
	}
	s.browser(t, "en").post(t, "/office/sign-in", url.Values{"key": {code.text()}}).wants(t, 403)
	p.press(t, "Revoke Ana <&> Čović").follow(t)
	ana.ended(t)

	p = b.post(t, "/office/access/invite", url.Values{"name": {"Eva"}, "scope": {"admin"}}).wants(t, 200)
	code = p.labelled(t, "Code")
	p = p.press(t, "Withdraw Eva").follow(t)
	if p.notice(t) != "The invitation was withdrawn" || len(p.rows("Open invitations")) != atFirst {
		t.Errorf("%q: %s", p.notice(t), p.text())
	}
	s.browser(t, "en").post(t, "/office/sign-in", url.Values{"key": {code.text()}}).wants(t, 403)
}

// TestOfficeInviteElsewhere checks that the link has the current address of the service, like the
// link of the command.
func TestOfficeInviteElsewhere(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	execSQL(t, s.db, "UPDATE service SET address = 'http://192.0.2.7:8080'") // like in another network
	p := b.post(t, "/office/access/invite", url.Values{"name": {"Ana"}, "scope": {"read"}}).wants(t, 200)
	p.says(t, "Invitation for Ana").lacks(t, "Only this computer can reach this program", "--listen")
	link := p.labelled(t, "Link").attributes["value"]
	if !strings.HasPrefix(link, "http://192.0.2.7:8080/office/sign-in#code=") {
		t.Errorf("the link is %q", link)
	}
}

// TestOfficeInviteFaults checks that a name follows the rules for labels, and that the form keeps
// the typed text.
func TestOfficeInviteFaults(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "admin"), "en")
	for name, fault := range map[string]string{
		"":                       "Please enter a name.",
		" \t":                    "Please enter a name.",
		strings.Repeat("č", 101): "The name may have at most 100 characters.",
		"Ana\x01":                "The name contains a character that cannot be shown.",
		"Ana\uFFFD <script>":     "The name contains a character that cannot be shown.",
	} {
		p := b.post(t, "/office/access/invite", url.Values{"name": {name}, "scope": {"admin"}}).wants(t, 422)
		if !strings.HasPrefix(p.fault(t, "Name"), fault) || p.labelled(t, "Name").attributes["value"] != name {
			t.Errorf("%q: fault %q in %s", name, p.fault(t, "Name"), p.body)
		}
		if chosen := p.form(t, "/office/access/invite").values.Get("scope"); chosen != "admin" || len(p.rows("Open invitations")) != atFirst {
			t.Errorf("%q is chosen", chosen)
		}
		if link := p.one(t, "div", "id", "faults").one("a"); link.attributes["href"] != "#name" {
			t.Errorf("the link of the summary is %s", link.attributes["href"])
		}
	}
	for _, scope := range []string{"", "owner", "Admin"} {
		b.post(t, "/office/access/invite", url.Values{"name": {"Ana"}, "scope": {scope}}).wants(t, 400)
	}
	b.post(t, "/office/access/invite", url.Values{"name": {strings.Repeat("č", 100)}, "scope": {"read"}}).wants(t, 200)
}

// TestOfficeAccessDevice checks that a session shows its browser, its system, and the day of its
// last use.
func TestOfficeAccessDevice(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	const firefox = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0"
	desk := newKey(t, s.db, "default", "--label", "desk")
	s.browser(t, "en").post(t, "/office/sign-in", url.Values{"key": {desk}}, "User-Agent", firefox).wants(t, 303)
	execSQL(t, s.db, `UPDATE keys SET last_used_at = ? WHERE device <> ''`, time.Date(2024, 5, 3, 12, 0, 0, 0, time.Local).UnixMilli())
	execSQL(t, s.db, `UPDATE keys SET session_lifetime = 1e12 WHERE device <> ''`)
	p := b.get(t, "/office/access")
	if cells := p.row(t, signedIn, "desk"); len(cells) != 5 || cells[1] != "Firefox, Windows" || cells[2] != "3 May 2024" {
		t.Errorf("the session is %q: %s", cells, p.text())
	}
}

// TestOfficeInviteTrust checks that with a self-signed certificate the page names the address of
// the certificate that a device must trust first.
func TestOfficeInviteTrust(t *testing.T) {
	t.Parallel()
	s := start(t, "--tls-self-signed")
	s.trust(t)
	b := s.signIn(t, s.key, "en")
	execSQL(t, s.db, "UPDATE service SET address = 'https://192.0.2.7:8443'") // like for others in the network
	b.post(t, "/office/access/invite", url.Values{"name": {"Ana"}, "scope": {"read"}}).wants(t, 200).
		says(t, "the device must first trust this computer: https://192.0.2.7:8443"+authority.Path)
}
