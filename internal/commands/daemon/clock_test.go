package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestCheckClock checks that a live jump of the clock is logged and noted if keys expire or if it leads
// back.
func TestCheckClock(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	env := cli.Env{Context: t.Context(), Stderr: &stderr, Warnings: new([]string)}
	db := filepath.Join(t.TempDir(), "x.db")
	opened, err := database.Schema{Format: store.Format(string(text), 1), Quiet: true}.Open(env, db, true)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	start := time.Now().Round(0)
	key := store.NewKey{Tenant: "A", Scope: store.ScopeRead, ExpiresAt: start.Add(24 * time.Hour)}
	if err := opened.CreateKey(key, func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	d := &daemon{Options: Options{DB: db, Installed: true}, env: env, clock: start}
	d.service.Store = opened
	sees := func(wall time.Time, passed time.Duration, want string) {
		t.Helper()
		stderr.Reset()
		if err := d.checkClock(wall, passed); err != nil || !strings.Contains(stderr.String(), want) || want == "" && stderr.Len() > 0 {
			t.Errorf("at %v, after %v: %v, %q, want %q", wall, passed, err, stderr.String(), want)
		}
	}
	sees(start.Add(2*time.Hour), 2*time.Hour, "")
	sees(start.Add(5*time.Hour), 0, "")
	future := start.Add(9000 * time.Hour)
	sees(future, 0, "at once: 1 key or session expired\nTry: set the clock;")
	opened.Clock().Set(future.UnixMilli())
	sees(start.Add(3*time.Hour), time.Hour, "but the latest time in the database is "+future.UTC().Format(time.RFC3339))
	var noted []string
	if backup.ReadNote(db, backup.NoteWarnings, &noted); len(noted) != 2 {
		t.Errorf("noted %q", noted)
	}
}
