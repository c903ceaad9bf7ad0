package acceptance

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/people/demo"
)

var (
	invitationForm = regexp.MustCompile(`(https?://\S+)/office/sign-in#code=((?:[0-9A-Z]{4}-){2}[0-9A-Z]{4})\n`)
	codeForm       = regexp.MustCompile(`(?m)^Code: (\S+)$`)
)

// useCode sends a code like the form of the page.
func (c client) useCode(t *testing.T, code string) *webPage {
	t.Helper()
	return c.browser(t, "en").post(t, "/office/sign-in", url.Values{"key": {code}})
}

// letsIn checks that a code opens the page, and returns the cookie.
func (c client) letsIn(t *testing.T, code string) *http.Cookie {
	t.Helper()
	p := c.useCode(t, code).wants(t, http.StatusSeeOther)
	cookies := (&http.Response{Header: p.header}).Cookies()
	if len(cookies) != 1 || p.header.Get("Location") != "/office/" {
		t.Fatalf("%s redirects to %q with %v", code, p.header.Get("Location"), cookies)
	}
	p.browser.get(t, "/office/").wants(t, http.StatusOK)
	return cookies[0]
}

// inviteAna invites Ana to a department and returns her code.
func inviteAna(t *testing.T, db, tenant string, flags ...string) (code string) {
	t.Helper()
	stdout, _ := works(t, append([]string{"invite", "--db", db, "--tenant", tenant, "--name", "Ana Čović"}, flags...)...)
	found := codeForm.FindStringSubmatch(stdout)
	if found == nil {
		t.Fatalf("stdout %q", stdout)
	}
	return found[1]
}

// TestInvite checks that an invitation lets a person sign in once.
func TestInvite(t *testing.T) {
	t.Parallel()
	s := start(t)
	stdout, stderr := works(t, "invite", "--db", s.db, "--tenant", " default ", "--name", " Ana Čović ")
	link := invitationForm.FindStringSubmatch(stdout)
	if link == nil || link[1] != s.url || stdout != "Link: "+link[0]+"Code: "+link[2]+"\n" {
		t.Fatalf("stdout %q", stdout)
	}
	if want := fmt.Sprintf("One of them works, once, within 15 minutes. Open the link, or type the code at %s/office/\n"+
		"Note: the link works only on this computer, because the server listens on 127.0.0.1\n", s.url); stderr != want {
		t.Errorf("stderr:\n%swant:\n%s", stderr, want)
	}
	cookie := s.letsIn(t, link[2])
	s.useCode(t, link[2]).wants(t, http.StatusForbidden)
	s.as(cookie.Value).do(t, "GET", collection, "").wants(t, 401)
	for scope, typed := range map[string]func(string) string{
		"read":  strings.ToLower,
		"write": func(code string) string { return " " + strings.ReplaceAll(code, "-", "") },
		"admin": func(code string) string { return strings.ReplaceAll(code, "-", " ") },
	} {
		s.letsIn(t, typed(inviteAna(t, s.db, "default", "--scope", scope)))
		list, _ := works(t, "keys", "list", "--db", s.db)
		if !regexp.MustCompile(`(?m)^\d+ +active +` + scope + ` .* default +Ana Čović$`).MatchString(list) {
			t.Errorf("%s: the keys are\n%s", scope, list)
		}
	}
	if list, _ := works(t, "keys", "list", "--db", s.db); strings.Count(list, "Ana Čović") != 4 {
		t.Errorf("the keys are\n%s", list)
	}
}

// TestInviteRefusals checks that no invitation is created without a department or for an
// unknown one.
func TestInviteRefusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	absent, empty := filepath.Join(t.TempDir(), "absent.db"), filepath.Join(t.TempDir(), "empty.db")
	makeDatabase(t, empty)
	fails := func(exit int, want, db string, flags ...string) {
		t.Helper()
		for _, command := range [][]string{{"invite", "--name", "Ana"}, {"open"}} {
			code, stdout, stderr := runCommand(t, slices.Concat(command, []string{"--db", db}, flags)...)
			if code != exit || stdout != "" || !strings.HasPrefix(stderr, "Error: "+want) || !strings.Contains(stderr, "\nTry: ") {
				t.Errorf("%s: code %d, stdout %q, stderr %q", command[0], code, stdout, stderr)
			}
		}
	}
	fails(1, "there is no department \"nowhere\"\n", s.db, "--department", "nowhere")
	fails(1, "there is no database", absent)
	fails(1, "the database has no department\n", empty)
	var count int
	if scanSQL(t, s.db, `SELECT count(*) FROM invitations`, &count); count != 1 {
		t.Errorf("%d invitations, want only the one of the first start", count)
	}
	newKey(t, s.db, "Engine 7")
	fails(2, "the database has 2 departments\n", s.db)
}

// TestInvitationExpires checks that a code is valid for fifteen minutes by the service's clock.
func TestInvitationExpires(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	newKey(t, db, "default")
	early, late := inviteAna(t, db, "default"), inviteAna(t, db, "default")
	var created, expires int64
	scanSQL(t, db, `SELECT max(created_at), max(expires_at) FROM invitations`, &created, &expires)
	if lifetime := time.Duration(expires-created) * time.Millisecond; lifetime != 15*time.Minute {
		t.Errorf("the code is valid for %v", lifetime)
	}
	execSQL(t, db, `UPDATE service SET latest_time = ?`, expires-time.Minute.Milliseconds())
	s := startOn(t, db)
	s.letsIn(t, early)
	s.stop(t)
	execSQL(t, db, `UPDATE service SET latest_time = ?`, expires)
	startOn(t, db).useCode(t, late).wants(t, http.StatusForbidden)
}

// TestInvitationIsAHash checks that the code is in no file of the database, also while the
// invitation is valid. The service is a separate process, because reading a database file would
// release the locks of this process on it.
func TestInvitationIsAHash(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	cmd, output := process(t, "--db", db, "--listen", "127.0.0.1:0")
	c := startedProcess(t, cmd)
	printed, typed := invitationForm.FindStringSubmatch(output.String())[2], ""
	command, text := process(t, "invite", "--db", db, "--tenant", "default", "--name", "Ana")
	must(t, command.Run())
	typed = invitationForm.FindStringSubmatch(text.String())[2]
	search := func(when string) {
		t.Helper()
		for _, name := range namesIn(t, filepath.Dir(db)) {
			content, err := os.ReadFile(filepath.Join(filepath.Dir(db), name))
			if err != nil && runtime.GOOS != "windows" { // Windows locks files in use
				t.Error(err)
			}
			for _, code := range []string{printed, typed} {
				if upper := bytes.ToUpper(content); bytes.Contains(upper, []byte(code)) || bytes.Contains(upper, []byte(strings.ReplaceAll(code, "-", ""))) {
					t.Errorf("%s: the code is in %s", when, name)
				}
			}
		}
	}
	search("open")
	c.letsIn(t, typed)
	search("used")
	must(t, cmd.Process.Kill())
	cmd.Wait()
	search("killed")
	if strings.Count(output.String(), printed) != 1 || strings.Contains(output.String(), typed) {
		t.Errorf("the output has a code:\n%s", output)
	}
}

// TestInviteWithoutLink checks that invite prints a code without a link if no service is running
// or if it runs without the page. A killed service counts as not running.
func TestInviteWithoutLink(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	newKey(t, db, "default")
	none := "no server is running on this database\nTry: firefighters serve --db " + db + "\n"
	const noPage = "the server runs without the office page (--no-office), or is not ready yet\nTry: wait a moment, or start it without --no-office\n"
	without := func(when, want string) {
		t.Helper()
		stdout, stderr := works(t, "invite", "--db", db, "--tenant", "default", "--name", "Ana")
		if !codeForm.MatchString(stdout) || strings.Count(stdout, "\n") != 1 || stderr != "The code works once, within 15 minutes. "+
			"Type it on the page of the server, at /office/\nNote: there is no link, because "+want {
			t.Errorf("%s: stdout %q, stderr:\n%s", when, stdout, stderr)
		}
		refuses(t, 1, "Error: "+want, "open", "--db", db)
	}
	with := func(when, address string) {
		t.Helper()
		stdout, _ := works(t, "invite", "--db", db, "--tenant", "default", "--name", "Ana")
		if link := invitationForm.FindStringSubmatch(stdout); link == nil || link[1] != address {
			t.Errorf("%s: stdout %q", when, stdout)
		}
	}
	without("before the first start", none)
	s := startOn(t, db)
	with("served", s.url)
	s.stop(t)
	without("stopped", none)
	cmd, c := startProcess(t, db)
	with("served by another process", c.url)
	must(t, cmd.Process.Kill())
	cmd.Wait()
	without("killed", none)
	bare := startWith(t, db, "serve", "--db", db, "--no-office")
	without("without the page", noPage)
	bare.stop(t)
	execSQL(t, db, `UPDATE service SET address = ?`, c.url) // as after a kill
	release, err := backup.Lock(db)                         // like a starting service
	must(t, err)
	without("starting", noPage)
	must(t, release())
}

// TestFirstLink checks that the first start and each demo print a link above the curl command,
// and that the link signs the person in with the scope admin.
func TestFirstLink(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*testService{"default": start(t), demo.In("en").Department(0): startDemo(t, "3")} {
		out := s.stdout.String()
		link := invitationForm.FindStringSubmatch(out)
		if link == nil || link[1] != s.url || strings.Index(out, link[0]) > strings.Index(out, "curl") ||
			!strings.Contains(out, "\nOpen this in your browser within 15 minutes, and press the button:\n\n  "+link[0]+"\n") {
			t.Fatalf("%s: stdout:\n%s", name, out)
		}
		s.letsIn(t, link[2])
		s.useCode(t, link[2]).wants(t, http.StatusForbidden)
		keys, _ := works(t, "keys", "list", "--db", s.db, "--tenant", name)
		if !regexp.MustCompile(`(?m)^2 +active +admin .* \S+$`).MatchString(keys) {
			t.Errorf("%s: the keys are\n%s", name, keys)
		}
	}
}

// TestNoOffice checks that --no-office removes all addresses of the page and all links to it.
func TestNoOffice(t *testing.T) {
	t.Parallel()
	s, bare := start(t), start(t, "--no-office")
	for _, path := range []string{"/", "/office", "/office/", "/office/sign-in", "/office/people/new", "/office/assets/office.css"} {
		if p := bare.do(t, "GET", path, "", "Accept", "text/html").wants(t, 404).problem(t); p.Code != "path" {
			t.Errorf("%s: code %q", path, p.Code)
		}
	}
	bare.do(t, "POST", "/office/sign-in", "key=x", "Content-Type", "application/x-www-form-urlencoded").wants(t, 404)
	if out := bare.stdout.String(); strings.Contains(out, "/office") || strings.Contains(out, "browser") {
		t.Errorf("stdout:\n%s", out)
	}
	for _, path := range []string{"/", "/office"} {
		for _, accept := range []string{"text/html", "text/html,application/xhtml+xml,*/*;q=0.8"} {
			p, err := s.browser(t, "en").trySend(t, http.MethodGet, path, nil, []string{"Accept", accept})
			must(t, err)
			if to := p.wants(t, http.StatusSeeOther).header.Get("Location"); to != "/office/" {
				t.Errorf("%s redirects to %q", path, to)
			}
		}
	}
	for _, accept := range []string{"", "*/*", "application/json"} {
		s.do(t, "GET", "/", "", "Accept", accept).wants(t, 404)
	}
	s.do(t, "POST", "/", "", "Accept", "text/html").wants(t, 405)
}
