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
	// mostWrong is how many wrong secrets of a source count in a minute.
	mostWrong   = 10
	wrongWindow = time.Minute
)

// Tries limits the wrong secrets that each source tries. There is no limit for all
// together: nobody guesses a key or a code, and nobody may keep others out.
type Tries struct {
	wrong   error
	now     func() time.Time
	sources Sources[triesOfSource]
}

// triesOfSource has one try at a time, so that many at once are no way around the limit,
// and right ones never count.
type triesOfSource struct {
	mu    sync.Mutex
	wrong []wrongSecret // within the last minute
}

// wrongSecret counts once, because a program may repeat it for ever.
type wrongSecret struct {
	hash [sha256.Size]byte
	at   time.Time
}

// NewTries returns a limit by the clock now. wrong is the error that says that a secret is
// wrong.
func NewTries(wrong error, now func() time.Time) *Tries { return &Tries{wrong: wrong, now: now} }

// Try calls open with a secret, unless its source has to wait, or has tried the same
// one within the minute: that is still wrong, and costs nothing. The error is that
// of open.
func (t *Tries) Try(r *http.Request, secret string, open func(secret string) error) (wait time.Duration, err error) {
	from := t.sources.Of(r, func() *triesOfSource { return new(triesOfSource) })
	from.mu.Lock()
	defer from.mu.Unlock()
	now := t.now()
	from.wrong = slices.DeleteFunc(from.wrong, func(one wrongSecret) bool { return now.Sub(one.at) >= wrongWindow })
	if len(from.wrong) >= mostWrong {
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

// SetRetryAfter says in h how long a client has to wait, and returns the seconds.
func SetRetryAfter(h http.Header, wait time.Duration) (seconds int) {
	seconds = int(wait/time.Second) + 1
	h.Set("Retry-After", strconv.Itoa(seconds))
	return seconds
}
