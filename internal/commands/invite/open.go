package invite

import (
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const openHelp = `Usage: firefighters open [flags]

Opens the office page of a department in the browser of this machine, where a
press of a button signs you in with all rights. A service must run. The link
works once, for 15 minutes. Without a browser it is printed.

The database of an installed service is for administrators alone. On Windows
the command asks for their rights. Elsewhere type it with sudo, which prints
the link.

  sudo firefighters open
  firefighters open --tenant "Engine 7" --db /var/lib/firefighters/firefighters.db

Flags:
`

func (c Commands) open(env cli.Env, args []string) error {
	err := c.openPage(env, args)
	switch {
	case err == nil, errors.Is(err, cli.ErrHelp):
		return err
	case errors.Is(err, cli.ErrBarred) && elevate(append([]string{"open"}, args...)):
		return nil
	}
	showError(err)
	return err
}

func (c Commands) openPage(env cli.Env, args []string) error {
	flags := env.Flags("open", openHelp)
	db, name := cli.DBFlag(flags), cli.TenantFlag(flags, "(required if there are several)")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	o := opening{env: env, flags: flags, db: *db, name: *name}
	return o.invite(c)
}

const (
	// lookFor is how long the private file stays, at most. A browser reads it within seconds.
	lookFor = time.Minute
	// lookEach is the time between two looks whether the invitation was used.
	lookEach = 250 * time.Millisecond
)

// opening is a page that is being opened.
type opening struct {
	env      cli.Env
	flags    *pflag.FlagSet
	db, name string // of the department; may be empty
	made     invitation
	local    string // the URL at which the browser of this machine finds the page

	// used reports whether the invitation was used, or has expired.
	used func() (bool, error)
}

// invite makes an invitation to the page, and shows it.
func (o *opening) invite(c Commands) error {
	if isOfService(o.env, o.db) && !osutil.Exists(o.db) {
		return c.explainStop(errNoDatabase)
	}
	return c.Database.With(o.env, o.db, false, func(s *store.Store) error {
		tenant, err := database.ChooseTenant(s, o.flags, o.db, o.name)
		if err != nil {
			return err
		}
		at, err := address(o.env, s, o.db, officePart)
		if errors.Is(err, errNotServed) && isOfService(o.env, o.db) {
			return c.explainStop(errStopped)
		}
		if err == nil {
			_, o.local, err = s.Addresses()
		}
		if err != nil {
			return err
		}
		login := person()
		n := store.NewInvitation{Tenant: tenant, Name: login, Scope: store.ScopeAdmin, Login: login}
		err = s.Invite(n, func(code string) error {
			o.made = invitation{at, code}
			return nil
		})
		var all []store.Invitation
		if err == nil {
			all, err = s.Invitations(tenant)
		}
		if err != nil || len(all) == 0 { // somebody has withdrawn it already
			return store.Failed("making an invitation in", o.db, err)
		}
		newest := all[0].ID
		o.used = func() (bool, error) {
			all, err := s.Invitations(tenant)
			used := !slices.ContainsFunc(all, func(i store.Invitation) bool { return i.ID == newest })
			return used, store.Failed("reading", o.db, err)
		}
		return o.show()
	})
}

// show opens the link in the browser, or prints it where there is none.
func (o *opening) show() error {
	if !hasBrowser() {
		return o.print(noBrowser())
	}
	page, err := newPrivateFile("open.html", redirect(invitation{o.local, o.made.code}.link()))
	if err != nil {
		return o.failed(err)
	}
	defer removePrivateFile(page)
	ended, err := openBrowser(page)
	if err != nil {
		return o.failed(err)
	}
	o.env.Notef("Opening the page in the browser. Press its button to sign in.")
	return o.wait(ended)
}

// wait waits until the invitation was used, the browser fails to open, or the time is over.
func (o *opening) wait(ended <-chan error) error {
	over, ticker := time.After(lookFor), time.NewTicker(lookEach)
	defer ticker.Stop()
	for {
		if used, err := o.used(); used || err != nil {
			return err
		}
		select {
		case err := <-ended:
			if err != nil {
				return o.failed(err)
			}
			ended = nil
		case <-o.env.Context.Done():
			return nil
		case <-over:
			o.env.Notef("Nobody has pressed the button yet. It still works for 14 minutes.")
			return nil
		case <-ticker.C:
		}
	}
}

// failed prints the link in place of a browser that could not be opened.
func (o *opening) failed(err error) error {
	return o.print(fmt.Sprintf("The browser could not be opened (%v).", err))
}

// print prints the link, and says why.
func (o *opening) print(why string) error {
	o.env.Notef("%s Open this link in one within 15 minutes, and press the button:", why)
	err := o.env.Println(o.made.link())
	o.made.warnOfReach(o.env)
	return err
}

// newPrivateFile makes a file that only this user can read, in a folder that only this
// user can open. The browser is opened with the path of such a file and not with the
// link, which has a code: every user of a machine sees the arguments of programs.
func newPrivateFile(name string, content []byte) (path string, err error) {
	folder, err := os.MkdirTemp(browserFolder(), "firefighters-open-")
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		removePrivateFile(path)
		return "", err
	}
	return path, nil
}

// removePrivateFile removes a private file with its folder.
func removePrivateFile(path string) { os.RemoveAll(filepath.Dir(path)) }

// browserFolder returns a folder in which a browser can read a file. On Linux that
// is the home folder: a browser from a snap sees neither hidden folders, such as
// that for caches, nor /tmp, nor XDG_RUNTIME_DIR. One from Flatpak is handed the
// file by the desktop. On other systems each user has temporary files of their own.
func browserFolder() string {
	home, err := os.UserHomeDir()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" || err != nil || !osutil.Writable(home) {
		return os.TempDir()
	}
	return home
}

// redirect returns a page that leads to a link at once, without a script.
func redirect(link string) []byte {
	link = html.EscapeString(link)
	return []byte(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=` + link + `">
<title>Firefighters</title>
<p><a href="` + link + `">Open the page</a></p>
`)
}
