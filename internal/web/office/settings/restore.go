package settings

import (
	"errors"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

const restorePath = Path + "/restore"

// restorePage is the Data of restore.html.
type restorePage struct {
	*site.Settings
	Back    string       // name of the copy that the last restore kept; may be empty
	Away    bool         // Dir cannot be read
	Problem []string     // the chosen backup is no longer there
	Backups []backupLine // newest first
}

// backupLine is a backup, for display.
type backupLine struct {
	backup.Listed
	Age  int   // in days
	Size int64 // in kilobytes
}

// choicePage is the Data of choice.html, which asks before a backup is restored.
type choicePage struct {
	backupLine
	Now             int64 // people in the list
	Changes, People int64 // what would be lost: changes, and the people they changed
	Several         bool  // there are several departments
	Fault           view.Fault
}

// onBackups passes the backups to a handler.
func onBackups(handle func(v view.Visit, p restorePage) error) func(view.Visit) error {
	return func(v view.Visit) error {
		p := restorePage{Settings: v.Site.Settings}
		all, err := backup.Restorable(v.Site.Search.Database, p.Dir)
		p.Away = err != nil && p.Dir != ""
		for _, b := range all {
			p.Backups = append(p.Backups, backupLine{b, ageOf(v, b.Time), (b.Bytes + 999) / 1000})
		}
		return handle(v, p)
	}
}

// ageOf returns how many days ago a time was.
func ageOf(v view.Visit, t time.Time) int {
	hours := v.DayStart(v.Today(), 0).Sub(v.DayStart(calendar.Of(t.Local()), 0)).Hours()
	return max(0, int(math.Round(hours/24)))
}

// find returns the backup with a name.
func (p restorePage) find(name string) (backupLine, bool) {
	at := slices.IndexFunc(p.Backups, func(b backupLine) bool { return b.Name() == name })
	if at < 0 {
		return backupLine{}, false
	}
	return p.Backups[at], true
}

// showBackups shows the backups, or asks about the one in the address.
func showBackups(v view.Visit, p restorePage) error {
	name := v.Query().Get("name")
	if chosen, found := p.find(name); found {
		return ask(v, http.StatusOK, choicePage{backupLine: chosen})
	}
	if p.Restored != nil {
		if kept, found := p.find(filepath.Base(p.Restored.Kept)); found {
			p.Back = kept.Name()
		}
	}
	if name != "" {
		p.Problem = []string{v.Text("restore.missing")}
	}
	return v.Render(http.StatusOK, "restore", site.Page{Title: v.Text("settings.restore"), Section: "settings", Wrong: name != "", Data: p})
}

// ask shows what a restore would do.
func ask(v view.Visit, status int, p choicePage) error {
	err := v.Store.DB().Read(func(c *sqlite.Conn) (err error) { p.Now, err = store.CountPeople(c); return err })
	if err == nil {
		p.Changes, p.People, err = v.Store.ChangesAfter(p.Seen)
	}
	if err == nil {
		departments := 0
		err = v.Store.Tenants(func(store.TenantInfo) { departments++ })
		p.Several = departments > 1
	}
	if err != nil {
		return err
	}
	return v.Render(status, "choice", site.Page{Title: v.Text("restore.ask"), Section: "settings", Wrong: p.Fault.Name != "", Data: p})
}

// restore restores the backup in the form. The page after it shows the result.
func restore(v view.Visit, p restorePage) error {
	chosen, found := p.find(v.R.PostForm.Get("name"))
	if !found {
		return v.Redirect(restorePath + "?name=missing")
	}
	var key backup.Key
	var err error
	if identity := strings.TrimSpace(v.R.PostForm.Get("key")); identity != "" {
		key, err = backup.ReadKey(strings.NewReader(identity))
	}
	if err == nil {
		err = v.Site.Settings.Restore(v.Session, chosen.File, key)
	}
	fault := view.Fault{Name: "key"}
	switch {
	case err == nil:
		return v.Redirect(restorePath)
	case errors.Is(err, backup.ErrEncrypted), errors.Is(err, backup.ErrNotKey):
		fault.Fault = v.Text("restore.fault.key")
	case errors.As(err, new(*backup.WrongKeyError)):
		fault.Fault = v.Text("restore.fault.other")
	default:
		v.Site.Log.Warn("the backup to restore cannot be used", "cause", err.Error())
		fault = view.Fault{Name: "restore", Fault: v.Text("restore.fault.unusable")}
	}
	return ask(v, http.StatusUnprocessableEntity, choicePage{backupLine: chosen, Fault: fault})
}

// cardPage is the Data of card.html, which is for the day on which no page opens.
type cardPage struct {
	Date                                    time.Time
	Computer, Address, Database             string
	Newest                                  backupLine // without a path if there is none
	Status, Stop, Restore, Start, Open, New string     // commands; New is for another PC
	Windows                                 bool
}

// showCard shows the commands of this PC. The newest backup is an example: the sheet may be old.
func showCard(v view.Visit, p restorePage) error {
	_, local, err := v.Store.Addresses()
	if err != nil {
		return err
	}
	card := cardPage{Date: v.Now(), Address: local + site.Root, Database: v.Site.Search.Database, Windows: runtime.GOOS == "windows",
		Status: managers.AdminCommand("service", "status"), Stop: managers.AdminCommand("service", "stop"),
		Start: managers.AdminCommand("service", "start"), Open: managers.AdminCommand("open"),
		New: managers.AdminCommand("service", "install", "--backup-dir", p.Dir)}
	card.Computer, _ = os.Hostname()
	if at := slices.IndexFunc(p.Backups, func(b backupLine) bool { return !b.Kept }); at >= 0 {
		card.Newest = p.Backups[at]
	}
	command := []string{"restore", card.Newest.Path}
	if card.Newest.Encrypted {
		command = append(command, "--identity", "-")
	}
	card.Restore = managers.AdminCommand(command...)
	return v.Render(http.StatusOK, "card", site.Page{Title: v.Text("card.title"), Section: "settings", Data: card})
}
