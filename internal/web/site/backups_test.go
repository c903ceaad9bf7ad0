package site

import (
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// TestHowTo checks that a service of the computer gets a complete command, and a manually started
// program a flag or a command.
func TestHowTo(t *testing.T) {
	t.Parallel()
	for trouble, want := range map[backup.Trouble][2]string{
		"":                 {"", ""},
		backup.NotSet:      {"firefighters service backup-disk", "--backup-dir DIR"},
		backup.NotYet:      {"", ""},
		backup.DiskAway:    {"", ""},
		backup.NoRoom:      {"firefighters service backup-disk", "--backup-dir DIR"},
		backup.BadFolder:   {"firefighters service backup-disk", "--backup-dir DIR"},
		backup.SameDisk:    {"firefighters service backup-disk", "--backup-dir DIR"},
		backup.BadDatabase: {"firefighters check", "firefighters check"},
		backup.BadBackup:   {"firefighters check --backup-dir DIR", "firefighters check --backup-dir DIR"},
		backup.Lost:        {"", ""},
		backup.Plain:       {"firefighters backup delete-plain", "firefighters backup delete-plain"},
		backup.Failed:      {"firefighters service status", ""},
		backup.Old:         {"firefighters service status", ""},
	} {
		service, installed := howTo(trouble, true)
		program, started := howTo(trouble, false)
		if want[0] != "" {
			want[0] = managers.AdminCommand(strings.Fields(want[0])[1:]...)
		}
		if installed != want[0] || started != want[1] || (service == "backups.admin") != (installed != "") || (program == "") != (started == "") {
			t.Errorf("%q: %s %q, %s %q", trouble, service, installed, program, started)
		}
	}
}

// TestTroubles checks that the page has a message and advice for each trouble with the backups.
func TestTroubles(t *testing.T) {
	t.Parallel()
	catalog := lang.MustLoad("messages/*.json", files)
	for _, trouble := range []backup.Trouble{backup.NotSet, backup.NotYet, backup.DiskAway, backup.NoRoom, backup.BadFolder,
		backup.BadDatabase, backup.Lost, backup.Plain, backup.Failed, backup.BadBackup, backup.Old, backup.SameDisk} {
		for _, key := range []string{"backups." + string(trouble), "backups." + string(trouble) + ".todo"} {
			if !slices.Contains(catalog.Keys(), key) {
				t.Errorf("missing message %s", key)
			}
		}
	}
}
