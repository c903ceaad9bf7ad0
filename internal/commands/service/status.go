package service

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
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
	Version   string     `json:"version,omitempty"` // of the program that is installed
	Program   string     `json:"program,omitempty"`
	Manual    bool       `json:"manual,omitempty"`   // it does not start with the PC
	Replaced  bool       `json:"replaced,omitempty"` // the program, since the service runs
	Address   string     `json:"address,omitempty"`
	Answers   *bool      `json:"answers,omitempty"` // at that address
	Fault     string     `json:"fault,omitempty"`   // why it answers no other request
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
	if errors.Is(err, managers.ErrNotInstalled) {
		err = nil
	}
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
		return cli.WithHint(fmt.Errorf("the service does not run: %s", printable(o.Error)), hintOf(state))
	case !o.Running:
		return cli.WithHint(errors.New("the service does not run"), cli.AsAdministrator(typed()+" service start"))
	}
	return nil
}

// look finds out how the service is.
func (s Service) look(env cli.Env, state managers.State) overview {
	o := overview{Installed: state.Installed, Running: state.Running, State: state.Detail, Error: state.Error, Program: state.Program,
		Manual: state.Manual, Replaced: state.Replaced, Data: s.data(), Settings: []string{}, Log: managers.LogCommand}
	if !state.Since.IsZero() {
		since := state.Since.UTC()
		o.Since = &since
	}
	if state.Program != "" {
		o.Version = versionOf(env, state.Program)
	}
	_, word, _ := strings.Cut(state.Word, "Listening on ")
	settings, err := managers.ReadSettings(s.data())
	if _, statErr := os.Stat(managers.SettingsIn(s.data())); errors.Is(err, fs.ErrPermission) || errors.Is(statErr, fs.ErrPermission) {
		o.Missing = cli.AsAdministrator(typed() + " service status")
	} else {
		if o.Settings = append(o.Settings, settings...); settings == nil && state.Former != nil {
			settings, o.Settings = state.Former, []string{strings.Join(state.Former, " ")}
		}
		s.lookAtData(env, &o, settings)
	}
	if word != "" {
		o.Address = word
	}
	if o.Address != "" && o.Running {
		said := ask(env.Context, o.Address)
		answers := said != nil
		o.Answers = &answers
		if answers {
			o.Fault = said.fault
		}
		if answers && o.Backups != nil && o.Backups.Fault == "" {
			o.Backups.Fault = said.backups
		}
	}
	if !o.Running {
		o.Address = ""
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
	version := o.Version
	if version == "" {
		version = "unknown"
	}
	say("Version", "%s, %s", version, o.Program)
	if o.Replaced {
		say("", "The program was replaced since then. Try: %s", cli.AsAdministrator(typed()+" service install"))
	}
	if o.Address != "" {
		answer := ""
		if o.Answers != nil && !*o.Answers {
			answer = ", which does not answer"
		}
		say("Address", "%s%s", o.Address, answer)
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
	for i := range lines {
		lines[i] = printable(lines[i])
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
	return fmt.Sprintf("runs since %s (%s)", o.Since.Format(time.RFC3339), span(now.Sub(*o.Since)))
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
			fmt.Sprintf("Backups    the newest is of %s (%s ago), of %d in", b.Newest.Format(time.RFC3339), span(now.Sub(*b.Newest)), b.Count),
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

// span writes a time in its largest unit.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return cli.Count(int64(max(0, d)/time.Second), "second", "seconds")
	case d < time.Hour:
		return cli.Count(int64(d/time.Minute), "minute", "minutes")
	case d < 48*time.Hour:
		return cli.Count(int64(d/time.Hour), "hour", "hours")
	}
	return cli.Count(int64(d/(24*time.Hour)), "day", "days")
}

// room returns the room on the disk of a folder, nil if it is not known.
func room(folder string) *disk {
	space, err := osutil.SpaceOf(folder)
	if err != nil {
		return nil
	}
	return &disk{space.Free, space.Total}
}
