package site

import (
	"context"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// What a change of the settings changes: the field What of a store.SettingChange.
const (
	SettingFolder     = "folder"
	SettingRecipients = "recipients" // the value is the number of recipients
	SettingNetwork    = "network"    // the value is "on" or "off"
	SettingConfirmed  = "confirmed"
	SettingRestored   = "restored" // the value is the name of the backup
	SettingName       = "name"     // of the department
	SettingCountry    = "country"  // of the department
)

// Settings are what an admin can change on the station PC without a terminal, and how they work now. A
// change replaces the whole service. Only an installed service has settings that can be changed.
type Settings struct {
	Folder     Setting[string] // as chosen; empty for the folder of the service
	Recipients Setting[[]string]
	Network    Setting[bool]

	Dir         string          // where backups are created, below Folder if that is set; empty for none
	Unconfirmed bool            // folder and network come from another PC or a backup; they do not apply
	Trouble     error           // why other devices cannot connect although they are allowed; nil if they can
	Restored    *RestoredBackup // the last restore from the page since the service started, or nil

	// ChooseFolder returns the subfolder for backups of a folder that someone chose, after it has written
	// there. The error is for backup.FolderFault.
	ChooseFolder func(folder string) (dir string, err error)

	// Apply applies what is in the database. Requests that arrive after it has returned see the result.
	Apply func()

	// BackUp creates a backup now, if Dir is set.
	BackUp func(ctx context.Context) error

	// Restore replaces the database with a backup. The key is for an encrypted one. Restore returns when
	// the backup can be read; the service then restores it, and requests wait for that. The session stays
	// valid. Restored is the result.
	Restore func(session store.Key, file backup.File, key backup.Key) error
}

// Setting is a value, and whether it is fixed: a flag of the service sets it, which takes precedence over
// the page, or the service is not installed.
type Setting[T any] struct {
	Value T
	Fixed bool
}

// RestoredBackup is the result of a restore from the page. After an error, the database is unchanged.
type RestoredBackup struct {
	Name string // of the backup
	By   string
	At   time.Time
	backup.Restored
	Err error
}

// ChangeSettings edits the settings in the database, logs the change and applies it.
func (s *Service) ChangeSettings(change store.SettingChange, edit func(*store.Settings)) error {
	settings, err := s.Store.Settings()
	if err != nil {
		return err
	}
	if settings.Machine != osutil.Machine() && change.What != SettingConfirmed {
		settings = store.Settings{Recipients: settings.Recipients} // what is for another PC never comes back unnoticed
	}
	edit(&settings)
	settings.Machine = osutil.Machine()
	if err := s.logged(change, s.Store.SetSettings(settings, change)); err != nil {
		return err
	}
	s.Settings.Apply()
	return nil
}

// LogSetting logs a change of the department, which is not in the table of settings.
func (s *Service) LogSetting(change store.SettingChange) error {
	return s.logged(change, s.Store.LogSetting(change))
}

func (s *Service) logged(c store.SettingChange, err error) error {
	if err == nil {
		s.Log.Info("a setting was changed", "setting", c.What, "value", c.Value, "by", c.Who)
	}
	return err
}
