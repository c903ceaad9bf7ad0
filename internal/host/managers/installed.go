package managers

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Settings are the flags of the installed service, such as --listen=127.0.0.1:8080. A text
// file next to the database has one flag per line, so that upgrades and new installations keep
// them. Empty lines and lines that begin with # are ignored.
type Settings []string

const settingsHead = "# The flags of the service. To change one: firefighters service install --FLAG VALUE\n"

// SettingsIn returns the path of the settings file in a data folder.
func SettingsIn(data string) string { return filepath.Join(data, "service.conf") }

// ReadSettings returns the settings in a data folder, nil if there are none.
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

// Write replaces the settings in a data folder. The file belongs to the owner of the folder,
// which is the user of the service.
func (s Settings) Write(data string) error {
	return osutil.WriteFile(SettingsIn(data), []byte(settingsHead+strings.Join(append(s, ""), "\n")), true)
}

// Merge returns s with changes. Lines of s whose flag is in changes or in unset are removed.
func (s Settings) Merge(changes Settings, unset ...string) (merged Settings) {
	replaced := unset
	for _, line := range changes {
		replaced = append(replaced, flagOf(line))
	}
	for _, line := range s {
		if !slices.Contains(replaced, flagOf(line)) {
			merged = append(merged, line)
		}
	}
	return append(merged, changes...)
}

func flagOf(line string) string {
	flag, _, _ := strings.Cut(strings.TrimLeft(line, "-"), "=")
	return flag
}

// Get returns the last value of a flag, or "" if it is not set.
func (s Settings) Get(flag string) (value string) {
	for _, line := range s {
		if flagOf(line) == flag {
			_, value, _ = strings.Cut(line, "=")
		}
	}
	return value
}

// keptSuffix is appended to the name of a replaced program.
const keptSuffix = ".old"

// CopyProgram copies a program. It renames an existing program, which may be running, to its
// name with keptSuffix, and returns that path as kept. CopyProgram does nothing if both files
// have the same content, so the kept program always differs.
func CopyProgram(from, to string) (copied bool, kept string, err error) {
	program, err := os.ReadFile(from)
	if err != nil {
		return false, "", err
	}
	if current, err := os.ReadFile(to); err == nil && bytes.Equal(current, program) {
		return false, "", nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return false, "", err
	}
	draft := to + ".new"
	defer os.Remove(draft)
	os.Remove(draft)
	file, err := os.OpenFile(draft, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return false, "", err
	}
	_, err = file.Write(program)
	if err := cmp.Or(err, file.Chmod(0o755), file.Sync(), file.Close()); err != nil {
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
