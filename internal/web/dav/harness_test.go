package dav

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/callers"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

const (
	ours   = record.TenantID(1) // "Engine 7"
	theirs = record.TenantID(2) // "Ladder 1"
)

// The people of the caller's department, in the order of the book.
var (
	ana  = record.Fields{FirstName: "Ana", LastName: "Čović", PhoneNumber: "091 234 5678", Email: "ana@example.com", DateOfBirth: "1990-05-15T00:00:00Z"}
	eric = record.Fields{FirstName: "Éric", LastName: "Strauß", PhoneNumber: "+33 6 12 34 56 78"}
	ilay = record.Fields{FirstName: "İlay", LastName: "Horvat, Jr.; B&B", Email: "ILAY@example.com"}
	zora = record.Fields{FirstName: "Zora", LastName: "Marić", PhoneNumber: "091 999 9999"} // belongs to theirs
	mia  = record.Fields{FirstName: "Mia", LastName: "Kovač"}                               // added later
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// book is a server with the address books of two departments. Its caller belongs to ours.
type book struct {
	*Server
	t     testing.TB
	key   string            // of the caller, with dates of birth
	id    map[string]string // ids of people by first name
	token string            // sync token before change
}

func newBook(t testing.TB) *book {
	t.Helper()
	schema, err := os.ReadFile("../../../schema.sql")
	must(t, err)
	path := filepath.Join(t.TempDir(), "x.db")
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, store.Format(string(schema), 1).Migrate(path, 0, 1, func(c *sqlite.Conn) error { return store.Create(c, string(schema)) }))
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	s, err := store.Open(path, func() time.Time { return noon })
	must(t, err)
	t.Cleanup(func() { s.Close() })
	must(t, s.AddDepartments([]store.Department{{Name: "Engine 7 & <Co>"}, {Name: "Ladder 1"}}))
	b := &book{t: t, id: map[string]string{}}
	b.Server = New(s, callers.New(s, slog.New(slog.DiscardHandler), nil), func(_ http.ResponseWriter, _ *http.Request, route string, err error) *httpapi.Problem {
		return b.problem(route, err)
	})
	b.key = b.newKey(true)
	for _, f := range []record.Fields{ana, eric, ilay} {
		b.add(ours, f)
	}
	b.add(theirs, zora)
	return b
}

// newKey creates a key for a phone.
func (b *book) newKey(birthdays bool) (key string) {
	b.t.Helper()
	must(b.t, b.store.CreateKey(store.NewKey{Tenant: "Engine 7 & <Co>", Scope: store.ScopePhone, Birthdays: birthdays}, func(text string) error {
		key = text
		return nil
	}))
	return key
}

func (b *book) add(tenant record.TenantID, f record.Fields) {
	b.t.Helper()
	record, err := b.store.Create(tenant, 0, f, nil)
	must(b.t, err)
	b.id[f.FirstName] = record.ID
}

// change changes a book between two syncs: Ana gets another number, Éric is deleted, and Mia is added.
func (b *book) change() {
	b.t.Helper()
	changed, asIs := ana, func(record.Firefighter) error { return nil }
	changed.PhoneNumber = "098 765 432"
	_, err := b.store.Replace(ours, 0, b.id["Ana"], changed, asIs)
	must(b.t, err)
	must(b.t, b.store.Delete(ours, 0, b.id["Éric"], asIs))
	b.add(ours, mia)
}

// problem returns the problem of an error. It fails the test on server errors.
func (b *book) problem(route string, err error) *httpapi.Problem {
	if p := (*httpapi.Problem)(nil); errors.As(err, &p) {
		return p
	}
	if errors.Is(err, store.ErrNotFound) {
		return &httpapi.Problem{Kind: httpapi.Path, Detail: "There is no firefighter with this id."}
	}
	b.t.Errorf("%s: %v", route, err)
	return &httpapi.Problem{Kind: httpapi.Internal}
}

// reply is a response of the server.
type reply struct {
	t      testing.TB
	status int
	header http.Header
	body   string
}

// do sends a request. headers are lines like "Depth: 1".
func (b *book) do(method, path, body string, headers ...string) reply {
	b.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ":")
		r.Header.Add(name, strings.TrimSpace(value))
	}
	return b.serveTo(r)
}

func (b *book) serveTo(r *http.Request) reply {
	w := httptest.NewRecorder()
	if r.Header["Authorization"] == nil {
		r.SetBasicAuth("phone", b.key)
	}
	b.ServeHTTP(w, r)
	return reply{b.t, w.Code, w.Result().Header, w.Body.String()}
}

// wants checks the status of a response, that it contains these texts, and that its XML is valid.
func (a reply) wants(status int, parts ...string) reply {
	a.t.Helper()
	if a.status != status {
		a.t.Errorf("got status %d, want %d: %s", a.status, status, a.body)
	}
	for _, part := range parts {
		if !strings.Contains(a.body, part) {
			a.t.Errorf("missing %s in %s", part, a.body)
		}
	}
	if strings.HasPrefix(a.header.Get("Content-Type"), "application/xml") {
		if err := xml.Unmarshal([]byte(a.body), new(struct{ XMLName xml.Name })); err != nil {
			a.t.Errorf("%v in %s", err, a.body)
		}
	}
	return a
}

// multistatus parses a response with the status 207.
func (a reply) multistatus() answered {
	a.t.Helper()
	a.wants(http.StatusMultiStatus)
	m, err := readAnswer(a.body)
	if err != nil {
		a.t.Errorf("%v in %s", err, a.body)
	}
	return m
}

// answered is the content of a 207 response.
type answered struct {
	XMLName   xml.Name `xml:"DAV: multistatus"`
	Responses []struct {
		Href      string `xml:"DAV: href"`
		Status    string `xml:"DAV: status"`
		Propstats []struct {
			Status string `xml:"DAV: status"`
			Prop   struct {
				All []answeredProperty `xml:",any"`
			} `xml:"DAV: prop"`
		} `xml:"DAV: propstat"`
		Error *struct {
			All []answeredProperty `xml:",any"`
		} `xml:"DAV: error"`
	} `xml:"DAV: response"`
	Token string `xml:"DAV: sync-token"`
}

type answeredProperty struct {
	XMLName xml.Name
	Inner   string `xml:",innerxml"`
}

// readAnswer parses a 207 response. It returns an error for a response that RFC 4918 forbids: one with
// both a status and propstats, or with a duplicate property.
func readAnswer(body string) (m answered, err error) {
	if err := xml.Unmarshal([]byte(body), &m); err != nil {
		return m, err
	}
	for _, r := range m.Responses {
		if (r.Status == "") == (len(r.Propstats) == 0) || r.Href == "" {
			return m, fmt.Errorf("the response for %q must have either a status or propstats", r.Href)
		}
		seen := map[xml.Name]bool{}
		for _, p := range r.Propstats {
			if !slices.Contains([]string{"HTTP/1.1 200 OK", "HTTP/1.1 404 Not Found"}, p.Status) {
				return m, fmt.Errorf("%q: propstat with the status %q", r.Href, p.Status)
			}
			for _, property := range p.Prop.All {
				if seen[property.XMLName] {
					return m, fmt.Errorf("%q: duplicate property %v", r.Href, property.XMLName)
				}
				seen[property.XMLName] = true
			}
		}
	}
	return m, nil
}

// hrefs returns the last path elements of the hrefs in a response, with their status if there is one.
func (m answered) hrefs() (all []string) {
	for _, r := range m.Responses {
		last := r.Href[strings.LastIndexByte(strings.TrimSuffix(r.Href, "/"), '/')+1:]
		all = append(all, strings.TrimSpace(last+" "+strings.TrimPrefix(r.Status, "HTTP/1.1 ")))
	}
	return all
}

// names replaces the ids of people with their first names.
func (b *book) names(text string) string {
	for name, id := range b.id {
		text = strings.ReplaceAll(text, id, name)
	}
	return text
}

// propfindOf and the functions below return request bodies.
func propfindOf(props string) string {
	return `<D:propfind xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav"><D:prop>` + props + `</D:prop></D:propfind>`
}

func queryOf(filter string) string {
	return `<C:addressbook-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav"><D:prop><D:getetag/></D:prop>` + filter + `</C:addressbook-query>`
}

func multigetOf(hrefs ...string) string {
	var b bytes.Buffer
	for _, href := range hrefs {
		b.WriteString("<D:href>")
		xml.EscapeText(&b, []byte(href))
		b.WriteString("</D:href>")
	}
	return `<C:addressbook-multiget xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav"><D:prop><D:getetag/></D:prop>` + b.String() + `</C:addressbook-multiget>`
}

func syncOf(token, more string) string {
	return `<D:sync-collection xmlns:D="DAV:"><D:sync-token>` + token + `</D:sync-token><D:sync-level>1</D:sync-level>` + more + `<D:prop><D:getetag/></D:prop></D:sync-collection>`
}
