package dav

import (
	"bufio"
	"net/http"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// propfind answers with the properties of a resource and, for depth 1, of its children.
func (s *Server) propfind(w http.ResponseWriter, r *http.Request, t *target) error {
	depth, err := depthOf(r, t.kind)
	if err != nil {
		return err
	}
	body, err := receive(w, r, t, maxBody)
	if err != nil {
		return err
	}
	root, err := readBody(body)
	body.Close()
	if err != nil {
		return err
	}
	q, err := readPropfind(root)
	if err != nil {
		return err
	}
	if t.kind == homeKind && strings.Contains(r.UserAgent(), "akonadi_davgroupware") && !slices.Contains(q.names, privileges) {
		q.names = append(q.names, privileges) // Akonadi does not request it, and without it allows edits
	}
	if depth == 0 || t.kind == principalKind || t.kind == cardKind {
		if err := s.fill(t); err != nil {
			return err
		}
		s.respond(w, r, func(m *multistatus) error { m.resource(t, q.of(t.kind)); return nil }) // an error means that the client has disconnected
		return nil
	}
	return upload.Work(w, r, int64(t.caller.tenant), upload.Writing, func(w http.ResponseWriter) error {
		return s.respond(w, r, func(m *multistatus) error { return s.propfindWithin(m, t, q) })
	})
}

// depthOf returns 0 or 1. For a card, which has no children, infinity is 0.
func depthOf(r *http.Request, k kind) (int, error) {
	switch depth := strings.ToLower(r.Header.Get("Depth")); depth {
	case "0":
		return 0, nil
	case "1":
		return 1, nil
	case "", "infinity": // RFC 4918, section 9.1
		if k == cardKind {
			return 0, nil
		}
		return 0, forbid("D:propfind-finite-depth")
	}
	return 0, malformed("The header Depth must be 0 or 1.")
}

// readPropfind returns the properties that a PROPFIND requests. An empty body requests all.
func readPropfind(root *element) (q question, err error) {
	if root == nil {
		return question{all: true}, nil
	}
	prop := root.child(davName("prop"))
	switch {
	case root.name != davName("propfind"):
		return q, malformed("The root element must be propfind in the namespace DAV:.")
	case prop != nil:
		return q, q.add(prop)
	case root.child(davName("propname")) != nil:
		return question{namesOnly: true}, nil
	case root.child(davName("allprop")) == nil:
		return q, malformed("propfind must contain prop, allprop or propname.")
	}
	return question{all: true}, nil
}

func (s *Server) fill(t *target) (err error) {
	if t.kind == cardKind {
		f, err := s.store.Get(t.caller.tenant, t.id)
		t.person = &f
		return err
	}
	if t.department, err = s.store.TenantName(t.caller.tenant); err == nil && t.kind == bookKind {
		t.token, err = s.store.SyncToken(t.caller.tenant)
	}
	return err
}

func (s *Server) propfindWithin(m *multistatus, t *target, q question) error {
	if err := s.fill(t); err != nil {
		return err
	}
	m.resource(t, q.of(t.kind))
	if t.kind != bookKind {
		return s.children(m, t, q)
	}
	cards := q.of(cardKind) // a change after fill is part of the next sync
	return s.eachCard(t, func(card *target) { m.resource(card, cards) })
}

// eachCard calls each with the card of each person in the book. each must not keep the target, so that
// memory for only one card is needed.
func (s *Server) eachCard(t *target, each func(card *target)) error {
	return s.store.Each(t.caller.tenant, inOrder, func(f *record.Firefighter) error {
		each(t.of(f))
		return nil
	})
}

// inOrder is the query for all people in the order of the book.
var inOrder = record.Query{SortBy: record.ByCreatedAt}

func (s *Server) children(m *multistatus, t *target, q question) error {
	paths := []string{bookPath}
	if t.kind == rootKind {
		paths = []string{PrincipalPath, homePath}
	}
	for _, path := range paths {
		child := target{resource: resource{kind: collectionPaths[path], path: path}, caller: t.caller, store: t.store}
		if err := s.fill(&child); err != nil {
			return err
		}
		m.resource(&child, q.of(child.kind))
	}
	return nil
}

// isMinimal reports whether the client prefers responses without missing properties (RFC 8144).
func isMinimal(r *http.Request) bool {
	for _, preference := range strings.Split(strings.Join(r.Header["Prefer"], ","), ",") {
		preference, _, _ = strings.Cut(preference, ";") // parameters
		name, value, _ := strings.Cut(preference, "=")
		if strings.EqualFold(strings.TrimSpace(name), "return") && strings.Trim(strings.TrimSpace(value), `"`) == "minimal" {
			return true
		}
	}
	return strings.EqualFold(strings.TrimSpace(r.Header.Get("Brief")), "t")
}

// respond sends a multistatus response written by write. If write can fail or writes much, w must be the
// writer from upload.Work, which sends nothing after an error.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, write func(*multistatus) error) error {
	m := &multistatus{bufio.NewWriterSize(w, 32<<10), isMinimal(r)}
	h := w.Header()
	h["Content-Type"] = xmlType
	h["Vary"] = []string{"Prefer, Brief"}
	if m.minimal {
		h["Preference-Applied"] = []string{"return=minimal"}
	}
	w.WriteHeader(http.StatusMultiStatus)
	m.raw(xmlHeader + "<D:multistatus" + namespaces + ">\n")
	if err := write(m); err != nil {
		return err
	}
	m.raw("</D:multistatus>\n")
	return m.out.Flush() // returns the first error of all writes
}
