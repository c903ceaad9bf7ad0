package daemon

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// close closes the database. If its files have gone it says what there is
// instead, and what to type.
func (d *daemon) close() error {
	loss := d.guard.End()
	if loss == nil {
		return d.store.Close()
	}
	db := cli.Quote(osutil.Resolve(d.DB))
	if loss.Closable() {
		if err := d.store.Close(); err != nil {
			return err
		}
		d.env.Notef("Note: %v. It was still open, and everything is in %s again.", loss, db)
		if loss.Saved != "" {
			d.env.Notef("The copy that was made for safety can be deleted: %s", cli.Quote(loss.Saved))
		}
		return nil
	}
	if loss.Saved == "" {
		return cli.WithHint(fmt.Errorf("%w, and could not be saved (%s): %s", loss, backup.Reason(loss.Err), db), d.unsavedHint())
	}
	hint := fmt.Sprintf("firefighters restore %s --db %s", cli.Quote(loss.Saved), db)
	if newest := d.newestBackup(loss.Saved); loss.Older() && newest != "" {
		hint += "; a backup may have later records: " + newest
	}
	return cli.WithHint(fmt.Errorf("%w: %s. What was in it is saved as %s", loss, db, cli.Quote(loss.Saved)), hint)
}

// newestBackup returns the newest backup other than one, quoted for a shell. It is
// empty if there is none. The database must be closed.
func (d *daemon) newestBackup(other string) string {
	for _, file := range backup.Files(d.Database.Content(), d.DB, d.Backups.Dir) {
		if file.Path != other {
			return cli.Quote(file.Path)
		}
	}
	return ""
}

// unsavedHint says how to find out what is left in the files, before anything writes
// to them.
func (d *daemon) unsavedHint() string {
	path := osutil.Resolve(d.DB)
	db, copies := cli.Quote(path), "put back what was moved"
	var there []string
	for _, suffix := range []string{"", "-wal", guard.AsideSuffix, "-shm"} {
		if osutil.Exists(path + suffix) {
			there = append(there, cli.Quote(path+suffix))
		}
	}
	if len(there) > 0 {
		copies = "copy " + strings.Join(there, " ") + " to another folder"
	}
	return fmt.Sprintf("first %s; then firefighters check --db %s; if it is sound and has what you expect, start again; if not: firefighters restore %s --db %s",
		copies, db, cmp.Or(d.newestBackup(""), "FILE"), db)
}
