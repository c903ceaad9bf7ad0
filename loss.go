package main

import (
	"fmt"

	"firefighters/internal/cli"
	"firefighters/internal/osutil"
	"firefighters/internal/store"
)

// close closes the database. If its files have gone it says what there is
// instead, and what to type.
func (d *daemon) close(s *store.Store) error {
	loss := d.guard.End()
	if loss == nil {
		return s.Close()
	}
	db := cli.Quote(osutil.Resolve(d.db))
	if loss.Closable() {
		if err := s.Close(); err != nil {
			return err
		}
		d.env.Notef("Note: %v. It was still open, and everything is in %s again.", loss, db)
		if loss.Saved != "" {
			d.env.Notef("The copy that was made for safety can be deleted: %s", cli.Quote(loss.Saved))
		}
		return nil
	}
	if loss.Saved == "" {
		return cli.WithHint(fmt.Errorf("%w, and could not be saved: %s", loss, db),
			"put back what was moved, or see what is left: firefighters check --db "+db)
	}
	return cli.WithHint(fmt.Errorf("%w: %s. What was in it is saved as %s", loss, db, cli.Quote(loss.Saved)),
		fmt.Sprintf("firefighters restore %s --db %s", cli.Quote(loss.Saved), db))
}
