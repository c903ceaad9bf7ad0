package acceptance

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// look asks for the address book as a device does that has a key, and returns the status
// and the body.
func look(t *testing.T, base, key string) (status int, body string) {
	t.Helper()
	password := &http.Request{Header: http.Header{}}
	if key != "" {
		password.SetBasicAuth("phone", key)
	}
	return ask(t, "PROPFIND", base+"/dav/", password.Header.Get("Authorization"))
}

// ask sends a request, and returns the status and the body of its answer.
func ask(t *testing.T, method, address, authorization string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequest(method, address, nil)
	must(t, err)
	r.Header.Set("Depth", "0")
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	response, err := http.DefaultClient.Do(r)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	challenge := `Basic realm="Firefighters", charset="UTF-8"` // a device asks for a password then
	if got := response.Header.Get("WWW-Authenticate"); (got == challenge) != (response.StatusCode == 401 && r.URL.RawQuery == "") {
		t.Errorf("%d with the challenge %q", response.StatusCode, got)
	}
	if wait := response.Header.Get("Retry-After"); (wait != "") != (response.StatusCode == 429) {
		t.Errorf("%d with Retry-After: %q", response.StatusCode, wait)
	}
	return response.StatusCode, string(text)
}

// looks fails unless a device is answered with a status and, for a problem, with a code.
func looks(t *testing.T, base, key string, want int, code string) {
	t.Helper()
	if status, body := look(t, base, key); status != want || !strings.Contains(body, `"code":"`+code+`"`) && code != "" {
		t.Errorf("%d, not %d %s: %s", status, want, code, body)
	}
}

// TestDeviceKeys: the key of a phone opens the address book alone, that of a calendar not
// even that. Neither signs in, and both end when they are revoked. The log has no key, and
// does not say that a device asked for the challenge.
func TestDeviceKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	phone := newKey(t, s.db, "default", "--scope", "phone", "--label", "Ana's phone")
	calendar := newKey(t, s.db, "default", "--scope", "calendar")
	looks(t, s.url, "", 401, "key_missing")
	looks(t, s.url, s.key, 207, "")
	looks(t, s.url, phone, 207, "")
	looks(t, s.url, calendar, 403, "scope")
	looks(t, s.url, "wrong", 401, "key_unknown")
	for key, want := range map[string]int{calendar: 200, phone: 403, s.key: 403, "wrong": 401} {
		if status, body := ask(t, "GET", s.url+"/dav/birthdays.ics?key="+key, ""); status != want {
			t.Errorf("the calendar: %d, not %d: %s", status, want, body)
		}
	}
	for key, what := range map[string]string{phone: "address book", calendar: "birthdays"} {
		if status, body := ask(t, "GET", s.url+collection, "Bearer "+key); status != 403 || !strings.Contains(body, `"code":"scope"`) || !strings.Contains(body, what) {
			t.Errorf("%d: %s", status, body)
		}
		s.browser(t, "en").post(t, "/office/sign-in", url.Values{"key": {key}}).wants(t, 403)
	}
	works(t, "keys", "revoke", "2", "--db", s.db)
	eventually(t, "the phone to be refused", func() bool { status, _ := look(t, s.url, phone); return status == 401 })
	looks(t, s.url, phone, 401, "key_revoked")
	s.stop(t)
	if log := s.stderr.String(); !strings.Contains(log, `"code":"key_revoked"}`) || strings.Contains(log, "key_missing") || strings.Contains(log, phone) || strings.Contains(log, calendar) {
		t.Errorf("the log has:\n%s", log)
	}
	if got := dump(t, s.db, `SELECT last_used_at >= created_at FROM keys WHERE scope IN ('phone', 'calendar')`); got != "[1]\n[1]\n" {
		t.Errorf("the last looks are noted as\n%s", got)
	}
}

// TestDeviceKeysInAPI: no operation takes them, and the document says so of each.
func TestDeviceKeysInAPI(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	for _, scope := range []string{"phone", "calendar"} {
		key := newKey(t, s.db, "default", "--scope", scope)
		for _, r := range routes() {
			if r.public {
				continue
			}
			path := strings.NewReplacer(":id", id, ":number", "1").Replace(r.path)
			if p := s.as(key).do(t, r.method, path, "{}").wants(t, 403).problem(t); p.Code != "scope" {
				t.Errorf("%s %s: %s", r.method, path, p.Code)
			}
		}
	}
	s.do(t, "GET", collection+"/"+id, "").wants(t, 200)
}

// TestWrongDeviceKeys: after ten different wrong ones in a minute an address has to wait,
// but no phone that is known.
func TestWrongDeviceKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	phone, revoked := newKey(t, s.db, "default", "--scope", "phone"), newKey(t, s.db, "default", "--scope", "phone")
	works(t, "keys", "revoke", "3", "--db", s.db)
	s.as(revoked).refused(t, "revoked")
	looks(t, s.url, phone, 207, "")
	looks(t, s.url, revoked, 401, "key_revoked")
	for i := range 10 {
		for range 3 {
			looks(t, s.url, fmt.Sprint("wrong", i%9), 401, "key_unknown")
			looks(t, s.url, revoked, 401, "key_revoked")
		}
	}
	looks(t, s.url, "wrong9", 401, "key_unknown")
	looks(t, s.url, "wrong10", 429, "rate_limit")
	looks(t, s.url, "wrong0", 429, "rate_limit")
	looks(t, s.url, phone, 207, "")
	looks(t, s.url, revoked, 401, "key_revoked")
	looks(t, s.url, "", 401, "key_missing")
	s.do(t, "GET", collection, "").wants(t, 200)
	s.signIn(t, s.key, "en").lets(t) // the page counts its own
}

// TestRestoredDeviceKeys: a phone that was revoked after the backup stays out.
func TestRestoredDeviceKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	kept, revoked := newKey(t, s.db, "default", "--scope", "phone"), newKey(t, s.db, "default", "--scope", "phone", "--birthdays")
	saved := filepath.Join(t.TempDir(), "saved.db")
	works(t, "backup", saved, "--db", s.db)
	works(t, "keys", "revoke", "3", "--db", s.db)
	later := newKey(t, s.db, "default", "--scope", "phone")
	s.stop(t)
	if _, stderr := works(t, "restore", saved, "--db", s.db); !strings.Contains(stderr, "Keys that were revoked since the backup and stay revoked: 1.") {
		t.Errorf("restore: %s", stderr)
	}
	s = startOn(t, s.db)
	looks(t, s.url, kept, 207, "")
	looks(t, s.url, revoked, 401, "key_revoked")
	looks(t, s.url, later, 401, "key_unknown")
}
