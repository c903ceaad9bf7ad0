package manage

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const drillHelp = `Usage: firefighters drill [flags]

Tries out the newest backup, also while the service runs: restores it to a
private folder, checks that as check does, compares it with the database, and
removes it. So it says whether a restore would work, what would be lost, and how
long it would take. The database is only read.

  firefighters drill
  firefighters drill --backup-dir /mnt/usb/firefighters --db /var/lib/firefighters/firefighters.db

The exit code is 0 if the backup is good. The private folder is beside the
database if there is room, and else where temporary files are. A service that
makes backups does such a drill by itself, once a month.

Flags:
`

func (c Commands) drill(env cli.Env, args []string) error {
	flags := env.Flags("drill", drillHelp)
	db := cli.DBFlag(flags)
	dir := flags.String("backup-dir", "", "the `folder` of the backups; by default that of the installed service")
	asJSON := flags.Bool("json", false, "print JSON")
	identity := database.IdentityFlag(flags)
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	key, err := database.ReadIdentity(env, *identity)
	if err != nil {
		return err
	}
	every := 24 * time.Hour
	if of, known := c.Service.Backups(env, *db); known && (*dir == "" || osutil.SameFile(*dir, of.Dir)) {
		*dir, every = of.Dir, of.Every
	}
	if *dir == "" {
		return cli.Usage("drill: say where the backups are", cli.TypedLine(flags, 0)+" --backup-dir DIR")
	}
	if err := readable(*dir); err != nil {
		return err
	}
	if err := backup.RefuseSecondPath(*db); err != nil {
		return c.Database.Advise(env.Context, err, *db, "")
	}
	d := backup.Drill{Content: c.Database, Database: *db, Dir: *dir, Key: key}
	progress, end := cli.CopyProgress(env)
	d.Progress = progress
	done, err := d.Run(env.Context)
	end()
	if env.Context.Err() != nil {
		return errors.New("stopped; nothing was changed")
	}
	backup.NoteDrill(d, done, err) // the service has a line about it; without that it does its own
	if err == nil && done.Damaged > 0 {
		err = errDamagedRecords
	}
	report := newDrillReport(done, every, time.Now())
	if err != nil {
		err = c.adviseDrill(env, err, d, done)
		report.Error = err.Error()
	}
	return cmp.Or(report.print(env, done, *asJSON, *db), err)
}

// readable returns an error about a folder of backups that is not there, or not to be
// read.
func readable(dir string) error {
	_, err := os.ReadDir(dir)
	name := osutil.InQuotes(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return cli.WithHint(fmt.Errorf("the folder of backups %s is not there", name), "connect its disk, or name another: --backup-dir DIR")
	case errors.Is(err, fs.ErrPermission):
		return cli.WithHint(fmt.Errorf("the folder of backups %s may not be read", name), "start as the user who owns it, or as an administrator (sudo)")
	case err != nil:
		return cli.WithHint(fmt.Errorf("the folder of backups %s cannot be read: %w", name, err), "name a folder: --backup-dir DIR")
	}
	return nil
}

// errDamagedRecords is about a backup that is whole but for some records.
var errDamagedRecords = errors.New("records of the newest backup are damaged")

// adviseDrill says what a failed drill means, and what to do.
func (c Commands) adviseDrill(env cli.Env, err error, d backup.Drill, done backup.Drilled) error {
	dir, file := osutil.InQuotes(d.Dir), osutil.InQuotes(cmp.Or(done.Tried, done.Path))
	another := fmt.Sprintf("make a new backup, and have the disk of %s examined: firefighters backup FILE --db %s", cli.Quote(d.Dir), cli.Quote(d.Database))
	switch {
	case errors.Is(err, backup.ErrNone):
		return cli.WithHint(fmt.Errorf("there is no backup of %s in %s", osutil.InQuotes(d.Database), dir),
			"name the right folder and database; or make backups: firefighters serve --backup-dir "+cli.Quote(d.Dir)+" --db "+cli.Quote(d.Database))
	case errors.Is(err, backup.ErrOthers):
		return cli.WithHint(fmt.Errorf("all backups in %s are of another database than %s", dir, osutil.InQuotes(d.Database)), "name the right folder with --backup-dir, or the right database with --db")
	case errors.Is(err, backup.ErrDrilling):
		return cli.WithHint(err, "again when that is done")
	case errors.As(err, new(*backup.RoomError)), errors.Is(err, sqlite.ErrFull):
		return cli.WithHint(errors.New(database.AdviceOn(err, d.Database).Text), "make room there, or name a folder on another disk for temporary files, by the variable TMPDIR (on Windows TMP)")
	case errors.Is(err, errDamagedRecords):
		return cli.WithHint(fmt.Errorf("the newest backup can be restored, but %s", cli.Count(done.Damaged, "record in it is damaged", "records in it are damaged")),
			"see which: firefighters check --db "+cli.Quote(d.Database))
	case errors.Is(err, backup.ErrUnsound):
		for _, fault := range done.Faults {
			env.Notef("%s", fault)
		}
		err = fmt.Errorf("the newest backup %s can be restored, but what it restores does not pass the check", file)
	case errors.Is(err, backup.ErrLacks):
		err = fmt.Errorf("the newest backup %s has other numbers than the database, although nothing has changed since", file)
	case errors.Is(err, sqlite.ErrCorrupt):
		err = fmt.Errorf("the newest backup %s is damaged", file)
	case errors.Is(err, sqlite.ErrForeign):
		err = fmt.Errorf("the newest backup %s is damaged, or no database of this program", file)
	default:
		return c.Database.Advise(env.Context, err, d.Database, "")
	}
	if newest := backup.NewestValid(env.Context, c.Database, d.Database, d.Dir); newest != nil && newest.Path != done.Path {
		err = fmt.Errorf("%w; the newest good one is of %s", err, newest.Time.Format(time.RFC3339))
	}
	return cli.WithHint(err, another)
}

// drillReport is what a drill has found, as JSON.
type drillReport struct {
	OK         bool           `json:"ok"`
	Error      string         `json:"error,omitempty"`
	File       string         `json:"file,omitempty"`
	Time       *time.Time     `json:"time,omitempty"` // of the backup
	Encrypted  bool           `json:"encrypted"`
	Restored   string         `json:"restored,omitempty"` // the backup or, without the key, its plain copy
	AgeSeconds int64          `json:"ageSeconds"`
	Old        bool           `json:"old"`      // there should be a newer one
	OfOthers   int            `json:"ofOthers"` // newer backups of another database
	Restore    float64        `json:"restoreSeconds"`
	Check      float64        `json:"checkSeconds"`
	Bytes      int64          `json:"bytes"`
	Backup     map[string]any `json:"backup,omitempty"`
	Database   map[string]any `json:"database,omitempty"`
	Faults     []string       `json:"faults"`
}

func newDrillReport(done backup.Drilled, every time.Duration, now time.Time) (r drillReport) {
	r.OfOthers, r.Faults = done.Others, append([]string{}, done.Faults...)
	if done.Path == "" {
		return r
	}
	at := done.Time.UTC()
	r.File, r.Time, r.AgeSeconds, r.Old = done.Path, &at, int64(now.Sub(at).Seconds()), now.Sub(at) > 2*every
	r.Encrypted, r.Restored = done.Encrypted, done.Tried
	r.Restore, r.Check, r.Bytes = milliseconds(done.Restoring), milliseconds(done.Checking), done.Bytes
	r.Backup, r.Database = inventory(done.Backup), inventory(done.Live)
	return r
}

// milliseconds returns a time in seconds, to the millisecond.
func milliseconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e3) / 1e3 }

func inventory(i backup.Inventory) map[string]any {
	if i.Numbers == nil {
		return nil
	}
	numbers := map[string]any{}
	for _, n := range i.Numbers {
		numbers[n.What] = n.N
	}
	if !i.Newest.IsZero() {
		numbers["newestChange"] = i.Newest
	}
	return numbers
}

// print says what was found, as JSON or in words. The caller says what is wrong.
func (r drillReport) print(env cli.Env, done backup.Drilled, asJSON bool, db string) error {
	if r.OfOthers > 0 && r.File != "" {
		env.Warn(fmt.Sprintf("newer backups in this folder that are of another database: %d. Give each database a folder of its own.", r.OfOthers), "")
	}
	if asJSON {
		r.OK = r.Error == ""
		return env.PrintJSON(r)
	}
	if done.Encrypted && done.Tried != done.Path && done.Bytes > 0 {
		env.Note(cli.Quote(done.Path)+" is encrypted. Its header, its length and its SHA-256 are right. Only the key tells more.", "the same with --identity KEYFILE")
	}
	if done.Backup.Numbers != nil {
		if err := r.printNumbers(env, done); err != nil {
			return err
		}
	}
	if r.Error != "" {
		return nil
	}
	if done.Unread != nil {
		env.Warn("it was compared with nothing: "+database.AdviceOn(done.Unread, db).Text, "")
	}
	if done.Tried != "" && done.Unread == nil && done.Live.Newest.Before(done.Backup.Newest) {
		env.Warn("the backup has later changes than the database.", "if nobody has restored an older backup, look at the database: firefighters check --db "+cli.Quote(db))
	}
	if r.Old {
		env.Warn(fmt.Sprintf("the newest backup is %s old. What has changed since is in no backup of this folder.", age(r.AgeSeconds)), "see why there is no newer one: firefighters service status")
	}
	return nil
}

// printNumbers prints what the backup and the database hold, beside each other.
func (r drillReport) printNumbers(env cli.Env, done backup.Drilled) error {
	list := cli.NewList(false, "WHAT", "BACKUP", "DATABASE")
	for i, n := range done.Backup.Numbers {
		live := "-"
		if i < len(done.Live.Numbers) {
			live = fmt.Sprint(done.Live.Numbers[i].N)
		}
		list.Add(nil, n.What, fmt.Sprint(n.N), live)
	}
	list.Add(nil, "newest change", moment(done.Backup.Newest), moment(done.Live.Newest))
	verdict := ""
	if r.Error == "" {
		verdict = " It is sound."
	}
	said := fmt.Sprintf("Restored %s, which is %s old, and checked it.%s", cli.Quote(done.Tried), age(r.AgeSeconds), verdict)
	if err := env.Println(said); err != nil {
		return err
	}
	if err := list.Print(env); err != nil {
		return err
	}
	return env.Println(fmt.Sprintf("A restore takes %.2f seconds on this PC (%s), and the check after it %.2f seconds.", r.Restore, cli.FormatBytes(r.Bytes), r.Check))
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

// age writes a time in its largest unit.
func age(seconds int64) string { return cli.FormatSpan(time.Duration(seconds) * time.Second) }
