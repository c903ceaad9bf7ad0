package dav

import (
	"errors"
	"net/http"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// tokenPrefix makes a sync-token a URI, as the RFC requires.
const tokenPrefix = "data:,"

// maxChanges limits a response, except for the first sync: some clients do not request the rest of it.
const maxChanges = 1000

// syncCollection answers with the changes since the client's last sync (RFC 6578).
func (s *Server) syncCollection(t *target, root *element, q question) (func(*multistatus) error, error) {
	since, err := readToken(root)
	if err != nil {
		return nil, err
	}
	if level := root.child(davName("sync-level")); level != nil && level.trimmed() != "1" && level.trimmed() != "infinite" {
		return nil, malformed("sync-level must be 1 or infinite.")
	}
	limit, err := readLimit(root, davSpace)
	if err != nil {
		return nil, err
	}
	q = q.of(cardKind)
	if since == "" && limit == 0 {
		return func(m *multistatus) error { return s.firstSync(m, t, q) }, nil
	}
	if since != "" && (limit == 0 || limit > maxChanges) {
		limit = maxChanges
	}
	return func(m *multistatus) error {
		changes, err := s.store.Sync(t.caller.tenant, since, limit)
		if errors.Is(err, store.ErrPosition) {
			return errToken
		}
		if err != nil {
			return err
		}
		for _, member := range changes.Members {
			if member.Record == nil {
				m.status(cardPath(member.ID), http.StatusNotFound, "")
			} else {
				m.resource(t.of(member.Record), q)
			}
		}
		if changes.More {
			m.truncated()
		}
		m.token(changes.Token)
		return nil
	}, nil
}

// firstSync writes all people. It reads the token first: the next sync has changes made meanwhile.
func (s *Server) firstSync(m *multistatus, t *target, q question) error {
	token, err := s.store.SyncToken(t.caller.tenant)
	if err != nil {
		return err
	}
	err = s.eachCard(t, func(card *target) { m.resource(card, q) })
	m.token(token)
	return err
}

// errToken is for an unknown sync token, as after a restore. The client then syncs everything again.
var errToken = forbid("D:valid-sync-token")

// noToken is the response for Thunderbird instead of errToken, after which Thunderbird would never sync
// again. With an empty token, it compares all entity tags from the next sync on.
const noToken = "<D:sync-token/>\n"

// readToken returns the sync token in the form that the store expects; "" for a first sync.
func readToken(root *element) (string, error) {
	e := root.child(davName("sync-token"))
	if e == nil || e.trimmed() == "" {
		return "", nil
	}
	token, ours := strings.CutPrefix(e.trimmed(), tokenPrefix)
	if !ours || token == "" {
		return "", errToken
	}
	return token, nil
}

func (m *multistatus) token(token string) {
	m.raw("<D:sync-token>" + tokenPrefix + token + "</D:sync-token>\n")
}
