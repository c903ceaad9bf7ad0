package service

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// versionOf returns the version of a program of ours, which it starts for that. It is
// empty if the program does not say, or if this process is root and others could have
// changed the program.
func versionOf(env cli.Env, program string) string {
	if own, err := os.Executable(); err == nil && osutil.SameFile(own, program) {
		return cli.ReadBuild().Version
	}
	ctx, cancel := context.WithTimeout(env.Context, 10*time.Second)
	defer cancel()
	if !osutil.OnlyRoot(program) {
		return ""
	}
	said, err := exec.CommandContext(ctx, program, "--version").Output()
	words := strings.Fields(string(said))
	if err != nil || len(words) < 2 {
		return ""
	}
	return words[1]
}

// answer is what a service says of itself.
type answer struct {
	fault   string // why it answers no other request; empty if it does
	backups string // what is wrong with them; empty if nothing is
}

// ask asks a service at its own address how it is; nil says that it does not answer.
// It checks no certificate, because the answer holds no secret.
func ask(ctx context.Context, address string) *answer {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "GET", address+"/readyz", nil)
	if err != nil {
		return nil
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	var ready struct {
		Detail string
		Backup struct {
			OK     *bool
			Detail string
		}
	}
	readErr := json.NewDecoder(io.LimitReader(response.Body, 1<<16)).Decode(&ready)
	a := &answer{}
	if readErr == nil && ready.Backup.OK != nil && !*ready.Backup.OK {
		a.backups = "they fail: " + ready.Backup.Detail
	}
	if response.StatusCode == http.StatusServiceUnavailable {
		a.fault = cmp.Or(ready.Detail, "It does not say why.")
	}
	return a
}

// lookAtData adds what the folders of the service hold.
func (s Service) lookAtData(env cli.Env, o *overview, settings managers.Settings) {
	options, err := s.options(env, settings)
	if err != nil {
		o.Database = &database{Path: managers.DatabaseIn(s.data()), Fault: "not looked at, because the settings are wrong: " + err.Error()}
		return
	}
	o.Database, o.Address = s.inspect(options.DB)
	o.Database.Saved = savedCopy(osutil.Resolve(options.DB))
	o.Disk = room(filepath.Dir(options.DB))
	o.Backups = s.lookAtBackups(options.DB, options.Backups.Dir)
	late := 2 * options.Backups.Every
	if o.Backups.Fault == "" && o.Running && o.Backups.Newest != nil && time.Since(*o.Backups.Newest) > late && o.Since != nil && time.Since(*o.Since) > late {
		o.Backups.Fault = "the newest is older than it should be"
	}
}

// savedCopy returns the newest copy that the service has saved when the files of the
// database had gone, empty if there is none.
func savedCopy(db string) (newest string) {
	entries, _ := os.ReadDir(filepath.Dir(db)) // in the order of their names, which have the time
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, filepath.Base(db)+".saved-") && strings.HasSuffix(name, "Z") {
			newest = filepath.Join(filepath.Dir(db), name)
		}
	}
	return newest
}

// inspect reads a database without changing or upgrading it, and the address at
// which it says that it is served.
func (s Service) inspect(path string) (found *database, address string) {
	found = &database{Path: path}
	file, format := osutil.Resolve(path), s.Content.Format()
	if err := format.Inspect(file); err != nil {
		found.Fault = faultOf(err)
		return found, ""
	}
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(file + suffix); err == nil {
			found.Bytes += info.Size()
		}
	}
	c, err := sqlite.Peek(file)
	if err != nil {
		found.Fault = faultOf(err)
		return found, ""
	}
	defer c.Close()
	version, err := c.QueryInt(`PRAGMA user_version`)
	switch {
	case err != nil:
		found.Fault = faultOf(err)
		return found, ""
	case int(version) < format.Version:
		found.Fault = fmt.Sprintf("it has the older schema %d; the service upgrades it to %d when it starts, after a copy", version, format.Version)
		return found, ""
	}
	if address, err = store.ReadAddress(c); err != nil {
		found.Fault = faultOf(err)
	}
	return found, address
}

// faultOf says in a few words what is wrong with a database.
func faultOf(err error) string {
	if newer, ok := errors.AsType[*sqlite.NewerError](err); ok {
		return fmt.Sprintf("a newer version of the program made it (schema %d, this one knows %d)", newer.Version, newer.Known)
	}
	switch {
	case errors.Is(err, sqlite.ErrNotExist), errors.Is(err, sqlite.ErrNoFolder):
		return "it is not there"
	case errors.Is(err, sqlite.ErrCorrupt):
		return "it is damaged"
	case errors.Is(err, sqlite.ErrForeign):
		return "it is not a database of this program, or it is damaged"
	}
	return err.Error()
}

// lookAtBackups says which backups there are.
func (s Service) lookAtBackups(db, folder string) *backups {
	found := &backups{Folder: folder, SameDisk: sameDisk(folder, db)}
	if !osutil.Exists(folder) {
		found.Fault = "the folder is not there; is its disk connected?"
		return found
	}
	if !found.SameDisk {
		found.Disk = room(folder)
	}
	for _, file := range backup.Files(s.Content, db, folder) {
		if !strings.HasPrefix(file.Path, filepath.Clean(folder)+string(filepath.Separator)) {
			continue // it is beside the database
		}
		if found.Count++; found.Count > 1 {
			continue
		}
		at := file.Time.UTC()
		found.Newest, found.File = &at, file.Path
		if err := backup.Inspect(s.Content, file.Path); err != nil {
			found.Fault = "the newest cannot be used: " + backup.Reason(err)
		}
	}
	return found
}
