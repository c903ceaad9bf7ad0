package store

import (
	"context"
	"errors"

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

// Rewrite rewrites the file, which removes all traces of permanently deleted data. After an error,
// or if ctx ends first, traces may remain.
func (s *Store) Rewrite(ctx context.Context) error {
	covered, _, err := s.Erasures()
	if err == nil {
		err = sqlite.Vacuum(ctx, s.db.Path())
	}
	if err != nil {
		return err
	}
	return s.db.Write(func(t *sqlite.Tx) error {
		_, err := t.Exec(`UPDATE service SET rewritten = max(rewritten, ?)`, covered)
		return err
	})
}
