package daemon

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// The flags that take precedence over a setting.
var (
	folderFlags     = []string{"backup-dir"}
	recipientsFlags = []string{"backup-encrypt-to"}
	networkFlags    = []string{"listen", "local", "tls-self-signed", "tls-cert", "tls-key", "public-url"}
)

// isFixed reports whether the page cannot change what these flags set.
func (o *Options) isFixed(flags []string) bool {
	return !o.Installed || o.given == nil || slices.ContainsFunc(flags, o.given)
}

// reload asks to apply the settings again.
type reload struct {
	next *restoring    // the restore to run before that, or nil
	done chan struct{} // closed when the settings apply or, before a restore, when the door is closed
}

// reload applies the settings again, or closes the door and begins a restore. The caller may be inside
// the door.
func (d *daemon) reload(next *restoring) {
	r := reload{next, make(chan struct{})}
	select {
	case d.reloads <- r:
		<-r.done
	case <-d.env.Context.Done():
	}
}

// apply applies the settings in the database and opens the door with a handler for them. end stops what
// works only for this handler.
func (d *daemon) apply() (end func()) {
	*d.env.Warnings = (*d.env.Warnings)[:d.warnings]
	saved, err := d.service.Store.Settings()
	merged, network := d.Options, false
	merged.Backups = d.flagged
	if err == nil {
		network, err = merged.ApplySettings(saved)
	}
	if err != nil {
		d.env.Warn(fmt.Sprintf("the settings of the page cannot be used: %v", err), "")
	}
	d.Backups = merged.Backups
	d.serveOthers(network)
	if err := backup.NoteSettings(d.DB, d.Backups); err != nil { // for other commands
		d.service.Log.Warn("cannot store the backup settings", "cause", err.Error())
	}
	if err := d.noteAddress(); err != nil {
		d.service.Log.Warn("cannot write the address", "cause", err.Error())
	}
	d.schedule()
	stopping, cancel := context.WithCancel(d.env.Context)
	d.describe(stopping)
	d.service.Settings = d.settings(saved)
	d.door.open(d.NewAPI(d.service))
	stop := d.startJobs()
	return func() { cancel(); stop() }
}

// ApplySettings sets what an admin set on the page and no flag sets: the recipients, so that encryption
// never ends unnoticed, and what is for this PC. It reports whether other devices may connect. After an
// error, at most the recipients are set.
func (o *Options) ApplySettings(s store.Settings) (network bool, err error) {
	if !o.Installed {
		return false, nil
	}
	to, err := backup.ParseRecipients(s.Recipients)
	if err == nil && !o.isFixed(recipientsFlags) {
		o.Backups.EncryptTo = to
	}
	if err != nil || s.Machine != osutil.Machine() {
		return false, err
	}
	if s.Folder != "" {
		if err := backup.CheckFolderName(s.Folder); err != nil { // the service could have written it, and root prints it
			return false, err
		}
	}
	if !o.isFixed(folderFlags) {
		o.Backups.Dir = cmp.Or(s.Folder, o.Backups.Dir)
	}
	return s.Network && !o.isFixed(networkFlags), nil
}

// schedule starts the backups, unless they run with the same options. It does not wait for the disk of
// earlier ones.
func (d *daemon) schedule() {
	if d.scheduler != nil {
		if reflect.DeepEqual(d.scheduled, d.Backups) {
			return
		}
		d.stopBackups()
	}
	d.scheduler, d.scheduled = nil, d.Backups
	if d.Backups.Dir == "" {
		return
	}
	scheduler := backup.NewScheduler(d.Database.Format, d.DB, d.Backups, d.service.Log)
	list := &job{failure: "cannot update the list of deleted records next to the backups", do: d.noteErased(d.Backups.Dir)}
	ctx, cancel := context.WithCancel(d.backing)
	before, ended := d.backupsEnded, make(chan struct{})
	d.scheduler, d.stopBackups, d.backupsEnded = scheduler, cancel, ended
	go func() {
		defer close(ended)
		await(before) // two at once would disturb each other
		var both sync.WaitGroup
		both.Go(func() { repeat(ctx, d.service.Log, d.soon, list) })
		scheduler.Run(ctx)
		both.Wait()
	}()
}

// settings returns what the page can show and change, or nil without a page. Its functions use only what
// does not change.
func (d *daemon) settings(saved store.Settings) *site.Settings {
	if d.PublicURL != "" {
		return nil
	}
	s := &site.Settings{
		Folder:      site.Setting[string]{Value: saved.Folder, Fixed: d.isFixed(folderFlags)},
		Recipients:  site.Setting[[]string]{Value: (&database.Recipients{To: d.Backups.EncryptTo}).GetSlice(), Fixed: d.isFixed(recipientsFlags)},
		Network:     site.Setting[bool]{Value: saved.Network, Fixed: d.isFixed(networkFlags)},
		Dir:         d.Backups.Dir,
		Unconfirmed: d.Installed && saved.Machine != osutil.Machine() && saved.IsBound(),
		Trouble:     d.trouble, Restored: d.restored,
		ChooseFolder: func(folder string) (string, error) { return backup.ChooseFolder(folder, d.DB, d.hides) },
		Apply:        func() { d.reload(nil) },
		Restore:      d.restorer(d.service.Store),
	}
	if d.scheduler != nil {
		s.BackUp = d.scheduler.BackUp
	}
	return s
}
