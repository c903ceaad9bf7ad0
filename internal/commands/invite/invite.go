package invite

import (
	"errors"
	"fmt"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

const inviteHelp = `Usage: firefighters invite --tenant NAME --name NAME [flags]

Lets a person into the office page of a department. It prints a link and a code,
which work once, for 15 minutes. Send the person the link, or say the code: the
page asks for it. They are shown only now.

  firefighters invite --tenant "Engine 7" --name "Ana Čović"
  firefighters invite --tenant "Engine 7" --name "Ivan Horvat" --scope read

With the scope read a person sees everything, with write also edits, and with
admin also invites others and revokes their keys.

Flags:
`

func (c Commands) invite(env cli.Env, args []string) error {
	flags := env.Flags("invite", inviteHelp)
	db, tenant := cli.DBFlag(flags), cli.TenantFlag(flags, "(required)")
	name := flags.String("name", "", "the person's name (required)")
	scope := flags.String("scope", store.ScopeWrite, "read, write or admin")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	n, err := newInvitation(*tenant, *name, *scope)
	if err != nil {
		return cli.Wrong(flags, err.Error())
	}
	return c.Database.WithTenant(env, *db, *tenant, func(s *store.Store, id record.TenantID) error {
		n.Tenant = id
		return printInvitation(env, s, *db, n)
	})
}

// newInvitation returns the invitation that the flags describe, but for its
// department. The error says what is wrong with them.
func newInvitation(tenant, name, scope string) (n store.NewInvitation, err error) {
	if _, err := record.Name(tenant); err != nil {
		return n, fmt.Errorf("--tenant %w", err)
	}
	if n.Name, err = record.Name(name); err != nil { // the rules are those of a person's name, too
		return n, fmt.Errorf("--name %w", err)
	}
	if n.Scope = scope; !store.ValidScope(scope) {
		return n, errors.New("--scope must be read, write or admin")
	}
	return n, nil
}

// printInvitation makes an invitation and prints its code and, if there is a
// page, its link.
func printInvitation(env cli.Env, s *store.Store, db string, n store.NewInvitation) error {
	at, noLink := address(s, db)
	hint := hintOn(env, noLink, db)
	if noLink != nil && hint == "" {
		return noLink
	}
	made := invitation{url: at}
	err := s.Invite(n, func(code string) error {
		made.code = code
		if noLink != nil {
			return env.Println("Code: " + code)
		}
		return env.Println("Link: " + made.link() + "\nCode: " + code)
	})
	if err != nil {
		return store.Failed("making an invitation in", db, err)
	}
	if noLink != nil {
		env.Notef("The code works once, for 15 minutes. It is typed on the page of the service, at %s", site.Root)
		env.Notef("Note: there is no link, because %v\nTry: %s", noLink, hint)
		return nil
	}
	env.Notef("One of them works, once, for 15 minutes: open the link, or type the code at %s%s", at, site.Root)
	made.warnOfReach(env)
	return nil
}
