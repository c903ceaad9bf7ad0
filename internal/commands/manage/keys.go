package manage

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

const keysHelp = `Usage: firefighters keys create|list|revoke [flags]

Makes, lists and revokes the API keys of departments. All changes take effect
within a second on a running server.

  firefighters keys create --tenant "Engine 7"
  firefighters keys list
  firefighters keys revoke 3

Each has more to say: firefighters keys create --help
`

func (c Commands) keys() []cli.Command {
	return []cli.Command{
		{Name: "create", Also: "add new make", Run: c.keysCreate},
		{Name: "list", Also: "ls show", Run: c.keysList},
		{Name: "revoke", Also: "rm remove delete del", Run: c.keysRevoke},
	}
}

const keysCreateHelp = `Usage: firefighters keys create --tenant NAME [flags]

Makes an API key for a department, and the department if it is new. The key,
and only the key, goes to standard output. It is shown only now. A department
is not made beside one whose name differs only in case, accents or spaces,
unless --new says that it is another one.

  firefighters keys create --tenant "Engine 7" --label "front desk" --scope read --expires 90d
  firefighters keys create --tenant "Engine 7" --label "Ana's phone" --scope phone

The scopes read, write and admin can each do more than the one before. A key of
the scope phone opens the address book for phones and nothing else, and one of
the scope calendar the calendar of birthdays.

Flags:
`

func (c Commands) keysCreate(env cli.Env, args []string) error {
	flags := env.Flags("keys create", keysCreateHelp)
	db, name := cli.DBFlag(flags), cli.TenantFlag(flags, "(required)")
	label := flags.String("label", "", "what the key is for")
	scope := flags.String("scope", store.ScopeWrite, "read, write, admin, phone or calendar")
	birthdays := flags.Bool("birthdays", false, "the phone gets the dates of birth, too; only with --scope phone")
	expires := flags.String("expires", "", "how long it is valid, as 90d, 12h or 1y, or its last day (UTC), as 2027-01-31")
	isNew := flags.Bool("new", false, "make the department also if the name of another is nearly the same")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	if !flags.Changed("expires") {
		expires = nil
	}
	key, err := newKey(*name, *label, *scope, *birthdays, expires)
	if err != nil {
		return cli.Wrong(flags, err.Error())
	}
	key.Alike = *isNew
	return c.Database.With(env, *db, true, func(s *store.Store) error {
		if key.ExpiresAt, err = expiry(expires, s.Clock().Now()); err != nil {
			return cli.Wrong(flags, err.Error())
		}
		_, noTenant := s.Tenant(key.Tenant)
		if err := s.CreateKey(key, env.Println); err != nil {
			return store.Failed("making a key in", *db, err)
		}
		if noTenant != nil {
			env.Notef("Made the department %q.", key.Tenant)
		}
		return nil
	})
}

// newKey returns the key that flags describe. The error is about the first fault.
func newKey(tenant, label, scope string, birthdays bool, expires *string) (key store.NewKey, err error) {
	key.Scope, key.Birthdays = scope, birthdays
	if key.Tenant, err = record.NormalizeName(tenant); err != nil {
		return key, fmt.Errorf("--tenant %w", err)
	}
	if key.Label, err = record.NormalizeLabel(label); err != nil {
		return key, fmt.Errorf("--label %w", err)
	}
	if !store.ValidScope(scope) && !store.IsDeviceScope(scope) {
		return key, errors.New("--scope must be read, write, admin, phone or calendar")
	}
	if birthdays && scope != store.ScopePhone {
		return key, errors.New("--birthdays goes with --scope phone alone")
	}
	key.ExpiresAt, err = expiry(expires, time.Now())
	return key, err
}

// expiry returns when a key that is made now expires; the zero time is never, as for
// nil.
func expiry(expires *string, now time.Time) (time.Time, error) {
	if expires == nil {
		return time.Time{}, nil
	}
	at, err := cli.ParseExpiry(*expires, now)
	switch {
	case err != nil || at.IsZero():
		return at, cli.WrongTime("expires", "90d or 2027-01-31", *expires)
	case !at.After(now):
		return at, fmt.Errorf("--expires must be in the future: %s is over", *expires)
	}
	return at, nil
}

const keysListHelp = `Usage: firefighters keys list [flags]

Prints a line for each key: its id, state, scope, times, department and label.
The session of a browser is a key as well. The key itself is stored nowhere.

  firefighters keys list --tenant "Engine 7"
  firefighters keys list --json

Flags:
`

func (c Commands) keysList(env cli.Env, args []string) error {
	flags := env.Flags("keys list", keysListHelp)
	db := cli.DBFlag(flags)
	name := flags.String("tenant", "", "only this department's keys")
	asJSON := flags.Bool("json", false, "a line of JSON for each key: id, state, scope, birthdays if a phone gets them, department, label, createdAt, expiresAt, lastUsedAt, revokedAt")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	return c.Database.With(env, *db, false, func(s *store.Store) error {
		if _, err := s.Tenant(*name); *name != "" && err != nil {
			return store.Failed("reading", *db, err)
		}
		now := s.Clock().Now()
		list := cli.NewList(*asJSON, "ID", "STATE", "SCOPE", "CREATED", "EXPIRES", "LAST USED", "DEPARTMENT", "LABEL")
		err := s.ListKeys(strings.TrimSpace(*name), func(k store.Key, tenant string) {
			line := keyLine{k.ID, k.State(now), k.Scope, k.Birthdays, tenant, k.Label,
				store.Moment(k.CreatedAt), store.Moment(k.Expiry()), store.Moment(k.LastUsedAt), store.Moment(k.RevokedAt)}
			list.Add(line, fmt.Sprint(k.ID), line.State, k.Scope,
				cli.FormatTime(k.CreatedAt), cli.FormatTime(k.Expiry()), cli.FormatTime(k.LastUsedAt), tenant, k.Label)
		})
		if err != nil {
			return store.Failed("listing the keys of", *db, err)
		}
		return list.Print(env)
	})
}

// keyLine is a key in JSON.
type keyLine struct {
	ID         store.KeyID `json:"id"`
	State      string      `json:"state"`
	Scope      string      `json:"scope"`
	Birthdays  bool        `json:"birthdays,omitempty"`
	Department string      `json:"department"`
	Label      string      `json:"label"`
	CreatedAt  *string     `json:"createdAt"`
	ExpiresAt  *string     `json:"expiresAt"`  // null: never
	LastUsedAt *string     `json:"lastUsedAt"` // null: never
	RevokedAt  *string     `json:"revokedAt"`
}

const keysRevokeHelp = `Usage: firefighters keys revoke ID [flags]

Revokes a key for good. The id is the first on its line of: firefighters keys list
While another program has locked the database, it tries for up to a minute.

  firefighters keys revoke 3

Flags:
`

func (c Commands) keysRevoke(env cli.Env, args []string) error {
	flags := env.Flags("keys revoke", keysRevokeHelp)
	db := cli.DBFlag(flags)
	text, err := env.ParseOne(flags, args, "say which key to revoke, by its id")
	if err != nil {
		return err
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return cli.WrongArgument(flags, 0, fmt.Sprintf("%q is not the id of a key", text), database.See("their ids", "keys list", *db))
	}
	id := store.KeyID(number)
	err = untilUnlocked(env, func() error {
		return c.Database.With(env, *db, false, func(s *store.Store) error { return revokeKey(env, s, *db, id) })
	})
	if errors.Is(err, sqlite.ErrBusy) {
		return cli.WithHint(fmt.Errorf("key %d may still work: %w", id, err), fmt.Sprintf(
			"end the program that has locked the database, then again: firefighters keys revoke %d --db %s", id, cli.Quote(*db)))
	}
	return err
}

// How long keys revoke tries. A leaked key must not stay valid because another program is
// writing.
const (
	revokeWithin = time.Minute
	betweenTries = 100 * time.Millisecond
	silentWait   = 2 * time.Second // before a note says that the command waits
)

// untilUnlocked calls do again while another program has locked the database,
// until the time is over or the command must stop. It returns the last error.
func untilUnlocked(env cli.Env, do func() error) error {
	isNoted := false
	for began := time.Now(); ; {
		err := do()
		waited := time.Since(began)
		if !errors.Is(err, sqlite.ErrBusy) || waited >= revokeWithin || env.Context.Err() != nil {
			return err
		}
		if !isNoted && waited > silentWait {
			env.Notef("Another program has locked the database. Trying for up to a minute.")
			isNoted = true
		}
		select {
		case <-env.Context.Done():
		case <-time.After(betweenTries):
		}
	}
}

func revokeKey(env cli.Env, s *store.Store, db string, id store.KeyID) error {
	already, err := s.RevokeKey(store.AnyTenant, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return database.Advice{Text: fmt.Sprintf("there is no key with the id %d", id), Hint: database.See("their ids", "keys list", db)}
	case err != nil:
		return store.Failed("revoking a key in", db, err)
	case already:
		env.Notef("Key %d was revoked before.", id)
	default:
		env.Notef("Key %d is revoked.", id)
	}
	return nil
}
