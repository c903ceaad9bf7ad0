package dav

import (
	"encoding/xml"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// Reports on the address book.
var (
	syncName     = davName("sync-collection")
	multigetName = cardName("addressbook-multiget")
	queryName    = cardName("addressbook-query")
)

// addressData is the card, a property only in reports that name it (RFC 6352, section 10.4).
var (
	addressData         = cardName("address-data")
	addressDataProperty = &property{cardKind, func(m *multistatus, t *target, _ question) { m.text(t.card()) }, false}
)

func (s *Server) report(w http.ResponseWriter, r *http.Request, t *target) error {
	body, err := receive(w, r, t, maxMultiget)
	if err != nil {
		return err
	}
	defer body.Close()
	err = upload.Work(w, r, int64(t.caller.tenant), upload.Writing, func(w http.ResponseWriter) error {
		root, err := readBody(body)
		if err != nil {
			return err
		}
		body.Close() // the client may read the response slowly
		write, err := s.readReport(t, root)
		if err != nil {
			return err
		}
		return s.respond(w, r, write)
	})
	if errors.Is(err, errToken) && strings.Contains(r.UserAgent(), "Thunderbird/") {
		s.respond(w, r, func(m *multistatus) error { m.raw(noToken); return nil }) // an error means that the client has disconnected
		return nil
	}
	return err
}

// readReport parses a report and returns a function that writes the response.
func (s *Server) readReport(t *target, root *element) (write func(*multistatus) error, err error) {
	if root == nil {
		return nil, malformed("A REPORT must have a body.")
	}
	q, err := readQuestion(root)
	if err != nil {
		return nil, err
	}
	switch root.name {
	case syncName:
		return s.syncCollection(t, root, q)
	case multigetName:
		return func(m *multistatus) error { return s.multiget(m, t, root, q) }, nil
	case queryName:
		return s.query(t, root, q)
	}
	return nil, forbid("D:supported-report")
}

// readQuestion returns the properties that a report requests; none by default.
func readQuestion(root *element) (q question, err error) {
	prop := root.child(davName("prop"))
	switch {
	case prop != nil:
		if err := q.add(prop); err != nil {
			return q, err
		}
		if data := prop.child(addressData); data != nil {
			q.card, err = true, checkCardData(data)
		}
	case root.child(davName("allprop")) != nil:
		q.all = true
	case root.child(davName("propname")) != nil:
		q.namesOnly = true
	}
	return q, err
}

// checkCardData checks an address-data element. Only vCard 3.0 is supported, because a second version at
// the same address would need a second entity tag. A request for parts of a card gets the whole card.
func checkCardData(e *element) error {
	kind, version := e.value("content-type"), e.value("version")
	if kind != "" && !strings.EqualFold(kind, "text/vcard") || version != "" && version != "3.0" {
		return forbid("C:supported-address-data")
	}
	return nil
}

// readLimit returns the number in limit/nresults. It is 0 if there is no limit or a huge one.
func readLimit(root *element, space string) (int, error) {
	limit := root.child(xml.Name{Space: space, Local: "limit"})
	if limit == nil {
		return 0, nil
	}
	results := limit.child(xml.Name{Space: space, Local: "nresults"})
	if results == nil {
		return 0, malformed("limit must contain nresults.")
	}
	n, err := strconv.ParseUint(results.trimmed(), 10, 31)
	if errors.Is(err, strconv.ErrRange) {
		return 0, nil
	}
	if err != nil || n == 0 {
		return 0, malformed("nresults must be a whole number of at least 1.")
	}
	return int(n), nil
}

func (m *multistatus) truncated() {
	m.status(bookPath, http.StatusInsufficientStorage, "<D:error><D:number-of-matches-within-limits/></D:error>")
}
