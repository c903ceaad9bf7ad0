package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"firefighters/internal/apikey"
	"firefighters/internal/record"
)

// keyHash is the SHA-256 of a key, all that is stored of it.
type keyHash [32]byte

// keyID is the number of a key, 0 where a command does what keys do otherwise.
type keyID int64

// storedKey is a row of the keys table.
type storedKey struct {
	id         keyID
	tenant     tenantID
	scope      string
	label      string
	createdAt  int64 // milliseconds, as all times here; 0 is none
	expiresAt  int64
	revokedAt  int64
	lastUsedAt int64
}

const keyColumns = `k.id, k.tenant_id, k.scope, k.label, k.created_at, k.expires_at, k.revoked_at, k.last_used_at`

// keyOf makes a key of a row that begins with keyColumns.
func keyOf(row values) storedKey {
	return storedKey{keyID(number(row[0])), tenantID(number(row[1])), text(row[2]), text(row[3]),
		number(row[4]), number(row[5]), number(row[6]), number(row[7])}
}

// expiredAt tells whether the key has expired by a time in milliseconds.
func (k *storedKey) expiredAt(now int64) bool { return k.expiresAt != 0 && k.expiresAt <= now }

// state is "active", "revoked" or "expired".
func (k *storedKey) state(now time.Time) string {
	switch {
	case k.revokedAt != 0:
		return "revoked"
	case k.expiredAt(now.UnixMilli()):
		return "expired"
	}
	return "active"
}

func (s *store) hasKey(hash keyHash) (has bool, err error) {
	err = s.read(func(c *conn) error {
		n, err := c.queryNumber(`SELECT EXISTS (SELECT 1 FROM keys WHERE hash = ?)`, hash[:])
		has = n == 1
		return err
	})
	return has, err
}

// keys gives all keys of all departments. One whose department is not there has
// been damaged, and opens nothing.
func (s *store) keys(each func(keyHash, storedKey)) error {
	return s.read(func(c *conn) error {
		return c.query(`SELECT `+keyColumns+`, hash FROM keys k WHERE EXISTS (SELECT 1 FROM tenants WHERE id = k.tenant_id)`, nil, func(row values) {
			if hash, _ := row[len(row)-1].([]byte); len(hash) == len(keyHash{}) { // else nobody has this key
				each(keyHash(hash), keyOf(row))
			}
		})
	})
}

// whoAmI is what a key may know of itself.
type whoAmI struct {
	Department string  `json:"department"`
	Label      string  `json:"label"`
	Scope      string  `json:"scope"`
	ExpiresAt  *string `json:"expiresAt"` // null: never
}

func (s *store) whoIs(id keyID) (who whoAmI, err error) {
	err = s.read(func(c *conn) error {
		return c.queryRow(`SELECT name, label, scope, expires_at FROM keys JOIN tenants ON tenants.id = tenant_id WHERE keys.id = ?`,
			values{int64(id)}, func(row values) {
				who = whoAmI{Department: text(row[0]), Label: text(row[1]), Scope: text(row[2])}
				if at, given := row[3].(int64); given {
					moment := showMoment(at)
					who.ExpiresAt = &moment
				}
			})
	})
	return who, err
}

// keysVersion changes whenever a key is made, changed, revoked or erased.
func (s *store) keysVersion() (version int64, err error) {
	err = s.read(func(c *conn) (err error) {
		version, err = c.queryNumber(`SELECT keys_version FROM service`)
		return err
	})
	return version, err
}

// createKey makes a key of a department, and the department too if it is not
// there, and shows it: the only time that anybody sees it. If it cannot be
// shown it is not made, so that show is part of the job, which has the
// transaction to itself where keys are made. A zero expiresAt is never.
func (s *store) createKey(tenantName, label, scope string, expiresAt time.Time, show func(key string) error) error {
	key := apikey.New()
	hash := apikey.Hash(key)
	var expiry value
	if !expiresAt.IsZero() {
		expiry = expiresAt.UnixMilli()
	}
	return s.write(func(t *transaction) error {
		if _, err := t.exec(`INSERT INTO tenants (name, created_at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`,
			tenantName, t.now); err != nil {
			return err
		}
		if _, err := t.exec(`INSERT INTO keys (hash, tenant_id, label, scope, created_at, expires_at)
			SELECT ?, id, ?, ?, ?, ? FROM tenants WHERE name = ?`,
			hash[:], label, scope, t.now, expiry, tenantName); err != nil {
			return err
		}
		return show(key)
	})
}

// listKeys gives the keys of the department of that name, or of all if it is
// empty, each with its department's name.
func (s *store) listKeys(tenantName string, each func(k storedKey, tenantName string)) error {
	return s.read(func(c *conn) error {
		return c.query(`SELECT `+keyColumns+`, t.name FROM keys k JOIN tenants t ON t.id = k.tenant_id
			WHERE ?1 IN ('', t.name) ORDER BY k.id`, values{tenantName},
			func(row values) { each(keyOf(row), text(row[len(row)-1])) })
	})
}

// revokeKey revokes a key for good. One that is revoked stays as it is, and
// already is true. errNotFound if there is none.
func (s *store) revokeKey(id keyID) (already bool, err error) {
	err = s.write(func(t *transaction) error {
		revoked, err := t.queryNumber(`SELECT revoked_at IS NOT NULL FROM keys WHERE id = ?`, int64(id))
		if err != nil {
			return err
		}
		already = revoked == 1
		_, err = t.exec(`UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL`, t.now, int64(id))
		return err
	})
	return already, err
}

// writeKeyUses writes when keys were last used.
func (s *store) writeKeyUses(uses map[*credential]int64) error {
	return s.write(func(t *transaction) error {
		for key, used := range uses {
			if _, err := t.exec(`UPDATE keys SET last_used_at = ? WHERE id = ?`, used, int64(key.id)); err != nil {
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
		return usage("keys: say create, list or revoke", "firefighters keys --help")
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
	var faults record.FieldErrors
	name, nameErr := record.Name(*tenantName)
	if nameErr != nil {
		faults.Add("--tenant", record.Invalid, "--tenant %v.", nameErr)
	}
	text, labelErr := record.Label(*label)
	if labelErr != nil {
		faults.Add("--label", record.Invalid, "--label %v.", labelErr)
	}
	if *scope != scopeRead && *scope != scopeWrite {
		faults.Add("--scope", record.Invalid, "--scope must be read or write.")
	}
	expiry, err := parseExpiry(*expires)
	if err != nil || flags.Changed("expires") && *expires == "" {
		faults.Add("--expires", record.Invalid, "--expires must be like 90d or 2027-01-31, not %q.", *expires)
	}
	if len(faults) > 0 {
		return usage("keys create: "+faults.Error(), "firefighters keys create --help")
	}
	return p.withStore(*db, true, func(s *store) error {
		expiresAt := expiry(s.clock.now())
		if err := s.createKey(name, text, *scope, expiresAt, p.println); err != nil {
			return explain("making a key in", *db, err)
		}
		if !expiresAt.IsZero() && !expiresAt.After(s.clock.now()) {
			fmt.Fprintln(p.stderr, "Note: this key has expired already.")
		}
		return nil
	})
}

// longestDuration keeps sums of times in bounds.
const longestDuration = 100 * 366 * 24 * time.Hour

// parseExpiry reads a duration from now, as parseDuration does, or a date, which is the last day (UTC) on which a key is valid. Nothing is never:
// the zero time.
func parseExpiry(text string) (at func(now time.Time) time.Time, err error) {
	if text == "" {
		return func(time.Time) time.Time { return time.Time{} }, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return func(time.Time) time.Time { return day.AddDate(0, 0, 1) }, nil
	}
	d, err := parseDuration(text)
	return func(now time.Time) time.Time { return now.Add(d) }, err
}

// parseDuration reads a number of weeks, days, hours, minutes or seconds.
func parseDuration(text string) (time.Duration, error) {
	units := map[string]time.Duration{"w": 7 * 24 * time.Hour, "d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second}
	number := text[:max(0, len(text)-1)]
	unit := units[text[len(number):]]
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil || unit == 0 || n > uint64(longestDuration/unit) {
		return 0, errors.New("not a duration")
	}
	return time.Duration(n) * unit, nil
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
		t := newTable("ID\tSTATE\tSCOPE\tCREATED\tEXPIRES\tLAST USED\tDEPARTMENT\tLABEL")
		err := s.listKeys(strings.TrimSpace(*tenantName), func(k storedKey, tenantName string) {
			t.add(fmt.Sprint(k.id), k.state(s.clock.now()), k.scope,
				showTime(k.createdAt), showTime(k.expiresAt), showTime(k.lastUsedAt), tenantName, k.label)
		})
		if err != nil {
			return fmt.Errorf("listing keys: %w", err)
		}
		return t.print(p)
	})
}

func showTime(milliseconds int64) string {
	if milliseconds == 0 {
		return "-"
	}
	return time.UnixMilli(milliseconds).UTC().Format(time.RFC3339)
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
		already, err := s.revokeKey(keyID(id))
		switch {
		case errors.Is(err, errNotFound):
			return hinted{fmt.Errorf("there is no key with the id %d", id), "firefighters keys list"}
		case err != nil:
			return explain("revoking a key in", *db, err)
		case already:
			fmt.Fprintf(p.stderr, "Key %d was revoked before.\n", id)
		default:
			fmt.Fprintf(p.stderr, "Key %d is revoked.\n", id)
		}
		return nil
	})
}
