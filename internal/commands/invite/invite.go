// Package invite has the commands that let people into the office page,
// invite and open: the link with a code, and opening it in the browser of this
// machine.
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

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/dav"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// Commands are the commands of this package, and what they are handed.
type Commands struct {
	Database database.Schema

	// Fault returns why the installed service does not run and what to type then, as
	// service status says it. Both are empty if that is not known. It may be nil.
	Fault func() (why, hint string)
}

// Table returns the table of the commands, in the order of their names.
func (c Commands) Table() []cli.Command {
	return []cli.Command{
		{Name: "invite", Also: "login user", Summary: "lets somebody into the office page", Run: c.invite},
		{Name: "open", Also: "browser office", Summary: "opens the office page in the browser", Run: c.open},
	}
}

// Why there is no link.
var (
	errNotServed  = errors.New("no service runs on this database")
	errStopped    = errors.New("the service does not run")
	errNoDatabase = errors.New("the service has no database")
	errNoPage     = errors.New("the service runs without the office page (--no-office), or is not ready yet")
	errNoBook     = errors.New("the service runs without the address book for phones (--no-phones), or is not ready yet")
)

// explainStop returns the error that the service does not run, or has no database, with
// the reason if that is known.
func (c Commands) explainStop(err error) error {
	hint := cli.AsAdministrator("firefighters service start")
	if err == errNoDatabase { // it never came up, or its files have gone
		hint = "see why: " + cli.AsAdministrator("firefighters service status")
	}
	if c.Fault != nil {
		if why, try := c.Fault(); why != "" {
			return cli.WithHint(fmt.Errorf("%w: %s", err, why), try)
		}
	}
	return cli.WithHint(err, hint)
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
		return "", cli.WithHint(errNotServed, "start one: firefighters serve --db "+cli.Quote(path))
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

// warnOfReach says that a link is of no use on other machines.
func (i invitation) warnOfReach(env cli.Env) {
	if u, err := url.Parse(i.url); err == nil && site.HereOnly(i.url) {
		env.Note(fmt.Sprintf("the link works on this computer alone, because the service listens on %s.", u.Hostname()), "")
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

const inviteHelp = `Usage: firefighters invite --tenant NAME --name NAME [flags]

Lets a person into the office page of a department. It prints a link and a code,
which work once, for 15 minutes. Send the person the link, or say the code: the
page asks for it. They are shown only now.

  firefighters invite --tenant "Engine 7" --name "Ana Čović"
  firefighters invite --tenant "Engine 7" --name "Ivan Horvat" --scope read

With the scope read a person sees everything, with write also edits, and with
admin also invites others and revokes their keys.

With --phone it sets up a phone or a computer that keeps the list among its
contacts: it prints address, user name and password, and a QR code for Android.
With --output it writes a profile for an iPhone, an iPad or a Mac.

  firefighters invite --phone --tenant "Engine 7" --name "Ana's phone"
  firefighters invite --phone --tenant "Engine 7" --name "Ana's iPhone" -o ana.mobileconfig

Flags:
`

func (c Commands) invite(env cli.Env, args []string) error {
	flags := env.Flags("invite", inviteHelp)
	db, tenant := cli.DBFlag(flags), cli.TenantFlag(flags, "(required)")
	name := flags.String("name", "", "the person's name, or that of the device (required)")
	scope := flags.String("scope", store.ScopeWrite, "read, write or admin")
	var d device
	d.addFlags(flags)
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	n, err := newInvitation(*tenant, *name, *scope)
	err = cmp.Or(err, d.check())
	if err != nil {
		return cli.Wrong(flags, err.Error())
	}
	return c.Database.WithTenant(env, *db, *tenant, func(s *store.Store, id record.TenantID) error {
		if d.wanted {
			return d.invite(env, s, *db, store.NewPhone{Tenant: id, Name: n.Name, Birthdays: d.birthdays})
		}
		n.Tenant = id
		return printInvitation(env, s, *db, n)
	})
}

// newInvitation returns the invitation that the flags describe, but for its
// department. The error says what is wrong with them.
func newInvitation(tenant, name, scope string) (n store.NewInvitation, err error) {
	if _, err := record.NormalizeName(tenant); err != nil {
		return n, fmt.Errorf("--tenant %w", err)
	}
	if n.Name, err = record.NormalizeName(name); err != nil { // the rules are those of a person's name, too
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
	at, noLink := address(env, s, db, officePart)
	hint := cli.HintOf(noLink)
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
		env.Note(fmt.Sprintf("there is no link, because %v", noLink), hint)
		return nil
	}
	env.Notef("One of them works, once, for 15 minutes: open the link, or type the code at %s%s", at, site.Root)
	made.warnOfReach(env)
	return nil
}
