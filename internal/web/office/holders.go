package office

import (
	"path/filepath"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
)

// holding is which backups hold somebody. The template "holders" shows it.
type holding struct {
	NotSet, Away bool // as those of backup.Holders
	Held         []heldBackup
	Unread       []string // names of backups that nobody can read
}

// heldBackup is a backup that holds somebody.
type heldBackup struct {
	Name      string
	At        time.Time
	Until     string // the day on which it is gone at the latest, in the visitor's language; empty: none
	Encrypted bool
}

func (v visit) holding(found backup.Holders) holding {
	h := holding{NotSet: found.NotSet, Away: found.Away}
	for _, f := range found.Files {
		line := heldBackup{Name: filepath.Base(f.Path), At: f.Time.Local(), Encrypted: f.Encrypted}
		if !f.Until.IsZero() {
			line.Until = v.Lang.Day(calendar.Of(f.Until))
		}
		h.Held = append(h.Held, line)
	}
	for _, f := range found.Unread {
		h.Unread = append(h.Unread, filepath.Base(f.Path))
	}
	return h
}
