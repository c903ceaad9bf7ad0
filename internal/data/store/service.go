package store

import (
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// HistoryID returns the number of the history that the versions of departments
// count. A restored database has another one, and may count the same versions
// again.
func (s *Store) HistoryID() (int64, error) { return s.queryInt(`SELECT history FROM service`) }

// SetAddress notes the URL at which the service listens, empty for none.
func (s *Store) SetAddress(url string) error {
	return s.db.Write(func(t *sqlite.Tx) error {
		_, err := t.Exec(`UPDATE service SET address = ?`, url)
		return err
	})
}

// Address returns the URL at which the service listens. It is empty after a clean
// stop. A service that was killed has left its last one.
func (s *Store) Address() (url string, err error) {
	err = s.db.Read(func(c *sqlite.Conn) error { url, err = ReadAddress(c); return err })
	return url, err
}

// ReadAddress is Address for a database that another process may serve.
func ReadAddress(c *sqlite.Conn) (url string, err error) {
	err = c.QueryRow(`SELECT address FROM service`, nil, func(row sqlite.Row) { url = row.Text(0) })
	return url, err
}

// clockLag is how far the time in the database may be behind while it is
// written to.
const clockLag = time.Second

// SaveClock writes the latest time seen.
func (s *Store) SaveClock() error { return s.db.Write(s.saveClock) }

const latestTimeSQL = `SELECT latest_time FROM service`

// saveClock must not write a time again that another process has taken back.
func (s *Store) saveClock(t *sqlite.Tx) error {
	latest, err := t.QueryInt(latestTimeSQL)
	if err != nil {
		return err
	}
	takenBack := latest < s.clockSaved.Load()
	if takenBack {
		t.Now = max(latest, s.Clock().Earlier().UnixMilli())
	}
	_, err = t.Exec(`UPDATE service SET latest_time = max(latest_time, ?)`, t.Now)
	t.OnCommit(func() {
		if takenBack {
			s.Clock().Set(t.Now)
		}
		s.clockSaved.Store(t.Now)
	})
	return err
}

// FollowClock takes the latest time seen back if another process has done so in
// the database by ResetClock. Nothing else makes it earlier there.
func (s *Store) FollowClock() error {
	saved := s.clockSaved.Load() // before the query: a commit meanwhile must not look like a reset
	latest, err := s.queryInt(latestTimeSQL)
	if err == nil && latest < saved && s.clockSaved.CompareAndSwap(saved, latest) {
		s.Clock().Set(latest)
	}
	return err
}

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

// beforeCommit saves the time with every commit that finds it out of date.
func (s *Store) beforeCommit(t *sqlite.Tx) error {
	if t.Now-s.clockSaved.Load() < clockLag.Milliseconds() {
		return nil
	}
	return s.saveClock(t)
}
