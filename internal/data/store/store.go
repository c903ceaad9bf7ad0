// Package store stores the records of departments, their change history, and the keys and sessions
// that give access to them in one SQLite database. schema.sql in the root of the repository
// describes the tables. Only this package and package integrity contain SQL for them.
//
// Writes of single records are in records.go, and restoring and permanent deletion in deleted.go.
// list.go and cursor.go read lists, history.go and feed.go read changes, for people and for
// programs, and book.go synchronizes copies of the address book.
package store

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/base64"
	"hash"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/internal/index"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Store is an open database.
type Store struct {
	db    *sqlite.DB
	index *index.Cache

	waiting waiting

	clockSaved atomic.Int64 // latest time in the database, in milliseconds
	mark       atomic.Pointer[Mark]
	epoch      int64 // of the running service; 0 in other commands
	macs       *macs // of tags, positions and cursors
}

// Open opens the database at path, which must be complete and have the newest schema. now is the
// system clock.
func Open(path string, now func() time.Time) (*Store, error) {
	s := &Store{index: index.NewCache(), waiting: waiting{woken: map[record.TenantID]chan struct{}{}}}
	db, err := sqlite.Open(path, sqlite.Options{Now: now, BeforeCommit: s.beforeCommit})
	if err != nil {
		return nil, err
	}
	s.db = db
	if err := db.Read(s.readService); err != nil {
		db.Close()
		return nil, &sqlite.FileError{Op: "opening", Path: path, Err: err}
	}
	return s, nil
}

func (s *Store) readService(c *sqlite.Conn) error {
	return c.QueryRow(`SELECT history, epoch, commits, nonce, latest_time, secret FROM service`, nil, func(row sqlite.Row) {
		mark, latest := scanMark(row)
		s.mark.Store(&mark)
		secret := row.Bytes(5)
		s.macs = &macs{sync.Pool{New: func() any { return hmac.New(sha256.New, secret) }}}
		s.db.Clock.Set(latest)
		s.clockSaved.Store(latest)
	})
}

// RenewHistory gives a database a new history and secret, as a restore does, after the file was set
// back to an earlier state. The caller must not have started to serve requests.
func (s *Store) RenewHistory() error {
	err := s.db.Write(func(t *sqlite.Tx) error {
		if err := Renew(t.Conn); err != nil {
			return err
		}
		return s.readService(t.Conn) // the commit must advance the new mark
	})
	if readErr := s.db.Read(s.readService); err == nil {
		err = readErr
	}
	return err
}

// Close waits for running operations and closes the database.
func (s *Store) Close() error { return s.db.Close() }

// DB returns the underlying database.
func (s *Store) DB() *sqlite.DB { return s.db }

// Clock returns the clock of the store.
func (s *Store) Clock() *sqlite.Clock { return s.db.Clock }

// Ping returns nil if the database can be read.
func (s *Store) Ping() error {
	_, err := s.queryInt(`SELECT only_row FROM service`)
	return err
}

// RetryWriting writes the time if the last transaction could not be written. It updates the
// WritingFault of the database and returns the error of the write.
func (s *Store) RetryWriting() error {
	if s.db.WritingFault() == nil {
		return nil
	}
	return s.SaveClock()
}

// query and queryRow run a query on a connection for reading.
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

func (s *Store) queryBool(text string, args ...driver.Value) (bool, error) {
	n, err := s.queryInt(text, args...)
	return n == 1, err
}

// exec and execOne run a statement in a write transaction, as the methods of sqlite.Tx do.
func (s *Store) exec(text string, args ...driver.Value) error {
	return s.db.Write(func(t *sqlite.Tx) error {
		_, err := t.Exec(text, args...)
		return err
	})
}

func (s *Store) execOne(text string, args ...driver.Value) error {
	return s.db.Write(func(t *sqlite.Tx) error { return t.ExecOne(text, args...) })
}

// queryEach calls each for the rows of a query until each returns an error.
func queryEach(c *sqlite.Conn, text string, args sqlite.Args, each func(sqlite.Row) error) error {
	ctx, end := context.WithCancelCause(context.Background())
	defer end(nil)
	err := c.QueryContext(ctx, text, args, func(row sqlite.Row) {
		if err := each(row); err != nil {
			end(err)
		}
	})
	return cmp.Or(context.Cause(ctx), err)
}

// Tag returns the entity tag of a representation of a record, which depends on the content and the
// secret of the database. Without the secret, no one can guess a date of birth from the tag by
// trying every day.
func (s *Store) Tag(content []byte) string {
	return `"` + base64.RawURLEncoding.EncodeToString(s.macs.of("tag", content)[:12]) + `"`
}

const secretSize = 32 // bytes

// macs computes message authentication codes with the secret of the database. It pools the hashes,
// because keying a new hash takes longer than a short code.
type macs struct{ hashes sync.Pool }

// of returns a message authentication code. The purpose, which must not contain a NUL, makes the
// codes of one use invalid for all others.
func (m *macs) of(purpose string, content []byte) []byte {
	h := m.hashes.Get().(hash.Hash)
	defer m.hashes.Put(h)
	h.Reset()
	h.Write([]byte(purpose + "\x00"))
	h.Write(content)
	return h.Sum(nil)
}

// SetAddress stores the URL of the running service, or none, and optionally a second URL that works
// only on this machine.
func (s *Store) SetAddress(urls ...string) error {
	return s.exec(`UPDATE service SET address = ?`, strings.Join(urls, " "))
}

// Address returns the URL of the running service. It is empty after a clean stop, but remains after
// a crash.
func (s *Store) Address() (url string, err error) {
	url, _, err = s.Addresses()
	return url, err
}

// Addresses returns the URL of the running service and the URL for this machine, which is often the
// same.
func (s *Store) Addresses() (url, local string, err error) {
	err = s.db.Read(func(c *sqlite.Conn) error { url, local, err = ReadAddresses(c); return err })
	return url, local, err
}

// ReadAddresses is Addresses for a database that another process may be serving.
func ReadAddresses(c *sqlite.Conn) (url, local string, err error) {
	err = c.QueryRow(`SELECT address FROM service`, nil, func(row sqlite.Row) { url, local, _ = strings.Cut(row.Text(0), " ") })
	return url, cmp.Or(local, url), err
}

// SaveClock stores the latest time seen. Every commit does the same.
func (s *Store) SaveClock() error {
	return s.exec(`UPDATE service SET only_row = 1`) // only a transaction that writes is committed
}

const latestTimeSQL = `SELECT latest_time FROM service`

// ResetClock sets the latest time seen to the time of the system clock. Use it when the system
// clock was once far ahead.
func (s *Store) ResetClock() error {
	return s.db.Write(func(t *sqlite.Tx) error {
		t.Now = s.Clock().Earlier().UnixMilli() // beforeCommit must not store the old time again
		_, err := t.Exec(`UPDATE service SET latest_time = ?`, t.Now)
		t.OnCommit(func() {
			s.Clock().Set(t.Now)
			s.clockSaved.Store(t.Now)
		})
		return err
	})
}

// ClockSaved returns the latest time in the database, in milliseconds.
func (s *Store) ClockSaved() int64 { return s.clockSaved.Load() }

// beforeCommit advances the mark. After the commit, the clients that wait for changes in its
// departments wake.
func (s *Store) beforeCommit(t *sqlite.Tx) error {
	if len(t.Noted) > 0 {
		t.OnCommit(func() { s.waiting.wake(t.Noted) })
	}
	return s.advanceMark(t)
}
