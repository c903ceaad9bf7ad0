package manage

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func (c Commands) keysCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "keys",
		Short:      "Create, list or revoke API keys",
		GroupID:    cli.GroupAccess,
		SuggestFor: []string{"users", "tokens", "key"},
		Long: `Create, list or revoke the API keys of departments. A running server accepts or
rejects a key within a second of the change.`,
		Example: `  firefighters keys create --label "front desk"
  firefighters keys list
  firefighters keys revoke 3`,
	}
	cmd.AddCommand(c.keysCreateCommand(), c.keysListCommand(), c.keysRevokeCommand())
	return cmd
}

func (c Commands) keysCreateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "create",
		Short:      "Create an API key",
		SuggestFor: []string{"add", "new", "make"},
		Long: `Create an API key and print it to standard output. It cannot be shown again.

In a new database the command creates the department as well, named "default"
unless --department is set. To add another department, use --new.

Each of the scopes read, write and admin includes the previous one. A key with
the scope phone only opens the address book for phones; one with the scope
calendar only the calendar of birthdays.`,
		Example: `  firefighters keys create --label "front desk" --scope read --expires 90d
  firefighters keys create --label "roster program" --output key.txt
  firefighters keys create --department "Engine 8" --new`,
	}
	db, department := cli.AddDB(cmd), cli.AddDepartment(cmd)
	cmd.Flags().Lookup("department").Usage = "`name` of the department (default: the only one, or \"default\" in a new database)"
	isNew := cmd.Flags().Bool("new", false, "create the department, in addition to others")
	label := cmd.Flags().String("label", "", "`text` to recognize the key by")
	scope := cmd.Flags().String("scope", store.ScopeWrite, "`scope` of the key: read, write, admin, phone or calendar")
	birthdays := cmd.Flags().Bool("birthdays", false, "show dates of birth to the phone, with --scope phone")
	expires := cmd.Flags().String("expires", "",
		"`time` for which the key is valid: 90d, 12h or 1y, or its last day (UTC), such as 2027-01-31 (default: forever)")
	output := cmd.Flags().StringP("output", "o", "", "write the key to this new `file`, readable only by you")
	scopes := []string{"read", "write", "admin", "phone", "calendar"}
	cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions(scopes, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("expires") {
			expires = nil
		}
		key, err := newKey(*department, *label, *scope, *birthdays, expires)
		if err != nil {
			return cli.Usage(err.Error(), "")
		}
		key.New = *isNew
		return c.createKey(cli.EnvOf(cmd), *db, key, expires, *output)
	}
	return cmd
}

func (c Commands) createKey(env cli.Env, db string, key store.NewKey, expires *string, output string) error {
	deliver := env.Println
	if output != "" {
		if err := checkSecret(output); err != nil { // before the database is created
			return err
		}
		deliver = func(key string) error { return writeSecret(output, key+"\n") }
	}
	return c.Database.With(env, db, true, func(s *store.Store) (err error) {
		if key.ExpiresAt, err = expiry(expires, s.Clock().Now()); err != nil {
			return err
		}
		_, created, err := s.TenantOrNew(key.Tenant, key.New)
		if err == nil {
			err = s.CreateKey(key, deliver)
		}
		if err == nil && created != "" {
			env.Notef("Created the department %q.", created)
		}
		return store.Failed("creating a key in", db, err)
	})
}

// newKey returns the key described by flags. The error is about the first invalid flag.
func newKey(tenant, label, scope string, birthdays bool, expires *string) (key store.NewKey, err error) {
	key.Scope, key.Birthdays = scope, birthdays
	if tenant != "" {
		if key.Tenant, err = record.NormalizeName(tenant); err != nil {
			return key, fmt.Errorf("--department %w", err)
		}
	}
	if key.Label, err = record.NormalizeLabel(label); err != nil {
		return key, fmt.Errorf("--label %w", err)
	}
	if !store.ValidScope(scope) && !store.IsDeviceScope(scope) {
		return key, errors.New("--scope must be read, write, admin, phone or calendar")
	}
	if birthdays && scope != store.ScopePhone {
		return key, errors.New("--birthdays needs --scope phone")
	}
	key.ExpiresAt, err = expiry(expires, time.Now())
	return key, err
}

// expiry returns the expiry time of a new key, the zero time (never) for nil.
func expiry(expires *string, now time.Time) (time.Time, error) {
	if expires == nil {
		return time.Time{}, nil
	}
	at, err := cli.ParseExpiry(*expires, now)
	switch {
	case err != nil:
		return at, cli.WrongTime("expires", "90d or 2027-01-31", *expires)
	case !at.After(now):
		return at, fmt.Errorf("--expires must be in the future, not %s", *expires)
	}
	return at, nil
}

func (c Commands) keysListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "list",
		Short:      "List API keys",
		SuggestFor: []string{"ls", "show"},
		Long: `List API keys and browser sessions: id, state, scope, times, department and label.
The keys themselves are not stored.`,
		Example: `  firefighters keys list
  firefighters keys list --json`,
	}
	db := cli.AddDB(cmd)
	name := cmd.Flags().String("department", "", "list only the keys of the department with this `name`")
	asJSON := cmd.Flags().Bool("json", false,
		"print each key as a line of JSON: id, state, scope, birthdays, department, label, createdAt, expiresAt, lastUsedAt, revokedAt")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return c.listKeys(cli.EnvOf(cmd), *db, strings.TrimSpace(*name), *asJSON)
	}
	return cmd
}

func (c Commands) listKeys(env cli.Env, db, department string, asJSON bool) error {
	return c.Database.With(env, db, false, func(s *store.Store) error {
		if department != "" {
			if _, err := s.Tenant(department); err != nil {
				return store.Failed("reading", db, err)
			}
		}
		now := s.Clock().Now()
		list := cli.NewList(asJSON, "ID", "STATE", "SCOPE", "CREATED", "EXPIRES", "LAST USED", "DEPARTMENT", "LABEL")
		err := s.ListKeys(department, func(k store.Key, tenant string) {
			line := keyLine{k.ID, k.State(now), k.Scope, k.Birthdays, tenant, k.Label,
				store.Moment(k.CreatedAt), store.Moment(k.Expiry()), store.Moment(k.LastUsedAt), store.Moment(k.RevokedAt)}
			list.Add(line, fmt.Sprint(k.ID), line.State, k.Scope,
				cli.FormatTime(k.CreatedAt), cli.FormatTime(k.Expiry()), cli.FormatTime(k.LastUsedAt), tenant, k.Label)
		})
		if err != nil {
			return store.Failed("listing the keys of", db, err)
		}
		return list.Print(env)
	})
}

type keyLine struct {
	ID         store.KeyID `json:"id"`
	State      string      `json:"state"`
	Scope      string      `json:"scope"`
	Birthdays  bool        `json:"birthdays,omitempty"`
	Department string      `json:"department"`
	Label      string      `json:"label"`
	CreatedAt  *string     `json:"createdAt"`
	ExpiresAt  *string     `json:"expiresAt"`  // null for never
	LastUsedAt *string     `json:"lastUsedAt"` // null for never
	RevokedAt  *string     `json:"revokedAt"`
}

func (c Commands) keysRevokeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "revoke ID",
		Short:      "Revoke an API key",
		SuggestFor: []string{"rm", "remove", "delete", "del"},
		Long: `Permanently revoke an API key. For its id, see firefighters keys list. If another
program has locked the database, the command tries for up to a minute.`,
		Example: `  firefighters keys revoke 3`,
	}
	db := cli.AddDB(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		env := cli.EnvOf(cmd)
		number, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil {
			return cli.Usage(fmt.Sprintf("%q is not the id of a key", args[0]), keysListLine(*db))
		}
		id := store.KeyID(number)
		err = untilUnlocked(env, func() error {
			return c.Database.With(env, *db, false, func(s *store.Store) error { return revokeKey(env, s, *db, id) })
		})
		if errors.Is(err, sqlite.ErrBusy) {
			return cli.WithHint(fmt.Errorf("key %d may still work: %w", id, err),
				"close the program that has locked the database, then: "+cli.CommandLine(cmd))
		}
		return err
	}
	return cmd
}

func keysListLine(db string) string { return "firefighters keys list --db " + cli.Quote(db) }

// Limits of the retries of keys revoke. A leaked key must not stay valid because another program is
// writing.
const (
	revokeWithin = time.Minute
	betweenTries = 100 * time.Millisecond
	silentWait   = 2 * time.Second // before a note about the wait
)

// untilUnlocked repeats do while another program has locked the database, for at most revokeWithin.
// It returns the last error.
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
	wasRevoked, err := s.RevokeKey(store.AnyTenant, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return cli.WithHint(fmt.Errorf("there is no key with the id %d", id), keysListLine(db))
	case err != nil:
		return store.Failed("revoking a key in", db, err)
	case wasRevoked:
		env.Notef("Key %d was already revoked.", id)
	default:
		env.Notef("Revoked key %d.", id)
	}
	return nil
}
