package daemon

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// restoring is a restore that an admin started on the page.
type restoring struct {
	name  string // of the backup
	by    string
	task  backup.Restore
	carry func(*store.Store) error // keeps the session of the admin
}

// restore checks what can be checked while the service runs, and asks for the restore.
func (p *panel) restore(session store.Key, name, identity string) error {
	d := p.daemon
	if !d.flags.Installed {
		return site.ErrFixed
	}
	files, err := backup.Restorable(d.flags.DB, p.dir)
	at := slices.IndexFunc(files, func(f backup.Listed) bool { return f.Name() == name })
	if at < 0 {
		return cmp.Or(err, backup.ErrNone)
	}
	task := backup.Restore{Format: d.Database.Format, File: files[at].Path, Database: d.flags.DB, Locked: true}
	if strings.TrimSpace(identity) != "" {
		if task.Key, err = backup.ReadKey(strings.NewReader(identity)); err != nil {
			return err
		}
	}
	if err := task.Check(); err != nil {
		return err
	}
	carry, err := p.store.CarrySession(session.ID)
	if err != nil {
		return err
	}
	d.reload(&restoring{name, session.Label, task, carry})
	return nil
}

// restore restores a backup. The database is locked and closed. After an error it is unchanged.
func (d *daemon) restore(next *restoring) {
	defer d.keepAlive()()
	done, err := next.task.Run(d.env.Context)
	d.restored = &site.RestoredBackup{Name: next.name, By: next.by, At: time.Now(), Restored: done, Err: err}
	if err != nil {
		d.service.Log.Error("the backup could not be restored; nothing was changed",
			"backup", next.name, "by", next.by, "cause", err.Error())
		return
	}
	d.service.Log.Info("restored a backup", "backup", next.name, "by", next.by, "kept", done.Kept)
	d.opened = func(s *store.Store) error {
		if err := next.carry(s); err != nil {
			return err
		}
		return s.LogSetting(store.SettingChange{Who: next.by, What: site.SettingRestored, Value: next.name})
	}
}

// keepAlive resets the watchdog of the service manager until end is called.
func (d *daemon) keepAlive() (end func()) {
	var working sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	if interval := d.manager.Interval(); interval > 0 {
		d.every(ctx, &working, interval, &job{failure: reportFailure, do: d.manager.Alive})
	}
	return func() { cancel(); working.Wait() }
}
