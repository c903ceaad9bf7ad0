package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// restoring is a restore that an admin started on the page.
type restoring struct {
	task  backup.Restore
	done  site.RestoredBackup
	carry func(*store.Store) error // keeps the session of the admin
}

// restorer returns a function that checks what can be checked while the service runs, and begins a
// restore.
func (d *daemon) restorer(s *store.Store) func(session store.Key, file backup.File, key backup.Key) error {
	return func(session store.Key, file backup.File, key backup.Key) error {
		task := backup.Restore{Format: d.Database.Format, File: file.Path, Database: d.DB, Key: key, Locked: true}
		if err := task.Check(); err != nil {
			return err
		}
		carry, err := s.CarrySession(session.ID)
		if err == nil {
			d.reload(&restoring{task, site.RestoredBackup{Name: file.Name(), By: session.Label}, carry})
		}
		return err
	}
}

// restore restores a backup. The database is locked and closed. After an error it is unchanged.
func (d *daemon) restore(next *restoring) {
	defer d.keepAlive()()
	done := &next.done
	done.Restored, done.Err = next.task.Run(d.env.Context)
	done.At, d.restored = time.Now(), done
	if done.Err != nil {
		d.service.Log.Error("the backup could not be restored; nothing was changed",
			"backup", done.Name, "by", done.By, "cause", done.Err.Error())
		return
	}
	d.service.Log.Info("restored a backup", "backup", done.Name, "by", done.By, "kept", done.Kept)
	d.opened = func(s *store.Store) error {
		if err := next.carry(s); err != nil {
			return err
		}
		return s.LogSetting(store.SettingChange{Who: done.By, What: site.SettingRestored, Value: done.Name})
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
