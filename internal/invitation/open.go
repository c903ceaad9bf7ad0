package invitation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/cli"
	"github.com/firefighter-records/firefighters/internal/record"
	"github.com/firefighter-records/firefighters/internal/session"
	"github.com/firefighter-records/firefighters/internal/store"
)

const openHelp = `Usage: firefighters open [flags]

Opens the office page of a department in the browser of this machine, where a
press of a button signs you in with all rights. A service must run. The link
works once, for 15 minutes. Without a browser it is printed.

  firefighters open
  firefighters open --tenant "Engine 7" --db /var/lib/firefighters/firefighters.db

Flags:
`

func (p Program) open(env cli.Env, args []string) error {
	flags := env.Flags("open", openHelp)
	db, name := cli.DBFlag(flags), tenantFlag(flags, "(required if there are several)")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	return p.WithStore(env, *db, false, func(s *store.Store) error {
		tenant, err := chooseTenant(s, flags, *db, *name)
		if err != nil {
			return err
		}
		at, err := address(s, *db)
		if hint := hintOn(err, *db); hint != "" {
			return cli.WithHint(err, hint)
		}
		if err != nil {
			return err
		}
		o := opening{env: env, store: s, db: *db, tenant: tenant}
		if err := o.invite(at); err != nil {
			return store.Failed("making an invitation in", *db, err)
		}
		return o.show()
	})
}

// chooseTenant returns the department of a name or, without a name, the only
// one. The error is a usage error if there are several.
func chooseTenant(s *store.Store, flags *pflag.FlagSet, db, name string) (chosen record.TenantID, err error) {
	if strings.TrimSpace(name) != "" {
		chosen, err = s.Tenant(name)
		return chosen, store.Failed("reading", db, err)
	}
	var names []string
	if err := s.Tenants(func(d store.TenantInfo) { chosen, names = d.ID, append(names, d.Name) }); err != nil {
		return 0, store.Failed("reading", db, err)
	}
	switch len(names) {
	case 0:
		return 0, cli.WithHint(errors.New("the database has no department"), "firefighters keys create --tenant NAME --db "+cli.Quote(db))
	case 1:
		return chosen, nil
	}
	return 0, cli.Usage(fmt.Sprintf("open: say which of the %d departments", len(names)),
		fmt.Sprintf("%s --tenant %s, or see their names: firefighters departments list --db %s", cli.TypedLine(flags, 0), cli.Quote(names[0]), cli.Quote(db)))
}

// lookFor is how long the private file stays, at most. A browser reads it within
// seconds.
var lookFor = time.Minute

// lookEach is the time between two looks whether the invitation was used.
const lookEach = 250 * time.Millisecond

// opening is a page that is being opened.
type opening struct {
	env    cli.Env
	store  *store.Store
	db     string
	tenant record.TenantID
	made   invitation
	id     int64 // of the invitation
}

// invite makes an invitation to the page at a URL.
func (o *opening) invite(url string) error {
	n := session.NewInvitation{Tenant: o.tenant, Name: person(), Scope: store.ScopeAdmin}
	err := session.Invite(o.store, n, func(code string) error {
		o.made = invitation{url, code}
		return nil
	})
	if err != nil {
		return err
	}
	all, err := session.Invitations(o.store, o.tenant)
	if len(all) > 0 {
		o.id = all[0].ID // the newest
	}
	return err
}

// used reports whether the invitation was used, or has expired.
func (o *opening) used() (bool, error) {
	all, err := session.Invitations(o.store, o.tenant)
	if err != nil {
		return false, store.Failed("reading", o.db, err)
	}
	return !slices.ContainsFunc(all, func(i session.Invitation) bool { return i.ID == o.id }), nil
}

// show opens the link in the browser, or prints it where there is none.
func (o *opening) show() error {
	if !hasBrowser() {
		return o.print("There is no browser here.")
	}
	file, err := newPrivateFile(o.made.link())
	if err != nil {
		return o.failed(err)
	}
	defer file.remove()
	ended, err := openBrowser(file.path)
	if err != nil {
		return o.failed(err)
	}
	o.env.Notef("Opening the page in the browser. Press its button to sign in.")
	return o.wait(ended)
}

// wait waits until the invitation was used, the browser turns out not to open,
// or the time is over.
func (o *opening) wait(ended <-chan error) error {
	ctx, stop := context.WithTimeout(o.env.Context, lookFor)
	defer stop()
	ticker := time.NewTicker(lookEach)
	defer ticker.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil {
				return o.failed(err)
			}
			ended = nil
		case <-ticker.C:
			if used, err := o.used(); used || err != nil {
				return err
			}
		case <-ctx.Done():
			if o.env.Context.Err() == nil {
				o.env.Notef("Nobody has pressed the button yet. It still works for 14 minutes.")
			}
			return nil
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
