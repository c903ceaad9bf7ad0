package service

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
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

const statusHelp = `Usage: firefighters service status [flags]

Says how the service is: whether it runs and since when, where its page and its
data are, how old the newest backup is, and how much room there is. It tells no
name of a person or a department, and no key, so it can be read out on the
telephone. The exit code is 0 if the service runs, and 1 if it does not.

  firefighters service status
  firefighters service status --json

Flags:
`

// overview is how the service is. What is not known, or not there, is nil or empty.
type overview struct {
	Installed bool       `json:"installed"`
	Running   bool       `json:"running"`
	State     string     `json:"state,omitempty"` // in the words of the system
	Error     string     `json:"error,omitempty"` // why it does not run, in its own words
	Since     *time.Time `json:"since,omitempty"`
	Version   string     `json:"version,omitempty"` // as the service reports it
	Program   string     `json:"program,omitempty"`
	Manual    bool       `json:"manual,omitempty"` // it does not start with the PC
	Address   string     `json:"address,omitempty"`
	Local     string     `json:"localAddress,omitempty"` // for this PC alone, without TLS
	Answers   *bool      `json:"answers,omitempty"`      // at that address
	Fault     string     `json:"fault,omitempty"`        // why it answers no other request
	Data      string     `json:"data"`
	Database  *database  `json:"database,omitempty"`
	Backups   *backups   `json:"backups,omitempty"`
	Disk      *disk      `json:"disk,omitempty"` // of the database
	Settings  []string   `json:"settings"`
	Log       string     `json:"log"`               // what to type to see it
	Missing   string     `json:"missing,omitempty"` // what to type to know the rest
}

type database struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	Fault string `json:"fault,omitempty"`
	Saved string `json:"saved,omitempty"` // what was in it when its files had gone
}

type backups struct {
	Folder   string     `json:"folder"`
	Count    int        `json:"count"`
	Newest   *time.Time `json:"newest,omitempty"`
	File     string     `json:"file,omitempty"`
	SameDisk bool       `json:"sameDisk"` // as the database
	Fault    string     `json:"fault,omitempty"`
	Disk     *disk      `json:"disk,omitempty"` // if it is another one
}

type disk struct {
	Free  int64 `json:"free"`
	Total int64 `json:"total"`
}

func (s Service) status(env cli.Env, args []string) error {
	flags := env.Flags("service status", statusHelp)
	asJSON := flags.Bool("json", false, "print JSON")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	state, err := s.Host.Current()
	if err != nil {
		return s.explain(err, "service status")
	}
	o := s.look(env, state)
	if *asJSON {
		text, err := json.MarshalIndent(o, "", "  ")
		if err != nil {
			return err
		}
		if err := env.Println(string(text)); err != nil {
			return err
		}
	} else if o.Installed {
		if err := sayAll(env, o.lines(time.Now())); err != nil {
			return err
		}
	}
	switch {
	case !o.Installed:
		return s.explain(managers.ErrNotInstalled, "")
	case !o.Running && o.Error != "":
		return cli.WithHint(fmt.Errorf("the service does not run: %s", o.Error), hintOf(state))
	case !o.Running:
		return cli.WithHint(errors.New("the service does not run"), cli.AsAdministrator(typed()+" service start"))
	}
	return nil
}

// look finds out how the service is.
func (s Service) look(env cli.Env, state managers.State) overview {
	o := overview{Installed: state.Installed, Running: state.Running, State: state.Detail, Error: state.Error, Program: state.Program,
		Manual: state.Manual, Data: s.data(), Settings: []string{}, Log: managers.LogCommand}
	if !state.Since.IsZero() {
		since := state.Since.UTC()
		o.Since = &since
	}
	if own, err := os.Executable(); err == nil && osutil.SameFile(own, state.Program) {
		o.Version = cli.ReadBuild().Version
	}
	settings, err := managers.ReadSettings(s.data())
	if errors.Is(err, fs.ErrPermission) {
		o.Missing = cli.AsAdministrator(typed() + " service status")
	} else {
		o.Settings = append(o.Settings, settings...)
		s.lookAtData(env, &o, settings)
	}
	if o.Address = cmp.Or(state.Address, o.Address); !o.Running {
		o.Address, o.Local = "", ""
	} else if o.Address != "" {
		o.ask(env.Context)
	}
	return o
}

// littleRoom is room for some weeks of changes, or for a few backups, in bytes.
const littleRoom = 100_000_000

// lines writes an overview for people.
func (o overview) lines(now time.Time) (lines []string) {
	say := func(what, format string, args ...any) {
		lines = append(lines, fmt.Sprintf("%-10s %s", what, fmt.Sprintf(format, args...)))
	}
	say("Service", "%s", o.running(now))
	if o.Manual {
		say("", "WARNING: it does not start with the PC. Try: %s", cli.AsAdministrator(typed()+" service install"))
	}
	say("Version", "%s, %s", cmp.Or(o.Version, "unknown"), o.Program)
	if o.Address != "" {
		answer := ""
		if o.Answers != nil && !*o.Answers {
			answer = ", which does not answer"
		}
		say("Address", "%s%s", o.Address, answer)
		if o.Local != "" {
			say("", "%s on this PC, without a certificate", o.Local)
		}
	}
	if o.Fault != "" {
		say("", "WARNING: it answers no request. %s", o.Fault)
		say("", "Try: %s, which says what to type then", cli.AsAdministrator(typed()+" service stop"))
	}
	say("Data", "%s", o.Data)
	if o.Database != nil {
		say("Database", "%s", o.Database)
		if o.Database.Saved != "" {
			say("", "Its files had gone once. What was in it then: %s", o.Database.Saved)
		}
	}
	if o.Backups != nil {
		lines = append(lines, o.Backups.lines(now)...)
	}
	if o.Disk != nil {
		say("Disk", "%s", o.Disk)
		if o.Disk.Free < littleRoom {
			say("", "WARNING: on a full disk nothing can be written. Make room on it.")
		}
	}
	for i, setting := range o.Settings {
		say([]string{"Settings", ""}[min(i, 1)], "%s", setting)
	}
	say("Log", "%s", o.Log)
	if o.Missing != "" {
		say("", "There is more to know. Try: %s", o.Missing)
	}
	return lines
}

func (o overview) running(now time.Time) string {
	switch {
	case !o.Running && o.State != "":
		return "does not run: " + o.State
	case !o.Running:
		return "does not run"
	case o.Since == nil:
		return "runs"
	}
	return fmt.Sprintf("runs since %s (%s)", o.Since.Format(time.RFC3339), cli.FormatSpan(now.Sub(*o.Since)))
}

func (d *database) String() string {
	if d.Fault != "" {
		return d.Path + ": " + d.Fault
	}
	return d.Path + ", " + cli.FormatBytes(d.Bytes)
}

func (d *disk) String() string {
	return fmt.Sprintf("%.1f GB of %.1f GB are free", float64(d.Free)/1e9, float64(d.Total)/1e9)
}

func (b *backups) lines(now time.Time) []string {
	lines := []string{"Backups    none yet in " + b.Folder}
	if b.Newest != nil {
		lines = []string{
			fmt.Sprintf("Backups    the newest is of %s (%s ago), of %d in", b.Newest.Format(time.RFC3339), cli.FormatSpan(now.Sub(*b.Newest)), b.Count),
			"           " + b.Folder,
		}
	}
	if b.Fault != "" {
		lines = append(lines, "           WARNING: "+b.Fault)
	}
	if b.SameDisk {
		lines = append(lines, "           WARNING: they are on the disk of the database, and would be lost with it")
	}
	if b.Disk != nil {
		lines = append(lines, "           on a disk of which "+b.Disk.String())
	}
	return lines
}

// room returns the room on the disk of a folder, nil if it is not known.
func room(folder string) *disk {
	space, err := osutil.SpaceOf(folder)
	if err != nil {
		return nil
	}
	return &disk{space.Free, space.Total}
}

// ask requests the state of the service from the service itself. It checks no certificate,
// because the response holds no secret.
func (o *overview) ask(ctx context.Context) {
	o.Answers = new(bool)
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "GET", cmp.Or(o.Local, o.Address)+"/readyz", nil)
	if err != nil {
		return
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	*o.Answers = true
	var ready struct {
		Version, Detail string
		UptimeSeconds   int64
		Backup          struct {
			OK     *bool
			Detail string
		}
	}
	err = json.NewDecoder(io.LimitReader(response.Body, 1<<16)).Decode(&ready)
	o.Version = cmp.Or(ready.Version, o.Version)
	if o.Since == nil && ready.UptimeSeconds > 0 {
		o.Since = new(time.Now().UTC().Truncate(time.Second).Add(-time.Duration(ready.UptimeSeconds) * time.Second))
	}
	if err == nil && ready.Backup.OK != nil && !*ready.Backup.OK && o.Backups != nil && o.Backups.Fault == "" {
		o.Backups.Fault = "they fail: " + ready.Backup.Detail
	}
	if response.StatusCode == http.StatusServiceUnavailable {
		o.Fault = cmp.Or(ready.Detail, "It does not say why.")
	}
}

// lookAtData adds what the folders of the service hold.
func (s Service) lookAtData(env cli.Env, o *overview, settings managers.Settings) {
	options, err := s.options(env, settings)
	if err != nil {
		o.Database = &database{Path: managers.DatabaseIn(s.data()), Fault: "not looked at, because the settings are wrong: " + err.Error()}
		return
	}
	o.Database, o.Address, o.Local = s.inspect(options.DB)
	o.Database.Saved = savedCopy(osutil.Resolve(options.DB))
	o.Disk = room(filepath.Dir(options.DB))
	o.Backups = s.lookAtBackups(options.DB, options.Backups.Dir)
}

// inspect reads a database without changing or upgrading it, and the addresses at
// which it says that it is served: that for all, and that for this PC if it is another.
func (s Service) inspect(path string) (found *database, address, local string) {
	found = &database{Path: path}
	file := osutil.Resolve(path)
	if err := backup.Inspect(s.Content, file); err != nil {
		found.Fault = backup.Reason(err)
		return found, "", ""
	}
	found.Bytes = sqlite.SizeOf(file)
	c, err := sqlite.Peek(file)
	if err != nil {
		found.Fault = backup.Reason(err)
		return found, "", ""
	}
	defer c.Close()
	if address, local, err = store.ReadAddresses(c); err != nil {
		found.Fault = backup.Reason(err)
	}
	if local == address {
		local = ""
	}
	return found, address, local
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
		if err := file.Inspect(s.Content); err != nil {
			found.Fault = "the newest cannot be used: " + backup.Reason(err)
		}
	}
	return found
}
