package dav

import (
	"errors"
	"net/http"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// tokenPrefix begins a sync-token, which must be a URI.
const tokenPrefix = "data:,"

// maxChanges is how many changed people one answer has. The first sync has all, because
// some clients do not go on after a part.
const maxChanges = 1000

// syncCollection answers with what a copy of the book lacks (RFC 6578).
func (s *Server) syncCollection(t *target, root *element, q question) (func(*multistatus) error, error) {
	had, err := readToken(root)
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
	if had == "" && limit == 0 {
		return func(m *multistatus) error { return s.firstSync(m, t, q.of(cardKind)) }, nil
	}
	if had != "" && (limit == 0 || limit > maxChanges) {
		limit = maxChanges
	}
	return func(m *multistatus) error {
		lacks, err := s.store.Sync(t.caller.tenant, had, limit)
		if errors.Is(err, store.ErrPosition) {
			return errToken
		}
		if err != nil {
			return err
		}
		s.writeSync(m, t, lacks, q)
		return nil
	}, nil
}

// firstSync answers with everybody. The token is of before that: who changes meanwhile comes
// again in the next sync.
func (s *Server) firstSync(m *multistatus, t *target, q question) error {
	token, err := s.store.SyncToken(t.caller.tenant)
	if err != nil {
		return err
	}
	err = s.everybody(t, func(card *target) { m.resource(card, q) })
	m.token(token)
	return err
}

// errToken is for a token that this history of the department has not given, as one of
// before a restore. The client starts over.
var errToken = forbid("D:valid-sync-token")

// noToken is what Thunderbird gets in place of errToken, after which it would never sync
// again: it neither starts over nor forgets the token. Without a token it compares all
// entity tags, at its next look and from then on.
const noToken = "<D:sync-token/>\n"

// readToken returns the token of a copy as the store knows it, "" for a first sync.
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

func (s *Server) writeSync(m *multistatus, t *target, lacks store.Sync, q question) {
	q = q.of(cardKind)
	for _, member := range lacks.Members {
		if member.Record == nil {
			m.status(cardPath(member.ID), http.StatusNotFound, "")
		} else {
			m.resource(t.of(member.Record), q)
		}
	}
	if lacks.More {
		m.truncated()
	}
	m.token(lacks.Token)
}

// token writes the token of a copy that has what the answer gives.
func (m *multistatus) token(token string) {
	m.raw("<D:sync-token>" + tokenPrefix + token + "</D:sync-token>\n")
}
