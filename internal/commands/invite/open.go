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

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func (c Commands) openCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "open",
		Short:      "Open the office page in the browser, signed in",
		GroupID:    cli.GroupServer,
		SuggestFor: []string{"browser", "office", "page", "web", "ui", "gui"},
		Long: `Open the office page of a department in the browser of this computer and sign
you in with all rights when you press the button there. A server must be
running. The link works once, within 15 minutes. Without a browser, the link is
printed.

The database of the installed service requires administrator rights. On Windows
and on a Linux desktop with pkexec, open asks for them. Elsewhere, run it with
sudo: it then prints the link.`,
		Example: `  sudo firefighters open
  firefighters open --department "Engine 7" --db records.db`,
	}
	db, department := cli.AddDB(cmd), cli.AddDepartment(cmd)
	var barred error
	cmd.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		err := cmd.Root().PersistentPreRunE(cmd, args)
		if errors.Is(err, cli.ErrBarred) {
			barred, err = err, nil
		}
		return err
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		err := barred
		if err != nil && elevate(cli.EnvOf(cmd).Context, os.Args[1:]) {
			return nil
		}
		if err == nil {
			o := opening{env: cli.EnvOf(cmd), db: *db, department: *department}
			err = o.invite(c)
		}
		if err == nil {
			return nil
		}
		err = c.Database.Explain(cmd, err) // before showError
		showError(err)
		return err
	}
	return cmd
}

const (
	waitLimit = time.Minute // for the button; also how long the private file exists
	pollEach  = 250 * time.Millisecond
)

type opening struct {
	env        cli.Env
	db         string
	department string // may be empty
	created    invitation
	local      string // URL of the page for the browser of this computer

	// used reports whether the invitation was used or has expired.
	used func() (bool, error)
}

// invite creates an invitation to the page and opens it.
func (o *opening) invite(c Commands) error {
	if isOfService(o.env, o.db) && !osutil.Exists(o.db) {
		return c.explainStop(errNoDatabase)
	}
	return c.Database.WithTenant(o.env, o.db, o.department, func(s *store.Store, tenant record.TenantID) error {
		at, local, err := address(o.env, s, o.db, officePart)
		if errors.Is(err, errNotServed) && isOfService(o.env, o.db) {
			return c.explainStop(errStopped)
		}
		if err != nil {
			return err
		}
		o.local = local
		login := person()
		n := store.NewInvitation{Tenant: tenant, Name: login, Scope: store.ScopeAdmin, Login: login}
		err = s.Invite(n, func(code string) error {
			o.created = invitation{at, code}
			return nil
		})
		var all []store.Invitation
		if err == nil {
			all, err = s.Invitations(tenant)
		}
		if err != nil || len(all) == 0 { // someone has revoked the invitation
			return store.Failed("creating an invitation in", o.db, err)
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

// show opens the link in the browser, or prints it if there is no browser.
func (o *opening) show() error {
	link := invitation{o.local, o.created.code}.link()
	if os.Getenv("PKEXEC_UID") != "" { // elevate opens it
		return o.env.Println(link)
	}
	if !hasBrowser() {
		return o.print(noBrowser())
	}
	page, err := newPrivateFile("open.html", redirect(link))
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

// wait waits until the invitation was used, the browser fails or waitLimit is over.
func (o *opening) wait(ended <-chan error) error {
	over, ticker := time.After(waitLimit), time.NewTicker(pollEach)
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
			o.env.Notef("The button was not pressed yet. It works for another 14 minutes.")
			return nil
		case <-ticker.C:
		}
	}
}

func (o *opening) failed(err error) error {
	return o.print(fmt.Sprintf("The browser could not be opened (%v).", err))
}

// print prints the link and the reason why no browser opens it.
func (o *opening) print(reason string) error {
	o.env.Notef("%s Open this link in a browser within 15 minutes, and press the button:", reason)
	err := o.env.Println(o.created.link())
	o.created.warnOfReach(o.env)
	return err
}

// newPrivateFile creates a file that only this user can read. The browser is started with the path of
// such a file instead of the link, because other users can see the arguments of programs.
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

func removePrivateFile(path string) { os.RemoveAll(filepath.Dir(path)) }

// browserFolder returns a folder whose files a browser can read. On Linux it is the home folder,
// because a browser from a snap cannot access hidden folders, /tmp or XDG_RUNTIME_DIR. On other
// systems each user has a private temporary folder.
func browserFolder() string {
	home, err := os.UserHomeDir()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" || err != nil || !osutil.Writable(home) {
		return os.TempDir()
	}
	return home
}

// redirect returns a page that redirects to a link without a script.
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
