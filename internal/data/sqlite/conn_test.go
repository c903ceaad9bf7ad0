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

func TestRow(t *testing.T) {
	t.Parallel()
	must(t, openToy(t).Read(func(c *sqlite.Conn) error {
		return c.QueryRow(`SELECT 7, 'text', x'0102', NULL, ?, ?, ?, ?`, sqlite.Args{int64(1) << 62, "", []byte("b"), nil},
			func(row sqlite.Row) {
				for i, want := range []string{"7", "text", "[1 2]", "<nil>", "4611686018427387904", "", "[98]", "<nil>"} {
					if got := fmt.Sprint(row[i]); got != want {
						t.Errorf("column %d is %s, not %s", i, got, want)
					}
				}
				if row.Int(0) != 7 || row.Text(1) != "text" || *row.TextOrNil(1) != "text" || string(row.Bytes(2)) != "\x01\x02" || row.IsNull(0) {
					t.Errorf("values: %v", row)
				}
				if row.Int(3) != 0 || row.Text(3) != "" || row.TextOrNil(3) != nil || row.Bytes(3) != nil || !row.IsNull(3) {
					t.Errorf("null: %v", row)
				}
			})
	}))
}

// TestTextsStay: what a row held is good when the next one is read.
func TestTextsStay(t *testing.T) {
	t.Parallel()
	var texts []string
	must(t, openToy(t).Read(func(c *sqlite.Conn) error {
		return c.Query(`SELECT 'a' UNION ALL SELECT 'b' UNION ALL SELECT 'c'`, nil, func(row sqlite.Row) { texts = append(texts, row.Text(0)) })
	}))
	if strings.Join(texts, "") != "abc" {
		t.Errorf("read %q", texts)
	}
}

func TestChanged(t *testing.T) {
	t.Parallel()
	must(t, openToy(t).Write(func(tx *sqlite.Tx) error {
		for want := int64(1); want <= 3; want++ {
			changed, err := tx.Exec(insertNote, int64(0), "x")
			if row, _ := tx.QueryInt(`SELECT max(id) FROM notes`); changed != 1 || row != want || err != nil {
				t.Errorf("insert %d: %d changed, row %d, %v", want, changed, row, err)
			}
		}
		if changed, err := tx.Exec(`UPDATE notes SET body = 'y' WHERE id > 1`); changed != 2 || err != nil {
			t.Errorf("update: %d changed, %v", changed, err)
		}
		if err := tx.ExecOne(`DELETE FROM notes WHERE id = 9`); !errors.Is(err, sqlite.ErrNoRows) {
			t.Errorf("deleting no row: %v", err)
		}
		return tx.ExecOne(`DELETE FROM notes WHERE id = 1`)
	}))
}

func TestQueryFails(t *testing.T) {
	t.Parallel()
	must(t, openToy(t).Read(func(c *sqlite.Conn) error {
		_, err := c.QueryInt(`SELECT id FROM notes`)
		wants(t, err, sqlite.ErrNoRows)
		for _, query := range []string{`SELECT nothing`, `SELECT json(printf('%s', '}'))`, // in the first row
			`SELECT json(value) FROM (SELECT '1' AS value UNION ALL SELECT '}')`} { // and in the second
			err := c.Query(query, nil, func(sqlite.Row) {})
			if !errors.As(err, new(sqlite.ResultError)) {
				t.Errorf("%s: %v", query, err)
			}
		}
		n, err := c.QueryInt(`SELECT count(*) FROM notes`)
		if n != 0 || err != nil {
			t.Errorf("afterwards: %d, %v", n, err)
		}
		return nil
	}))
}

// TestQueryContext: a query ends with its context, before or after its first
// row, and leaves the connection in order.
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

// TestManyStatements: texts without end do not stay prepared without end.
func TestManyStatements(t *testing.T) {
	t.Parallel()
	must(t, openToy(t).Read(func(c *sqlite.Conn) error {
		for i := range int64(500) {
			if n, err := c.QueryInt(fmt.Sprintf(`SELECT %d + ?`, i), i); n != 2*i || err != nil {
				return fmt.Errorf("statement %d: %d, %w", i, n, err)
			}
		}
		return nil
	}))
}

// TestTransaction: it ends whatever comes of what it does.
func TestTransaction(t *testing.T) {
	t.Parallel()
	failure := errors.New("for the test")
	must(t, openToy(t).Read(func(c *sqlite.Conn) error {
		for range 2 {
			wants(t, c.Transaction(func() error { return failure }), failure)
			func() {
				defer func() { recover() }()
				c.Transaction(func() error { panic("oops") })
			}()
			wants(t, c.Transaction(func() error { return nil }), nil)
		}
		return nil
	}))
}

// TestFailedCommit: no transaction stays open, and nothing is written.
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

// TestSettings: double quotes are no texts, and foreign keys hold.
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
			t.Error("a double-quoted name is a text")
		}
		if _, err := c.Exec(`DELETE FROM notes`); err == nil {
			t.Error("a reader can write")
		}
		return nil
	}))
}

// TestFunction: SQL can call a function of Go on every connection.
func TestFunction(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	for name, read := range map[string]func(func(*sqlite.Conn) error) error{
		"a reader": db.Read, "the writer": func(do func(*sqlite.Conn) error) error {
			return db.Write(func(tx *sqlite.Tx) error { return do(tx.Conn) })
		},
	} {
		must(t, read(func(c *sqlite.Conn) error {
			var got string
			err := c.QueryRow(`SELECT joined('a', NULL) || joined('č', ?1)`, sqlite.Args{"b"}, func(row sqlite.Row) { got = row.Text(0) })
			if err != nil || got != "a-č-b" { // see TestMain
				t.Errorf("%s: %q, %v", name, got, err)
			}
			return nil
		}))
	}
}

// TestLibc: the driver works with no other version of modernc.org/libc than
// the one in its go.mod. A test binary has no list of modules in its build
// information, so the go command is asked.
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
		t.Errorf("modernc.org/libc %s is not what %s asks for", used, asked)
	}
}

// TestVersion: before 3.51.3 a restart of the -wal could, rarely, damage the
// database.
func TestVersion(t *testing.T) {
	t.Parallel()
	var n [3]int
	_, err := fmt.Sscanf(sqlite.Version, "%d.%d.%d", &n[0], &n[1], &n[2])
	if err != nil || slices.Compare(n[:], []int{3, 51, 3}) < 0 {
		t.Errorf("SQLite %s is too old, %v", sqlite.Version, err)
	}
}
