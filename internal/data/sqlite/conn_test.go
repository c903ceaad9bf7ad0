package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

func TestQueryFails(t *testing.T) {
	t.Parallel()
	must(t, openToy(t).Read(func(c *sqlite.Conn) error {
		_, err := c.QueryInt(`SELECT id FROM notes`)
		wants(t, err, sqlite.ErrNoRows)
		for _, query := range []string{`SELECT nothing`, `SELECT json(printf('%s', '}'))`, // fails in the first row
			`SELECT json(value) FROM (SELECT '1' AS value UNION ALL SELECT '}')`} { // fails in the second row
			err := c.Query(query, nil, func(sqlite.Row) {})
			if !errors.As(err, new(sqlite.ResultError)) {
				t.Errorf("%s: %v", query, err)
			}
		}
		n, err := c.QueryInt(`SELECT count(*) FROM notes`)
		if n != 0 || err != nil {
			t.Errorf("next query: %d, %v", n, err)
		}
		return nil
	}))
}

// TestQueryContext checks that a query stops when its context ends, before or after its first row,
// and that the connection remains usable.
func TestQueryContext(t *testing.T) {
	t.Parallel()
	const endless = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n`
	must(t, openToy(t).Read(func(c *sqlite.Conn) error {
		for _, query := range []string{endless, endless + ` WHERE i < 0`} {
			ctx, cancel := context.WithCancel(t.Context())
			if strings.HasSuffix(query, "0") {
				ctx, cancel = context.WithTimeout(t.Context(), 1e6)
			}
			rows := 0
			err := c.QueryContext(ctx, query, nil, func(sqlite.Row) {
				if rows++; rows == 1000 {
					cancel()
				}
			})
			if err == nil || !errors.Is(err, ctx.Err()) || rows > 1000 {
				t.Errorf("after %d rows: %v", rows, err)
			}
			cancel()
		}
		_, err := c.QueryInt(`SELECT count(*) FROM notes`)
		return err
	}))
}

// TestFailedCommit checks that a failed commit writes nothing and leaves no transaction open.
func TestFailedCommit(t *testing.T) {
	t.Parallel()
	path := created(t)
	must(t, sqlite.FinishCopy(path, func(c *sqlite.Conn) error {
		_, err := c.Exec(`CREATE TABLE replies (note INTEGER REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED)`)
		must(t, err)
		reply := func() error { _, err := c.Exec(`INSERT INTO replies VALUES (99)`); return err }
		if err := c.Transaction(reply); !errors.As(err, new(sqlite.ResultError)) {
			t.Errorf("a reply to no note: %v", err)
		}
		return c.Transaction(func() error {
			n, err := c.QueryInt(`SELECT count(*) FROM replies`)
			if n != 0 {
				t.Errorf("%d replies", n)
			}
			return err
		})
	}))
}

// TestSettings checks that double quotes never make a string, and that foreign keys are enforced.
func TestSettings(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	for query, want := range map[string]int64{`PRAGMA foreign_keys`: 1, `PRAGMA synchronous`: 2, `PRAGMA fullfsync`: 1,
		`PRAGMA wal_autocheckpoint`: 0, `PRAGMA query_only`: 0} {
		must(t, db.Write(func(tx *sqlite.Tx) error {
			if got, err := tx.QueryInt(query); got != want || err != nil {
				t.Errorf("%s: %d, %v", query, got, err)
			}
			return nil
		}))
	}
	must(t, db.Read(func(c *sqlite.Conn) error {
		if _, err := c.QueryInt(`SELECT "no such column"`); err == nil {
			t.Error("a double-quoted name was read as a string")
		}
		if _, err := c.Exec(`DELETE FROM notes`); err == nil {
			t.Error("a reader can write")
		}
		return nil
	}))
}

// TestLibc checks that the version of modernc.org/libc is the one in the driver's go.mod. It runs the
// go command, because the build information of a test binary does not list modules.
func TestLibc(t *testing.T) {
	t.Parallel()
	list := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("go", append([]string{"list", "-m", "-f"}, args...)...).Output()
		if errors.Is(err, exec.ErrNotFound) {
			t.Skip("there is no go command")
		}
		if err != nil {
			t.Fatalf("listing modules: %v", err)
		}
		return strings.TrimSpace(string(out))
	}
	used := list("{{.Version}}", "modernc.org/libc")
	asked := list("{{.GoMod}}", "modernc.org/sqlite")
	if !strings.Contains(readFile(t, asked), "modernc.org/libc "+used+"\n") {
		t.Errorf("modernc.org/libc %s, but the driver requires %s", used, asked)
	}
}

// TestVersion checks that SQLite is not older than 3.51.3. In older versions, a restart of the -wal
// could damage the database in rare cases.
func TestVersion(t *testing.T) {
	t.Parallel()
	var n [3]int
	_, err := fmt.Sscanf(sqlite.Version, "%d.%d.%d", &n[0], &n[1], &n[2])
	if err != nil || slices.Compare(n[:], []int{3, 51, 3}) < 0 {
		t.Errorf("SQLite %s is too old, %v", sqlite.Version, err)
	}
}
