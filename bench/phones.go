package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/people/demo"
)

const (
	davBook    = "/dav/books/people/"
	namespaces = ` xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav" xmlns:CS="http://calendarserver.org/ns/"`
	cards      = "<D:getetag/><C:address-data/>"
	tags       = "<D:getetag/>"
	ctag       = "<D:sync-token/><CS:getctag/>"
	// editedPeople are changed before the sync that brings the changes.
	editedPeople = 100
	// phonesAtOnce sync for the first time at once.
	phonesAtOnce = 8
	searchedName = "ov"
)

// phone is a client of the address book of the largest department.
type phone struct {
	at       *process
	key      string
	calendar string // key of the calendar
	people   int
	born     int // people with a date of birth
	named    int // people with searchedName in their names
}

// ask returns a request about the book.
func (p phone) ask(method, depth, body string) *http.Request {
	r, err := http.NewRequest(method, "http://"+p.at.address+davBook, strings.NewReader(body))
	if err != nil {
		panic(err) // the address is one
	}
	r.SetBasicAuth("phone", p.key)
	r.Header.Set("Depth", depth)
	r.Header.Set("Content-Type", "application/xml; charset=utf-8")
	return r
}

func (p phone) propfind(depth, props string) *http.Request {
	return p.ask("PROPFIND", depth, "<D:propfind"+namespaces+"><D:prop>"+props+"</D:prop></D:propfind>")
}

func (p phone) sync(token, props string) *http.Request {
	return p.ask("REPORT", "1", "<D:sync-collection"+namespaces+"><D:sync-token>"+token+"</D:sync-token><D:sync-level>1</D:sync-level><D:prop>"+
		props+"</D:prop></D:sync-collection>")
}

func (p phone) multiget(hrefs []string) *http.Request {
	return p.ask("REPORT", "1", "<C:addressbook-multiget"+namespaces+"><D:prop>"+cards+"</D:prop><D:href>"+
		strings.Join(hrefs, "</D:href><D:href>")+"</D:href></C:addressbook-multiget>")
}

// query asks for those who have a text in their name.
func (p phone) query(text string) *http.Request {
	return p.ask("REPORT", "1", "<C:addressbook-query"+namespaces+"><D:prop>"+cards+`</D:prop><C:filter><C:prop-filter name="FN"><C:text-match>`+
		html.EscapeString(text)+"</C:text-match></C:prop-filter></C:filter></C:addressbook-query>")
}

// send returns the body of an answer that must have a status, and a text so many times.
func send(r *http.Request, status int, text string, times int) ([]byte, error) {
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if found := bytes.Count(body, []byte(text)); err == nil && (response.StatusCode != status || found != times) {
		err = fmt.Errorf("%s %s: status %d with %q %d times, not %d", r.Method, r.URL.Path, response.StatusCode, text, found, times)
	}
	return body, err
}

// nameForm finds who has searchedName in the name. In XML a line of a card ends by "&#xD;".
var (
	nameForm  = regexp.MustCompile(`(?i);FN:(?:[^&]|&[^#]|&#[^x])*` + searchedName)
	hrefForm  = regexp.MustCompile(`<D:href>(/dav/books/people/([^<]*)\.vcf)</D:href>`)
	tokenForm = regexp.MustCompile(`<D:sync-token>([^<]+)</D:sync-token>`)
)

// hrefs returns the addresses of the cards in an answer.
func hrefs(answer []byte) (all []string) {
	for _, found := range hrefForm.FindAllSubmatch(answer, -1) {
		all = append(all, string(found[1]))
	}
	return all
}

// syncAtOnce is the first sync of a client that gets all cards in one answer.
func (p phone) syncAtOnce() (size int, err error) {
	answer, err := send(p.sync("", cards), 207, "BEGIN:VCARD", p.people)
	return len(answer), err
}

// syncInSteps is the first sync of a client that gets the entity tags, and then so many
// cards at a time. 0 is all cards.
func (p phone) syncInSteps(list *http.Request, step int) (size int, err error) {
	answer, err := send(list, 207, ".vcf</D:href>", p.people)
	if err != nil {
		return 0, err
	}
	size = len(answer)
	all := hrefs(answer)
	if step == 0 {
		step = len(all)
	}
	for some := range slices.Chunk(all, step) {
		answer, err := send(p.multiget(some), 207, "BEGIN:VCARD", len(some))
		if err != nil {
			return 0, err
		}
		size += len(answer)
	}
	return size, nil
}

// phones measures the address book and the calendar of the largest department.
func (b *bench) phones() error {
	p, err := b.newPhone()
	if err != nil {
		return err
	}
	for _, measure := range []func(phone) error{b.firstSyncs, b.wholeBooks, b.laterSync, b.manyPhones, b.secondLooks} {
		if err := measure(p); err != nil {
			return err
		}
	}
	return nil
}

// newPhone makes the keys of a phone with birthdays, and looks at the book.
func (b *bench) newPhone() (p phone, err error) {
	p.at = b.service
	tenant := demo.Department(int(b.country.large.id - 1))
	if p.key, err = b.newKey(tenant, b.country.path, "--scope", "phone", "--birthdays"); err != nil {
		return p, err
	}
	if p.calendar, err = b.newKey(tenant, b.country.path, "--scope", "calendar"); err != nil {
		return p, err
	}
	book, err := send(p.sync("", cards), 207, "<D:sync-token>", 1)
	p.people, p.born = bytes.Count(book, []byte("BEGIN:VCARD")), bytes.Count(book, []byte(";BDAY"))
	p.named = len(nameForm.FindAllIndex(book, -1))
	return p, err
}

// took returns how long work takes, with the size of what it got.
func (b *bench) took(name string, work func() (size int, err error)) (finding, error) {
	var all []float64
	size := 0
	before := b.service.cpu()
	for range b.rounds {
		began := time.Now()
		n, err := work()
		if err != nil {
			return finding{}, fmt.Errorf("%s: %w", name, err)
		}
		size = n
		all = append(all, float64(time.Since(began).Microseconds())/1000)
	}
	used := (b.service.cpu() - before) / time.Duration(b.rounds)
	return finding{name, median(all), fmt.Sprintf("%.1f MB, CPU time of the server %d ms", float64(size)/megabyte, used.Milliseconds())}, nil
}

// timed is work with a name.
type timed struct {
	name string
	work func() (size int, err error)
}

// addTimes adds the line of a goal in milliseconds.
func (b *bench) addTimes(work string, limit float64, all ...timed) error {
	var findings []finding
	for _, w := range all {
		f, err := b.took(w.name, w.work)
		if err != nil {
			return err
		}
		findings = append(findings, f)
	}
	b.table.add(work, atMost(limit, "ms"), findings...)
	return nil
}

func (b *bench) firstSyncs(p phone) error {
	return b.addTimes("first sync of 17,000 people", 10_000,
		timed{"sync-collection with all cards", p.syncAtOnce},
		timed{"sync-collection, then 100 cards at a time", func() (int, error) { return p.syncInSteps(p.sync("", tags), 100) }},
		timed{"sync-collection, then 30 cards at a time", func() (int, error) { return p.syncInSteps(p.sync("", tags), 30) }},
		timed{"PROPFIND, then all cards at once", func() (int, error) { return p.syncInSteps(p.propfind("1", tags), 0) }})
}

// newest returns the token of a copy that has everything.
func (p phone) newest() (string, error) {
	answer, err := send(p.propfind("0", ctag), 207, "<CS:getctag>", 1)
	if err != nil {
		return "", err
	}
	return string(tokenForm.FindSubmatch(answer)[1]), nil
}

// raw returns a request as a client of the load generator sends it.
func raw(r *http.Request, want string) request {
	body, _ := io.ReadAll(r.Body) // from memory
	user, key, _ := r.BasicAuth()
	bytes := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic %s\r\nDepth: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		r.Method, r.URL.Path, base64.StdEncoding.EncodeToString([]byte(user+":"+key)), r.Header.Get("Depth"), r.Header.Get("Content-Type"), len(body), body)
	return request{bytes, 207, []byte(want)}
}

// secondLooks measures how a client learns that nothing has changed: the size of one
// request and of its answer, and how many the service answers beside a list.
func (b *bench) secondLooks(p phone) error {
	token, err := p.newest()
	if err != nil {
		return err
	}
	lists := reading(b.service, b.country.lists(""))
	var sizes, rates []finding
	for _, look := range []struct {
		name string
		request
	}{
		{"getctag", raw(p.propfind("0", ctag), token)},
		{"sync-collection", raw(p.sync(token, cards), token)},
	} {
		answer, err := fetch(b.service, look.request)
		if err != nil {
			return err
		}
		sizes = append(sizes, finding{look.name, float64(len(look.bytes) + len(answer)), fmt.Sprintf("%d sent, %d received without headers", len(look.bytes), len(answer))})
		c, err := b.compare(b.round/2, reading(b.service, &supply{requests: []request{look.request}}), lists)
		if err != nil {
			return err
		}
		rates = append(rates, c.rates(look.name, 0, 1))
	}
	b.table.add("a phone looks again, nothing has changed", atMost(2000, "bytes"), sizes...)
	b.table.add("that look : list of 20, department of 40", atLeast(0.5), rates...)
	return nil
}

// laterSync measures the sync after some people were changed.
func (b *bench) laterSync(p phone) error {
	list, err := send(p.propfind("1", tags), 207, ".vcf</D:href>", p.people)
	if err != nil {
		return err
	}
	edited := hrefForm.FindAllSubmatch(list, editedPeople)
	token, err := p.newest()
	if err != nil {
		return err
	}
	for _, found := range edited {
		who := person{b.country.large, string(found[2])}
		if _, err := fetch(b.service, who.replace(body(b.country.random, who.department))); err != nil {
			return err
		}
	}
	return b.addTimes("sync after 100 of 17,000 people were changed", 100, timed{"", func() (int, error) {
		answer, err := send(p.sync(token, cards), 207, "BEGIN:VCARD", len(edited))
		return len(answer), err
	}})
}

// wholeBooks measures the other requests that go through all people.
func (b *bench) wholeBooks(p phone) error {
	return b.addTimes("all of 17,000 people gone through", 2000,
		timed{"entity tags by PROPFIND", func() (int, error) {
			answer, err := send(p.propfind("1", tags), 207, ".vcf</D:href>", p.people)
			return len(answer), err
		}},
		timed{"search for a name", func() (int, error) {
			answer, err := send(p.query(searchedName), 207, "BEGIN:VCARD", p.named)
			return len(answer), err
		}},
		timed{"calendar of birthdays", func() (int, error) {
			r, err := http.NewRequestWithContext(b.ctx, "GET", "http://"+p.at.address+"/dav/birthdays.ics?key="+p.calendar, nil)
			if err != nil {
				return 0, err
			}
			answer, err := send(r, 200, "BEGIN:VEVENT", p.born)
			return len(answer), err
		}})
}

// manyPhones measures the memory of a service of two departments of 17,000 while phones of
// both sync for the first time. The country alone takes most of what a service may have.
func (b *bench) manyPhones(phone) error {
	path := filepath.Join(b.folder, "phones.db")
	if _, err := b.invent(path, 2, 2*imported); err != nil {
		return err
	}
	var keys []string
	for n := range 2 {
		key, err := b.newKey(demo.Department(n), path, "--scope", "phone")
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	at, err := start(b.ctx, b.program, "serve", "--db", path, "--listen", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer at.stop()
	began, done := time.Now(), make(chan error, phonesAtOnce)
	for n := range phonesAtOnce {
		go func() {
			_, err := send(phone{at: at, key: keys[n%2]}.sync("", cards), 207, "<D:sync-token>", 1)
			done <- err
		}()
	}
	for range phonesAtOnce {
		if err := <-done; err != nil {
			return err
		}
	}
	figures := fmt.Sprintf("VmHWM; all had synced after %.1f s", time.Since(began).Seconds())
	b.table.add("memory while 8 phones sync at once, two departments of 17,000", atMost(150, "MB"),
		finding{"", float64(at.memory("VmHWM")) / megabyte, figures})
	return nil
}
