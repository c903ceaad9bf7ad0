package manage

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const backupHelp = `Usage: firefighters backup FILE [flags]

Saves the database to a file, also while it is served: a consistent copy of one
moment. The file gets its name only after it was checked and is on disk. A file
that exists is not replaced without --force. If a backup was cut off, the next
one into the same folder removes what it left behind.

  firefighters backup /mnt/usb/firefighters-monday.db --db /var/lib/firefighters/firefighters.db

  firefighters backup /mnt/usb/monday.db.age --backup-encrypt-to age1…

To restore it: firefighters restore FILE --db DB

Flags:
`

func (c Commands) backup(env cli.Env, args []string) error {
	flags := env.Flags("backup", backupHelp)
	db := cli.DBFlag(flags)
	force := flags.Bool("force", false, "replace FILE if it exists")
	var encrypt database.Recipients
	encrypt.AddFlag(flags)
	target, err := env.ParseOne(flags, args, "say which file to save to")
	if err = cmp.Or(err, encrypt.Check(flags)); err != nil {
		return err
	}
	job := backup.Job{Content: c.Database, Source: *db, Target: target, Force: *force, EncryptTo: encrypt.To}
	began := time.Now()
	made, err := c.save(env, job)
	if err != nil && env.Context.Err() != nil {
		return errors.New("stopped before the backup was made")
	}
	if err != nil {
		return c.Database.Advise(env.Context, err, *db, "")
	}
	err = env.Println(fmt.Sprintf("Saved %s in %s (%s, %.1f seconds).", made.Text, cli.Quote(target), cli.FormatBytes(made.Bytes), time.Since(began).Seconds()))
	warnOfDamage(env, made, *db)
	if dir := filepath.Dir(target); osutil.SharedFolder(dir) && len(encrypt.To) == 0 {
		env.Warn("every user of this PC may read or delete the backups in "+cli.Quote(dir), "--backup-encrypt-to RECIPIENT, which firefighters backup-key makes")
	}
	if made.Foreign != nil {
		env.Warn(fmt.Sprintf("restore will refuse it as it is: %v", made.Foreign),
			"if you have not changed that yourself: firefighters check --db "+cli.Quote(*db))
	}
	return err
}

// save does a backup job, unless there is no database of ours to save.
func (c Commands) save(env cli.Env, job backup.Job) (backup.Copy, error) {
	if err := cmp.Or(guard.Refuse(osutil.Resolve(job.Source)), backup.Inspect(c.Database, job.Source)); err != nil {
		return backup.Copy{}, err
	}
	progress, end := cli.CopyProgress(env)
	defer end()
	job.Progress = progress
	return job.Run(env.Context)
}

// warnOfDamage warns of damaged records in a copy. The database db has them as
// well.
func warnOfDamage(env cli.Env, made backup.Copy, db string) {
	if made.Damaged > 0 {
		env.Warn(fmt.Sprintf("records in it that are damaged: %d. See which: firefighters check --db %s", made.Damaged, cli.Quote(db)), "")
	}
}
