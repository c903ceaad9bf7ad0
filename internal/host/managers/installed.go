package managers

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// What an installation leaves on the disk on every system: the settings and the program.

// Settings are the flags of the installed service, as --listen=127.0.0.1:8080.
// They lie in a text file beside the database, one a line, so that an upgrade or
// a new installation by any package keeps them. Lines that begin with # and empty
// ones do not count.
type Settings []string

const settingsHead = "# The flags of the service. To change one: firefighters service install --FLAG VALUE\n"

// SettingsIn is the file with the settings in a folder of data.
func SettingsIn(data string) string { return filepath.Join(data, "service.conf") }

// ReadSettings returns the settings in a folder of data, nil if there are none.
func ReadSettings(data string) (s Settings, err error) {
	text, err := os.ReadFile(SettingsIn(data))
	if os.IsNotExist(err) {
		return nil, nil
	}
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			s = append(s, line)
		}
	}
	return s, err
}

// Write replaces the settings in a folder of data. The file gets the owner of
// the folder, who runs the service.
func (s Settings) Write(data string) error {
	return osutil.WriteFile(SettingsIn(data), []byte(settingsHead+strings.Join(append(s, ""), "\n")), true)
}

// Merge returns the settings with those given, which replace all lines of the
// same flags. A flag in unset has none any more.
func (s Settings) Merge(given Settings, unset ...string) (merged Settings) {
	replaced := unset
	for _, line := range given {
		replaced = append(replaced, flagOf(line))
	}
	for _, line := range s {
		if !slices.Contains(replaced, flagOf(line)) {
			merged = append(merged, line)
		}
	}
	return append(merged, given...)
}

// flagOf returns the flag of a line.
func flagOf(line string) string {
	flag, _, _ := strings.Cut(strings.TrimLeft(line, "-"), "=")
	return flag
}

// Get returns the last value of a flag, empty if it is not set.
func (s Settings) Get(flag string) (value string) {
	for _, line := range s {
		if flagOf(line) == flag {
			_, value, _ = strings.Cut(line, "=")
		}
	}
	return value
}

// keptSuffix follows the name of a program that was replaced.
const keptSuffix = ".old"

// CopyProgram installs a program under another path. A program that is there, which
// may be running, is kept with keptSuffix. CopyProgram does nothing if both have the
// same content, so that the kept program is always another version.
func CopyProgram(from, to string) (copied bool, kept string, err error) {
	fresh, err := os.ReadFile(from)
	if err != nil {
		return false, "", err
	}
	if present, err := os.ReadFile(to); err == nil && bytes.Equal(present, fresh) {
		return false, "", nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return false, "", err
	}
	draft := to + ".new"
	defer os.Remove(draft)
	if err := writeProgram(draft, fresh); err != nil {
		return false, "", err
	}
	if osutil.Exists(to) {
		kept = to + keptSuffix
		if err := os.Rename(to, kept); err != nil {
			return false, "", err
		}
	}
	if err := os.Rename(draft, to); err != nil {
		return false, "", err
	}
	return true, kept, osutil.SyncFolder(filepath.Dir(to))
}

// writeProgram writes a new file that everyone may run.
func writeProgram(path string, content []byte) error {
	os.Remove(path)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = file.Chmod(0o755)
	}
	return errors.Join(err, file.Close())
}
