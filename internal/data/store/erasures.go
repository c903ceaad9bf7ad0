package store

import (
	"context"
	"errors"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// noteErasure marks the file as one with traces, which Rewrite removes.
func noteErasure(t *sqlite.Tx) error {
	_, err := t.Exec(`UPDATE service SET erasures = erasures + 1`)
	return err
}

const erasuresSQL = `SELECT erasures, erasures > rewritten FROM service`

// Erasures returns the number of transactions that permanently deleted data, and whether the file
// may contain traces of that data.
func (s *Store) Erasures() (n int64, traces bool, err error) {
	err = s.queryRow(erasuresSQL, nil, func(row sqlite.Row) { n, traces = row.Int(0), row.Int(1) == 1 })
	return n, traces, err
}

// HasTraces reports whether a database, with any schema version, may contain traces of permanently
// deleted data.
func HasTraces(c *sqlite.Conn) (traces bool, err error) {
	err = c.QueryRow(erasuresSQL, nil, func(row sqlite.Row) { traces = row.Int(1) == 1 })
	if failure, ok := errors.AsType[sqlite.ResultError](err); ok && failure.IsSQL() { // an older schema
		err = nil
	}
	return traces, err
}

// NoteRewritten notes that a copy contains no traces.
func NoteRewritten(c *sqlite.Conn) error {
	_, err := c.Exec(`UPDATE service SET rewritten = erasures`)
	return err
}

// Rewrite rewrites the file, which removes all traces of permanently deleted data. Before that it
// erases leftovers. After an error, or if ctx ends first, traces may remain.
func (s *Store) Rewrite(ctx context.Context) error {
	err := s.EraseLeftovers()
	covered := int64(0)
	if err == nil {
		covered, _, err = s.Erasures()
	}
	if err == nil {
		err = sqlite.Vacuum(ctx, s.db.Path())
	}
	if err != nil {
		return err
	}
	return s.exec(`UPDATE service SET rewritten = max(rewritten, ?)`, covered)
}

// Leftovers are names that nothing needs any longer: expired invitations, the names of imported files
// of which no person is left, and the labels of sessions that ended at least a day ago and changed
// nothing that the history still contains.
const (
	sessionLabelLifetime = 24 * time.Hour
	sessionsWithLabelSQL = keySQL + ` WHERE k.session_lifetime IS NOT NULL AND k.label || k.login <> ''`
	withoutChangesSQL    = `
		SELECT value FROM json_each(?1)
		 WHERE value NOT IN (SELECT key_id FROM changes WHERE key_id IN (SELECT value FROM json_each(?1)))
		   AND value NOT IN (SELECT key_id FROM imports WHERE key_id IS NOT NULL)`
	expiredInvitations   = ` FROM invitations WHERE expires_at <= ?`
	blankImportsSQL      = `UPDATE imports SET file = '' WHERE ` + importsWithoutPeople
	hasLeftoversSQL      = `SELECT EXISTS (SELECT 1` + expiredInvitations + `) OR EXISTS (SELECT 1 FROM imports WHERE ` + importsWithoutPeople + `)`
	importsWithoutPeople = `file <> '' AND NOT EXISTS (SELECT 1 FROM changes
		 WHERE changes.id BETWEEN imports.tenant_id << 32 | first_change AND imports.tenant_id << 32 | last_change)`
)

// EraseLeftovers erases leftovers. Unlike a permanent deletion, it does not mark the file as one with traces.
func (s *Store) EraseLeftovers() error {
	var sessions []int64
	found, now := int64(0), s.Clock().Now().UnixMilli()
	err := s.db.Read(func(c *sqlite.Conn) (err error) { // not in the transaction, because it may read the whole history
		if sessions, err = sessionsWithoutChanges(c, now); err == nil {
			found, err = c.QueryInt(hasLeftoversSQL, now)
		}
		return err
	})
	if err != nil || len(sessions) == 0 && found == 0 {
		return err
	}
	return s.db.Write(func(t *sqlite.Tx) error {
		_, err := t.Exec(`UPDATE keys SET label = '', login = '' WHERE id IN (SELECT value FROM json_each(?))`, jsonList(sessions))
		if err == nil {
			_, err = t.Exec(`DELETE`+expiredInvitations, now)
		}
		if err == nil {
			_, err = t.Exec(blankImportsSQL)
		}
		return err
	})
}

// sessionsWithoutChanges returns the sessions whose labels are leftovers.
func sessionsWithoutChanges(c *sqlite.Conn, now int64) (ids []int64, err error) {
	var ended []int64
	err = c.Query(sessionsWithLabelSQL, nil, func(row sqlite.Row) {
		if k := scanKey(row); k.Ended() != 0 && k.Ended() <= now-sessionLabelLifetime.Milliseconds() {
			ended = append(ended, int64(k.ID))
		}
	})
	if err == nil && len(ended) > 0 {
		err = c.Query(withoutChangesSQL, sqlite.Args{jsonList(ended)}, func(row sqlite.Row) { ids = append(ids, row.Int(0)) })
	}
	return ids, err
}
