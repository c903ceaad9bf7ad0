// Package invite has the commands invite and open: they create a link with a code for the
// office page, or open the page in the browser of this machine.
package invite

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/dav"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// Commands are the commands of this package, and what they need.
type Commands struct {
	Database database.Schema

	// Fault returns why the installed service does not run and what to type then, as
	// service status says it. Both are empty if that is not known. It may be nil.
	Fault func() (why, hint string)
}

// All returns the commands of this package.
func (c Commands) All() []*cobra.Command {
	return []*cobra.Command{c.inviteCommand(), c.openCommand()}
}

// Why there is no link.
var (
	errNotServed  = errors.New("no server is running on this database")
	errStopped    = errors.New("the service is not running")
	errNoDatabase = errors.New("the service has no database")
	errNoPage     = errors.New("the server runs without the office page (--no-office), or is not ready yet")
	errNoBook     = errors.New("the server runs without the address book for phones (--no-phones), or is not ready yet")
)

// explainStop adds to an error about the service the reason, if it is known, and a hint.
func (c Commands) explainStop(err error) error {
	if c.Fault != nil {
		if why, hint := c.Fault(); why != "" {
			return cli.WithHint(fmt.Errorf("%w: %s", err, why), hint)
		}
	}
	if err == errNoDatabase { // it never came up, or its files were lost
		return cli.WithHint(err, cli.AsAdministrator("firefighters service status"))
	}
	return cli.WithHint(err, cli.AsAdministrator("firefighters service start"))
}

// isOfService reports whether a database is that of the installed service.
func isOfService(env cli.Env, db string) bool { return env.ServiceDB != nil && env.ServiceDB() == db }

// part is a part of the service that it may run without.
type part struct {
	method, path string // of a request that the service answers with 200 if it has the part
	missing      error
	flag         string // that leaves it out
}

var (
	officePart = part{http.MethodHead, site.Root + "sign-in", errNoPage, "--no-office"}
	bookPart   = part{http.MethodOptions, dav.Root, errNoBook, "--no-phones"}
)

// address returns the URL of the service that serves the database at path, if it has a
// part. If there is none, the error is errNotServed or that of the part, with a hint;
// others have none. What a killed service has left in the database counts only while
// another one has the lock and answers there.
func address(env cli.Env, s *store.Store, path string, p part) (string, error) {
	switch {
	case isLocked(osutil.Resolve(path)):
	case isOfService(env, path):
		return "", cli.WithHint(errNotServed, cli.AsAdministrator("firefighters service start"))
	default:
		return "", cli.WithHint(errNotServed, "firefighters serve --db "+cli.Quote(path))
	}
	at, err := s.Address()
	if err != nil {
		return "", store.Failed("reading", path, err)
	}
	if response, err := ask(p.method, at+p.path); err != nil || response.StatusCode != http.StatusOK {
		return "", cli.WithHint(p.missing, "wait a moment, or start it without "+p.flag)
	}
	return at, nil
}

// isLocked reports whether a process has the database at path locked, as one does
// that serves it. It takes the lock for a moment if nobody has it; a service that
// starts waits for that.
func isLocked(path string) bool {
	lock := path + "-lock"
	if !osutil.Exists(lock) {
		return false
	}
	release, err := sqlite.LockFile(lock)
	if err == nil {
		release()
	}
	return errors.Is(err, sqlite.ErrBusy)
}

// local asks the service on this machine. The certificate need not be trusted here, and no
// proxy is in the way. No request has a secret.
var local = http.Client{Timeout: 5 * time.Second,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}

// ask sends a request without a body to the service and returns the head of the answer.
func ask(method, url string) (*http.Response, error) {
	request, err := http.NewRequest(method, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := local.Do(request)
	if err == nil {
		response.Body.Close()
	}
	return response, err
}

// invitation is one that was made, as people are told.
type invitation struct{ url, code string }

func (i invitation) link() string { return site.InvitationLink(i.url, i.code) }

// warnOfReach warns that a link does not work on other machines.
func (i invitation) warnOfReach(env cli.Env) {
	if u, err := url.Parse(i.url); err == nil && site.HereOnly(i.url) {
		env.Note(fmt.Sprintf("the link works only on this computer, because the server listens on %s", u.Hostname()), "")
	}
}

// Announce invites the person who has just started the service to the page at a
// URL, with the scope admin, and prints the link.
func Announce(s *store.Store, tenant, url string, print func(text string) error) error {
	id, err := s.Tenant(tenant)
	if err != nil {
		return err
	}
	login := person()
	n := store.NewInvitation{Tenant: id, Name: login, Scope: store.ScopeAdmin, Login: login}
	return s.Invite(n, func(code string) error {
		return print(fmt.Sprintf("Open this in your browser within 15 minutes, and press the button:\n\n  %s\n", invitation{url, code}.link()))
	})
}

// person returns the name of the person logged in on this machine. Under sudo
// that is the one who typed the command.
func person() string {
	u, err := user.Lookup(os.Getenv("SUDO_USER"))
	if err != nil {
		u, err = user.Current()
	}
	if err != nil {
		u = &user.User{}
	}
	login := u.Username[strings.LastIndexByte(u.Username, '\\')+1:] // DOMAIN\name on Windows
	for _, name := range []string{u.Name, login} {
		if name, err := record.NormalizeName(name); err == nil {
			return name
		}
	}
	return "this computer"
}

// inviteCommand returns the command invite.
func (c Commands) inviteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "invite",
		Short:      "Invite a person to the office page, or set up a phone",
		GroupID:    cli.GroupAccess,
		SuggestFor: []string{"login", "user", "signin", "phone"},
		Long: `Print a link and a code that let a person sign in to the office page of a
department. One of them works, once, within 15 minutes. They are not shown
again.

With --scope read a person can only view the list, with write also edit it, and
with admin also invite others and revoke their keys.

With --phone it sets up a device that keeps the list among its contacts: it
prints the address, user name and password, and a QR code for Android. With
--output it writes a profile for an iPhone, an iPad or a Mac.`,
		Example: `  firefighters invite --name "Ana Čović"
  firefighters invite --name "Ivan Horvat" --scope read --department "Engine 7"
  firefighters invite --phone --name "Ana's iPhone" --output ana.mobileconfig`,
	}
	db, department := cli.AddDB(cmd), cli.AddDepartment(cmd)
	name := cmd.Flags().String("name", "", "`name` of the person or device (required)")
	scope := cmd.Flags().String("scope", store.ScopeWrite, "`scope`: read, write or admin")
	scopes := []string{store.ScopeRead, store.ScopeWrite, store.ScopeAdmin}
	cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions(scopes, cobra.ShellCompDirectiveNoFileComp))
	isDevice := cmd.Flags().Bool("phone", false, "set up a phone or a computer that keeps the list among its contacts")
	var d device
	cmd.Flags().BoolVar(&d.birthdays, "birthdays", false, "with --phone: include dates of birth and a calendar of birthdays")
	cmd.Flags().StringVarP(&d.output, "output", "o", "", "with --phone: write the profile for an Apple device to this `file`")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		env := cli.EnvOf(cmd)
		normalized, err := record.NormalizeName(*name) // the rules are those of a person's name
		switch {
		case err != nil:
			return cli.UsageErrorf(cmd, "--name %v", err)
		case !store.ValidScope(*scope):
			return cli.Usage("--scope must be read, write or admin", "")
		case *isDevice && cmd.Flags().Changed("scope"):
			return cli.UsageErrorf(cmd, "--scope cannot be used with --phone: a device can only read the list")
		case !*isDevice && (d.birthdays || d.output != ""):
			return cli.UsageErrorf(cmd, "--birthdays and --output require --phone")
		case d.output != "" && osutil.Exists(d.output):
			return fmt.Errorf("%s already exists", osutil.InQuotes(d.output))
		}
		return c.Database.WithTenant(env, *db, *department, func(s *store.Store, id record.TenantID) error {
			if *isDevice {
				return d.invite(env, s, *db, store.NewPhone{Tenant: id, Name: normalized, Birthdays: d.birthdays})
			}
			return printInvitation(env, s, *db, store.NewInvitation{Tenant: id, Name: normalized, Scope: *scope})
		})
	}
	return cmd
}

// printInvitation creates an invitation and prints its code and, if a server offers the
// page, its link.
func printInvitation(env cli.Env, s *store.Store, db string, n store.NewInvitation) error {
	at, noLink := address(env, s, db, officePart)
	hint := cli.HintOf(noLink)
	if noLink != nil && hint == "" {
		return noLink
	}
	created := invitation{url: at}
	err := s.Invite(n, func(code string) error {
		created.code = code
		if noLink != nil {
			return env.Println("Code: " + code)
		}
		return env.Println("Link: " + created.link() + "\nCode: " + code)
	})
	if err != nil {
		return store.Failed("creating an invitation in", db, err)
	}
	if noLink != nil {
		env.Notef("The code works once, within 15 minutes. Type it on the page of the server, at %s", site.Root)
		env.Note(fmt.Sprintf("there is no link, because %v", noLink), hint)
		return nil
	}
	env.Notef("One of them works, once, within 15 minutes. Open the link, or type the code at %s%s", at, site.Root)
	created.warnOfReach(env)
	return nil
}
