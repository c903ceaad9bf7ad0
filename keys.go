package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"firefighters/internal/apikey"
	"firefighters/internal/record"
)

// keyHash is the SHA-256 of a key, all that is stored of it.
type keyHash [32]byte

// storedKey is a row of the keys table.
type storedKey struct {
	id         int64
	tenant     tenantID
	scope      string
	label      string
	createdAt  int64 // milliseconds, as all times here
	expiresAt  sql.NullInt64
	revokedAt  sql.NullInt64
	lastUsedAt sql.NullInt64
}

const keyColumns = `k.id, k.tenant_id, k.scope, k.label, k.created_at, k.expires_at, k.revoked_at, k.last_used_at`

func (k *storedKey) dest() []any {
	return []any{&k.id, &k.tenant, &k.scope, &k.label, &k.createdAt, &k.expiresAt, &k.revokedAt, &k.lastUsedAt}
}

// state is "active", "revoked" or "expired".
func (k *storedKey) state(now time.Time) string {
	switch {
	case k.revokedAt.Valid:
		return "revoked"
	case k.expiresAt.Valid && k.expiresAt.Int64 <= now.UnixMilli():
		return "expired"
	}
	return "active"
}

// keyByHash finds a key, and gives the version of the keys table in which it
// did.
func (s *store) keyByHash(hash keyHash) (k storedKey, version int64, err error) {
	err = s.reader.queryRow(`SELECT `+keyColumns+`, keys_version FROM keys k, service WHERE k.hash = ?`,
		[]any{hash[:]}, append(k.dest(), &version)...)
	return k, version, err
}

// keysVersion changes whenever a key is made, changed, revoked or erased.
func (s *store) keysVersion() (version int64, err error) {
	err = s.reader.queryRow(`SELECT keys_version FROM service`, nil, &version)
	return version, err
}

// createKey makes a key of a department, and the department too if it is not
// there, and gives the key: the only time that anybody sees it. A zero
// expiresAt is never.
func (s *store) createKey(tenantName, label, scope string, expiresAt time.Time) (string, error) {
	key := apikey.New()
	hash := apikey.Hash(key)
	expiry := sql.NullInt64{Int64: expiresAt.UnixMilli(), Valid: !expiresAt.IsZero()}
	return key, s.write(func(t *transaction) error {
		if _, err := t.exec(`INSERT INTO tenants (name, created_at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`,
			tenantName, t.now); err != nil {
			return err
		}
		_, err := t.exec(`INSERT INTO keys (hash, tenant_id, label, scope, created_at, expires_at)
			SELECT ?, id, ?, ?, ?, ? FROM tenants WHERE name = ?`,
			hash[:], label, scope, t.now, expiry, tenantName)
		return err
	})
}

// listKeys gives the keys of the department of that name, or of all if it is
// empty, each with its department's name.
func (s *store) listKeys(tenantName string, each func(k storedKey, tenantName string)) error {
	return s.reader.query(`SELECT `+keyColumns+`, t.name FROM keys k JOIN tenants t ON t.id = k.tenant_id
		WHERE ?1 IN ('', t.name) ORDER BY k.id`, []any{tenantName}, func(rows *sql.Rows) error {
		var k storedKey
		var name string
		err := rows.Scan(append(k.dest(), &name)...)
		each(k, name)
		return err
	})
}

// revokeKey revokes a key for good. One that is revoked stays as it is, and
// already is true. errNotFound if there is none.
func (s *store) revokeKey(id int64) (already bool, err error) {
	err = s.write(func(t *transaction) error {
		if err := t.queryRow(`SELECT revoked_at IS NOT NULL FROM keys WHERE id = ?`, []any{id}, &already); err != nil {
			return err
		}
		_, err := t.exec(`UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL`, t.now, id)
		return err
	})
	return already, err
}

// writeKeyUses writes when keys were last used, by their ids.
func (s *store) writeKeyUses(uses map[int64]int64) error {
	return s.write(func(t *transaction) error {
		for id, last := range uses {
			if _, err := t.exec(`UPDATE keys SET last_used_at = ? WHERE id = ?`, last, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// The commands.

const keysHelp = `Usage: firefighters keys create|list|revoke [flags]

Makes, lists and revokes the API keys of departments. What it does takes
effect within a second on a server that is running.

  firefighters keys create --tenant "Engine 7"
  firefighters keys list
  firefighters keys revoke 3

Each has more to say: firefighters keys create --help
`

func (p *program) keys(args []string) error {
	if len(args) == 0 {
		return usage("keys: what about them?", "firefighters keys --help")
	}
	switch args[0] {
	case "create":
		return p.keysCreate(args[1:])
	case "list":
		return p.keysList(args[1:])
	case "revoke":
		return p.keysRevoke(args[1:])
	case "-h", "--help", "help":
		return p.help(keysHelp)
	}
	return usage(fmt.Sprintf("keys: there is no command %q", args[0]), "firefighters keys --help")
}

const keysCreateHelp = `Usage: firefighters keys create --tenant NAME [flags]

Makes an API key for a department, and the department if it is new. The key,
and only the key, goes to standard output. It is shown this once.

  firefighters keys create --tenant "Engine 7" --label "front desk" --scope read --expires 90d

Flags:
`

func (p *program) keysCreate(args []string) error {
	flags := p.flags("keys create", keysCreateHelp)
	db := dbFlag(flags)
	tenantName := flags.String("tenant", "", "the department's name (required)")
	label := flags.String("label", "", "what the key is for")
	scope := flags.String("scope", scopeWrite, "read or write")
	expires := flags.String("expires", "", "how long it is valid, as 90d or 12h, or its last day (UTC), as 2027-01-31")
	if err := p.parse(flags, args, 0); err != nil {
		return err
	}
	name, faults := record.Name("--tenant", *tenantName)
	text, more := record.Label("--label", *label)
	faults.Merge(more)
	if *scope != scopeRead && *scope != scopeWrite {
		faults.Add("--scope", record.Invalid, "--scope must be read or write.")
	}
	expiry, err := parseExpiry(*expires, time.Now())
	if err != nil {
		faults.Add("--expires", record.Invalid, "%v.", err)
	}
	if len(faults) > 0 {
		return usage("keys create: "+faults.Error(), "firefighters keys create --help")
	}
	return p.withStore(*db, true, func(s *store) error {
		key, err := s.createKey(name, text, *scope, expiry)
		if err != nil {
			return fmt.Errorf("making a key: %w", err)
		}
		fmt.Fprintln(p.stdout, key)
		if !expiry.IsZero() && !expiry.After(s.clock.now()) {
			fmt.Fprintln(p.stderr, "Note: this key has expired already.")
		}
		return nil
	})
}

// parseExpiry reads a number of days or hours from now, or a date, which is
// the last day (UTC) on which a key is valid. Nothing is never: the zero time.
func parseExpiry(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, 1), nil
	}
	units := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second}
	number, unit := text[:len(text)-1], units[text[len(text)-1:]]
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil || unit == 0 {
		return time.Time{}, fmt.Errorf("--expires must be like 90d or 2027-01-31, not %q", text)
	}
	return now.Add(time.Duration(n) * unit), nil
}

const keysListHelp = `Usage: firefighters keys list [flags]

Prints a line for each key: its id, state, scope, times, department and label.
The key itself is nowhere to be found.

  firefighters keys list --tenant "Engine 7"

Flags:
`

func (p *program) keysList(args []string) error {
	flags := p.flags("keys list", keysListHelp)
	db := dbFlag(flags)
	tenantName := flags.String("tenant", "", "only this department's keys")
	if err := p.parse(flags, args, 0); err != nil {
		return err
	}
	return p.withStore(*db, false, func(s *store) error {
		var table strings.Builder
		w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tSTATE\tSCOPE\tCREATED\tEXPIRES\tLAST USED\tDEPARTMENT\tLABEL")
		err := s.listKeys(*tenantName, func(k storedKey, tenantName string) {
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.id, k.state(s.clock.now()), k.scope,
				showTime(sql.NullInt64{Int64: k.createdAt, Valid: true}), showTime(k.expiresAt), showTime(k.lastUsedAt),
				tenantName, k.label)
		})
		if err != nil {
			return fmt.Errorf("listing keys: %w", err)
		}
		w.Flush()
		heading, lines, _ := strings.Cut(table.String(), "\n")
		fmt.Fprintln(p.stderr, heading)
		_, err = io.WriteString(p.stdout, lines)
		return err
	})
}

func showTime(milliseconds sql.NullInt64) string {
	if !milliseconds.Valid {
		return "-"
	}
	return time.UnixMilli(milliseconds.Int64).UTC().Format(time.RFC3339)
}

const keysRevokeHelp = `Usage: firefighters keys revoke ID [flags]

Revokes a key for good. The id is the first on its line of: firefighters keys list

  firefighters keys revoke 3

Flags:
`

func (p *program) keysRevoke(args []string) error {
	flags := p.flags("keys revoke", keysRevokeHelp)
	db := dbFlag(flags)
	if err := p.parse(flags, args, 1); err != nil {
		return err
	}
	id, err := strconv.ParseInt(flags.Arg(0), 10, 64)
	if err != nil {
		return usage("keys revoke takes the id of a key", "firefighters keys list")
	}
	return p.withStore(*db, false, func(s *store) error {
		already, err := s.revokeKey(id)
		switch {
		case errors.Is(err, errNotFound):
			return hinted{fmt.Errorf("there is no key with the id %d", id), "firefighters keys list"}
		case err != nil:
			return fmt.Errorf("revoking key %d: %w", id, err)
		case already:
			fmt.Fprintf(p.stderr, "Key %d was revoked before.\n", id)
		default:
			fmt.Fprintf(p.stderr, "Key %d is revoked.\n", id)
		}
		return nil
	})
}
