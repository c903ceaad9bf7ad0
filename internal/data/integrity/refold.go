package integrity

import (
	"context"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// foldingSQL reads the version of package fold that computed the keys of all records.
const foldingSQL = `SELECT folding FROM service`

// Refold computes the keys of all intact records again if another version of package fold has
// computed them. It does so in one transaction, so an interrupted Refold changes nothing.
func Refold(ctx context.Context, db *sqlite.DB) error {
	folding := int64(0)
	err := db.Read(func(c *sqlite.Conn) (err error) { folding, err = c.QueryInt(foldingSQL); return err })
	if err != nil || folding == fold.Version {
		return err
	}
	return db.WriteLong(func(t *sqlite.Tx) error {
		read := func(do func(*sqlite.Conn) error) error { return do(t.Conn) }
		err := walk(ctx, read, checkedAtOnce, func(batch []stored) error {
			for _, r := range batch {
				if !r.stale || r.Damaged {
					continue
				}
				if _, err := t.Exec(updateKeysSQL, append(r.Keys(), r.Row)...); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			_, err = t.Exec(`UPDATE service SET folding = ?`, int64(fold.Version))
		}
		return err
	})
}
