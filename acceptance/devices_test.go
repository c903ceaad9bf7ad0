package acceptance

import (
	"fmt"
	"strings"
	"testing"
)

// looks checks the status, and for a problem the code, of a device's request to the address
// book.
func (s *testService) looks(t *testing.T, key string, want int, code string) {
	t.Helper()
	a := s.device(key).send(t, "PROPFIND", davRoot, "", "Depth", "0").wants(t, want)
	if code != "" && a.problem(t).Code != code {
		t.Errorf("got %s, want %s", a.body, code)
	}
}

// TestDeviceLog checks that the log contains no key and no entry for a device that requests
// the challenge, and that the last use of devices is saved.
func TestDeviceLog(t *testing.T) {
	t.Parallel()
	s := start(t)
	phone, calendar := newKey(t, s.db, "default", "--scope", "phone"), newKey(t, s.db, "default", "--scope", "calendar")
	s.looks(t, "", 401, "key_missing")
	s.looks(t, phone, 207, "")
	s.looks(t, "wrong", 401, "key_unknown")
	s.device("").send(t, "GET", birthdaysPath+calendar, "").wants(t, 200)
	s.stop(t)
	if log := s.stderr.String(); !strings.Contains(log, `"code":"key_unknown"}`) || strings.Contains(log, "key_missing") || strings.Contains(log, phone) || strings.Contains(log, calendar) {
		t.Errorf("the log has:\n%s", log)
	}
	if got := dump(t, s.db, `SELECT last_used_at >= created_at FROM keys WHERE scope IN ('phone', 'calendar')`); got != "[1]\n[1]\n" {
		t.Errorf("the last uses are saved as\n%s", got)
	}
}

// TestDeviceKeysInAPI checks that no operation of the API accepts the key of a device.
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

// TestWrongDeviceKeys checks that an address must wait after ten different invalid keys in a
// minute, but a phone with a known key need not.
func TestWrongDeviceKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	phone, revoked := newKey(t, s.db, "default", "--scope", "phone"), newKey(t, s.db, "default", "--scope", "phone")
	works(t, "keys", "revoke", "3", "--db", s.db)
	s.as(revoked).refused(t, "revoked")
	s.looks(t, phone, 207, "")
	s.looks(t, revoked, 401, "key_revoked")
	for i := range 10 {
		for range 3 {
			s.looks(t, fmt.Sprint("wrong", i%9), 401, "key_unknown")
			s.looks(t, revoked, 401, "key_revoked")
		}
	}
	s.looks(t, "wrong9", 401, "key_unknown")
	s.looks(t, "wrong10", 429, "rate_limit")
	s.looks(t, "wrong0", 429, "rate_limit")
	s.looks(t, phone, 207, "")
	s.looks(t, revoked, 401, "key_revoked")
	s.looks(t, "", 401, "key_missing")
	s.do(t, "GET", collection, "").wants(t, 200)
	s.signIn(t, s.key, "en").lets(t) // the page has a separate limit
}
