package daemon

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

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

// apply applies the settings in the database and opens the door with a handler for them. end stops what
// works only for this handler.
func (d *daemon) apply() (end func()) {
	*d.env.Warnings = (*d.env.Warnings)[:d.warnings]
	settings, err := d.service.Store.Settings()
	merged, network := d.flags, false
	if err == nil {
		network, err = merged.ApplySettings(settings)
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
	d.door.open(d.NewAPI(d.service))
	d.warn() // tries the backup folder, whose disk may be slow
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

// schedule starts the backups, unless they run with the same options.
func (d *daemon) schedule() {
	options := fmt.Sprintf("%q", append(texts(d.Backups.EncryptTo), d.Backups.Dir))
	if d.scheduler != nil && d.scheduled == options {
		d.scheduler.SetAuthority(d.Backups.Authority)
		return
	}
	d.endBackups()
	if d.Backups.Dir == "" {
		return
	}
	scheduler := backup.NewScheduler(d.Database.Format, d.DB, d.Backups, d.service.Log)
	ctx, cancel := context.WithCancel(d.backing)
	before, ended := d.backupsEnded, make(chan struct{})
	d.scheduler, d.scheduled, d.stopBackups, d.backupsEnded = scheduler, options, cancel, ended
	go func() {
		defer close(ended)
		await(before) // two at once would disturb each other
		scheduler.Run(ctx)
	}()
}

func texts(to backup.Recipients) []string { return (&database.Recipients{To: to}).GetSlice() }

// endBackups stops the backups. It does not wait for their disk.
func (d *daemon) endBackups() {
	if d.scheduler != nil {
		d.stopBackups()
		d.scheduler = nil
	}
}

// reload closes the door and asks for the settings to be applied again, after a restore if next is not
// nil. The caller may be inside the door.
func (d *daemon) reload(next *restoring) {
	d.door.close()
	if next != nil {
		d.next.Store(next)
	}
	select {
	case d.reloads <- struct{}{}:
	default: // a reload is due, and will see the change
	}
}

// settings returns what the page can show and change. It works for one handler.
func (d *daemon) settings() *site.Settings {
	if d.PublicURL != "" {
		return nil
	}
	p := &panel{daemon: d, store: d.service.Store, scheduler: d.scheduler, trouble: d.trouble, restored: d.restored, dir: d.Backups.Dir}
	if listener, secure, authority := d.listener, d.CertFile != "", d.service.Authority; d.others != nil || !isLoopback(listener.Addr()) {
		p.url = func() string { return urlOf(listener, secure, authority) }
	}
	mode := site.ByHand
	switch {
	case d.Installed:
		mode = site.ByPage
	case d.invented != nil:
		mode = site.OfDemo
	}
	return &site.Settings{
		Mode: mode, Read: p.read, SetFolder: p.setFolder, SetRecipients: p.setRecipients, SetNetwork: p.setNetwork,
		Confirm: p.confirm, Log: p.log, BackUp: p.backUp, Restore: p.restore,
	}
}

// panel reads and changes the settings for one handler.
type panel struct {
	daemon    *daemon // of which it uses only what does not change
	store     *store.Store
	scheduler *backup.Scheduler
	trouble   error
	restored  *site.RestoredBackup
	dir       string
	url       func() string // for other devices; nil if they cannot connect
}

func (p *panel) read() (state site.SettingsState, err error) {
	d := p.daemon
	saved, err := p.store.Settings()
	if err == nil {
		state.Changes, err = p.store.SettingChanges()
	}
	state.Unconfirmed = d.flags.Installed && saved.Machine != osutil.Machine() && saved.IsBound()
	state.Folder = site.Setting[string]{Value: saved.Folder, Flag: d.flags.isFixed(folderFlags)}
	if state.Folder.Flag {
		state.Folder.Value = d.flags.Backups.Dir
	}
	state.Recipients = site.Setting[[]string]{Value: saved.Recipients, Flag: d.flags.isFixed(recipientsFlags)}
	if state.Recipients.Flag {
		state.Recipients.Value = texts(d.flags.Backups.EncryptTo)
	}
	state.Network = site.Setting[bool]{Value: saved.Network, Flag: d.flags.isFixed(networkFlags)}
	if state.Network.Flag {
		state.Network.Value = !isLoopback(d.first.Addr())
	}
	if p.url != nil {
		state.Listening = []string{p.url()}
	}
	state.Dir, state.Trouble, state.Restored = p.dir, p.trouble, p.restored
	return state, err
}

// change changes the settings and logs that. what and value describe the change.
func (p *panel) change(by, what, value string, flags []string, edit func(*store.Settings)) error {
	if p.daemon.flags.isFixed(flags) {
		return site.ErrFixed
	}
	s, err := p.store.Settings()
	if err != nil {
		return err
	}
	if s.Machine != osutil.Machine() && what != site.SettingConfirmed {
		s = store.Settings{Recipients: s.Recipients} // what is for another PC never comes back unnoticed
	}
	edit(&s)
	s.Machine = osutil.Machine()
	if err := p.store.SetSettings(s, store.SettingChange{Who: by, What: what, Value: value}); err != nil {
		return err
	}
	p.report(by, what, value)
	p.daemon.reload(nil)
	return nil
}

func (p *panel) log(by, what, value string) error {
	err := p.store.LogSetting(store.SettingChange{Who: by, What: what, Value: value})
	if err == nil {
		p.report(by, what, value)
	}
	return err
}

// report reports a change in the log of the service.
func (p *panel) report(by, what, value string) {
	p.daemon.service.Log.Info("a setting was changed", "setting", what, "value", value, "by", by)
}

func (p *panel) setFolder(by, folder string) (err error) {
	if p.daemon.flags.isFixed(folderFlags) { // before the folder is tried
		return site.ErrFixed
	}
	if folder != "" {
		if folder, err = backup.ChooseFolder(folder, p.daemon.flags.DB, p.daemon.flags.hides); err != nil {
			return err
		}
	}
	return p.change(by, site.SettingFolder, folder, folderFlags, func(s *store.Settings) { s.Folder = folder })
}

func (p *panel) setRecipients(by string, recipients []string) error {
	to, err := backup.ParseRecipients(recipients)
	if err != nil {
		return err
	}
	return p.change(by, site.SettingRecipients, strconv.Itoa(len(to)), recipientsFlags,
		func(s *store.Settings) { s.Recipients = texts(to) })
}

func (p *panel) setNetwork(by string, allowed bool) error {
	value := "off"
	if allowed {
		value = "on"
	}
	return p.change(by, site.SettingNetwork, value, networkFlags, func(s *store.Settings) { s.Network = allowed })
}

func (p *panel) confirm(by string) error {
	return p.change(by, site.SettingConfirmed, "", nil, func(*store.Settings) {})
}

func (p *panel) backUp(ctx context.Context) error {
	if p.scheduler == nil {
		return site.ErrFixed
	}
	return p.scheduler.BackUp(ctx)
}
