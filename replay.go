package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"firefighters/internal/record"
)

// A create that is sent again, because the answer to the first was lost, is
// answered as the first was and makes no second record, if it brings the same
// Idempotency-Key (draft-ietf-httpapi-idempotency-key-header).

const (
	// replayed is how long an answer is kept.
	replayed = 24 * time.Hour
	// maxIdempotencyKey is its longest, in characters.
	maxIdempotencyKey = 255
	// clearedAtOnce is how many old answers are erased in one transaction.
	clearedAtOnce = 500
	// clearInterval is how often old answers are looked for.
	clearInterval = 10 * time.Second
)

// attempt is a create that may be sent again. The zero value may not.
type attempt struct {
	by   keyID
	key  string // the Idempotency-Key
	hash []byte // SHA-256 of the body
}

// errReused is for an Idempotency-Key that came with another body before.
var errReused = &problem{Status: http.StatusUnprocessableEntity,
	Detail: "This Idempotency-Key was used with another body before."}

var errInFlight = &problem{Status: http.StatusConflict,
	Detail: "A request with this Idempotency-Key is being answered.", header: retryLater}

// attemptOf reads the Idempotency-Key of a request, a string in quotes as the
// draft has it or, as many clients send it, without.
func attemptOf(r *http.Request, by keyID, body []byte) (a attempt, err error) {
	given := r.Header["Idempotency-Key"]
	if len(given) == 0 {
		return attempt{}, nil
	}
	key, ok := parseIdempotencyKey(strings.Trim(given[0], " \t"))
	if len(given) > 1 || !ok || key == "" || len(key) > maxIdempotencyKey {
		return attempt{}, record.FieldErrors{{Field: "Idempotency-Key", Code: record.Invalid,
			Detail: "Idempotency-Key must be one text of 1 to 255 visible ASCII characters."}}
	}
	hash := sha256.Sum256(body)
	return attempt{by, key, hash[:]}, nil
}

// parseIdempotencyKey reads a string as RFC 9651 has it, or visible characters.
func parseIdempotencyKey(text string) (key string, ok bool) {
	inner, quoted := strings.CutPrefix(text, `"`)
	if !quoted {
		return text, !strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' })
	}
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case c == '"':
			return key, i == len(inner)-1
		case c == '\\' && i+1 < len(inner) && strings.IndexByte(`"\`, inner[i+1]) >= 0:
			i++
			key += inner[i : i+1]
		case c < ' ' || c > '~' || c == '\\':
			return "", false
		default:
			key += inner[i : i+1]
		}
	}
	return "", false
}

// attempts are those in flight.
type attempts struct {
	mu       sync.Mutex
	inFlight map[attemptKey]bool
}

// attemptKey is what no two attempts at a time may share.
type attemptKey struct {
	by  keyID
	key string
}

// begin lets one attempt with a key through at a time, until end.
func (as *attempts) begin(a attempt) (end func(), ok bool) {
	name := attemptKey{a.by, a.key}
	as.mu.Lock()
	defer as.mu.Unlock()
	if as.inFlight[name] {
		return nil, false
	}
	if as.inFlight == nil {
		as.inFlight = map[attemptKey]bool{}
	}
	as.inFlight[name] = true
	return func() {
		as.mu.Lock()
		defer as.mu.Unlock()
		delete(as.inFlight, name)
	}, true
}

const replaySQL = `
	SELECT request_hash, record_id, answer, checksum FROM replays
	 WHERE key_id = ? AND idempotency_key = ? AND tenant_id = ? AND created_at > ?`

// replay gives the answer that the attempt had before, nil if there is none,
// and the record that it made; or errReused.
func (s *store) replay(tenant tenantID, a attempt) (id string, answer []byte, err error) {
	since := s.clock.now().Add(-replayed).UnixMilli()
	err = s.read(func(c *conn) error {
		same, whole := true, true
		err := c.queryRow(replaySQL, values{int64(a.by), a.key, int64(tenant), since}, func(row values) {
			hash, _ := row[0].([]byte)
			same, id, answer = bytes.Equal(hash, a.hash), text(row[1]), []byte(text(row[2]))
			whole = number(row[3]) == checksum(tenant, id+"\n"+text(row[2]))
		})
		switch {
		case err == nil && !same:
			return errReused
		case err == nil && !whole:
			return damagedRecord{id}
		}
		return err
	})
	switch {
	case errors.Is(err, errNotFound):
		return "", nil, nil
	case err != nil:
		return "", nil, err
	}
	return id, answer, nil
}

const keepAnswerSQL = `
	INSERT OR REPLACE INTO replays (key_id, idempotency_key, tenant_id, created_at, request_hash, record_id, answer, checksum)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?)`

// keepAnswer keeps what a create is about to answer.
func (t *transaction) keepAnswer(tenant tenantID, a attempt, f record.Firefighter) error {
	answer := string(f.AppendJSON(nil))
	_, err := t.exec(keepAnswerSQL, int64(a.by), a.key, int64(tenant), t.now, a.hash, f.ID, answer, checksum(tenant, f.ID+"\n"+answer))
	return err
}

// clearAnswers erases answers that are too old, some at a time so that nobody
// waits long, until ctx ends.
func (s *store) clearAnswers(ctx context.Context) error {
	for erased := int64(clearedAtOnce); erased == clearedAtOnce && ctx.Err() == nil; {
		until := s.clock.now().Add(-replayed).UnixMilli()
		old := false
		err := s.read(func(c *conn) error {
			n, err := c.queryNumber(`SELECT EXISTS (SELECT 1 FROM replays WHERE created_at <= ?)`, until)
			old = n == 1
			return err
		})
		if err != nil || !old {
			return err
		}
		err = s.write(func(t *transaction) (err error) {
			erased, err = t.exec(`DELETE FROM replays WHERE rowid IN
				(SELECT rowid FROM replays WHERE created_at <= ? LIMIT ?)`, until, int64(clearedAtOnce))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
