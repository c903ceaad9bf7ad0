package site

import (
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
)

// Backups says how the backups of the service go, and what to do. The template "backups"
// shows it.
type Backups struct {
	Last     time.Time      // of the last valid one; zero: there is none
	Verified time.Time      // when the newest was last verified; zero: none was
	Trouble  backup.Trouble // key of a message, backups.TROUBLE; empty if all is well
	How      string         // key of a message that says where to type the command; empty without one
	Command  string
}

// Backups returns how the backups go. It is for people who may see to them: those with
// the scope admin.
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
	if v.Site.Invented {
		b.How, b.Command = "backups.type", "firefighters serve --backup-dir DIR"
	}
	return b
}

// howTo returns what to type about a trouble, where something can be typed: a command of
// the service of the PC, which needs an administrator, or one for a program that somebody
// has started.
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
	case backup.BadBackup:
		return how, "firefighters check --backup-dir DIR"
	case backup.Failed, backup.Old:
		if installed {
			return how, "firefighters service status"
		}
	}
	return "", ""
}
