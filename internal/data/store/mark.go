package store

import (
	"cmp"
	"math/rand/v2"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// Mark identifies a state of the database. Each commit of the program replaces it. A mark that does
// not follow the last known one shows that the database was set back to an earlier state.
type Mark struct {
	History int64 `json:"history"` // renewed by a restore
	Epoch   int64 `json:"epoch"`   // random; new each time the service starts
	Commits int64 `json:"commits"` // number of commits by the program; never reset
	Nonce   int64 `json:"nonce"`   // random; new with each commit
}

// Follows reports whether any number of commits can lead from the earlier mark to this one.
func (m Mark) Follows(earlier Mark) bool {
	return m.History == earlier.History && (m.Commits > earlier.Commits || m == earlier)
}

const readMarkSQL = `SELECT history, epoch, commits, nonce, latest_time FROM service`

// ReadMark reads the mark of a database.
func ReadMark(c *sqlite.Conn) (m Mark, err error) {
	err = c.QueryRow(readMarkSQL, nil, func(row sqlite.Row) { m, _ = scanMark(row) })
	return m, err
}

func scanMark(row sqlite.Row) (m Mark, latestTime int64) {
	return Mark{row.Int(0), row.Int(1), row.Int(2), row.Int(3)}, row.Int(4)
}

// sampleSQL reads the newest rows of keys and tenants and random rows of firefighters and changes.
// A query for min and max together would read the whole table.
const sampleSQL = `
	WITH f AS (SELECT (SELECT min(row) FROM firefighters) AS first, (SELECT max(row) FROM firefighters) AS last),
	     c AS (SELECT (SELECT min(id) FROM changes) AS first, (SELECT max(id) FROM changes) AS last)
	SELECT (SELECT max(id) FROM keys), (SELECT max(id) FROM tenants),
	       (SELECT id FROM firefighters WHERE row BETWEEN f.first + abs(random() % (f.last - f.first + 1)) AND f.last LIMIT 1),
	       (SELECT record_id FROM changes WHERE id BETWEEN c.first + abs(random() % (c.last - c.first + 1)) AND c.last LIMIT 1)
	  FROM f, c`

// ReadSample reads a sample of rows. It returns an error if their pages are damaged or missing.
func ReadSample(c *sqlite.Conn) error { return c.Query(sampleSQL, nil, func(sqlite.Row) {}) }

// Mark returns the mark of the last commit by this Store. If another process has committed since
// then, Mark may return an earlier mark.
func (s *Store) Mark() Mark { return *s.mark.Load() }

// BeginEpoch starts the epoch of a service with its first commit. From then on, an epoch of another
// process means that the database is lost, because only one service may run on it.
func (s *Store) BeginEpoch() { s.epoch = rand.Int64() }

// CheckMark reads the mark on a connection. It returns sqlite.ErrLost if the database was set back
// to an earlier state. If another process has reset the clock, it adopts the new latest time.
func (s *Store) CheckMark(c *sqlite.Conn) error {
	if s.db.IsLost() {
		return sqlite.ErrLost
	}
	_, err := s.followMark(c, s.Mark())
	return err
}

// followMark returns the mark in the database, which another process may have replaced. It returns
// sqlite.ErrLost if the mark does not follow the known one.
func (s *Store) followMark(c *sqlite.Conn, known Mark) (found Mark, err error) {
	saved, latest := s.clockSaved.Load(), int64(0) // read before the query, so a commit in between does not look like a reset
	err = c.QueryRow(readMarkSQL, nil, func(row sqlite.Row) { found, latest = scanMark(row) })
	if err != nil {
		return found, noRow(err, sqlite.ErrLost)
	}
	if !found.Follows(known) || s.epoch != 0 && found.Epoch != known.Epoch {
		return found, sqlite.ErrLost
	}
	if latest < saved && s.clockSaved.CompareAndSwap(saved, latest) {
		s.Clock().Set(latest)
	}
	return found, nil
}

const advanceSQL = `
	UPDATE service SET epoch = ?, commits = ?, nonce = ?, latest_time = max(latest_time, ?)
	 WHERE history = ? AND epoch = ? AND commits = ? AND nonce = ?`

// advanceMark replaces the mark and stores the time in a transaction that is about to commit. It
// returns sqlite.ErrLost if the mark in the database does not follow the known one. After a failed
// commit, the database may contain either of the two marks.
func (s *Store) advanceMark(t *sqlite.Tx) error {
	known := s.Mark()
	for {
		next := Mark{known.History, cmp.Or(s.epoch, known.Epoch), known.Commits + 1, rand.Int64()}
		changed, err := t.Exec(advanceSQL, next.Epoch, next.Commits, next.Nonce, t.Now, known.History, known.Epoch, known.Commits, known.Nonce)
		if err != nil {
			return err
		}
		if changed == 1 {
			t.OnCommit(func() {
				s.mark.Store(&next)
				s.clockSaved.Store(t.Now)
			})
			return nil
		}
		saved := s.clockSaved.Load()
		if known, err = s.followMark(t.Conn, known); err != nil {
			return err
		}
		if s.clockSaved.Load() < saved { // another process has reset the clock
			t.Now = s.Clock().Now().UnixMilli()
		}
	}
}
