package dav

import (
	"net/http"
	"net/url"
)

// multiget writes the requested cards (RFC 6352, section 8.7). It answers each href once, unchanged.
func (s *Server) multiget(m *multistatus, t *target, root *element, q question) error {
	var hrefs, ids []string
	seen := map[string]bool{}
	for _, e := range root.children {
		if href := e.trimmed(); e.name == davName("href") && href != "" && !seen[href] {
			hrefs, ids, seen[href] = append(hrefs, href), append(ids, idIn(href)), true
		}
	}
	if len(hrefs) == 0 {
		return malformed("addressbook-multiget must have an href.")
	}
	people, err := s.store.Members(t.caller.tenant, ids)
	if err != nil {
		return err
	}
	q = q.of(cardKind)
	for i, href := range hrefs {
		f := people[ids[i]]
		if f == nil {
			m.status(href, http.StatusNotFound, "")
			continue
		}
		card := t.of(f)
		card.path = href
		m.resource(card, q)
	}
	return nil
}

// idIn returns the id of the person in an href, or "" if it is not the address of a card. An href is a
// path or, from Akonadi, a URL. The host is ignored: behind a reverse proxy, clients use another host,
// and the key determines the address book.
func idIn(href string) string {
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	isPath := u.Scheme == "" && u.Host == ""
	isWhole := (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
	if !isPath && !isWhole {
		return ""
	}
	found, ok := find(u.Path)
	if !ok || found.kind != cardKind {
		return ""
	}
	return found.id
}
