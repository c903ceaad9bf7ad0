package acceptance

import (
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// steps returns the headings of the first steps on a page, with "Done" for completed ones, or nil
// if the page does not show the steps.
func (p *webPage) steps() (all []string) {
	for _, steps := range p.all("details", "id", "steps") {
		for _, heading := range steps.all("h2") {
			all = append(all, heading.text())
		}
	}
	return all
}

// hasSteps checks that the list shows these first steps.
func (b *browser) hasSteps(t *testing.T, want ...string) *webPage {
	t.Helper()
	p := b.get(t, "/office/").wants(t, 200)
	if got := p.steps(); !slices.Equal(got, want) {
		t.Fatalf("the first steps are %q, want %q", got, want)
	}
	return p
}

// TestFirstSteps checks that an admin of a new database sees the first steps, can complete them
// there, and sees the completed ones.
func TestFirstSteps(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "admin", "--label", "desk"), "en")
	p := b.hasSteps(t, "Name of the department", "Your name", "Your list", "Backups", "Phones and other computers")
	p.says(t, "First steps: 5 things to do", "It currently shows your changes under “desk”.", "Import a list", "--backup-dir DIR", "--listen 0.0.0.0:8443 --tls-self-signed")
	if _, open := p.one(t, "details", "id", "steps").attributes["open"]; !open {
		t.Error("the steps are folded")
	}
	if told := strings.Count(p.text(), "Backups are not set up."); told != 1 {
		t.Errorf("the page warns %d times about backups", told)
	}
	p.one(t, "a", "href", "#backups-todo")
	if how := p.one(t, "div", "id", "backups-todo").text(); !strings.Contains(how, "--backup-dir DIR") {
		t.Errorf("the step about backups leads to %q", how)
	}

	p = p.form(t, "/office/department").set(t, "Name of the department", " Station 7 ").send(t, "Save").wants(t, 303).follow(t)
	if p.notice(t) != "The department is now called Station 7" || p.one(t, "a", "class", "brand").text() != "Station 7" {
		t.Errorf("%q: %s", p.notice(t), p.text())
	}
	p = p.form(t, "/office/department").set(t, "Your name", "Ana Čović").send(t, "Save").wants(t, 303).follow(t)
	if p.notice(t) != "The history now shows your changes under Ana Čović" || p.one(t, "span", "class", "who").text() != "Ana Čović" {
		t.Errorf("%q: %s", p.notice(t), p.text())
	}
	b.post(t, "/office/people", url.Values{"firstName": {"Eva"}, "lastName": {"Novak"}, "token": {"t1"}}).wants(t, 303)
	b.get(t, "/office/history").says(t, "Ana Čović")
	p = b.hasSteps(t, "Name of the department Done", "Your name Done", "Your list Done", "Backups", "Phones and other computers").
		says(t, "First steps: 2 things to do", "Station 7 – Change", "Ana Čović – Change", "1 person")
	if _, open := p.one(t, "details", "id", "steps").attributes["open"]; open {
		t.Error("the steps are not folded")
	}
	if line := p.one(t, "details", "id", "steps").one("summary").text(); line != "First steps: 2 things to do" {
		t.Errorf("the line is %q", line)
	}
	if main := p.one(t, "main").text(); strings.Index(main, "Search") > strings.Index(main, "First steps") {
		t.Errorf("the steps are above the search: %s", main)
	}
	if got := b.get(t, "/office/?search=eva").steps(); got != nil {
		t.Errorf("a search shows %q", got)
	}
	for _, scope := range []string{"read", "write"} {
		s.signIn(t, newKey(t, s.db, "Station 7", "--scope", scope), "en").hasSteps(t)
	}

	p = p.form(t, "/office/steps/hide").send(t, "Hide").wants(t, 303).follow(t)
	if p.notice(t) != "The first steps are hidden" {
		t.Errorf("%q", p.notice(t))
	}
	b.hasSteps(t)
	s.signIn(t, newKey(t, s.db, "Station 7", "--scope", "admin"), "en").hasSteps(t)
	another := s.signIn(t, newKey(t, s.db, "Engine 8", "--scope", "admin"), "en").get(t, "/office/")
	if got := another.steps(); len(got) != 5 || got[0] != "Name of the department Done" {
		t.Errorf("another department has %q", got)
	}
}

// TestFirstStepsEnd checks that the first steps disappear once there are a name, people and a
// backup.
func TestFirstStepsEnd(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", filepath.Join(t.TempDir(), "backups"))
	eventually(t, "a backup", func() bool { return s.readyz(t).Backup.Last != nil })
	key := newKey(t, db, "default", "--scope", "admin")
	b := s.signIn(t, key, "en")
	s.as(key).create(t, ana)
	if got := b.get(t, "/office/").steps(); len(got) != 5 || got[0] != "Name of the department" {
		t.Errorf("without a name: %q", got)
	}
	works(t, "departments", "rename", "default", "Station 7", "--db", db)
	b.hasSteps(t)
	another := s.signIn(t, newKey(t, db, "Engine 8", "--scope", "admin"), "en").get(t, "/office/")
	if got := another.steps(); len(got) != 5 || got[2] != "Your list" {
		t.Errorf("without people: %q", got)
	}
}

// TestFirstStepsDemo checks that a demo shows neither first steps nor a line about backups.
func TestFirstStepsDemo(t *testing.T) {
	t.Parallel()
	s := startWith(t, "", "demo", "--people", "1")
	p := s.signIn(t, s.key, "en").get(t, "/office/").wants(t, 200)
	if p.steps() != nil || strings.Contains(p.body, "backups") {
		t.Errorf("the list of a demo: %s", p.text())
	}
}

// TestFirstStepsReach checks that the last step shows the address for other devices if they can
// reach the page.
func TestFirstStepsReach(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "admin"), "en")
	for _, tt := range []struct{ address, want string }{
		{"https://192.168.1.5:8443", "Other devices open this page at https://192.168.1.5:8443/office/"},
		{s.url, "--listen 0.0.0.0:8443 --tls-self-signed"},
		{"", "--listen 0.0.0.0:8443 --tls-self-signed"},
	} {
		execSQL(t, s.db, `UPDATE service SET address = ?`, tt.address)
		p := b.get(t, "/office/")
		p.says(t, tt.want)
		if got := len(p.all("a", "href", "/office/phones")); got != 1 && strings.HasPrefix(tt.address, "https:") {
			t.Errorf("%d links to set up phones", got)
		}
	}
}

// TestDepartmentName checks that an admin can rename the department at any time, and that the form
// keeps an invalid name.
func TestDepartmentName(t *testing.T) {
	t.Parallel()
	s := start(t)
	newKey(t, s.db, "Engine 8")
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "admin"), "en")
	link := ""
	for _, a := range b.get(t, "/office/access").all("a") {
		if a.text() == "Names" {
			link = a.attributes["href"]
		}
	}
	p := b.get(t, link).wants(t, 200)
	for typed, want := range map[string]string{
		" ":                      "Please enter a name.",
		strings.Repeat("č", 101): "The name may have at most 100 characters.",
		"a\x01":                  "The name contains a character that cannot be shown. Please type it again.",
		"ENGINE  8":              "Another department has this name or a very similar one. Please choose a different name.",
	} {
		status := http.StatusUnprocessableEntity
		if typed == "ENGINE  8" {
			status = http.StatusConflict
		}
		again := p.form(t, "/office/department").set(t, "Name of the department", typed).send(t, "Save").wants(t, status)
		if got := again.fault(t, "Name of the department"); got != want || again.labelled(t, "Name of the department").attributes["value"] != typed {
			t.Errorf("%q: fault %q", typed, got)
		}
		again.one(t, "div", "id", "faults")
	}
	again := p.form(t, "/office/department").set(t, "Your name", "").send(t, "Save").wants(t, http.StatusUnprocessableEntity)
	if again.fault(t, "Your name") != "Please enter a name." || again.fault(t, "Name of the department") != "" {
		t.Errorf("without a name: %s", again.text())
	}
	p = p.form(t, "/office/department").set(t, "Name of the department", "Station <7>").send(t, "Save").wants(t, 303).follow(t)
	if !strings.HasPrefix(p.path, link) || p.notice(t) != "The department is now called Station <7>" {
		t.Errorf("%s: %q", p.path, p.notice(t))
	}
	if list, _ := works(t, "departments", "list", "--db", s.db); !strings.Contains(list, "Station <7>") {
		t.Errorf("the departments are\n%s", list)
	}

	for _, scope := range []string{"read", "write"} {
		other := s.signIn(t, newKey(t, s.db, "Station <7>", "--scope", scope), "en")
		other.get(t, link).wants(t, http.StatusForbidden)
		for _, path := range []string{"/office/department", "/office/steps/hide"} {
			other.post(t, path, url.Values{"name": {"Mine"}}).wants(t, http.StatusForbidden)
		}
	}
	key := newKey(t, s.db, "Station <7>", "--scope", "admin")
	late := s.browser(t, "en").post(t, "/office/department", url.Values{"name": {"Station 8"}}).wants(t, 401)
	form := late.form(t, "/office/sign-in")
	form.values.Set("key", key)
	resumed := late.browser.post(t, "/office/sign-in", form.values).wants(t, http.StatusTemporaryRedirect)
	shown := resumed.browser.post(t, resumed.header.Get("Location"), form.values).wants(t, 200)
	if got := shown.labelled(t, "Name of the department").attributes["value"]; got != "Station 8" {
		t.Errorf("the name after the sign-in is %q", got)
	}
}

// TestNameIsKept checks that a user of open keeps the typed name for later sessions, and that an
// invited user has the name of the invitation.
func TestNameIsKept(t *testing.T) {
	t.Parallel()
	s := start(t)
	opens := func() *browser {
		t.Helper()
		stdout, _ := works(t, "open", "--db", s.db)
		b := s.browser(t, "en")
		b.post(t, "/office/sign-in", url.Values{"key": {invitationForm.FindStringSubmatch(stdout)[2]}}).wants(t, 303)
		return b
	}
	who := func(b *browser) string {
		t.Helper()
		return b.get(t, "/office/").one(t, "span", "class", "who").text()
	}
	first := opens()
	login := who(first)
	first.get(t, "/office/").says(t, "It currently shows your changes under “"+login+"”.")
	first.get(t, "/office/").form(t, "/office/department").set(t, "Your name", "Ana Čović").send(t, "Save").wants(t, 303)
	if got := who(opens()); got != "Ana Čović" {
		t.Errorf("a later session of %q has the name %q", login, got)
	}
	b := s.browser(t, "en")
	b.post(t, "/office/sign-in", url.Values{"key": {inviteAna(t, s.db, "default", "--scope", "admin")}}).wants(t, 303)
	if got := b.get(t, "/office/").steps(); len(got) != 5 || got[1] != "Your name Done" {
		t.Errorf("the first steps of an invited user are %q", got)
	}
	if list, _ := works(t, "keys", "list", "--db", s.db); !regexp.MustCompile(`(?m) Ana Čović$`).MatchString(list) {
		t.Errorf("the keys are\n%s", list)
	}
}
