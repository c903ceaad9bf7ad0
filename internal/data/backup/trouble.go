package backup

import (
	"errors"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// Trouble is what is wrong with backups, by what somebody must do about it.
type Trouble string

// What can be wrong. The zero Trouble is for backups that are as they should be.
const (
	NotSet      Trouble = "unset"    // no folder is set: none are made
	NotYet      Trouble = "pending"  // the first is not there yet
	DiskAway    Trouble = "away"     // their disk is not connected
	NoRoom      Trouble = "full"     // their disk is full
	BadFolder   Trouble = "folder"   // their folder cannot be used
	BadDatabase Trouble = "database" // the database is damaged, or another program has changed how it is made
	Failed      Trouble = "failed"   // the last failed for another reason
	BadBackup   Trouble = "unsound"  // the newest did not pass its verification
	Old         Trouble = "old"      // the last was made more than two intervals ago
	SameDisk    Trouble = "disk"     // they are on the disk of the database, and would be lost with it
)

// troubleOf returns what an error means for the backups.
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
