package acceptance

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	davRoot = "/dav/"
	davBook = "/dav/books/people/"
	// birthdaysPath is the address of the calendar, without its key.
	birthdaysPath = "/dav/birthdays.ics?key="
	// davChallenge is the challenge of a 401 to a device.
	davChallenge = `Basic realm="Firefighters", charset="UTF-8"`
)

func cardPath(id string) string { return davBook + id + ".vcf" }

// davClient is a device that reads the address book. client.key is its password.
type davClient struct {
	client
	user string
}

// device returns a device with a key. An empty key sends no password.
func (c client) device(key string) davClient { return davClient{c.as(key), "phone"} }

// send sends a request with further headers as name, value, name, value. It checks what must
// hold for every answer of the address book.
func (d davClient) send(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, d.url+path, strings.NewReader(body))
	must(t, err)
	if d.key != "" {
		r.SetBasicAuth(d.user, d.key)
	}
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	response, err := d.Do(r)
	must(t, err)
	a, err := readAnswer(response)
	must(t, err)
	sawAnswer(t.Name()+": "+method+" "+path, a)
	a.checkSecurity(t)
	a.checkBook(t, method)
	return a
}

// checkBook checks the format of errors, and that only a 401 asks a client for a password.
func (a answer) checkBook(t *testing.T, method string) {
	t.Helper()
	kind := a.header.Get("Content-Type")
	isXML := kind == "application/xml; charset=utf-8"
	switch {
	case a.header.Get("X-Request-Id") == "":
		t.Errorf("%d without an X-Request-Id: %v", a.status, a.header)
	case a.status == http.StatusMultiStatus && !isXML:
		t.Errorf("%d with Content-Type %q", a.status, kind)
	case a.status >= 400 && isXML:
		a.condition(t)
	case a.status >= 400 && kind != "application/problem+json":
		t.Errorf("%d with Content-Type %q", a.status, kind)
	case a.status >= 400 && method != http.MethodHead:
		a.problem(t)
	}
	if got := a.header.Values("WWW-Authenticate"); (a.status == 401) != (len(got) == 1 && (got[0] == davChallenge || strings.HasPrefix(got[0], "Bearer "))) && a.status != 403 {
		t.Errorf("%d with the challenge %q", a.status, got)
	}
	if wait := a.header.Get("Retry-After"); (wait != "") != (a.status == 429) {
		t.Errorf("%d with Retry-After: %q", a.status, wait)
	}
}

// condition returns the name of the element that gives the reason for an error.
func (a answer) condition(t *testing.T) string {
	t.Helper()
	var refused struct {
		XMLName xml.Name      `xml:"DAV: error"`
		All     []davProperty `xml:",any"`
	}
	if err := xml.Unmarshal([]byte(a.body), &refused); err != nil || len(refused.All) != 1 {
		t.Fatalf("%v in %q", err, a.body)
	}
	return refused.All[0].XMLName.Local
}

// davAnswer is the body of a 207.
type davAnswer struct {
	XMLName   xml.Name      `xml:"DAV: multistatus"`
	Responses []davResponse `xml:"DAV: response"`
	Token     string        `xml:"DAV: sync-token"`
}

// davResponse is the part of a 207 about one resource.
type davResponse struct {
	Hrefs    []string `xml:"DAV: href"`
	Statuses []string `xml:"DAV: status"`
	Error    struct {
		All []davProperty `xml:",any"`
	} `xml:"DAV: error"`
	Propstats []struct {
		Status string `xml:"DAV: status"`
		Prop   struct {
			All []davProperty `xml:",any"`
		} `xml:"DAV: prop"`
	} `xml:"DAV: propstat"`
}

// davProperty is a property of a resource, or a similar element.
type davProperty struct {
	XMLName xml.Name
	Text    string        `xml:",chardata"`
	All     []davProperty `xml:",any"`
}

// elements returns the names of all elements within a property.
func (p davProperty) elements() (names []string) {
	for _, e := range p.All {
		names = append(append(names, e.XMLName.Local), e.elements()...)
	}
	return names
}

// text returns all text in a property, without surrounding white space.
func (p davProperty) text() string {
	text := strings.TrimSpace(p.Text)
	for _, e := range p.All {
		text += e.text()
	}
	return text
}

func (r davResponse) href() string { return r.Hrefs[0] }

// status returns the status of the whole resource, or "" if the answer has its properties.
func (r davResponse) status() string {
	if len(r.Statuses) == 0 {
		return ""
	}
	_, code, _ := strings.Cut(r.Statuses[0], " ")
	return code[:3]
}

// find returns a property with the status 200.
func (r davResponse) find(name string) (p davProperty, ok bool) {
	for _, s := range r.Propstats {
		for _, p := range s.Prop.All {
			if p.XMLName.Local == name && s.Status == "HTTP/1.1 200 OK" {
				return p, true
			}
		}
	}
	return p, false
}

// text returns the text of a property with the status 200.
func (r davResponse) text(name string) string {
	p, _ := r.find(name)
	return p.text()
}

// multistatus parses a 207. Each resource must appear once, with its properties or with a
// status (RFC 4918, section 14.24).
func (a answer) multistatus(t *testing.T) (m davAnswer) {
	t.Helper()
	a.wants(t, http.StatusMultiStatus)
	if err := xml.Unmarshal([]byte(a.body), &m); err != nil {
		t.Fatalf("%v in %q", err, a.body)
	}
	seen := map[string]bool{}
	for _, r := range m.Responses {
		if len(r.Hrefs) != 1 || len(r.Statuses) > 1 || (len(r.Statuses) == 1) == (len(r.Propstats) > 0) || seen[r.href()] {
			t.Fatalf("invalid or duplicate response for %v in %s", r.Hrefs, a.body)
		}
		seen[r.href()] = true
	}
	return m
}

// one returns the only response of an answer.
func (m davAnswer) one(t *testing.T) davResponse {
	t.Helper()
	if len(m.Responses) != 1 {
		t.Fatalf("%d responses: %+v", len(m.Responses), m)
	}
	return m.Responses[0]
}

// hrefs returns the resources of an answer.
func (m davAnswer) hrefs() (all []string) {
	for _, r := range m.Responses {
		all = append(all, r.href())
	}
	return all
}

const davNamespaces = ` xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav" xmlns:CS="http://calendarserver.org/ns/"`

// propfind requests properties, given as XML.
func (d davClient) propfind(t *testing.T, path, depth, props string, headers ...string) davAnswer {
	t.Helper()
	body := "<D:propfind" + davNamespaces + "><D:prop>" + props + "</D:prop></D:propfind>"
	return d.send(t, "PROPFIND", path, body, append(headers, "Depth", depth)...).multistatus(t)
}

// report sends a report about the book. content is further XML after the properties.
func (d davClient) report(t *testing.T, name, props, content string) answer {
	t.Helper()
	return d.send(t, "REPORT", davBook, "<"+name+davNamespaces+"><D:prop>"+props+"</D:prop>"+content+"</"+name+">", "Depth", "1")
}

// sync requests the changes since a token.
func (d davClient) sync(t *testing.T, token, props, content string) answer {
	t.Helper()
	return d.report(t, "D:sync-collection", props, "<D:sync-token>"+token+"</D:sync-token><D:sync-level>1</D:sync-level>"+content)
}

// multiget requests the cards at addresses.
func (d davClient) multiget(t *testing.T, hrefs ...string) davAnswer {
	t.Helper()
	var all strings.Builder
	for _, href := range hrefs {
		all.WriteString("<D:href>" + href + "</D:href>")
	}
	return d.report(t, "C:addressbook-multiget", "<D:getetag/><C:address-data/>", all.String()).multistatus(t)
}

// TestBookFound checks that a client that knows only the host finds the book step by step,
// and also at the paths that iOS tries.
func TestBookFound(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := s.device(newKey(t, s.db, "default", "--scope", "phone"))
	for _, method := range []string{"GET", "HEAD", "PROPFIND", "OPTIONS"} {
		for _, d := range []davClient{d, s.device(""), s.device("wrong")} {
			if a := d.send(t, method, "/.well-known/carddav", ""); a.status != 301 || a.header.Get("Location") != davRoot {
				t.Errorf("%s: %d %v", method, a.status, a.header)
			}
		}
	}
	if a := d.send(t, "POST", "/.well-known/carddav", ""); a.status != 405 || a.header.Get("Allow") != "OPTIONS, GET, HEAD, PROPFIND" {
		t.Errorf("%d %v", a.status, a.header)
	}
	for _, path := range []string{"/", "/principals/", "/principals", "/dav/", "/dav"} {
		r := d.propfind(t, path, "0", "<D:current-user-principal/><D:resourcetype/>").one(t)
		if p := r.text("current-user-principal"); p != "/dav/principal/" || !strings.HasSuffix(r.href(), "/") {
			t.Errorf("the principal of %s is %q, from %s", path, p, r.href())
		}
		if a := s.device("").send(t, "PROPFIND", path, "", "Depth", "0"); a.status != 401 {
			t.Errorf("%s without a password: %d", path, a.status)
		}
	}
	s.do(t, "GET", "/", "").wants(t, 404)
	d.send(t, "GET", "/", "", "Accept", "text/html").wants(t, 303)
	principal := d.propfind(t, "/dav/principal/", "0", "<C:addressbook-home-set/><D:displayname/><D:resourcetype/><D:principal-URL/>").one(t)
	if got := []string{principal.text("addressbook-home-set"), principal.text("displayname"), principal.text("principal-URL")}; !slices.Equal(got, []string{"/dav/books/", firstDepartment, "/dav/principal/"}) {
		t.Errorf("principal: %q", got)
	}
	home := d.propfind(t, "/dav/books/", "1", "<D:resourcetype/><D:displayname/>")
	if got := home.hrefs(); !slices.Equal(got, []string{"/dav/books/", davBook}) {
		t.Fatalf("the books are %q", got)
	}
	kind, _ := home.Responses[1].find("resourcetype")
	if got := kind.elements(); !slices.Equal(got, []string{"collection", "addressbook"}) || home.Responses[1].text("displayname") != firstDepartment {
		t.Errorf("the book is %q", got)
	}
	for _, path := range []string{"/dav/x", "/dav/books/x/", "/dav/books/people/x", "/dav/principal/x/"} {
		d.send(t, "PROPFIND", path, "", "Depth", "0").wants(t, 404)
	}
}

// TestBookOptions checks that OPTIONS works without a password and lists no method that
// writes.
func TestBookOptions(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	for path, allow := range map[string]string{davRoot: "OPTIONS, PROPFIND", "/dav/principal/": "OPTIONS, PROPFIND", "/dav/books/": "OPTIONS, PROPFIND",
		davBook: "OPTIONS, PROPFIND, REPORT", cardPath(id): "OPTIONS, GET, HEAD, PROPFIND", cardPath(nobody): "OPTIONS, GET, HEAD, PROPFIND"} {
		for _, key := range []string{"", "wrong", s.key} {
			a := s.device(key).send(t, "OPTIONS", path, "").wants(t, 200)
			if got := a.header.Values("Allow"); !slices.Equal(got, []string{allow}) || a.body != "" {
				t.Errorf("%s: %q, %q", path, got, a.body)
			}
			if got := a.header.Values("DAV"); !slices.Equal(got, []string{"1, 3, addressbook, access-control"}) {
				t.Errorf("%s: DAV: %q", path, got)
			}
		}
	}
	if a := s.device("").send(t, "OPTIONS", birthdaysPath, "").wants(t, 200); a.header.Get("Allow") != "OPTIONS, GET, HEAD" || a.header.Get("DAV") != "" {
		t.Errorf("the calendar: %v", a.header)
	}
	s.device("").send(t, "OPTIONS", "/dav/x", "").wants(t, 404)
	for method, path := range map[string]string{"REPORT": davRoot, "GET": davBook, "TRACE": davBook} {
		if a := s.device(s.key).send(t, method, path, "").wants(t, 405); a.header.Get("Allow") == "" {
			t.Errorf("%s %s: %v", method, path, a.header)
		}
	}
}

// TestBookKeys checks that a valid key opens the book with any user name, also as a bearer
// token. The key of a phone opens no page, and the key of a calendar only the calendar.
func TestBookKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	phone, calendar := newKey(t, s.db, "default", "--scope", "phone"), newKey(t, s.db, "default", "--scope", "calendar")
	for key, born := range map[string]bool{phone: false, newKey(t, s.db, "default", "--scope", "phone", "--birthdays"): true,
		newKey(t, s.db, "default", "--scope", "read"): true, s.key: true} {
		for _, user := range []string{"phone", "", "ana@example.com", "%40"} {
			card := davClient{s.as(key), user}.send(t, "GET", cardPath(id), "").wants(t, 200).body
			if strings.Contains(card, "BDAY:1990-05-15\r\n") != born || !strings.Contains(card, "UID:"+id) {
				t.Errorf("%q gets %s", user, card)
			}
		}
		s.device("").send(t, "PROPFIND", davBook, "", "Depth", "0", "Authorization", "Bearer "+key).wants(t, 207)
	}
	for name, authorization := range map[string]string{"none": "", "no password": "Basic cGhvbmU6", "no colon": "Basic cGhvbmU=", "another scheme": "Digest x"} {
		for _, request := range []string{"PROPFIND " + davRoot, "PROPFIND /", "REPORT " + davBook, "GET " + cardPath(id), "GET " + cardPath(nobody), "GET /dav/x"} {
			method, path, _ := strings.Cut(request, " ")
			a := s.device("").send(t, method, path, "", "Authorization", authorization).wants(t, 401)
			if p := a.problem(t); p.Code != "key_missing" || a.header.Get("WWW-Authenticate") != davChallenge {
				t.Errorf("%s: %s %s, the challenge is %q", name, request, p.Code, a.header.Get("WWW-Authenticate"))
			}
		}
	}
	if a := s.device("wrong").send(t, "PROPFIND", davRoot, "").wants(t, 401); a.header.Get("WWW-Authenticate") != davChallenge {
		t.Errorf("%v", a.header)
	}
	for _, key := range []string{phone, calendar} {
		s.browser(t, "en").post(t, "/office/sign-in", url.Values{"key": {key}}).wants(t, 403)
		s.browser(t, "en").get(t, "/office/people/"+id, "Authorization", "Bearer "+key).wants(t, 303)
	}
	for path, method := range map[string]string{davRoot: "PROPFIND", davBook: "REPORT", cardPath(id): "GET"} {
		s.device(calendar).send(t, method, path, "", "Depth", "0").wants(t, 403)
		s.device("").send(t, method, path+"?key="+phone, "", "Depth", "0").wants(t, 401)
	}
	s.device("").send(t, "GET", birthdaysPath+calendar, "").wants(t, 200)
	s.device(calendar).send(t, "GET", birthdaysPath, "").wants(t, 401)
	for _, key := range []string{phone, s.key} {
		s.device("").send(t, "GET", birthdaysPath+key, "").wants(t, 403)
	}
}

// TestBookIsReadOnly checks that writes return a 403, which does not make a client ask for
// another password, and change nothing.
func TestBookIsReadOnly(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	counted := s.contentOf(t)
	card := "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:" + id + "\r\nFN:X Y\r\nN:Y;X;;;\r\nEND:VCARD\r\n"
	for _, key := range []string{newKey(t, s.db, "default", "--scope", "phone"), s.key} {
		for _, method := range []string{"PUT", "DELETE", "MKCOL", "PROPPATCH", "MOVE", "COPY", "LOCK", "UNLOCK", "POST", "PATCH", "ACL"} {
			for _, path := range []string{cardPath(id), cardPath(nobody), davBook + "new.vcf", davBook, "/dav/books/", "/dav/books/new/", "/dav/principal/", davRoot} {
				a := s.device(key).send(t, method, path, card, "Content-Type", "text/vcard", "Destination", s.url+cardPath(nobody), "If-None-Match", "*")
				if a.wants(t, 403); a.condition(t) != "need-privileges" {
					t.Errorf("%s %s: %s", method, path, a.body)
				}
			}
		}
	}
	if got := s.contentOf(t); got != counted {
		t.Errorf("the content changed from %s to %s", counted, got)
	}
}

// TestBookCards checks the content and the tag of a card, and that there is no card for a
// deleted person or for a person of another department.
func TestBookCards(t *testing.T) {
	t.Parallel()
	s := start(t)
	other := s.as(newKey(t, s.db, "Engine 7"))
	id, theirs := s.create(t, ana), other.create(t, ana)
	d := s.device(newKey(t, s.db, "default", "--scope", "phone", "--birthdays"))
	first := d.send(t, "GET", cardPath(id), "").wants(t, 200)
	if got := first.header.Get("Content-Type"); got != "text/vcard; charset=utf-8" || !strings.Contains(first.body, "FN:Ana Čović\r\n") || !strings.Contains(first.body, "BDAY:1990-05-15\r\n") {
		t.Errorf("%v %s", first.header, first.body)
	}
	tag := first.tagOf(t, false)
	without := s.device(newKey(t, s.db, "default", "--scope", "phone")).send(t, "GET", cardPath(id), "").wants(t, 200)
	if strings.Contains(without.body, "BDAY") || without.tagOf(t, false) == tag {
		t.Errorf("without dates of birth: %s\n%s", without.tagOf(t, false), without.body)
	}
	head := d.send(t, "HEAD", cardPath(id), "").wants(t, 200)
	if head.body != "" || head.header.Get("Content-Length") != fmt.Sprint(len(first.body)) || head.tagOf(t, false) != tag {
		t.Errorf("HEAD: %v", head.header)
	}
	r := d.propfind(t, cardPath(id), "0", "<D:getetag/><D:getcontentlength/><D:getcontenttype/>").one(t)
	if got := []string{r.text("getetag"), r.text("getcontentlength"), r.text("getcontenttype")}; !slices.Equal(got, []string{tag, fmt.Sprint(len(first.body)), "text/vcard; charset=utf-8"}) {
		t.Errorf("properties: %q", got)
	}
	for _, condition := range []string{tag, `"x", ` + tag, "W/" + tag, "*"} {
		if a := d.send(t, "GET", cardPath(id), "", "If-None-Match", condition).wants(t, 304); a.body != "" || a.tagOf(t, false) != tag {
			t.Errorf("%s: %v %q", condition, a.header, a.body)
		}
	}
	d.send(t, "GET", cardPath(id), "", "If-None-Match", `"x"`).wants(t, 200)
	d.send(t, "GET", cardPath(id), "", "If-Match", `"x"`).wants(t, 412)

	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	gone := []string{cardPath(id), cardPath(theirs), cardPath(nobody), davBook + "x.vcf"}
	for _, path := range gone {
		for _, method := range []string{"GET", "HEAD", "PROPFIND"} {
			d.send(t, method, path, "", "Depth", "0", "If-None-Match", tag).wants(t, 404)
		}
	}
	kept := s.create(t, ana)
	for _, r := range d.multiget(t, append(gone, cardPath(kept))...).Responses {
		if alive := r.href() == cardPath(kept); (r.status() == "404") == alive || (r.text("address-data") != "") != alive {
			t.Errorf("%+v", r)
		}
	}
	for d, id := range map[davClient]string{d: kept, s.device(other.key): theirs} {
		if got := d.propfind(t, davBook, "1", "<D:getetag/>").hrefs(); !slices.Equal(got, []string{davBook, cardPath(id)}) {
			t.Errorf("the book has %q", got)
		}
	}
}

// TestBookTokens checks that a token of another book, or an invalid one, returns the error
// that makes a client start over.
func TestBookTokens(t *testing.T) {
	t.Parallel()
	s := start(t)
	other := s.as(newKey(t, s.db, "Engine 7"))
	for _, c := range []client{s.client, other} {
		c.create(t, ana)
	}
	d := s.device(newKey(t, s.db, "default", "--scope", "phone"))
	own := d.sync(t, "", "<D:getetag/>", "").multistatus(t).Token
	if got := d.propfind(t, davBook, "0", "<D:sync-token/>").one(t).text("sync-token"); got != own {
		t.Errorf("the book has the token %q, but a sync ends with %q", got, own)
	}
	position := s.changes(t, "", 100).Next
	theirs := s.device(other.key).sync(t, "", "<D:getetag/>", "").multistatus(t).Token
	for _, token := range []string{theirs, "x", "data:,", "data:", "data:,x", own + "x", own[:len(own)-1], strings.TrimPrefix(own, "data:,"), strings.ToUpper(own),
		"data:," + position, "http://example.com/ns/sync/1", "0", "-1", "&#1234;", "&#8232;", strings.Repeat("9", 5000)} {
		a := d.sync(t, token, "<D:getetag/>", "")
		if a.wants(t, 403); a.condition(t) != "valid-sync-token" {
			t.Errorf("%.80q: %s", token, a.body)
		}
	}
	if m := d.sync(t, "\n "+own+" ", "<D:getetag/>", "").multistatus(t); len(m.Responses) > 0 || m.Token != own {
		t.Errorf("changes after the last token: %+v", m)
	}
	saved := filepath.Join(t.TempDir(), "saved.db")
	works(t, "backup", saved, "--db", s.db)
	s.stop(t)
	works(t, "restore", saved, "--db", s.db)
	d.url = startOn(t, s.db).url
	if a := d.sync(t, own, "<D:getetag/>", "").wants(t, 403); a.condition(t) != "valid-sync-token" {
		t.Errorf("after a restore: %s", a.body)
	}
}

// TestLargeBook checks that the first sync returns everyone, that a later sync returns parts
// of a thousand changes, and that one request can read all cards.
func TestLargeBook(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := s.device(newKey(t, s.db, "default", "--scope", "phone"))
	empty := d.sync(t, "", "<D:getetag/>", "").multistatus(t)
	s.importPeople(t, "", csvOf(2100))
	whole := d.sync(t, "", "<D:getetag/>", "").multistatus(t)
	if len(whole.Responses) != 2100 || slices.Contains(whole.hrefs(), davBook) {
		t.Fatalf("the first sync has %d people", len(whole.Responses))
	}
	var parts []int
	seen := map[string]bool{}
	for token, more := empty.Token, true; more; {
		m := d.sync(t, token, "<D:getetag/>", "").multistatus(t)
		token, more = m.Token, false
		for _, r := range m.Responses {
			if r.href() != davBook {
				seen[r.href()] = true
				continue
			}
			if more = true; r.status() != "507" || len(r.Error.All) != 1 || r.Error.All[0].XMLName.Local != "number-of-matches-within-limits" {
				t.Errorf("%+v", r)
			}
		}
		if parts = append(parts, len(seen)); !more && token != whole.Token {
			t.Errorf("the last token is %q, want %q", token, whole.Token)
		}
	}
	if !slices.Equal(parts, []int{1000, 2000, 2100}) || len(seen) != 2100 {
		t.Errorf("the parts end at %v", parts)
	}
	all := d.multiget(t, whole.hrefs()...)
	for i, r := range all.Responses {
		if r.text("getetag") != whole.Responses[i].text("getetag") || !strings.Contains(r.text("address-data"), "VCARD") {
			t.Fatalf("%+v", r)
		}
	}
	if len(all.Responses) != 2100 {
		t.Errorf("%d cards", len(all.Responses))
	}
}

// TestBirthdays checks the subscription to the calendar of birthdays, and that an unchanged
// calendar is not sent again.
func TestBirthdays(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create(t, ana)
	s.create(t, `{"firstName":"Eva","lastName":"B"}`)
	s.as(newKey(t, s.db, "Engine 7")).create(t, `{"firstName":"Ivo","lastName":"C","dateOfBirth":"1980-01-01"}`)
	address := birthdaysPath + newKey(t, s.db, "default", "--scope", "calendar")
	d := s.device("")
	for key, want := range map[string]string{"": `Bearer realm="firefighters"`, "ff_wrong": `Bearer realm="firefighters", error="invalid_token"`} {
		a := d.send(t, "GET", birthdaysPath+key, "").wants(t, 401) // without a challenge for a password
		if got := a.header.Get("WWW-Authenticate"); got != want || key == "" && !strings.Contains(a.body, "?key=...") {
			t.Errorf("the key %q: %s, %s", key, got, a.body)
		}
	}
	get := func(headers ...string) answer { t.Helper(); return d.send(t, "GET", address, "", headers...) }
	first := get().wants(t, 200)
	if first.header.Get("Content-Type") != "text/calendar; charset=utf-8" || len(first.header.Values("Content-Disposition")) > 0 {
		t.Errorf("%v", first.header)
	}
	for _, line := range []string{"BEGIN:VCALENDAR", "REFRESH-INTERVAL;VALUE=DURATION:PT12H", "DTSTART;VALUE=DATE:19900515", "RRULE:FREQ=YEARLY", "TRANSP:TRANSPARENT", "SUMMARY:Birthday: Ana Čović (1990)", "END:VCALENDAR"} {
		if strings.Count(first.body, line+"\r\n") != 1 {
			t.Errorf("want %s once in %s", line, first.body)
		}
	}
	if strings.Count(first.body, "BEGIN:VEVENT") != 1 || strings.Contains(first.body, "VALARM") {
		t.Errorf("%s", first.body)
	}
	tag := first.tagOf(t, true)
	if a := get("If-None-Match", tag).wants(t, 304); a.body != "" || a.tagOf(t, true) != tag {
		t.Errorf("%v", a.header)
	}
	if head := d.send(t, "HEAD", address, "").wants(t, 200); head.body != "" || head.tagOf(t, true) != tag {
		t.Errorf("HEAD: %v", head.header)
	}
	if german := d.send(t, "GET", address+"&lang=de", "").body; !strings.Contains(german, "SUMMARY:Geburtstag: Ana Čović (1990)\r\n") {
		t.Errorf("%s", german)
	}
	s.create(t, `{"firstName":"Lea","lastName":"D","dateOfBirth":"2000-02-29"}`)
	if later := get("If-None-Match", tag).wants(t, 200); !strings.Contains(later.body, "DTSTART;VALUE=DATE:20000229\r\nRRULE:FREQ=YEARLY;BYYEARDAY=60\r\n") {
		t.Errorf("%s", later.body)
	}
	s.importPeople(t, "", csvOf(20)) // enough to be compressed
	plain, zipped := get(), get("Accept-Encoding", "gzip")
	if zipped.header.Get("Content-Encoding") != "gzip" || zipped.unzipped(t) != plain.body || zipped.tagOf(t, true) != plain.tagOf(t, true) {
		t.Errorf("%v", zipped.header)
	}
	for _, method := range []string{"PUT", "PROPFIND", "POST", "DELETE"} {
		if a := d.send(t, method, address, "").wants(t, 405); a.header.Get("Allow") != "OPTIONS, GET, HEAD" {
			t.Errorf("%s: %v", method, a.header)
		}
	}
}

// TestNoPhones checks that --no-phones removes the address book, and that the address book
// works without the office page.
func TestNoPhones(t *testing.T) {
	t.Parallel()
	s := start(t, "--no-phones")
	id := s.create(t, ana)
	for _, path := range []string{"/.well-known/carddav", davRoot, davBook, cardPath(id), birthdaysPath + s.key} {
		for _, method := range []string{"GET", "PROPFIND", "PUT"} {
			s.device(s.key).send(t, method, path, "", "Depth", "0").wants(t, 404)
		}
	}
	s.signIn(t, s.key, "en").get(t, "/office/phones").wants(t, 404)
	s.stop(t)
	again := startWith(t, s.db, "serve", "--db", s.db, "--no-office")
	d := again.device(s.key)
	d.send(t, "GET", cardPath(id), "").wants(t, 200)
	d.propfind(t, "/", "0", "<D:current-user-principal/>").one(t)
	d.send(t, "GET", "/office/", "").wants(t, 404)
}

// TestBookLimit checks that --rate-limit also applies to the address book, separately for
// each phone.
func TestBookLimit(t *testing.T) {
	t.Parallel()
	s := start(t, "--rate-limit", "1")
	d, other := s.device(newKey(t, s.db, "default", "--scope", "phone")), s.device(newKey(t, s.db, "default", "--scope", "phone"))
	eventually(t, "the rate limit", func() bool {
		a := d.send(t, "PROPFIND", davRoot, "", "Depth", "0")
		return a.status == 429 && a.problem(t).Code == "rate_limit"
	})
	other.propfind(t, davRoot, "0", "<D:current-user-principal/>").one(t)
}

// TestBookRevoked checks that access of a phone and its calendar ends when its key is revoked.
func TestBookRevoked(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	stdout, _ := works(t, "invite", "--phone", "--tenant", "default", "--name", "Ana's phone", "--birthdays", "--db", s.db)
	keys := keyForm.FindAllString(stdout, -1)
	if len(keys) < 2 {
		t.Fatalf("invite prints %d keys", len(keys))
	}
	phone, calendar := keys[0], keys[len(keys)-1]
	d, kept := s.device(phone), s.device(newKey(t, s.db, "default", "--scope", "phone"))
	token := d.sync(t, "", "<D:getetag/>", "").multistatus(t).Token
	d.send(t, "GET", birthdaysPath+calendar, "").wants(t, 200)
	works(t, "keys", "revoke", "2", "--db", s.db)
	eventually(t, "the phone to be refused", func() bool { return d.send(t, "GET", cardPath(id), "").status == 401 })
	for _, a := range []answer{d.send(t, "GET", cardPath(id), ""), d.send(t, "PROPFIND", davRoot, "", "Depth", "0"), d.sync(t, token, "<D:getetag/>", ""),
		s.device("").send(t, "GET", birthdaysPath+calendar, "")} {
		if p := a.wants(t, 401).problem(t); p.Code != "key_revoked" {
			t.Errorf("code %s", p.Code)
		}
	}
	for _, from := range []davClient{d, s.device("")} { // after a 401 to a write, an iPhone would stop all syncing
		if a := from.send(t, "PUT", cardPath(id), "").wants(t, 403); !strings.Contains(a.body, "<D:need-privileges>") {
			t.Errorf("a PUT returned %s", a.body)
		}
	}
	kept.send(t, "GET", cardPath(id), "").wants(t, 200)
}

// TestBookCharacters checks that a report returns the same card as GET for any characters in
// a name.
func TestBookCharacters(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := s.device(s.key)
	for name, want := range map[string]string{"a\\u2028b": "a\u2028b", "]]>&#0;<b": `]]>&#0\;<b`, `x;y,z\\n`: `x\;y\,z\\n`, "علی\\u200cرضا": "علی\u200cرضا"} {
		id := s.create(t, `{"firstName":"`+name+`","lastName":"B"}`)
		card := d.send(t, "GET", cardPath(id), "").wants(t, 200).body
		if !strings.Contains(card, "FN:"+want+" B\r\n") {
			t.Errorf("%q: %s", name, card)
		}
		if got, _ := d.multiget(t, cardPath(id)).one(t).find("address-data"); got.Text != card {
			t.Errorf("%q: a report returns %q, but GET %q", name, got.Text, card)
		}
	}
}
