package site

import (
	"context"
	"errors"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// SettingsMode is who can change the settings of a service.
type SettingsMode string

// Modes of settings.
const (
	ByPage SettingsMode = "installed" // an admin, on the page
	ByHand SettingsMode = "by hand"   // whoever starts the service, with flags; the page only shows them
	OfDemo SettingsMode = "demo"      // no one
)

// What a change of the settings changes: the field What of a store.SettingChange.
const (
	SettingFolder     = "folder"
	SettingRecipients = "recipients" // the value is the number of recipients
	SettingNetwork    = "network"    // the value is "on" or "off"
	SettingConfirmed  = "confirmed"
	SettingRestored   = "restored" // the value is the name of the backup
	SettingName       = "name"     // of the department; the page logs it, with Log
	SettingCountry    = "country"  // of the department; the page logs it, with Log
)

// ErrFixed means that the settings, or this one, cannot be changed on the page.
var ErrFixed = errors.New("this setting cannot be changed on the page")

// Settings is what an admin can change on the station PC without a terminal. Each change is logged
// with the name of the person who made it, and the service applies it at once: requests that
// arrive later wait for it, so the page after a redirect shows the result. A function returns
// ErrFixed if the mode is not ByPage, or if a flag of the service sets the value.
type Settings struct {
	Mode SettingsMode

	// Read returns the settings and how they work now.
	Read func() (SettingsState, error)

	// SetFolder sets the folder in which backups get their own subfolder, or "" for the folder of the
	// service. The error is for backup.FolderFault.
	SetFolder func(by, folder string) error

	// SetRecipients sets the public keys that backups are encrypted to; none for no encryption. It
	// returns the error of backup.ParseRecipients.
	SetRecipients func(by string, recipients []string) error

	// SetNetwork allows other devices to connect, or ends that.
	SetNetwork func(by string, allowed bool) error

	// Confirm makes the folder and the network apply to this PC. Until then, a change resets them.
	Confirm func(by string) error

	// Log logs a change that the page makes itself.
	Log func(by, what, value string) error

	// BackUp creates a backup now. It works in each mode, if the service has a backup folder.
	BackUp func(ctx context.Context) error

	// Restore replaces the database with the file of this name, one of backup.Restorable. identity is
	// the text of an age identity file, for an encrypted backup. Restore returns when the backup can be
	// read; the service then restores it, and requests wait for that. The session stays valid. Read
	// returns the result.
	Restore func(session store.Key, name, identity string) error
}

// SettingsState is the state of the settings.
type SettingsState struct {
	Folder     Setting[string] // as chosen; empty for the folder of the service
	Recipients Setting[[]string]
	Network    Setting[bool]

	Dir         string                // where backups are created now, below Folder if that is set; empty for none
	Unconfirmed bool                  // folder and network were set on another PC or come from a backup; they do not apply until Confirm
	Listening   []string              // URLs for other devices now
	Trouble     error                 // why other devices cannot connect although they are allowed; nil if they can
	Changes     []store.SettingChange // the last ten, newest first
	Restored    *RestoredBackup       // the last restore from the page since the service started, or nil
}

// Setting is a value, and whether a flag of the service sets it. A flag takes precedence over the page.
type Setting[T any] struct {
	Value T
	Flag  bool
}

// RestoredBackup is the result of a restore from the page. After an error, the database is unchanged.
type RestoredBackup struct {
	Name string // of the backup
	By   string
	At   time.Time
	backup.Restored
	Err error
}
