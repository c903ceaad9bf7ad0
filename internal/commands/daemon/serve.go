package daemon

import (
	"fmt"
	"runtime"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/invite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

const serveHelp = `Usage: firefighters [serve] [flags]

Serves the API and the office page until it is told to stop (Ctrl-C), and then
finishes what it has begun. Where there is no database it makes one, with a
department "default", a link that lets you into its page and a key for programs,
which are shown only now. Later: firefighters open

  firefighters serve --db /var/lib/firefighters/firefighters.db --listen 127.0.0.1:8080
  firefighters serve --listen 0.0.0.0:8443 --tls-self-signed --rate-limit 50
  firefighters serve --db /var/lib/firefighters/firefighters.db --backup-dir /mnt/backup/firefighters

By default it listens on this machine alone. It then answers only to the hosts
localhost and 127.0.0.1. If other machines can reach it, use a certificate:
--tls-self-signed makes one, as firefighters cert explains. A renewed certificate
is used within seconds.

With --backup-dir it saves the database there by itself, as
firefighters-20261120T093000Z.db, and leaves a tenth of that disk free.

Flags:
`

func (c Commands) serve(env cli.Env, args []string) error {
	var o Options
	flags := env.Flags("serve", serveHelp)
	o.AddFlags(flags)
	// The installed service has no such flag: as a setting it would hold for ever.
	flags.BoolVar(&o.makeNew, "new", false, "make a new, empty database even where one was lost while it was served")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	if err := o.Check(flags); err != nil {
		return err
	}
	return c.Run(env, o)
}

// firstDepartment is the name of the department in a new database.
const firstDepartment = "default"

// addFirst makes the first department of an empty database, and prints its first key,
// unless nobody reads that.
func (d *daemon) addFirst() error {
	empty, err := d.store.Empty()
	switch {
	case err != nil || !empty:
		return err
	case d.Installed:
		return d.store.AddDepartments([]store.Department{{Name: firstDepartment}})
	}
	return d.announceKey(firstDepartment, "")
}

// announceKey makes an admin's key for a department and prints how to use it: for
// the list and, unless that is empty, for a search. Above that stands a link to
// the office page, unless there is none.
func (d *daemon) announceKey(tenant, search string) error {
	lines := ""
	err := d.store.CreateKey(store.NewKey{Tenant: tenant, Label: "first key", Scope: store.ScopeAdmin}, func(key string) error {
		list := d.url() + "/api/v1/firefighters"
		lines = curl(runtime.GOOS, key, d.trust()+list)
		if search != "" {
			lines += curl(runtime.GOOS, key, fmt.Sprintf(`%s"%s?search=%s"`, d.trust(), list, search))
		}
		return d.env.Println(fmt.Sprintf("The first key of the department %q, shown this once:\n\n  %s\n", tenant, key))
	})
	if err != nil {
		return fmt.Errorf("making the first key: %w", err)
	}
	if !d.NoOffice {
		if err := invite.Announce(d.store, tenant, d.url(), d.env.Println); err != nil {
			return fmt.Errorf("making a link to the page: %w", err)
		}
	}
	return d.env.Println("Try:\n\n" + lines)
}

// curl returns a line that sends a request, as a shell of the system takes it. In
// PowerShell curl is another program. Options may stand before the url.
func curl(system, key, url string) string {
	program := "curl"
	if system == "windows" {
		program = "curl.exe"
	}
	return fmt.Sprintf("  %s -H \"Authorization: Bearer %s\" %s\n", program, key, url)
}

// trust returns the options by which curl trusts the certificate. On Windows curl
// would also ask whether it is revoked, and there is nobody to ask.
func (d *daemon) trust() string {
	switch {
	case d.authority == nil:
		return ""
	case runtime.GOOS == "windows":
		return "--ssl-revoke-best-effort --cacert " + cli.Quote(d.authority.PublicFile()) + " "
	}
	return "--cacert " + cli.Quote(d.authority.PublicFile()) + " "
}
