package store

import (
	"bytes"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// A create or an import that is repeated with the same Idempotency-Key
// (draft-ietf-httpapi-idempotency-key-header) changes nothing. It receives the replay: the stored
// response to the first request.

// replayLifetime is how long a replay is stored.
const replayLifetime = 24 * time.Hour

// IdempotencyKey identifies a create or an import that may be repeated.
type IdempotencyKey struct {
	By   KeyID
	Key  string
	Hash []byte // SHA-256 of the request content
}

const replaySQL = `
	SELECT request_hash, record_id, answer FROM replays
	 WHERE key_id = ? AND idempotency_key = ? AND tenant_id = ? AND created_at > ?`

// Replay returns the response to an earlier request with this key, and the id of its record or
// import. body is nil if there was no request. Replay returns ErrReused if that request had another
// hash.
func (s *Store) Replay(tenant record.TenantID, key *IdempotencyKey) (id string, body []byte, err error) {
	now := s.Clock().Now().UnixMilli()
	err = s.db.Read(func(c *sqlite.Conn) error {
		id, body, err = replay(c, tenant, key, now)
		return err
	})
	return id, body, err
}

func replay(c *sqlite.Conn, tenant record.TenantID, key *IdempotencyKey, now int64) (id string, body []byte, err error) {
	var hash []byte
	err = c.QueryRow(replaySQL, sqlite.Args{int64(key.By), key.Key, int64(tenant), now - replayLifetime.Milliseconds()}, func(row sqlite.Row) {
		hash, id, body = row.Bytes(0), row.Text(1), []byte(row.Text(2))
	})
	if err == nil && !bytes.Equal(hash, key.Hash) {
		return "", nil, ErrReused
	}
	return id, body, noRow(err, nil)
}

// refuseRepeated returns a *RepeatedError for a repeated request, or ErrReused if the earlier
// request was different. It returns nil for a nil key.
func refuseRepeated(c *sqlite.Conn, now int64, tenant record.TenantID, key *IdempotencyKey) error {
	if key == nil {
		return nil
	}
	id, body, err := replay(c, tenant, key, now)
	if body != nil {
		err = &RepeatedError{id}
	}
	return err
}

// addReplay stores the response to a request, with the id of the new record or import.
func addReplay(t *sqlite.Tx, tenant record.TenantID, key *IdempotencyKey, id, body string) error {
	_, err := t.Exec(`
		INSERT OR REPLACE INTO replays (key_id, idempotency_key, tenant_id, created_at, request_hash, record_id, answer)
		VALUES (?, ?, ?, ?, ?, ?, ?)`,
		int64(key.By), key.Key, int64(tenant), t.Now, key.Hash, id, body)
	return err
}

// EraseOldReplays deletes replays that are older than their lifetime.
func (s *Store) EraseOldReplays() error {
	until := s.Clock().Now().Add(-replayLifetime).UnixMilli()
	found, err := s.queryBool(`SELECT EXISTS (SELECT 1 FROM replays WHERE created_at <= ?)`, until)
	if err != nil || !found {
		return err
	}
	return s.exec(`DELETE FROM replays WHERE created_at <= ?`, until)
}
