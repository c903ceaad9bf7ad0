package settings_test

import (
	"context"
	"errors"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/callers"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/httpserver"
	"github.com/firefighter-records/firefighters/internal/web/office"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

const public = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pc is a station PC with two departments, whose settings only record what was called and changed.
type pc struct {
	t       testing.TB
	site    http.Handler
	service site.Service
	store   *store.Store
	state   *site.Settings
	calls   []string
	err     error // of all functions
}

// newPC returns a PC. change changes its service before it starts; it may be nil.
func newPC(t testing.TB, change func(*site.Service)) *pc {
	t.Helper()
	schema, err := os.ReadFile("../../../../schema.sql")
	must(t, err)
	path := filepath.Join(t.TempDir(), "x.db")
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, store.Format(string(schema), 1).Migrate(path, 0, 1, func(c *sqlite.Conn) error { return store.Create(c, string(schema)) }))
	s, err := store.Open(path, time.Now)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	must(t, s.AddDepartments([]store.Department{{Name: "Engine 7"}, {Name: "Ladder 1"}}))
	p := &pc{t: t, store: s}
	log := slog.New(slog.DiscardHandler)
	p.state = &site.Settings{
		Dir:          "/mnt/backups",
		ChooseFolder: func(folder string) (string, error) { return folder + "/firefighters", p.err },
		Apply: func() {
			all, err := s.SettingChanges()
			must(t, err)
			p.calls = append(p.calls, all[0].Who+" "+all[0].What+" "+all[0].Value)
		},
		BackUp: func(context.Context) error {
			p.calls = append(p.calls, "backup")
			return p.err
		},
	}
	p.service = site.Service{Store: s, Callers: callers.New(s, log, nil), Log: log, Port: "8080", Loss: func() string { return "" },
		Stopping: t.Context(), Phones: true, Installed: true, Settings: p.state}
	if change != nil {
		change(&p.service)
	}
	p.site = office.New(p.service, func(_ http.ResponseWriter, _ *http.Request, _ string, err error) *httpapi.Problem {
		if problem := (*httpapi.Problem)(nil); errors.As(err, &problem) {
			return problem
		}
		return &httpapi.Problem{Kind: httpapi.Internal, Cause: err}
	})
	return p
}

// session is a browser that is signed in on the PC.
type session struct {
	*pc
	cookie *http.Cookie
}

// admin returns the session of an admin of a department.
func (p *pc) admin(department string) session { return p.signIn(department, store.ScopeAdmin) }

func (p *pc) signIn(department, scope string) session {
	p.t.Helper()
	secret := ""
	n := store.NewKey{Tenant: department, Scope: scope, Label: "Ana"}
	must(p.t, p.store.CreateKey(n, func(key string) error { secret = key; return nil }))
	return p.with(secret)
}

// opened returns the session of firefighters open.
func (p *pc) opened(department record.TenantID) (b session) {
	p.t.Helper()
	code := ""
	n := store.NewInvitation{Tenant: department, Name: "root", Scope: store.ScopeAdmin, Login: "root"}
	must(p.t, p.store.Invite(n, func(text string) error { code = text; return nil }))
	return p.with(code)
}

// with returns a session that was opened with a key or a code.
func (p *pc) with(secret string) session {
	p.t.Helper()
	a := session{pc: p}.post("/office/sign-in", url.Values{"key": {secret}}, nil).wants(303)
	return session{p, a.Result().Cookies()[0]}
}

// answer is a response to a browser.
type answer struct {
	*httptest.ResponseRecorder
	t    testing.TB
	text string // of the body, without HTML entities
}

// get requests a page by typing its address. change changes the request; it may be nil.
func (b session) get(path string, change func(*http.Request)) answer {
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("Sec-Fetch-Site", "none")
	return b.do(r, change)
}

// post submits a form of a page of the service.
func (b session) post(path string, form url.Values, change func(*http.Request)) answer {
	r := httptest.NewRequest("POST", path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://127.0.0.1:8080")
	return b.do(r, change)
}

func (b session) do(r *http.Request, change func(*http.Request)) answer {
	r.RemoteAddr, r.Host = "127.0.0.1:5", "127.0.0.1:8080"
	r.Header.Set("Accept-Language", "en")
	if b.cookie != nil {
		r.AddCookie(b.cookie)
	}
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	b.site.ServeHTTP(w, r)
	return answer{w, b.t, html.UnescapeString(w.Body.String())}
}

// wants checks the status and that the page contains texts.
func (a answer) wants(status int, texts ...string) answer {
	a.t.Helper()
	if a.Code != status {
		a.t.Errorf("status %d, want %d", a.Code, status)
	}
	for _, text := range texts {
		if !strings.Contains(a.text, text) {
			a.t.Errorf("the page lacks %q: %s", text, a.text)
		}
	}
	return a
}

// lacks checks that the page does not contain texts.
func (a answer) lacks(texts ...string) answer {
	a.t.Helper()
	for _, text := range texts {
		if strings.Contains(a.text, text) {
			a.t.Errorf("the page contains %q", text)
		}
	}
	return a
}

// called checks what was called since the last check.
func (p *pc) called(want ...string) {
	p.t.Helper()
	if !slices.Equal(p.calls, want) {
		p.t.Errorf("called %q, want %q", p.calls, want)
	}
	p.calls = nil
}

// actions are the forms of the page, confirmed.
var actions = map[string]url.Values{
	"confirm": {}, "backup": {}, "folder": {"other": {"/mnt"}}, "key": {}, "recipients": {"recipients": {public}, "confirmed": {"1"}},
	"network": {"allow": {"1"}, "confirmed": {"1"}}, "department": {"name": {"Engine 8"}, "country": {"HR"}},
}

// TestElsewhere attacks settings from other computers, through proxies and from other sites, with the
// session of an admin. Nothing is shown and nothing is changed.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	p := newPC(t, nil)
	b := p.admin("Engine 7")
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, change := range map[string]func(*http.Request){
		"another computer":                    func(r *http.Request) { r.RemoteAddr, r.Host = "192.168.1.9:5", "192.168.1.5:8080" },
		"another computer with a forged host": func(r *http.Request) { r.RemoteAddr = "192.168.1.9:5" },
		"this computer by its address":        func(r *http.Request) { r.RemoteAddr, r.Host = "192.168.1.5:5", "192.168.1.5:8080" },
		"DNS rebinding": func(r *http.Request) {
			r.Host = "evil.example:8080"
			r.Header.Set("Origin", "http://evil.example:8080")
		},
		"a proxy":       set("X-Forwarded-For", "192.168.1.9"),
		"another proxy": set("Via", "1.1 squid"),
		"a tunnel":      set("Cf-Connecting-Ip", "192.0.2.1"),
		"a proxy without a trace": func(r *http.Request) {
			r.Header.Set("Origin", "https://station.example")
			r.Header.Del("Sec-Fetch-Site")
		},
		"another site": func(r *http.Request) {
			r.Header.Set("Origin", "https://evil.example")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		},
		"another port of this computer": func(r *http.Request) {
			r.Header.Set("Origin", "http://127.0.0.1:3000")
			r.Header.Set("Sec-Fetch-Site", "same-site")
		},
		"a program": func(r *http.Request) { r.Header.Del("Origin"); r.Header.Del("Sec-Fetch-Site") },
	} {
		a := b.get("/office/settings", change)
		if a.Code != 403 || !strings.Contains(a.text, "Open Settings on the station PC") {
			t.Errorf("%s: GET: %d", name, a.Code)
		}
		for action, form := range actions {
			if a := b.post("/office/settings/"+action, form, change); a.Code != 403 {
				t.Errorf("%s: %s: %d", name, action, a.Code)
			}
		}
		b.get("/office/access", change).lacks("/office/settings")
	}
	p.called()
}

// TestWhoMaySet checks that settings are open only to admins of the oldest department, and to the
// person who signed in with firefighters open.
func TestWhoMaySet(t *testing.T) {
	t.Parallel()
	p := newPC(t, nil)
	for name, b := range map[string]session{
		"a reader": p.signIn("Engine 7", store.ScopeRead), "a writer": p.signIn("Engine 7",
			store.ScopeWrite), "an admin of another department": p.admin("Ladder 1"),
	} {
		t.Log(name)
		b.get("/office/settings", nil).wants(403, "You are not allowed to do this").lacks("Encrypt the backups")
		for action, form := range actions {
			b.post("/office/settings/"+action, form, nil).wants(403)
		}
		b.get("/office/", nil).lacks("/office/settings")
	}
	none := session{pc: p}
	none.get("/office/settings", nil).wants(303)
	for action, form := range actions {
		none.post("/office/settings/"+action, form, nil).wants(401)
	}
	p.called()
	for _, b := range []session{p.admin("Engine 7"), p.opened(1), p.opened(2)} {
		b.get("/office/access", nil).wants(200, `href="/office/settings"`)
		b.get("/office/settings", nil).wants(200, "Encrypt the backups", "Allow other devices on this network")
	}
}

// TestNoSettings checks that a service without settings has no page for them.
func TestNoSettings(t *testing.T) {
	t.Parallel()
	p := newPC(t, func(s *site.Service) { s.Settings = nil })
	b := p.opened(1)
	b.get("/office/settings", nil).wants(404)
	b.post("/office/settings/network", actions["network"], nil).wants(404)
	b.get("/office/access", nil).wants(200).lacks("/office/settings")
}

// TestSet checks that each form calls its function with the name of the person, and that changes of
// recipients and the network require a confirmation.
func TestSet(t *testing.T) {
	t.Parallel()
	p := newPC(t, nil)
	b := p.admin("Engine 7")
	back := func(a answer, what, notice string) {
		t.Helper()
		to := a.wants(303).Header().Get("Location")
		if to != "/office/settings?set="+what {
			t.Errorf("%s leads to %s", what, to)
		}
		b.get(to, nil).wants(200, notice)
	}
	back(b.post("/office/settings/backup", nil, nil), "backup", "The backup is done")
	back(b.post("/office/settings/folder", url.Values{"folder": {"/media/usb"}, "other": {"/old"}, "was": {"/old"}}, nil), "folder",
		"The next backups go to the new place")
	back(b.post("/office/settings/folder", url.Values{"folder": {""}, "other": {" /mnt/b "}}, nil), "folder", "")
	back(b.post("/office/settings/folder", url.Values{"folder": {"/media/usb"}, "other": {"/mnt/c"}, "was": {"/old"}}, nil), "folder", "")
	back(b.post("/office/settings/folder", url.Values{"folder": {"/media/usb"}, "other": {""}, "was": {"/old"}}, nil), "folder", "")
	back(b.post("/office/settings/folder", url.Values{"folder": {""}, "other": {""}, "was": {"/old"}}, nil), "folder", "")
	p.called("backup", "Ana folder /media/usb/firefighters", "Ana folder /mnt/b/firefighters", "Ana folder /mnt/c/firefighters",
		"Ana folder /media/usb/firefighters", "Ana folder ")

	b.post("/office/settings/network", url.Values{"allow": {"1"}}, nil).wants(200, "Allow other devices?", "port 8443", "Confirm")
	b.post("/office/settings/network", nil, nil).wants(200, "Stop allowing other devices?")
	b.post("/office/settings/recipients", url.Values{"recipients": {public}}, nil).wants(200, "Encrypt the backups?", public)
	b.post("/office/settings/recipients", nil, nil).wants(200, "Stop encrypting the backups?")
	p.called()
	back(b.post("/office/settings/network", actions["network"], nil), "network", "The access of other devices was changed")
	back(b.post("/office/settings/network", url.Values{"confirmed": {"1"}}, nil), "network", "")
	back(b.post("/office/settings/recipients", actions["recipients"], nil), "recipients", "The encryption of backups was changed")
	back(b.post("/office/settings/recipients", url.Values{"confirmed": {"1"}}, nil), "recipients", "")
	p.state.Unconfirmed, p.state.Network.Value, p.state.Folder.Value = true, true, "/mnt/d"
	b.get("/office/settings", nil).wants(200, "Are these settings right for this PC?", "Other devices allowed", "Place of the backups: /mnt/d",
		"Allow other devices on this network").lacks("Stop allowing")
	back(b.post("/office/settings/confirm", nil, nil), "confirmed", "")
	p.called("Ana network on", "Ana network off", "Ana recipients 1", "Ana recipients 0", "Ana confirmed ")
	if s, err := p.store.Settings(); err != nil || s.Network || len(s.Recipients) > 0 || s.Folder != "" || s.Machine != osutil.Machine() {
		t.Errorf("the settings are %+v, %v", s, err)
	}

	back(b.post("/office/settings/department", actions["department"], nil), "department", "Engine 8")
	back(b.post("/office/settings/department", actions["department"], nil), "department", "HR")
	p.called()
	b.post("/office/settings/department", url.Values{"name": {"Ladder 1"}}, nil).wants(409, "Another department has this name")
	b.post("/office/settings/department", url.Values{"name": {" "}, "country": {"DE"}}, nil).wants(422, "Please enter a name.",
		`value="DE" selected`)
	sameOrigin := func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") }
	for form, fields := range map[string]url.Values{"department-form": {"name": {"typed"}}, "folder-form": {"other": {"typed"}},
		"recipients-form": {"recipients": {"typed"}}} {
		again := "/office/language?form=" + form + "&next=%2Foffice%2Fsettings"
		b.get("/office/settings", nil).wants(200, again, `id="`+form+`"`)
		b.post(again, fields, sameOrigin).wants(200, `value="typed"`)
	}
	b.post("/office/settings/department", url.Values{"name": {"Engine 8"}, "country": {"XX"}}, nil).wants(400)
	p.called()
}

// TestKeyPair checks that a new secret key is shown once and stored nowhere, and that the secret key
// is never accepted as a recipient.
func TestKeyPair(t *testing.T) {
	t.Parallel()
	p := newPC(t, nil)
	b := p.admin("Engine 7")
	a := b.post("/office/settings/key", nil, nil).wants(200, "Print this private key", "is stored nowhere")
	secret := regexp.MustCompile(`AGE-SECRET-KEY-1\w+`).FindString(a.text)
	recipient := regexp.MustCompile(`value="(age1\w+)"`).FindStringSubmatch(a.text)
	if secret == "" || len(recipient) != 2 || a.Header().Get("Location") != "" {
		t.Fatal(a.text)
	}
	b.get("/office/settings", nil).lacks(secret)
	p.called()
	b.post("/office/settings/recipients", url.Values{"recipients": {recipient[1]}, "confirmed": {"1"}}, nil).wants(303)
	p.called("Ana recipients 1")
	if s, err := p.store.Settings(); err != nil || !slices.Equal(s.Recipients, recipient[1:]) {
		t.Errorf("the settings are %+v, %v", s, err)
	}
	for _, confirmed := range []string{"", "1"} {
		b.post("/office/settings/recipients", url.Values{"recipients": {secret}, "confirmed": {confirmed}}, nil).wants(422,
			"This is the private key").lacks(secret)
		b.post("/office/settings/recipients", url.Values{"recipients": {`x"<b>`}, "confirmed": {confirmed}}, nil).wants(422,
			"This is not a public key")
	}
	p.called()
}

// TestFaults checks that the page names the fault of a folder, with a command where one helps, and
// keeps the text that was typed.
func TestFaults(t *testing.T) {
	t.Parallel()
	p := newPC(t, nil)
	b := p.admin("Engine 7")
	for _, err := range []error{backup.ErrRelative, backup.ErrNetwork, backup.ErrHidden, backup.ErrAtDatabase, backup.ErrNoFolder,
		backup.ErrNotFolder,
		backup.ErrUnwritable, backup.ErrAway, sqlite.ErrFull, errors.New("secret path")} {
		p.err = err
		a := b.post("/office/settings/folder", url.Values{"other": {`/mnt/<my> "b"`}}, nil).wants(422, `value="/mnt/<my> "b"`).
			lacks(`<my>"`, "secret path")
		command := errors.Is(err, backup.ErrUnwritable)
		if strings.Contains(a.text, "service install --backup-dir '/mnt/<my> \"b\"/firefighters'") != command {
			t.Errorf("%v: %s", err, a.text)
		}
		if command && !strings.Contains(a.text, `id="place" data-watch`) {
			t.Errorf("%v: the page does not watch for the command", err)
		}
	}
	p.state.Folder.Fixed, p.state.Recipients.Fixed, p.state.Network.Fixed, p.state.Dir = true, true, true, ""
	p.calls = nil
	for action, form := range actions {
		if action != "department" && action != "confirm" {
			if to := b.post("/office/settings/"+action, form, nil).wants(303).Header().Get("Location"); to != "/office/settings" {
				t.Errorf("%s, which a flag sets, leads to %s", action, to)
			}
		}
	}
	p.called()
}

// TestBackUpFails checks that the page names what prevents a backup, in a sentence.
func TestBackUpFails(t *testing.T) {
	t.Parallel()
	p := newPC(t, nil)
	b := p.admin("Engine 7")
	for text, err := range map[string]error{
		"503 The backup disk is not connected.": &backup.Error{Op: backup.OpMake, Path: "secret path", Err: backup.ErrAway},
		"503 Backups cannot be written":         &backup.Error{Op: backup.OpWrite, Path: "secret path", Err: backup.ErrUnwritable},
		"507 The backup disk is full.":          &backup.RoomError{Folder: "secret path"},
		"500 The last backup failed.":           errors.New("secret path"),
	} {
		p.err = err
		status, _ := strconv.Atoi(text[:3])
		b.post("/office/settings/backup", nil, nil).wants(status, `role="alert"`, text[4:]).lacks("secret path", "Please check")
	}
	p.err = context.DeadlineExceeded
	if to := b.post("/office/settings/backup", nil, nil).wants(303).Header().Get("Location"); to != "/office/settings?set=running" {
		t.Errorf("a long backup leads to %s", to)
	}
}

// TestReadOnly checks that a service that was started by hand shows its flags without forms, and that
// a demo has only disabled ones.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	p := newPC(t, func(s *site.Service) { s.Installed = false })
	p.state.Dir, p.state.Folder.Fixed, p.state.Network.Fixed = "/mnt/b", true, true
	p.state.Recipients = site.Setting[[]string]{Value: []string{public}, Fixed: true}
	b := p.admin("Engine 7")
	b.get("/office/settings", nil).wants(200, "started by hand", "/mnt/b", "Back up now").
		wants(200, public, "--listen 0.0.0.0:8443").lacks("/office/settings/folder", "/office/settings/recipients",
		"/office/settings/network", "/office/settings/key", "/office/settings/restore")
	for action, form := range actions {
		if action != "backup" && action != "department" {
			b.post("/office/settings/"+action, form, nil).wants(403)
		}
	}
	p.called()

	p = newPC(t, func(s *site.Service) {
		s.Installed, s.Invented = false, true
		*s.Settings = site.Settings{Folder: site.Setting[string]{Fixed: true},
			Recipients: site.Setting[[]string]{Fixed: true}, Network: site.Setting[bool]{Fixed: true}}
	})
	b = p.admin("Engine 7")
	b.get("/office/settings", nil).wants(200, `<fieldset class="settings" disabled>`, "Allow other devices on this network")
	for action, form := range actions {
		b.post("/office/settings/"+action, form, nil).wants(403)
	}
}

// TestAdvice checks that other pages lead to the settings where they can be used, explain where they
// are elsewhere, and name a command if there are none.
func TestAdvice(t *testing.T) {
	t.Parallel()
	p := newPC(t, nil)
	b := p.admin("Engine 7")
	for page, section := range map[string]string{"/office/access": "backups", "/office/": "backups", "/office/phones": "network"} {
		b.get(page, nil).wants(200, `<a href="/office/settings#`+section+`">Open Settings</a>`).lacks("firefighters service")
		b.get(page, func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.168.1.9") }).
			wants(200, "On the station PC, press Access, then Settings.").lacks("/office/settings", "firefighters service")
	}
	p = newPC(t, func(s *site.Service) { s.Settings = nil })
	p.admin("Engine 7").get("/office/phones", nil).wants(200, "<code>"+managers.AdminCommand("service", "install", "--listen"),
		"<code>"+managers.AdminCommand("service", "backup-disk"))

	p = newPC(t, nil) // a flag of the installation, which the page cannot change
	p.state.Network.Fixed = true
	b = p.admin("Engine 7")
	for _, page := range []string{"/office/phones", "/office/settings"} {
		b.get(page, nil).wants(200, "<code>"+managers.AdminCommand("service", "install", "--listen"))
	}
}

// TestState checks what the page shows: flags of the installation, other devices, trouble, changes.
func TestState(t *testing.T) {
	t.Parallel()
	last := (*time.Time)(nil)
	p := newPC(t, func(s *site.Service) { s.Backups = func() backup.State { return backup.State{Last: last} } })
	b := p.admin("Engine 7")
	b.get("/office/settings", nil).wants(200, "<dd>none</dd>")
	p.state.Dir, p.state.Folder.Fixed, p.state.Recipients.Value = "/mnt/b", true, []string{public}
	p.state.Network = site.Setting[bool]{Value: true, Fixed: true}
	must(t, p.store.SetAddress("https://127.0.0.1:8443")) // without a network
	b.get("/office/settings", nil).wants(200, "does not reach itself at https://127.0.0.1:8443").lacks("<svg")
	must(t, p.store.SetAddress("https://0.0.0.0:1"))
	for _, c := range []store.SettingChange{{Who: "Eva <b>", What: "network", Value: "on"}, {Who: "Eva", What: "recipients", Value: "2"},
		{Who: "Eva", What: "recipients", Value: "0"}, {Who: "Eva", What: "folder"}, {Who: "Eva", What: "confirmed"},
		{Who: "Eva", What: "country", Value: "HR"}, {Who: "Eva", What: "restored", Value: "x.db"}} {
		must(t, p.service.LogSetting(c))
	}
	b.get("/office/settings", nil).wants(200, "set when the service was installed", "https://0.0.0.0:1/office/", "<svg",
		"does not reach itself", public,
		"Other devices allowed", "Eva <b>", "Backups encrypted, public keys: 2", "Backups no longer encrypted",
		"Backups in the folder of the program",
		"Settings confirmed for this PC", "Country: HR", "Backup restored: x.db").lacks("/office/settings/folder", "Stop allowing")
	if body := b.get("/office/settings", nil).Body.String(); strings.Contains(body, "Eva <b>") {
		t.Error("a name is HTML")
	}
	last = new(time.Now().AddDate(0, 0, -3))
	b.get("/office/settings", nil).wants(200, "(3 days ago)")
	p.state.Network.Fixed, p.state.Trouble = false, httpserver.ErrPortTaken
	b.get("/office/settings", nil).wants(200, "port 8443 of this PC is used by", "Stop allowing other devices").lacks("https://")
}
