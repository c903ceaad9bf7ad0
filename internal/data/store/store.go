// Package store keeps the records of departments, their history, and the keys and
// sessions that open them in one SQLite database. schema.sql, in the root, describes
// the tables. Their SQL is here, and beside it only that of package integrity, which
// checks and repairs them.
//
// What is where: one record in records.go and deleted.go, lists and searches in list.go
// (index.go reads for the index of large departments, each.go for exports), what has
// changed in history.go, edits.go and feed.go, imports in imports.go and takeback.go,
// requests that are sent again in replays.go, who may come in in keys.go, sessions.go
// and invitations.go, departments in tenants.go, the one row of the service in
// service.go, and what backups and the guard ask in content.go and progress.go.
package store

import (
	"database/sql/driver"
	"sync/atomic"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/internal/index"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// Store is an open database.
type Store struct {
	db    *sqlite.DB
	index *index.Cache

	clockSaved atomic.Int64 // the latest time that the database has, in milliseconds
}

// Open opens the database at path, which must be whole and of the newest
// schema. now is the system's clock.
func Open(path string, now func() time.Time) (*Store, error) {
	s := &Store{index: index.NewCache()}
	db, err := sqlite.Open(path, sqlite.Options{Now: now, BeforeCommit: s.beforeCommit})
	if err != nil {
		return nil, err
	}
	s.db = db
	latest, err := s.queryInt(latestTimeSQL)
	if err != nil {
		db.Close()
		return nil, &sqlite.FileError{Op: "opening", Path: path, Err: err}
	}
	db.Clock.Set(latest)
	s.clockSaved.Store(latest)
	return s, nil
}

// Close waits for what is under way and closes the database.
func (s *Store) Close() error { return s.db.Close() }

// DB returns the database that the store is made of.
func (s *Store) DB() *sqlite.DB { return s.db }

// Clock returns the clock that everything in the store goes by.
func (s *Store) Clock() *sqlite.Clock { return s.db.Clock }

// Ping returns nil if the database answers.
func (s *Store) Ping() error {
	_, err := s.queryInt(`SELECT only_row FROM service`)
	return err
}

// RetryWriting writes the time if the last transaction could not be written, so that
// WritingFault is true.
func (s *Store) RetryWriting() error {
	if s.db.WritingFault() == nil {
		return nil
	}
	return s.SaveClock()
}

// query and queryRow are those of a connection that is lent out to read.
func (s *Store) query(text string, args sqlite.Args, scan func(sqlite.Row)) error {
	return s.db.Read(func(c *sqlite.Conn) error { return c.Query(text, args, scan) })
}

func (s *Store) queryRow(text string, args sqlite.Args, scan func(sqlite.Row)) error {
	return s.db.Read(func(c *sqlite.Conn) error { return c.QueryRow(text, args, scan) })
}

func (s *Store) queryInt(text string, args ...driver.Value) (n int64, err error) {
	err = s.queryRow(text, args, func(row sqlite.Row) { n = row.Int(0) })
	return n, err
}
