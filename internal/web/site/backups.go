package site

import (
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/host/managers"
)

// Advice is what to do about something. How is the key of a message; it may be empty. Link is where
// it leads, and Command what to type there; at least one of them is empty.
type Advice struct{ How, Link, Command string }

// Backups is the state of the service's backups, as the template "backups" shows it.
type Backups struct {
	Last     time.Time      // of the last valid backup; zero if there is none
	Verified time.Time      // when the newest backup was last verified; zero if never
	Trouble  backup.Trouble // key of a message, backups.TROUBLE; empty if there is no problem
	Traces   bool           // whether the file may contain traces of permanently deleted people
	Advice
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
	if isOfFolder(state.Trouble) {
		b.Advice = v.toSettings("backups", b.Advice)
	}
	_, b.Traces, _ = v.Store.Erasures()
	return b
}

// howTo returns a command that helps against a trouble, and the key of the message that explains
// where to type it. Both are empty if no command helps. An installed service needs an administrator.
func howTo(trouble backup.Trouble, installed bool) (how, command string) {
	how, typed := "backups.type", func(args ...string) string { return "firefighters " + strings.Join(args, " ") }
	if installed {
		how, typed = "backups.admin", managers.AdminCommand
	}
	switch {
	case isOfFolder(trouble) && installed:
		return how, typed("service", "backup-disk")
	case isOfFolder(trouble):
		return "backups.start", "--backup-dir DIR"
	}
	switch trouble {
	case backup.BadDatabase:
		return how, typed("check")
	case backup.Plain:
		return how, typed("backup", "delete-plain")
	case backup.BadBackup:
		return how, typed("check", "--backup-dir", "DIR")
	case backup.Failed, backup.Old:
		if installed {
			return how, typed("service", "status")
		}
	}
	return "", ""
}

// isOfFolder reports whether another folder for backups helps against a trouble.
func isOfFolder(trouble backup.Trouble) bool {
	return slices.Contains([]backup.Trouble{backup.NotSet, backup.BadFolder, backup.NoRoom, backup.SameDisk}, trouble)
}

// toSettings returns the advice to use a section of the settings or, if they cannot be changed on the
// page, otherwise.
func (v *Visit) toSettings(section string, otherwise Advice) Advice {
	if v.Site.Settings == nil || !v.Site.Installed {
		return otherwise
	}
	if may, err := v.maySet(); may && err == nil {
		return Advice{How: "backups.settings", Link: Root + "settings#" + section}
	}
	return Advice{How: "backups.there"}
}
