package service

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Database returns the database of the service of this PC, unless its settings name
// another, whether the service is installed or not.
func (s Service) Database() string { return managers.DatabaseIn(s.data()) }

// MakeData makes the folder of the data for a database that is restored before the service
// is installed. made is false if the folder is there.
func (s Service) MakeData(line string) (made bool, err error) {
	if osutil.Exists(s.data()) {
		return false, nil
	}
	if !s.Host.Permitted() {
		return false, s.explain(managers.ErrNotPermitted, line)
	}
	return true, osutil.MakePrivateFolder(s.data())
}

// SettingsOf returns the settings that go with a database: those of the service, if it
// serves that, or else those in the folder of the database. There may be none. runs says
// that the service serves it now.
func (s Service) SettingsOf(env cli.Env, db string) (settings managers.Settings, runs bool, err error) {
	folder := filepath.Dir(osutil.Resolve(db))
	if _, its := s.serves(env, db); its {
		state, err := s.Host.Current()
		folder, runs = s.data(), err == nil && state.Running
	}
	settings, err = managers.ReadSettings(folder)
	return settings, runs, err
}

// Adapt returns the settings of another PC as they can be here, and says what was left
// out, or does not work yet. The settings may come from anywhere.
func (s Service) Adapt(env cli.Env, text []byte) (settings managers.Settings, notes []string) {
	leave := func(line, why string) { notes = append(notes, "left out: "+printable(line)+": "+why) }
	for _, line := range managers.ParseSettings(text) {
		flag, value, _ := strings.Cut(strings.TrimPrefix(line, "--"), "=")
		_, flags := optionsAndFlags(env)
		switch {
		case !strings.HasPrefix(line, "--") || strings.ContainsFunc(line, unicode.IsControl):
			leave(line, "it is no setting")
		case env.Parse(flags, []string{line}, 0) != nil || !flags.Changed(flag):
			leave(line, "this version does not know it")
		case flag == "db":
			leave(line, "the database is in the folder of the service")
		case flag == "backup-dir" && !usableFolder(value):
			leave(line, "there is no such folder on this PC. Name one, on another disk: "+cli.AsAdministrator(typed()+" service install --backup-dir DIR"))
		default:
			settings = append(settings, line)
			if slices.Contains([]string{"tls-cert", "tls-key"}, flag) && !osutil.Exists(value) {
				notes = append(notes, fmt.Sprintf("missing: %s. Bring that file to this PC, and name it: %s", printable(line), cli.AsAdministrator(typed()+" service install --tls-cert FILE --tls-key FILE")))
			}
		}
	}
	return settings, notes
}

// usableFolder reports whether a path of another PC can be that of a folder here. The
// folder itself may be missing.
func usableFolder(path string) bool {
	return filepath.IsAbs(path) && osutil.Exists(filepath.Dir(path))
}
