package httpapi

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	// maxWrong is how many wrong secrets a source may try in wrongWindow.
	maxWrong    = 10
	wrongWindow = time.Minute
)

// Tries limits how many wrong secrets each source may try. There is no limit across sources: secrets
// are too long to guess, and such a limit would let one client lock out all others.
type Tries struct {
	wrong   error
	now     func() time.Time
	sources Sources[triesOfSource]
}

// triesOfSource allows one try at a time. Otherwise parallel tries could bypass the limit.
type triesOfSource struct {
	mu    sync.Mutex
	wrong []wrongSecret // within wrongWindow
}

// wrongSecret is a wrong secret. It counts once, because a program may repeat it indefinitely.
type wrongSecret struct {
	hash [sha256.Size]byte
	at   time.Time
}

// NewTries returns a limit by the clock now. wrong is the error of open for a wrong secret.
func NewTries(wrong error, now func() time.Time) *Tries { return &Tries{wrong: wrong, now: now} }

// Try calls open with a secret and returns its error. If the source of the request has tried too many
// wrong secrets, it returns how long the source must wait instead. It returns the error for a wrong
// secret without calling open if the source tried the same secret within the last minute.
func (t *Tries) Try(r *http.Request, secret string, open func(secret string) error) (wait time.Duration, err error) {
	from := t.sources.Of(r, func() *triesOfSource { return new(triesOfSource) })
	from.mu.Lock()
	defer from.mu.Unlock()
	now := t.now()
	from.wrong = slices.DeleteFunc(from.wrong, func(one wrongSecret) bool { return now.Sub(one.at) >= wrongWindow })
	if len(from.wrong) >= maxWrong {
		return wrongWindow - now.Sub(from.wrong[0].at), nil
	}
	hash := sha256.Sum256([]byte(secret))
	if slices.ContainsFunc(from.wrong, func(one wrongSecret) bool { return one.hash == hash }) {
		return 0, t.wrong
	}
	err = open(secret)
	if errors.Is(err, t.wrong) {
		from.wrong = append(from.wrong, wrongSecret{hash, t.now()})
	}
	return 0, err
}

// SetRetryAfter sets the Retry-After header for a wait, and returns its seconds.
func SetRetryAfter(h http.Header, wait time.Duration) (seconds int) {
	seconds = int(wait/time.Second) + 1
	h.Set("Retry-After", strconv.Itoa(seconds))
	return seconds
}
