// Package store keeps the records of departments, their history, and the keys and
// sessions that open them in one SQLite database. schema.sql, in the root, describes
// the tables. Their SQL is here, and beside it only that of package integrity, which
// checks and repairs them.
//
// A write of one record is told in records.go, from the rules to the entry of the
// history; sqlite.DB.Write puts it on disk. deleted.go brings records back or erases
// them. list.go has lists, searches and exports, cursor.go from where a list goes on, history.go
// and feed.go what has changed, for people and for programs, waiting.go who waits for that, and
// book.go what a copy of the address book lacks. imports.go has imports, replays.go requests
// that are sent again, keys.go, sessions.go and phones.go who may come in, and tenants.go
// departments. content.go has what backups and the guard ask.
package store

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/base64"
	"strings"
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

	clockSaved atomic.Int64 // the latest time that the database has, in milliseconds
	mark       atomic.Pointer[Mark]
	epoch      int64  // of the service; 0 in any other command
	secret     []byte // the key of Tag and of positions
}

// Open opens the database at path, which must be whole and of the newest
// schema. now is the system's clock.
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

// readService reads the state of the service.
func (s *Store) readService(c *sqlite.Conn) error {
	return c.QueryRow(`SELECT history, epoch, commits, nonce, latest_time, secret FROM service`, nil, func(row sqlite.Row) {
		mark, latest := scanMark(row)
		s.mark.Store(&mark)
		s.secret = row.Bytes(5)
		s.db.Clock.Set(latest)
		s.clockSaved.Store(latest)
	})
}

// RenewHistory gives a database that was set back to an earlier state another history and
// secret, as a restore does. Call it before the first request.
func (s *Store) RenewHistory() error {
	err := s.db.Write(func(t *sqlite.Tx) error {
		if err := Renew(t.Conn); err != nil {
			return err
		}
		return s.readService(t.Conn) // so that the commit advances the new mark
	})
	if readErr := s.db.Read(s.readService); err == nil {
		err = readErr
	}
	return err
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

// RetryWriting tries to write the time if the last transaction could not be written, so
// that the WritingFault of the database is up to date. The error is that of this try.
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

// Tag returns the entity tag of a representation of a record. It differs for each content.
// Only the secret of the database leads back from a tag to the content, so that no one can
// find a date of birth by trying all days.
func (s *Store) Tag(content []byte) string {
	return `"` + base64.RawURLEncoding.EncodeToString(mac(s.secret, "tag", content)[:12]) + `"`
}

// secretSize is the size of the secret, in bytes.
const secretSize = 32

// mac returns a message authentication code. The purpose, which has no NUL, keeps the codes
// of one use from being valid for another.
func mac(secret []byte, purpose string, content ...[]byte) []byte {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(purpose + "\x00"))
	for _, part := range content {
		m.Write(part)
	}
	return m.Sum(nil)
}

// SetAddress notes the URL at which the service listens, empty for none, and behind it
// that for this machine alone if there is another one.
func (s *Store) SetAddress(urls ...string) error {
	return s.db.Write(func(t *sqlite.Tx) error {
		_, err := t.Exec(`UPDATE service SET address = ?`, strings.Join(urls, " "))
		return err
	})
}

// Address returns the URL at which the service listens. It is empty after a clean
// stop. A service that was killed has left its last one.
func (s *Store) Address() (url string, err error) {
	url, _, err = s.Addresses()
	return url, err
}

// Addresses returns the URL of Address and that for this machine, which is mostly the same.
func (s *Store) Addresses() (url, local string, err error) {
	err = s.db.Read(func(c *sqlite.Conn) error { url, local, err = ReadAddresses(c); return err })
	return url, local, err
}

// ReadAddresses is Addresses for a database that another process may serve.
func ReadAddresses(c *sqlite.Conn) (url, local string, err error) {
	err = c.QueryRow(`SELECT address FROM service`, nil, func(row sqlite.Row) { url, local, _ = strings.Cut(row.Text(0), " ") })
	return url, cmp.Or(local, url), err
}

// SaveClock writes the latest time seen, as every commit does.
func (s *Store) SaveClock() error {
	return s.db.Write(func(t *sqlite.Tx) error {
		_, err := t.Exec(`UPDATE service SET only_row = 1`) // a commit needs a statement that writes
		return err
	})
}

const latestTimeSQL = `SELECT latest_time FROM service`

// ResetClock replaces the latest time seen by the time of the system's clock.
// It is for a latest time from when that clock was far ahead.
func (s *Store) ResetClock() error {
	return s.db.Write(func(t *sqlite.Tx) error {
		t.Now = s.Clock().Earlier().UnixMilli() // beforeCommit must not save the old one
		_, err := t.Exec(`UPDATE service SET latest_time = ?`, t.Now)
		t.OnCommit(func() {
			s.Clock().Set(t.Now)
			s.clockSaved.Store(t.Now)
		})
		return err
	})
}

// ClockSaved returns the latest time that the database has, in milliseconds.
func (s *Store) ClockSaved() int64 { return s.clockSaved.Load() }

// beforeCommit advances the mark, and has the commit wake the clients that wait for changes
// of the departments in it.
func (s *Store) beforeCommit(t *sqlite.Tx) error {
	if len(t.Noted) > 0 {
		t.OnCommit(func() { s.waiting.wake(t.Noted) })
	}
	return s.advanceMark(t)
}
