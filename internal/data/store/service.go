package store

import "github.com/firefighter-records/firefighters/internal/data/sqlite"

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
	err = s.queryRow(`SELECT address FROM service`, nil, func(row sqlite.Row) { url = row.Text(0) })
	return url, err
}
