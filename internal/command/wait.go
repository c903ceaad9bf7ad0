package command

import (
	"errors"
	"time"

	"firefighters/internal/cli"
	"firefighters/internal/store"
)

// revokeWithin is how long keys revoke tries. A leaked key must not stay valid
// because somebody else is writing.
var revokeWithin = time.Minute

const (
	betweenTries = 100 * time.Millisecond
	silentWait   = 2 * time.Second // before it is said that there is a wait
)

// waiting tries again what another program has locked.
type waiting struct {
	env   cli.Env
	began time.Time
	said  bool
}

// try calls do until the error is another one than ErrBusy, the time is over or
// the command must stop.
func (w *waiting) try(do func() error) error {
	for {
		err := do()
		waited := time.Since(w.began)
		if !errors.Is(err, store.ErrBusy) || waited >= revokeWithin || w.env.Context.Err() != nil {
			return err
		}
		if !w.said && waited > silentWait {
			w.env.Notef("Another program has locked the database. Trying for up to a minute.")
			w.said = true
		}
		select {
		case <-w.env.Context.Done():
		case <-time.After(betweenTries):
		}
	}
}

// waits returns p with an OpenStore that tries as w does.
func (p Program) waits(w *waiting) Program {
	open := p.OpenStore
	p.OpenStore = func(env cli.Env, path string, create bool) (s *store.Store, err error) {
		err = w.try(func() error {
			s, err = open(env, path, create)
			return err
		})
		return s, err
	}
	return p
}
