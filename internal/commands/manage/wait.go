package manage

import (
	"errors"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// revokeWithin is how long keys revoke tries. A leaked key must not stay valid
// because somebody else is writing.
var revokeWithin = time.Minute

const (
	betweenTries = 100 * time.Millisecond
	silentWait   = 2 * time.Second // before it is said that there is a wait
)

// untilUnlocked calls do again while another program has locked the database,
// until the time is over or the command must stop. It returns the last error.
func untilUnlocked(env cli.Env, do func() error) error {
	said := false
	for began := time.Now(); ; {
		err := do()
		waited := time.Since(began)
		if !errors.Is(err, store.ErrBusy) || waited >= revokeWithin || env.Context.Err() != nil {
			return err
		}
		if !said && waited > silentWait {
			env.Notef("Another program has locked the database. Trying for up to a minute.")
			said = true
		}
		select {
		case <-env.Context.Done():
		case <-time.After(betweenTries):
		}
	}
}
