package acceptance

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"modernc.org/sqlite"
)

// TestSetBack replaces a served database by an earlier state with SQLite's backup API, like the command
// .restore of sqlite3. It checks that no later write is acknowledged, that revoked keys stay invalid,
// and that a start without the lost records needs --new.
func TestSetBack(t *testing.T) {
	t.Parallel()
	for name, clients := range map[string]int{"idle": 0, "under load": 8} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, old := filepath.Join(t.TempDir(), "x.db"), filepath.Join(t.TempDir(), "old.db")
			revoked := newKey(t, db, "default")
			works(t, "backup", old, "--db", db)
			works(t, "keys", "revoke", "1", "--db", db)
			cmd, output := process(t, "--db", db, "--listen", "127.0.0.1:0")
			s := startedProcess(t, cmd).as(newKey(t, db, "default"))
			s.create(t, ana)
			var working sync.WaitGroup
			for range clients {
				working.Go(func() {
					failed := false
					for range 200 {
						switch status := s.do(t, "POST", collection, ana).status; {
						case status == http.StatusServiceUnavailable && failed:
							return
						case status == http.StatusServiceUnavailable:
							failed = true
						case failed:
							t.Errorf("status %d after a failed write", status)
						}
					}
				})
			}
			must(t, setBack(db, old))
			if a := s.do(t, "POST", collection, ana); a.status != http.StatusServiceUnavailable {
				t.Errorf("a write after the replacement: %d %s", a.status, a.body)
			}
			working.Wait()
			if a := s.as(revoked).do(t, "GET", collection, ""); a.status != http.StatusServiceUnavailable && a.status != http.StatusUnauthorized {
				t.Errorf("a revoked key: %d %s", a.status, a.body)
			}
			s.do(t, "GET", "/readyz", "").wants(t, http.StatusServiceUnavailable)
			must(t, interrupt(cmd.Process))
			if cmd.Wait() == nil || !strings.Contains(output.String(), "an earlier state of the database") || !strings.Contains(output.String(), ": firefighters restore ") {
				t.Errorf("output: %s", output)
			}
			if code, _, stderr := runCommand(t, "serve", "--db", db, "--listen", "127.0.0.1:0"); code != 1 || !strings.Contains(stderr, "has not been restored") {
				t.Errorf("a start: %d %s", code, stderr)
			}
			startWith(t, db, "serve", "--new", "--db", db).as(revoked).do(t, "GET", collection, "").wants(t, http.StatusOK)
		})
	}
}

// setBack copies one database over another with SQLite's backup API.
func setBack(db, from string) error {
	opened, err := sql.Open("sqlite", db+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer opened.Close()
	conn, err := opened.Conn(context.Background())
	if err != nil {
		return err
	}
	return conn.Raw(func(driver any) error {
		restoring, err := driver.(interface {
			NewRestore(string) (*sqlite.Backup, error)
		}).NewRestore(from)
		if err != nil {
			return err
		}
		const busy = 5
		for more := true; more; {
			more, err = restoring.Step(-1)
			failure, isFailure := errors.AsType[*sqlite.Error](err)
			if isFailure && failure.Code()&0xff == busy {
				more = true
			} else if err != nil {
				return errors.Join(err, restoring.Finish())
			}
		}
		return restoring.Finish()
	})
}
