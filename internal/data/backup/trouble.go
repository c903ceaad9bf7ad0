package backup

import (
	"errors"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// Trouble classifies a backup problem by the action it requires.
type Trouble string

// Problems of backups. The zero Trouble means that there is none.
const (
	NotSet      Trouble = "unset"    // there is no backup folder
	NotYet      Trouble = "pending"  // there is no backup yet
	DiskAway    Trouble = "away"     // the backup disk is not connected
	NoRoom      Trouble = "full"     // the backup disk is full
	BadFolder   Trouble = "folder"   // the backup folder cannot be used
	BadDatabase Trouble = "database" // the database is damaged, or another program changed its schema
	Failed      Trouble = "failed"   // the last backup failed for another reason
	BadBackup   Trouble = "unsound"  // the newest backup failed verification
	Old         Trouble = "old"      // the last backup is more than two intervals old
	SameDisk    Trouble = "disk"     // the backups are on the disk of the database and would be lost with it
)

// troubleOf returns the Trouble for the error of a backup.
func troubleOf(err error) Trouble {
	switch {
	case errors.Is(err, ErrAway):
		return DiskAway
	case errors.Is(err, sqlite.ErrFull), errors.As(err, new(*RoomError)):
		return NoRoom
	case errors.Is(err, ErrRefused), errors.Is(err, sqlite.ErrCorrupt):
		return BadDatabase
	case errors.As(err, new(*Error)):
		return BadFolder
	}
	return Failed
}
