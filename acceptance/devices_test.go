package acceptance

import (
	"fmt"
	"strings"
	"testing"
)

// looks fails unless the address book answers a device with a status and, for a problem, with a code.
func (s *testService) looks(t *testing.T, key string, want int, code string) {
	t.Helper()
	a := s.device(key).send(t, "PROPFIND", davRoot, "", "Depth", "0").wants(t, want)
	if code != "" && a.problem(t).Code != code {
		t.Errorf("%s, not %s", a.body, code)
	}
}

// TestDeviceLog: the log has no key, and nothing about a device that asks for the challenge. The
// last looks of devices are noted.
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
	s.signIn(t, s.key, "en").lets(t) // the page counts its own
}
