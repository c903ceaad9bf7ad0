package database

import (
	"context"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// Guarded tells the guard what it must know of a database.
var Guarded = guard.Content{Marks: store.TenantMarks, Progress: store.Progress, Renew: store.Renew}

// Format says which files are databases. With the methods below Schema tells backups
// what they must know of one: it is a backup.Content.
func (s Schema) Format() sqlite.Format { return s.Files }

// Identify says which database one is.
func (Schema) Identify(c *sqlite.Conn) (id backup.Identity, err error) {
	if id.IDs, err = store.TenantMarks(c); err != nil {
		return id, err
	}
	if id.Name, err = store.FirstTenant(c); err != nil {
		return id, err
	}
	if id.Time, err = store.LatestTime(c); err != nil {
		return id, err
	}
	id.Mark, err = store.StateMark(c)
	return id, err
}

// Summarize says what a database holds.
func (Schema) Summarize(ctx context.Context, c *sqlite.Conn) (backup.Summary, error) {
	n, err := store.CountContent(ctx, c)
	if err != nil {
		return backup.Summary{}, err
	}
	damaged, err := integrity.CountDamaged(ctx, c)
	return backup.Summary{
		Text:    cli.Count(n.Records, "record", "records") + " of " + cli.Count(n.Departments, "department", "departments"),
		Empty:   n.Departments == 0,
		Damaged: damaged,
	}, err
}

// CarryOver returns what a restored database must have from the one that it replaces.
func (Schema) CarryOver(old *sqlite.Conn) (func(*sqlite.Conn) (int64, error), error) {
	revocations, err := store.ReadRevocations(old)
	return revocations.Write, err
}

// Renew changes what a restored database must not have from its backup.
func (Schema) Renew(restored *sqlite.Conn) error { return store.Renew(restored) }
