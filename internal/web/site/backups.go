package site

import (
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
)

// Backups is the state of the service's backups, as the template "backups" shows it.
type Backups struct {
	Last     time.Time      // of the last valid backup; zero if there is none
	Verified time.Time      // when the newest backup was last verified; zero if never
	Trouble  backup.Trouble // key of a message, backups.TROUBLE; empty if there is no problem
	How      string         // key of a message that explains where to type Command; may be empty
	Command  string
	Traces   bool // whether the file may contain traces of permanently deleted people
}

// Backups returns the state of the backups. Show it only to people with the scope admin.
func (v *Visit) Backups() Backups {
	state := backup.State{Trouble: backup.NotSet}
	if v.Site.Backups != nil {
		state = v.Site.Backups()
	}
	b := Backups{Trouble: state.Trouble}
	if state.Last != nil {
		b.Last = state.Last.Local()
	}
	if state.Verified != nil {
		b.Verified = state.Verified.Local()
	}
	b.How, b.Command = howTo(state.Trouble, v.Site.Installed)
	_, b.Traces, _ = v.Store.Erasures()
	return b
}

// howTo returns a command that helps against a trouble, and the key of the message that explains
// where to type it. Both are empty if no command helps. An installed service needs an administrator.
func howTo(trouble backup.Trouble, installed bool) (how, command string) {
	how = "backups.type"
	if installed {
		how = "backups.admin"
	}
	switch trouble {
	case backup.NotSet, backup.BadFolder, backup.NoRoom, backup.SameDisk:
		if installed {
			return how, "firefighters service backup-disk"
		}
		return "backups.start", "--backup-dir DIR"
	case backup.BadDatabase:
		return how, "firefighters check"
	case backup.Plain:
		return how, "firefighters backup delete-plain"
	case backup.BadBackup:
		return how, "firefighters check --backup-dir DIR"
	case backup.Failed, backup.Old:
		if installed {
			return how, "firefighters service status"
		}
	}
	return "", ""
}
