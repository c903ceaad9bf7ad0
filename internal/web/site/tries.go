package site

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// tries limits the wrong tries to sign in of each source. There is no limit for all
// together: nobody guesses a key or a code, and nobody may keep others out.
type tries struct {
	now     func() time.Time
	sources httpapi.Sources[triesOfSource]
}

// triesOfSource has one try at a time, so that many at once are no way around the limit,
// and right ones never count.
type triesOfSource struct {
	mu    sync.Mutex
	wrong httpapi.WrongSecrets
}

// try calls open with a secret, unless its source has to wait, or has tried the same
// one within the minute: that is still wrong, and costs nothing. The error is that
// of open, where store.ErrNotFound is for a wrong secret.
func (t *tries) try(r *http.Request, secret string, open func(secret string) error) (wait time.Duration, err error) {
	from := t.sources.Of(r, func() *triesOfSource { return new(triesOfSource) })
	from.mu.Lock()
	defer from.mu.Unlock()
	if wait := from.wrong.Wait(t.now()); wait > 0 {
		return wait, nil
	}
	if from.wrong.Has(secret, t.now()) {
		return 0, store.ErrNotFound
	}
	err = open(secret)
	if errors.Is(err, store.ErrNotFound) {
		from.wrong.Add(secret, t.now())
	}
	return 0, err
}
