package manage

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Moving to another PC: backup --with-settings puts all that is needed there into one
// file, and restore --with-settings puts it in place.

// about is what the file says of the PC that it comes from, for people.
type about struct {
	Version string    `json:"version"` // of the program
	System  string    `json:"system"`
	Made    time.Time `json:"made"`
}

// parts returns the small files that go with a database, and says what they are.
func (c Commands) parts(env cli.Env, db string) (parts []backup.Part, said []string, err error) {
	text, err := json.Marshal(about{cli.ReadBuild().Version, runtime.GOOS, time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return nil, nil, err
	}
	parts = append(parts, backup.Part{Name: backup.PartAbout, Content: text})
	settings, runs, err := c.Service.SettingsOf(env, db)
	if err != nil {
		return nil, nil, cli.WithHint(fmt.Errorf("the settings of the service cannot be read: %w", err), "start as an administrator (sudo)")
	}
	if runs {
		env.Note("the service runs. What is written from now on is not in the file.", "to stop it first: "+cli.AsAdministrator("firefighters service stop"))
	}
	if len(settings) > 0 {
		said = append(said, cli.Count(int64(len(settings)), "setting", "settings"))
		parts = append(parts, backup.Part{Name: backup.PartSettings, Content: settings.Text()})
	}
	key, err := authority.Export(authority.Folder(db))
	switch {
	case err == nil:
		said = append(said, "the authority of the certificate")
		parts = append(parts, backup.Part{Name: backup.PartAuthority, Content: key})
	case errors.Is(err, authority.ErrNone):
	case errors.Is(err, fs.ErrPermission):
		return nil, nil, cli.WithHint(fmt.Errorf("the authority of the certificate cannot be read: %w", err), "start as an administrator (sudo)")
	default:
		env.Warn("the authority of the certificate is left out: "+err.Error(), "")
	}
	return parts, said, nil
}

// sayMoving says what to do with a file that has more than a backup.
func sayMoving(env cli.Env, target string, said []string) {
	env.Notef("With it: %s.", cmp.Or(strings.Join(said, " and "), "no settings, because there are none"))
	if slices.Contains(said, "the authority of the certificate") {
		env.Warn("who has "+cli.Quote(target)+" has all records, and the key of the authority that other machines trust.", "lock it away, and delete it when the other PC works")
	}
	env.Notef("On the other PC: %s", cli.AsAdministrator("firefighters restore --with-settings "+cli.Quote(filepath.Base(target))))
}

// moved is what a restore has found beside the database.
type moved struct {
	about     about
	settings  managers.Settings
	notes     []string // about settings
	authority []string // the names that it may certify; nil without one
}

// unpack looks at the small files of a backup with settings, and returns those to put
// beside the database.
func (c Commands) unpack(env cli.Env, m *moved) func(parts map[string][]byte) (map[string][]byte, error) {
	return func(parts map[string][]byte) (beside map[string][]byte, err error) {
		beside = map[string][]byte{}
		json.Unmarshal(parts[backup.PartAbout], &m.about) // which is only said
		if text, ok := parts[backup.PartSettings]; ok {
			m.settings, m.notes = c.Service.Adapt(env, text)
			beside[backup.PartSettings] = m.settings.Text()
		}
		if text, ok := parts[backup.PartAuthority]; ok {
			if m.authority, err = authority.Names(text); err != nil {
				return nil, fmt.Errorf("%w: the authority in it: %v", sqlite.ErrCorrupt, err)
			}
			beside[filepath.Join(filepath.Base(authority.Folder("")), backup.PartAuthority)] = text
		}
		return beside, nil
	}
}

// restoreAll restores a backup with settings: to the folder of the service, unless a
// database is named.
func (c Commands) restoreAll(env cli.Env, r backup.Restore, named bool, again string) error {
	if !named {
		r.Database = c.Service.Database()
		made, err := c.Service.MakeData("restore --with-settings " + cli.Quote(r.File))
		if err != nil {
			return err
		}
		defer func() {
			if made && !osutil.Exists(r.Database) {
				os.Remove(r.Database + "-lock")
				os.Remove(filepath.Dir(r.Database))
			}
		}()
	}
	var m moved
	r.Unpack, r.Change = c.unpack(env, &m), store.EndSessions
	done, err := r.Run(env.Context)
	switch {
	case err != nil && env.Context.Err() != nil:
		return errors.New("stopped; nothing was changed")
	case err != nil:
		return c.Database.Advise(env.Context, err, r.Database, "")
	}
	if err := reportRestored(env, r.File, r.Database, done, again); err != nil {
		return err
	}
	return m.report(env, r.Database, osutil.SameFile(r.Database, c.Service.Database()))
}

// report says what came with the database, and what to do next.
func (m moved) report(env cli.Env, db string, ofService bool) error {
	lines := []string{"Everybody must sign in again on the page. Keys and phones stay valid."}
	if len(m.settings) > 0 {
		lines = append(lines, "The settings of the other PC are in "+cli.Quote(managers.SettingsIn(filepath.Dir(db)))+":")
		for _, line := range m.settings {
			lines = append(lines, "  "+line)
		}
	}
	for _, note := range m.notes {
		env.Warn(note, "")
	}
	if m.authority != nil {
		lines = append(lines, "Machines that trusted the other PC trust this one.")
		host, _ := os.Hostname()
		if host, _, _ = strings.Cut(strings.ToLower(host), "."); !slices.Contains(m.authority, host) {
			env.Warn(fmt.Sprintf("the certificate is for the name %s, and this PC is called %s. Others reach it by its address, or by that name if this PC gets it.",
				strings.Join(m.authority[:min(1, len(m.authority))], ""), host), "")
		}
	}
	next := cli.AsAdministrator("firefighters service install")
	if !ofService {
		next = "firefighters serve --db " + cli.Quote(db)
		for _, line := range m.settings {
			next += " " + cli.Quote(line)
		}
	}
	for _, line := range append(lines, "Next: "+next) {
		if err := env.Println(line); err != nil {
			return err
		}
	}
	return nil
}
