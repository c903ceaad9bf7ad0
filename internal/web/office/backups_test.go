package office

import (
	"slices"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// TestTroubles: the page can say each trouble with the backups, and what to do.
func TestTroubles(t *testing.T) {
	t.Parallel()
	catalog := lang.MustLoad(files, "messages/*.json")
	for _, trouble := range []backup.Trouble{backup.NotSet, backup.NotYet, backup.DiskAway, backup.NoRoom, backup.BadFolder,
		backup.BadDatabase, backup.Failed, backup.BadBackup, backup.Old, backup.SameDisk} {
		for _, key := range []string{"backups." + string(trouble), "backups." + string(trouble) + ".todo"} {
			if !slices.Contains(catalog.Keys(), key) {
				t.Errorf("there is no message %s", key)
			}
		}
	}
}
