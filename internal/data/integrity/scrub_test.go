package integrity_test

import (
	"bytes"
	"context"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// logger returns a logger and its output, one line per entry.
func logger() (*slog.Logger, *bytes.Buffer) {
	text := &bytes.Buffer{}
	return slog.New(slog.NewTextHandler(text, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})), text
}

func now(do func()) { do() }

// TestScrub checks that Scrub repairs or logs the damage of a small database before it returns.
func TestScrub(t *testing.T) {
	t.Parallel()
	const damaged = `level=ERROR msg="a record is damaged; it cannot be read until a PUT replaces it" id=`
	for _, tt := range []struct {
		name, damage, log string
		remain            integrity.Findings
	}{
		{"nothing", ``, ``, integrity.Findings{}},
		{"keys", `UPDATE firefighters SET last_key = 'zzz', phone_digits = '1' WHERE row & 1`,
			`level=WARN msg="repaired the sort and search keys of records" records=2` + "\n", integrity.Findings{}},
		{"counts", `UPDATE tenants SET live_count = 7, last_seq = 0`,
			`level=WARN msg="repaired the record counts of departments" departments=1` + "\n", integrity.Findings{}},
		{"a field", `UPDATE firefighters SET email = 'ana@example.org', deleted_at = NULL WHERE row & 3 = 2`,
			damaged + idOf(2) + "\n" + `level=ERROR msg="records are damaged; run firefighters check" records=1` + "\n", integrity.Findings{Damaged: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := newDatabase(t, 4)
			execSQL(t, path, tt.damage)
			db := open(t, path)
			log, text := logger()
			integrity.Scrub(t.Context(), db, log, func(func()) { t.Error("Scrub works in the background") })
			if text.String() != tt.log {
				t.Errorf("the log: %s", text)
			}
			if found, text := check(t, db); found != tt.remain {
				t.Errorf("found %+v, want %+v: %s", found, tt.remain, text)
			}
		})
	}
}

// TestScrubFails checks that a failed repair is logged as an error and not as a repair.
func TestScrubFails(t *testing.T) {
	t.Parallel()
	for _, damage := range []string{`UPDATE firefighters SET last_key = 'zzz'`, `UPDATE tenants SET live_count = 7`} {
		path := newDatabase(t, 4)
		execSQL(t, path, damage+`;
			CREATE TRIGGER keep_rows BEFORE UPDATE ON firefighters BEGIN SELECT raise(ABORT, 'no'); END;
			CREATE TRIGGER keep_tenants BEFORE UPDATE ON tenants BEGIN SELECT raise(ABORT, 'no'); END`)
		log, text := logger()
		integrity.Scrub(t.Context(), open(t, path), log, now)
		if strings.Contains(text.String(), "repaired") || !strings.Contains(text.String(), "level=ERROR") || !strings.Contains(text.String(), "cause=") {
			t.Errorf("%s: the log: %s", damage, text)
		}
	}
}

// TestScrubMany checks that the log names only some of many damaged records, but counts all of
// them.
func TestScrubMany(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, 401)
	execSQL(t, path, `UPDATE firefighters SET first_name = 'Anb'`)
	log, text := logger()
	integrity.Scrub(t.Context(), open(t, path), log, now)
	if n := strings.Count(text.String(), "a record is damaged"); n != 20 || !strings.HasSuffix(text.String(), "records=401\n") {
		t.Errorf("%d records are named in the log: %s", n, text)
	}
}

// TestScrubLarge checks that a database of more than 1 MB is scrubbed in the background, including
// the structure of its file.
func TestScrubLarge(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, 300)
	execSQL(t, path, `UPDATE firefighters SET first_name = 'Anb' WHERE row & 0xffffffff = 300; UPDATE tenants SET live_count = 7`)
	execSQL(t, path, `CREATE TABLE more AS SELECT zeroblob(5000000) AS filling`)
	overwrite(t, path, 1000, 1)
	db, background := open(t, path), func() {}
	log, text := logger()
	integrity.Scrub(t.Context(), db, log, func(do func()) { background = do })
	if text.Len() != 0 {
		t.Errorf("the log before the background work: %s", text)
	}
	background()
	want := []string{
		`level=ERROR msg="the database is damaged or cannot be read; run firefighters check, and restore a backup" cause="the database is damaged"`,
		`level=ERROR msg="a record is damaged; it cannot be read until a PUT replaces it" id=` + idOf(300),
		`level=ERROR msg="records are damaged; run firefighters check" records=1`,
		`level=WARN msg="repaired the record counts of departments" departments=1`,
	}
	if lines := strings.Split(strings.TrimSpace(text.String()), "\n"); !reflect.DeepEqual(lines, want) {
		t.Errorf("the log: %s", text)
	}
	text.Reset()
	integrity.ScrubSlowly(t.Context(), db, log)
	if lines := strings.Split(strings.TrimSpace(text.String()), "\n"); !reflect.DeepEqual(lines, want[:3]) { // the counters were repaired
		t.Errorf("the log of the second scrub: %s", text)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	text.Reset()
	integrity.Daily(ended, db, log)
	if integrity.Scrub(ended, db, log, now); text.Len() != 0 {
		t.Errorf("the log after the context has ended: %s", text)
	}
}

// TestScrubClosed checks that a database that cannot be read is logged.
func TestScrubClosed(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(newDatabase(t, 1), sqlite.Options{})
	must(t, err)
	must(t, db.Close())
	log, text := logger()
	if integrity.Scrub(t.Context(), db, log, now); !strings.Contains(text.String(), "the database cannot be read") {
		t.Errorf("the log: %s", text)
	}
}
