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

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/daemon"
	common "github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// overview is the state of the service. Unknown and missing parts are nil or empty.
type overview struct {
	Installed bool       `json:"installed"`
	Running   bool       `json:"running"`
	State     string     `json:"state,omitempty"` // the system's description
	Error     string     `json:"error,omitempty"` // the error that ended the service
	Since     *time.Time `json:"since,omitempty"`
	Version   string     `json:"version,omitempty"`
	Program   string     `json:"program,omitempty"`
	Manual    bool       `json:"manual,omitempty"` // does not start with the PC
	Address   string     `json:"address,omitempty"`
	Local     string     `json:"localAddress,omitempty"` // for this PC only, without TLS
	Answers   *bool      `json:"answers,omitempty"`      // whether the address answers
	Fault     string     `json:"fault,omitempty"`        // why the service rejects all requests
	Warnings  []string   `json:"warnings,omitempty"`     // of the running service
	Data      string     `json:"data"`
	Database  *database  `json:"database,omitempty"`
	Backups   *backups   `json:"backups,omitempty"`
	Disk      *disk      `json:"disk,omitempty"` // disk of the database
	Settings  []string   `json:"settings"`
	Log       string     `json:"log"`               // the command that prints the log
	Missing   string     `json:"missing,omitempty"` // the command that prints the rest
}

type database struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	Fault string `json:"fault,omitempty"`
	Saved string `json:"saved,omitempty"` // copy that was saved when the files were lost
}

type backups struct {
	Folder   string     `json:"folder"`
	Count    int        `json:"count"`
	Newest   *time.Time `json:"newest,omitempty"`
	File     string     `json:"file,omitempty"`
	SameDisk bool       `json:"sameDisk"`              // on the disk of the database
	Plain    int        `json:"unencrypted,omitempty"` // number of unencrypted backups, if new ones are encrypted
	Fault    string     `json:"fault,omitempty"`
	Disk     *disk      `json:"disk,omitempty"` // unless SameDisk
}

type disk struct {
	Free  int64 `json:"free"`
	Total int64 `json:"total"`
}

func (s Service) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "status",
		Short:      "Show whether the service runs, its backups and free space",
		SuggestFor: []string{"info", "show", "health"},
		Long: `Show whether the service runs, where its page and data are, how old the newest
backup is and how much space is free. The output contains no names and no keys.
The exit code is 0 if the service runs, and 1 if it does not.`,
		Example: `  firefighters service status
  sudo firefighters service status --json`,
	}
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return s.status(cli.EnvOf(cmd), *asJSON) }
	return cmd
}

func (s Service) status(env cli.Env, asJSON bool) error {
	state, err := s.Host.Current()
	if err != nil {
		return err
	}
	o := s.overview(env.Context, state)
	switch {
	case asJSON:
		var text []byte
		if text, err = json.MarshalIndent(o, "", "  "); err == nil {
			err = env.Print(string(text) + "\n")
		}
	case o.Installed:
		err = env.Print(strings.Join(o.lines(time.Now()), "\n") + "\n")
	}
	switch {
	case err != nil:
		return err
	case !o.Installed:
		return managers.ErrNotInstalled
	case !o.Running && o.Error != "":
		return cli.WithHint(fmt.Errorf("the service does not run: %s", o.Error), hintOf(state))
	case !o.Running:
		return cli.WithHint(errors.New("the service does not run"), cli.AsAdministrator(cli.Typed()+" service start"))
	}
	return nil
}

// overview completes the state of the service with its data and its own report.
func (s Service) overview(ctx context.Context, state managers.State) overview {
	o := overview{Installed: state.Installed, Running: state.Running, State: state.Detail, Error: state.Error, Program: state.Program,
		Manual: state.Manual, Data: s.data(), Settings: []string{}, Log: asReader(cli.Typed() + " service log")}
	if !state.Since.IsZero() {
		o.Since = new(state.Since.UTC())
	}
	if own, err := os.Executable(); err == nil && osutil.SameFile(own, state.Program) {
		o.Version = cli.ReadBuild().Version
	}
	settings, err := managers.ReadSettings(s.data())
	if errors.Is(err, fs.ErrPermission) {
		o.Missing = cli.AsAdministrator(cli.Typed() + " service status")
	} else {
		o.Settings = append(o.Settings, settings...)
		s.inspectData(&o, settings)
	}
	if o.Address = cmp.Or(o.Address, state.Address); !o.Running {
		o.Address, o.Local = "", ""
	} else if o.Address != "" {
		o.ask(ctx)
	}
	return o
}

// littleRoom is space in bytes for some weeks of changes or a few backups.
const littleRoom = 100_000_000

// report has the lines of an overview.
type report []string

func (r *report) add(label, format string, args ...any) {
	*r = append(*r, fmt.Sprintf("%-10s %s", label, fmt.Sprintf(format, args...)))
}

func (o overview) lines(now time.Time) (r report) {
	o.addService(&r, now)
	r.add("Data", "%s", o.Data)
	if d := o.Database; d != nil {
		r.add("Database", "%s, %s", d.Path, cmp.Or(d.Fault, cli.FormatBytes(d.Bytes)))
		if d.Saved != "" {
			r.add("", "Its files were lost once. Their content was saved as %s", d.Saved)
		}
	}
	if o.Backups != nil {
		o.Backups.addTo(&r, now)
	}
	if o.Disk != nil {
		r.add("Disk", "%s", o.Disk)
		if o.Disk.Free < littleRoom {
			r.add("", "WARNING: the disk is nearly full. Free some space.")
		}
	}
	for i, setting := range o.Settings {
		r.add([]string{"Settings", ""}[min(i, 1)], "%s", setting)
	}
	r.add("Log", "%s", o.Log)
	if o.Missing != "" {
		r.add("", "For the rest, try: %s", o.Missing)
	}
	return r
}

func (o overview) addService(r *report, now time.Time) {
	switch {
	case !o.Running && o.State != "":
		r.add("Service", "does not run: %s", o.State)
	case !o.Running:
		r.add("Service", "does not run")
	case o.Since == nil:
		r.add("Service", "runs")
	default:
		r.add("Service", "runs since %s (%s)", o.Since.Format(time.RFC3339), cli.FormatSpan(now.Sub(*o.Since)))
	}
	if o.Manual {
		r.add("", "WARNING: it does not start with the PC. Try: %s", cli.AsAdministrator(cli.Typed()+" service install"))
	}
	r.add("Version", "%s, %s", cmp.Or(o.Version, "unknown"), o.Program)
	if o.Address != "" && o.Answers != nil && !*o.Answers {
		r.add("Address", "%s, which does not answer", o.Address)
	} else if o.Address != "" {
		r.add("Address", "%s", o.Address)
		if o.Local != "" {
			r.add("", "%s on this PC, without a certificate", o.Local)
		}
		r.add("", "To open it: %s", asReader(cli.Typed()+" open"))
	}
	if o.Fault != "" {
		r.add("", "WARNING: it rejects all requests. %s", o.Fault)
		r.add("", "Try: %s, which prints what to do next", cli.AsAdministrator(cli.Typed()+" service stop"))
	}
	for _, text := range o.Warnings {
		if text != daemon.SameDisk { // a warning about the backups
			r.add("", "WARNING: %s", text)
		}
	}
}

func (b *backups) addTo(r *report, now time.Time) {
	if b.Newest == nil {
		r.add("Backups", "none yet in %s", b.Folder)
	} else {
		r.add("Backups", "newest: %s (%s ago), %d in", b.Newest.Format(time.RFC3339), cli.FormatSpan(now.Sub(*b.Newest)), b.Count)
		r.add("", "%s", b.Folder)
	}
	if b.Fault != "" {
		r.add("", "WARNING: %s", b.Fault)
	}
	if b.Plain > 0 {
		r.add("", "WARNING: %s can be read by everyone who can open this folder. To delete them: %s",
			common.CountPlain(b.Plain), cli.AsAdministrator(cli.Typed()+" backup delete-plain"))
	}
	if b.SameDisk {
		r.add("", "WARNING: they are on the disk of the database, and would be lost with it")
	}
	if b.Disk != nil {
		r.add("", "disk: %s", b.Disk)
	}
}

func (d *disk) String() string {
	return fmt.Sprintf("%.1f GB of %.1f GB free", float64(d.Free)/1e9, float64(d.Total)/1e9)
}

// room returns the space on the disk of a folder, or nil if it is unknown.
func room(folder string) *disk {
	space, err := osutil.SpaceOf(folder)
	if err != nil {
		return nil
	}
	return &disk{space.Free, space.Total}
}

// ask adds the service's own report. It accepts every certificate, because the response has no secret.
func (o *overview) ask(ctx context.Context) {
	o.Answers = new(bool)
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "GET", cmp.Or(o.Local, o.Address)+"/readyz", nil)
	if err != nil {
		return
	}
	transport := http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	response, err := transport.RoundTrip(request) // does not follow redirects
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
		o.Fault = cmp.Or(ready.Detail, "The cause is unknown.")
	}
}

func (s Service) inspectData(o *overview, settings managers.Settings) {
	options, err := s.options(settings)
	if err != nil {
		o.Database = &database{Path: managers.DatabaseIn(s.data()), Fault: "not inspected, because the settings are invalid: " + err.Error()}
		return
	}
	for _, flag := range applyPage(&options) {
		o.Settings = append(o.Settings, flag+" (page)")
	}
	o.Database, o.Address, o.Local = s.inspect(options.DB)
	if o.Running {
		o.Warnings = serviceWarnings(options.DB)
	}
	o.Database.Saved = savedCopy(osutil.Resolve(options.DB))
	o.Disk = room(filepath.Dir(options.DB))
	o.Backups = s.inspectBackups(options.DB, options.Backups)
}

// serviceWarnings returns the warnings of the service since its start, each in one line.
func serviceWarnings(db string) (texts []string) {
	backup.ReadNote(osutil.Resolve(db), backup.NoteWarnings, &texts)
	for i, text := range texts {
		texts[i] = strings.Join(strings.Fields(text), " ")
	}
	return texts
}

// inspect returns the state of a database, without changing it, and the addresses of its server. local
// is empty unless this PC has a separate address.
func (s Service) inspect(path string) (found *database, address, local string) {
	found = &database{Path: path}
	file := osutil.Resolve(path)
	err := backup.Inspect(s.Format, file)
	if err == nil {
		found.Bytes = sqlite.SizeOf(file)
		address, local, err = readAddresses(file)
	}
	if err != nil {
		found.Fault = common.Cause(err).Error()
	}
	if local == address {
		local = ""
	}
	return found, address, local
}

func readAddresses(file string) (address, local string, err error) {
	c, err := sqlite.Peek(file)
	if err != nil {
		return "", "", err
	}
	defer c.Close()
	return store.ReadAddresses(c)
}

func (s Service) inspectBackups(db string, o backup.Options) *backups {
	folder := o.Dir
	found := &backups{Folder: folder, SameDisk: sameDisk(folder, db)}
	if !osutil.Exists(folder) {
		found.Fault = "the folder does not exist; is its disk connected?"
		return found
	}
	if !found.SameDisk {
		found.Disk = room(folder)
	}
	for _, file := range backup.Files(s.Format, db, folder) {
		if !strings.HasPrefix(file.Path, filepath.Clean(folder)+string(filepath.Separator)) {
			continue // next to the database
		}
		if len(o.EncryptTo) > 0 && !file.Encrypted {
			found.Plain++
		}
		if found.Count++; found.Count > 1 {
			continue
		}
		found.Newest, found.File = new(file.Time.UTC()), file.Path
		if err := file.Inspect(s.Format); err != nil {
			found.Fault = "the newest backup cannot be used: " + common.Cause(err).Error()
		}
	}
	return found
}
