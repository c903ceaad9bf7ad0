// Package invite has the commands invite and open, which create a link to the office page or open the
// page in the browser of this computer.
package invite

import (
	"cmp"
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

// Commands has the dependencies of the commands in this package.
type Commands struct {
	Database database.Schema

	// Fault returns the reason why the installed service does not run, and a hint. Both are
	// empty if it is unknown. Fault may be nil.
	Fault func() (reason, hint string)
}

// All returns the commands of this package.
func (c Commands) All() []*cobra.Command {
	return []*cobra.Command{c.inviteCommand(), c.openCommand()}
}

// Reasons why there is no link.
var (
	errNotServed  = errors.New("no server is running on this database")
	errStopped    = errors.New("the service is not running")
	errNoDatabase = errors.New("the service has no database")
	errNoPage     = errors.New("the server runs without the office page (--no-office), or is not ready yet")
	errNoBook     = errors.New("the server runs without the address book for phones (--no-phones), or is not ready yet")
)

// explainStop adds a hint and, if it is known, the reason to an error about the service.
func (c Commands) explainStop(err error) error {
	if c.Fault != nil {
		if reason, hint := c.Fault(); reason != "" {
			return cli.WithHint(fmt.Errorf("%w: %s", err, reason), hint)
		}
	}
	if err == errNoDatabase { // the service has never started, or its files were lost
		return cli.WithHint(err, cli.AsAdministrator("firefighters service status"))
	}
	return cli.WithHint(err, cli.AsAdministrator("firefighters service start"))
}

// isOfService reports whether a database belongs to the installed service.
func isOfService(env cli.Env, db string) bool { return env.ServiceDB != nil && env.ServiceDB() == db }

// part is an optional part of the service.
type part struct {
	method, path string // a request that the service answers with 200 if it has the part
	missing      error
	flag         string // the flag that disables the part
}

var (
	officePart = part{http.MethodHead, site.Root + "sign-in", errNoPage, "--no-office"}
	bookPart   = part{http.MethodOptions, dav.Root, errNoBook, "--no-phones"}
)

// address returns the URL of the service for the database at path, and its URL for this computer. If no
// service is running or it lacks the part, the error is errNotServed or p.missing with a hint. Other errors
// have no hint. A killed service may leave its URLs in the database, so address checks the lock and sends a
// request.
func address(env cli.Env, s *store.Store, path string, p part) (at, local string, err error) {
	switch {
	case isLocked(osutil.Resolve(path)):
	case isOfService(env, path):
		return "", "", cli.WithHint(errNotServed, cli.AsAdministrator("firefighters service start"))
	default:
		return "", "", cli.WithHint(errNotServed, "firefighters serve --db "+cli.Quote(path))
	}
	if at, local, err = s.Addresses(); err != nil {
		return "", "", store.Failed("reading", path, err)
	}
	if response, err := ask(p.method, local+p.path); err != nil || response.StatusCode != http.StatusOK {
		return "", "", cli.WithHint(p.missing, "wait a moment, or start it without "+p.flag)
	}
	return at, local, nil
}

// isLocked reports whether a server has locked the database at path. It holds the lock for a moment if
// it is free; a starting service waits for that.
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

// local sends requests to the service on this computer, without a proxy. It accepts every certificate,
// because no request has a secret.
var local = http.Client{Timeout: 5 * time.Second,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}

// ask sends a request without a body to the service, and returns the response without its body.
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

// invitation is a new invitation: the URL of the service and the code.
type invitation struct{ url, code string }

func (i invitation) link() string { return site.InvitationLink(i.url, i.code) }

// warnOfReach notes if the link does not work on other computers.
func (i invitation) warnOfReach(env cli.Env) {
	if u, err := url.Parse(i.url); err == nil && site.HereOnly(i.url) {
		env.Note(fmt.Sprintf("the link works only on this computer, because the server listens on %s", u.Hostname()), "")
	}
}

// Announce invites the person who started the server to the page at a URL, with the scope admin and a
// name, which is the name of the login if it is empty. It prints the link.
func Announce(s *store.Store, tenant, name, url string, print func(text string) error) error {
	id, err := s.Tenant(tenant)
	if err != nil {
		return err
	}
	login := person()
	n := store.NewInvitation{Tenant: id, Name: cmp.Or(name, login), Scope: store.ScopeAdmin, Login: login}
	return s.Invite(n, func(code string) error {
		return print(fmt.Sprintf("Open this in your browser within 15 minutes, and press the button:\n\n  %s\n", invitation{url, code}.link()))
	})
}

// person returns the name of the current user, and under sudo or pkexec of the user who ran it.
func person() string {
	u, err := user.Lookup(os.Getenv("SUDO_USER"))
	if err != nil {
		u, err = user.LookupId(os.Getenv("PKEXEC_UID"))
	}
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

func (c Commands) inviteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "invite",
		Short:      "Invite a person to the office page, or set up a phone",
		GroupID:    cli.GroupAccess,
		SuggestFor: []string{"login", "user", "signin", "phone"},
		Long: `Print a link and a code for a person to sign in to the office page of a
department. One of them works, once, within 15 minutes. They are not shown
again.

With --scope read a person can only view the list, with write also edit it, and
with admin also invite others and revoke their keys.

With --phone, invite sets up a device that keeps the list among its contacts. It
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
		normalized, err := record.NormalizeName(*name)
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

// printInvitation creates an invitation and prints its code and, if a server serves the page, its link.
func printInvitation(env cli.Env, s *store.Store, db string, n store.NewInvitation) error {
	at, _, noLink := address(env, s, db, officePart)
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
