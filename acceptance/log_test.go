package acceptance

import (
	"encoding/json"
	"strings"
	"testing"
)

// breakUpdates makes each PUT of a record fail with an internal error.
func breakUpdates(t *testing.T, db string) {
	t.Helper()
	execSQL(t, db, `CREATE TRIGGER fails BEFORE UPDATE ON firefighters BEGIN SELECT RAISE(ABORT, 'no'); END`)
}

// TestRefusedKeys checks that the log counts all requests without a valid key, by address and
// reason.
func TestRefusedKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	revoked := newKey(t, s.db, "default")
	s.as(revoked).list(t, "")
	works(t, "keys", "revoke", "2", "--db", s.db)
	s.as(revoked).refused(t, "revoked")
	s.logs(t, `"address":"127.0.0.1","count":1,"code":"key_revoked"}`)
	expired := newKey(t, s.db, "default", "--expires", "1h")
	execSQL(t, s.db, `UPDATE keys SET expires_at = 1 WHERE id = 3`)
	s.as(expired).refused(t, "expired")
	s.logs(t, `"code":"key_expired"}`)
	for range 50 {
		s.as("").do(t, "GET", collection, "").wants(t, 401)
	}
	s.logs(t, `"code":"key_missing"}`)
	for range 20 {
		s.as("ff_wrong").do(t, "GET", collection, "").wants(t, 401)
	}
	s.as("").do(t, "GET", "/healthz", "").wants(t, 200)
	s.do(t, "GET", collection+"/"+nobody, "").wants(t, 404)
	s.stop(t)
	log, total := s.stderr.String(), 0
	for line := range strings.Lines(log) {
		var entry struct {
			Msg   string
			Count int
		}
		if json.Unmarshal([]byte(line), &entry); entry.Msg == "requests were refused" {
			total += entry.Count
		}
	}
	if total != 72 || !strings.HasSuffix(log, `"code":"key_unknown"}`+"\n") {
		t.Errorf("%d rejected requests in the log:\n%s", total, log)
	}
}
