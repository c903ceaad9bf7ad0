package store

import (
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// Settings are what an admin has set on the page. The folder and the network are for the PC that
// Machine identifies. It is empty if nothing was set, and after a restore.
type Settings struct {
	Folder     string   // for backups; empty: the folder of the service
	Recipients []string // public keys that backups are encrypted to
	Network    bool     // whether other devices may connect
	Machine    string
}

// IsBound reports whether an admin has set anything that is for one PC only.
func (s Settings) IsBound() bool { return s.Folder != "" || s.Network }

// SettingChange is a change that an admin made on the page of settings: the setting (What) and its new
// value. At is in milliseconds.
type SettingChange struct {
	At               int64
	Who, What, Value string
}

// Settings returns the settings in the database.
func (s *Store) Settings() (found Settings, err error) {
	err = s.db.Read(func(c *sqlite.Conn) error { found, err = ReadSettings(c); return err })
	return found, err
}

// ReadSettings is Settings for a database that another process may be serving.
func ReadSettings(c *sqlite.Conn) (found Settings, err error) {
	err = c.QueryRow(`SELECT folder, recipients, network, machine FROM settings`, nil, func(row sqlite.Row) {
		found = Settings{row.Text(0), strings.Fields(row.Text(1)), row.Int(2) == 1, row.Text(3)}
	})
	return found, noRow(err, nil)
}

// SetSettings replaces the settings and logs the change, of which it sets the time.
func (s *Store) SetSettings(to Settings, change SettingChange) error {
	return s.db.Write(func(t *sqlite.Tx) error {
		_, err := t.Exec(`INSERT OR REPLACE INTO settings (only_row, folder, recipients, network, machine) VALUES (1, ?, ?, ?, ?)`,
			to.Folder, strings.Join(to.Recipients, " "), to.Network, to.Machine)
		if err == nil {
			err = logSetting(t, change)
		}
		return err
	})
}

// LogSetting logs a change that is not in the table of settings. It sets the time.
func (s *Store) LogSetting(change SettingChange) error {
	return s.db.Write(func(t *sqlite.Tx) error { return logSetting(t, change) })
}

func logSetting(t *sqlite.Tx, c SettingChange) error {
	_, err := t.Exec(`INSERT INTO setting_changes (at, who, what, value) VALUES (?, ?, ?, ?)`, t.Now, c.Who, c.What, c.Value)
	if err == nil {
		_, err = t.Exec(`DELETE FROM setting_changes WHERE id <= last_insert_rowid() - 10`)
	}
	return err
}

// SettingChanges returns the last ten changes, newest first.
func (s *Store) SettingChanges() (all []SettingChange, err error) {
	err = s.query(`SELECT at, who, what, value FROM setting_changes ORDER BY id DESC LIMIT 10`, nil, func(row sqlite.Row) {
		all = append(all, SettingChange{row.Int(0), row.Text(1), row.Text(2), row.Text(3)})
	})
	return all, err
}
