package settings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// disk is a disk that can hold backups.
type disk struct {
	Path, Name, Room string
	Command          string // that lets the service use the disk; may be empty
	Chosen           bool
}

// disksOf returns the disks to choose from. The one with the folder is chosen.
func disksOf(v view.Visit, folder string) (all []disk) {
	found, _ := managers.Host{}.Disks(v.Store.DB().Path()) // without them, a folder can be typed
	for _, d := range found {
		if d.Unfit != "" {
			continue
		}
		shown := disk{Path: d.Folder, Name: strings.TrimSpace(cmp.Or(d.Label, d.Model) + " (" + d.Name + ")"), Room: sizeOf(d.Bytes)}
		if d.Free > 0 {
			shown.Room = v.Text("settings.folder.free", sizeOf(d.Free), sizeOf(d.Bytes))
		}
		// A desktop mounts a stick for one user, who keeps the service out.
		if own := filepath.Join(d.Folder, backup.OwnFolder); d.Folder == "" || !osutil.Writable(d.Folder) && !osutil.Writable(own) {
			shown.Command = managers.AdminCommand("service", "backup-disk", strings.TrimPrefix(d.Name, "/dev/"))
		}
		shown.Chosen = d.Folder != "" && folder == filepath.Join(d.Folder, backup.OwnFolder)
		all = append(all, shown)
	}
	return all
}

// DiskCommand is the command that changes the folder if a flag sets it.
func (settingsPage) DiskCommand() string { return managers.AdminCommand("service", "backup-disk") }

func sizeOf(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf("%d\u00a0GB", (bytes+5e8)/1e9)
}

// confirmPage is the Data of confirm.html.
type confirmPage struct {
	Lines  []string
	Action string
	Fields url.Values    // of the form that makes the change
	Key    string        // new secret key, which is shown once; may be empty
	QR     template.HTML // of Key
	Today  time.Time
}

// confirm explains a change before the change is made.
func confirm(v view.Visit, action, title, key string, fields url.Values, lines ...string) error {
	fields.Set("confirmed", "1")
	page := confirmPage{Lines: lines, Action: Path + "/" + action, Fields: fields, Key: key, Today: v.Now()}
	if key != "" {
		page.QR = view.QRCode(key, v.Text("settings.key.qr"))
	}
	return v.Render(http.StatusOK, "confirm", site.Page{Title: title, Section: "settings", Data: page})
}

// isConfirmed reports whether a form comes from confirm.html.
func isConfirmed(v view.Visit) bool { return v.R.PostForm.Get("confirmed") == "1" }

// backupTime is how long the page waits for a backup, which then goes on.
const backupTime = 20 * time.Second

// backUp creates a backup now.
func backUp(v view.Visit) error {
	ctx, cancel := context.WithTimeout(v.R.Context(), backupTime)
	defer cancel()
	err := v.Site.Settings.BackUp(ctx)
	if err == nil {
		return done(v, "backup", nil)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return done(v, "running", nil)
	}
	trouble, status := backup.TroubleOf(err), http.StatusInternalServerError
	switch trouble {
	case backup.DiskAway, backup.BadFolder:
		status = http.StatusServiceUnavailable
	case backup.NoRoom:
		status = http.StatusInsufficientStorage
	}
	text := "backups." + string(trouble)
	return render(v, status, settingsPage{Problem: []string{v.Text(text), v.Text(text + ".todo")}})
}

// setFolder sets the folder for backups, or without one, the folder of the service. A folder that was typed
// counts even if a disk is still chosen.
func setFolder(v view.Visit) (err error) {
	form := v.R.PostForm
	folder, typed := form.Get("folder"), strings.TrimSpace(form.Get("other"))
	if folder == "" || typed != "" && typed != form.Get("was") {
		folder = typed
	}
	dir := ""
	if folder != "" {
		dir, err = v.Site.Settings.ChooseFolder(folder)
	}
	if err == nil {
		return set(v, site.SettingFolder, dir, func(s *store.Settings) { s.Folder = dir })
	}
	fault := backup.FolderFault(err)
	data := settingsPage{Place: folder, Fault: view.Fault{Name: "folder", Fault: v.Text("settings.fault." + fault)}}
	if fault == "rights" {
		data.Command = managers.AdminCommand("service", "install", "--backup-dir", filepath.Join(folder, backup.OwnFolder))
		for _, d := range disksOf(v, folder) {
			if rest, err := filepath.Rel(d.Path, folder); d.Path != "" && d.Command != "" && err == nil && filepath.IsLocal(rest) {
				data.Command = d.Command
			}
		}
	}
	return render(v, http.StatusUnprocessableEntity, data)
}

// createKey shows a new key pair once. The secret key is stored nowhere.
func createKey(v view.Visit) error {
	secret, recipient, err := backup.NewKey()
	if err != nil {
		return err
	}
	return confirm(v, "recipients", v.Text("settings.key.title"), secret, url.Values{"recipients": {recipient}},
		v.Text("settings.key.print"), v.Text("settings.key.lost"), v.Text("settings.encrypt.older"))
}

// setRecipients sets the public keys that backups are encrypted to, after a press of "Confirm".
func setRecipients(v view.Visit) error {
	typed := v.R.PostForm.Get("recipients")
	recipients := strings.Fields(typed)
	fault := ""
	switch _, err := backup.ParseRecipients(recipients); {
	case errors.Is(err, backup.ErrSecret):
		typed, fault = "", v.Text("settings.recipients.secret")
	case err != nil:
		fault = v.Text("settings.recipients.invalid")
	case isConfirmed(v):
		return set(v, site.SettingRecipients, strconv.Itoa(len(recipients)), func(s *store.Settings) { s.Recipients = recipients })
	case len(recipients) == 0:
		return confirm(v, "recipients", v.Text("settings.plain.title"), "", url.Values{},
			v.Text("settings.plain.new"), v.Text("settings.plain.older"))
	default:
		lines := append([]string{v.Text("settings.encrypt.new")}, recipients...)
		lines = append(lines, v.Text("settings.key.lost"), v.Text("settings.encrypt.older"))
		return confirm(v, "recipients", v.Text("settings.encrypt.title"), "", url.Values{"recipients": {strings.Join(recipients, " ")}}, lines...)
	}
	data := settingsPage{Keys: typed, Fault: view.Fault{Name: "recipients", Fault: fault}}
	return render(v, http.StatusUnprocessableEntity, data)
}
