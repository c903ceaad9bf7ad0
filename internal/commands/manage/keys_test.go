package manage

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// TestRevokeGivesUp: a database that stays locked is an error in the end, which
// says that the key still works. Being told to stop ends it sooner. It cannot run
// beside others: it sets the time.
func TestRevokeGivesUp(t *testing.T) {
	defer func(before time.Duration) { revokeWithin = before }(revokeWithin)
	revoke := func(ctx context.Context, within time.Duration) (stderr string) {
		revokeWithin = within
		var errs strings.Builder
		err := untilUnlocked(cli.Env{Context: ctx, Stderr: &errs}, func() error {
			return database.Schema{}.Advise(ctx, file("opening", sqlite.ErrBusy), "my x.db", "")
		})
		err = adviseRevoke(err, 3, "my x.db")
		if code := cli.PrintError(err, &errs); code != 1 {
			t.Errorf("code %d", code)
		}
		return errs.String()
	}
	want := "Error: key 3 may still work: opening database \"dir/x.db\": the database is locked by another program\n" +
		"Try: end the program that has locked the database, then again: firefighters keys revoke 3 --db " + cli.Quote("my x.db") + "\n"
	const note = "Another program has locked the database. Trying for up to a minute.\n"
	if stderr := revoke(t.Context(), silentWait+time.Second); stderr != note+want {
		t.Errorf("stderr:\n%s\nwant:\n%s", stderr, note+want)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if stderr := revoke(stopped, time.Hour); stderr != want {
		t.Errorf("stopped: stderr %q", stderr)
	}
}
