package acceptance

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestProblems(t *testing.T) {
	t.Parallel()
	s := start(t)
	one := collection + "/" + s.create(t, ana)
	tests := []struct {
		name, method, path, key string
		status                  int
		allow                   string
	}{
		{"no such path", "GET", "/", s.key, 404, ""},
		{"no such path, no key", "GET", "/api/v1/firefighter", "", 404, ""},
		{"trailing slash", "GET", collection + "/", s.key, 404, ""},
		{"two slashes", "GET", "/" + collection, s.key, 404, ""},
		{"dots", "GET", "/api/v1/../v1/firefighters", s.key, 404, ""},
		{"other case", "GET", "/API/v1/Firefighters", s.key, 404, ""},
		{"below one", "GET", one + "/x", s.key, 404, ""},
		{"an escaped slash", "GET", strings.Replace(one, "firefighters/", "firefighters%2F", 1), s.key, 404, ""},
		{"other version", "POST", "/api/v2/firefighters", s.key, 404, ""},
		{"BREW one", "BREW", one, s.key, 405, "DELETE, GET, HEAD, OPTIONS, PATCH, PUT"},
		{"PUT all, no key", "PUT", collection, "", 405, "GET, HEAD, OPTIONS, POST"},
		{"odd method", "BREW", collection, s.key, 405, "GET, HEAD, OPTIONS, POST"},
		{"no key, bad body", "POST", collection, "", 401, ""},
		{"HEAD of no such record", "HEAD", collection + "/" + nobody, s.key, 404, ""},
		{"HEAD of no such path", "HEAD", "/x", s.key, 404, ""},
		{"OPTIONS", "OPTIONS", collection, "", 204, "GET, HEAD, OPTIONS, POST"},
		{"OPTIONS of one", "OPTIONS", collection + "/x", "", 204, "DELETE, GET, HEAD, OPTIONS, PATCH, PUT"},
		{"OPTIONS of a public path", "OPTIONS", "/healthz", "", 204, "GET, HEAD, OPTIONS"},
		{"OPTIONS of the root", "OPTIONS", "/", "", 204, "GET, HEAD, OPTIONS"},
		{"OPTIONS of the office", "OPTIONS", "/office", "", 204, "GET, HEAD, OPTIONS"},
		{"OPTIONS of no such path", "OPTIONS", collection + "/", "", 404, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := s.as(tt.key).do(t, tt.method, tt.path, "x").wants(t, tt.status)
			if got := sortedList(a.header.Get("Allow")); got != tt.allow {
				t.Errorf("Allow: %s", got)
			}
		})
	}
	if got := s.list(t, "").TotalCount; got != 1 {
		t.Errorf("%d records, want 1", got)
	}
}

// TestHelpfulDetails checks that the detail of an error says what to change in the request.
func TestHelpfulDetails(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, tt := range []struct{ method, path, detail string }{
		{"GET", "/api/v1/firefighter", "This path does not exist. The page /docs lists all paths."},
		{"GET", collection + "//", "This path does not exist. The page /docs lists all paths."},
		{"POST", "/nothing/", "This path does not exist. The page /docs lists all paths."},
		{"GET", collection + "/", "This path does not exist. Remove the trailing slash."},
		{"POST", collection + "/", "This path does not exist. Remove the trailing slash."},
		{"PUT", collection + "/" + nobody + "/", "This path does not exist. Remove the trailing slash."},
		{"GET", "/docs/", "This path does not exist. Remove the trailing slash."},
		{"PUT", "/healthz", "Method not allowed. This path supports GET, HEAD, OPTIONS."},
		{"DELETE", "/dav/birthdays.ics", "Method not allowed. This path supports OPTIONS, GET, HEAD."},
	} {
		if got := s.do(t, tt.method, tt.path, "").problem(t).Detail; got != tt.detail {
			t.Errorf("%s %s: %s", tt.method, tt.path, got)
		}
	}
}

// sortedList sorts the list in a header whose order has no meaning.
func sortedList(header string) string {
	list := strings.Split(header, ", ")
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// sameHeaders compares all headers except Date.
func sameHeaders(t *testing.T, a, b answer) {
	t.Helper()
	x, y := maps.Clone(a.header), maps.Clone(b.header)
	x.Del("Date")
	y.Del("Date")
	if fmt.Sprint(x) != fmt.Sprint(y) {
		t.Errorf("headers %v and %v", x, y)
	}
}

// TestHead checks that HEAD returns the headers of GET on every route. It may omit a Content-Length
// that is expensive to determine.
func TestHead(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	s.do(t, "POST", importsPath+"?apply=true", "firstName,lastName\nEva,Horvat\n").wants(t, 201)
	paths := []string{"/openapi.json", "/docs", "/docs/swagger-ui-bundle.js", "/"}
	for _, r := range routes() {
		if r.method == http.MethodGet {
			paths = append(paths, strings.NewReplacer(":id", id, ":number", "1").Replace(r.path))
		}
	}
	for _, format := range []string{"xlsx", "vcf", "jsonl", "pdf"} {
		paths = append(paths, "/api/v1/export?format="+format)
	}
	for _, path := range append(paths, collection+"?page=0", collection+"/x", collection+"/"+nobody, "/api/v1/changes?after=x", "/x") {
		for _, encoding := range []string{"identity", "gzip"} {
			get, head := s.do(t, "GET", path, "", "X-Request-Id", "same", "Accept-Encoding", encoding), s.do(t, "HEAD", path, "", "X-Request-Id", "same", "Accept-Encoding", encoding)
			for name := range get.header {
				switch got := head.header[name]; {
				case slices.Equal(got, get.header[name]), name == "Date":
				case name == "Content-Length" && (got == nil || path == "/readyz"): // its figures change
				default:
					t.Errorf("%s, %s: HEAD has %s %q, GET %q", path, encoding, name, got, get.header[name])
				}
			}
			if head.status != get.status || head.body != "" {
				t.Errorf("%s: HEAD returns %d %q, GET returns %d", path, head.status, head.body, get.status)
			}
		}
	}
	s.as("").do(t, "HEAD", collection, "").wants(t, 401)
}

// TestRefusedBodies checks that a client that reads while it sends gets the error, although the
// service does not read the rest of the body.
func TestRefusedBodies(t *testing.T) {
	t.Parallel()
	s := start(t)
	large := strings.Repeat(" ", 8<<20)
	for _, tt := range []struct {
		client             client
		method, path, kind string
		status             int
	}{
		{s.client, "POST", collection, "application/json", 413},
		{s.client, "POST", collection, "text/plain", 415},
		{s.client, "PATCH", collection, "application/json", 405},
		{s.client, "POST", "/nowhere", "application/json", 404},
		{s.as("wrong"), "POST", collection, "application/json", 401},
	} {
		rawRequest(t, s.dial(t), fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
			tt.method, tt.path, tt.client.key, tt.kind, len(large), large)).wants(t, tt.status)
	}
}

// TestLastOfConnection checks that a request with a Transfer-Encoding ends its connection, so that
// the service never takes a part of a body, as a proxy may see it, for another request.
func TestLastOfConnection(t *testing.T) {
	t.Parallel()
	s := start(t)
	const next = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
	chunks := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(ana), ana)
	for _, tt := range []struct {
		headers, body string
		statuses      string
	}{
		{"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", chunks, "[201]"},
		{"Transfer-Encoding: chunked\r\nContent-Length: 1000\r\n", chunks, "[201]"},
		{"Transfer-Encoding: chunked\r\n", chunks, "[201]"},
		{"Transfer-Encoding: chunked\r\n", "0\r\n\r\n", "[400]"},
		{fmt.Sprintf("Content-Length: %d\r\n", len(ana)), ana, "[201 200]"},
	} {
		c := s.dial(t)
		io.WriteString(c, "POST "+collection+" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+s.key+"\r\n"+tt.headers+"\r\n"+tt.body+next)
		if tt.statuses == "[201 200]" { // the connection stays open
			c.(*net.TCPConn).CloseWrite()
		}
		var statuses []int
		for answers := bufio.NewReader(c); ; {
			response, err := http.ReadResponse(answers, nil)
			if err != nil {
				break
			}
			a, err := readAnswer(response)
			must(t, err)
			a.check(t, "POST")
			if statuses = append(statuses, a.status); response.Close != (len(tt.statuses) == 5) {
				t.Errorf("%q: Connection: close is %t", tt.headers, response.Close)
			}
		}
		if fmt.Sprint(statuses) != tt.statuses {
			t.Errorf("%q: statuses %v, want %s", tt.headers, statuses, tt.statuses)
		}
	}
}

// TestDeclaredBodies checks that a rejected body does not need to arrive if its client waits for the
// permission to send it, or if it is far too large.
func TestDeclaredBodies(t *testing.T) {
	t.Parallel()
	s := start(t)
	one := collection + "/" + s.create(t, ana)
	for _, tt := range []struct {
		method, path, key, headers string
		status                     int
	}{
		{"PUT", one, s.key, "Content-Length: 9223372036854775807\r\n", 413},
		{"POST", collection, "wrong", "Content-Length: 1048577\r\n", 401},
		{"POST", collection, s.key, "Content-Length: 65537\r\nExpect: 100-continue\r\n", 413},
		{"POST", collection, s.key, "Content-Length: 200000\r\nContent-Type: text/plain\r\nExpect: 100-continue\r\n", 415},
		{"POST", collection, "wrong", "Content-Length: 200000\r\nExpect: 100-continue\r\n", 401},
		{"POST", "/nothing", s.key, "Content-Length: 200000\r\nExpect: 100-continue\r\n", 404},
		{"GET", one, s.key, "Content-Length: 200000\r\n", 200},
	} {
		c := s.dial(t)
		fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n", tt.method, tt.path, tt.key, tt.headers)
		all, err := io.ReadAll(c)
		if text := string(all); err != nil || !strings.HasPrefix(text, fmt.Sprintf("HTTP/1.1 %d ", tt.status)) ||
			!strings.Contains(text, "\r\nConnection: close\r\n") || strings.Count(text, "HTTP/1.1") != 1 {
			t.Errorf("%s %s: %v\n%s", tt.method, tt.path, err, text)
		}
	}
}

// TestRefusedWhileSending checks that a client that sends its whole request before it reads, as nginx
// does, gets the error. Like nginx, it wants the connection closed after the response.
func TestRefusedWhileSending(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, tt := range []struct {
		client       client
		path, kind   string
		size, status int
	}{
		{s.as("wrong"), importsPath, "text/csv", 1 << 20, 401},
		{s.client, importsPath, "text/csv", 12_000_000, 413},
		{s.client, collection, "application/json", 12_000_000, 413},
		{s.client, collection, "text/plain", 12_000_000, 415},
	} {
		body := strings.Repeat(" ", tt.size)
		for _, coded := range []string{
			fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body),
			fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body),
		} {
			c := s.dial(t)
			_, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\n%s",
				tt.path, tt.client.key, tt.kind, coded)
			must(t, err)
			response, err := http.ReadResponse(bufio.NewReader(c), nil)
			must(t, err)
			a, err := readAnswer(response)
			must(t, err)
			a.wants(t, tt.status)
		}
	}
}

// unzipped returns the uncompressed body of an answer.
func (a answer) unzipped(t *testing.T) string {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(a.body))
	must(t, err)
	text, err := io.ReadAll(r)
	must(t, err)
	return string(text)
}

func TestCompression(t *testing.T) {
	t.Parallel()
	s := startInvented(t, 25)
	get := func(path, accept string) answer {
		return s.do(t, "GET", path, "", "X-Request-Id", "same", "Accept-Encoding", accept).wants(t, 200)
	}
	everyone := collection + "?pageSize=100" // a link to a next page would change each time
	plain := get(everyone, "")
	if plain.header.Get("Content-Encoding") != "" || plain.header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("without Accept-Encoding: %v", plain.header)
	}
	for _, accept := range []string{"identity;q=0, br", "gzip;q=0"} {
		if a := get(everyone, accept); a.body != plain.body {
			t.Errorf("%s: the body differs: %s", accept, a.body)
		}
	}
	for _, accept := range []string{"gzip", "deflate, gzip;q=0.5, br"} {
		a := get(everyone, accept)
		if a.header.Get("Content-Encoding") != "gzip" || len(a.body) > len(plain.body)/2 || a.unzipped(t) != plain.body ||
			a.header.Get("Content-Length") != strconv.Itoa(len(a.body)) {
			t.Errorf("%v, %d bytes of %d", a.header, len(a.body), len(plain.body))
		}
		a.header.Del("Content-Encoding")
		a.header.Set("Content-Length", plain.header.Get("Content-Length"))
		sameHeaders(t, a, plain)
	}
	// Small answers, single records and errors are not compressed.
	id := s.list(t, "").Data.Items[0].ID
	for path, vary := range map[string]string{collection + "?search=nothing": "Accept-Encoding", collection + "/" + id: "", whoamiPath: "", "/healthz": ""} {
		a, plain := get(path, "gzip"), get(path, "")
		if sameHeaders(t, a, plain); a.header.Get("Content-Encoding") != "" || a.body != plain.body || a.header.Get("Vary") != vary {
			t.Errorf("%s: %v", path, a.header)
		}
	}
}

// These tests cover the statuses of operations that have no separate test. holdAgainstDocument checks
// the answers.

// request is a request with the status of its answer.
type request struct {
	status             int
	method, path, body string
	headers            []string
}

func (c client) sendAll(t *testing.T, requests []request) {
	t.Helper()
	for _, r := range requests {
		if a := c.do(t, r.method, r.path, r.body, r.headers...); a.status != r.status {
			t.Errorf("%s %s %q: status %d, want %d: %s", r.method, r.path, r.headers, a.status, r.status, a.body)
		}
	}
}

// operations are valid requests for all operations. A record is at /:id.
var operations = []request{
	{200, "GET", collection, "", nil},
	{201, "POST", collection, ana, nil},
	{200, "GET", collection + "/:id", "", nil},
	{200, "PUT", collection + "/:id", ana, nil},
	{200, "PATCH", collection + "/:id", `{"email":null}`, nil},
	{200, "GET", "/api/v1/changes", "", nil},
	{200, "GET", "/api/v1/export", "", nil},
	{201, "POST", importsPath + "?apply=true", csvOf(2), nil},
	{200, "GET", importsPath, "", nil},
	{200, "GET", importsPath + "/1", "", nil},
	{200, "DELETE", importsPath + "/1", "", nil},
	{200, "GET", "/api/v1/whoami", "", nil},
	{200, "GET", "/api/v1/openapi.json", "", nil},
	{200, "GET", "/api/v1/openapi.yaml", "", nil},
	{200, "GET", "/healthz", "", nil},
	{200, "GET", "/readyz", "", nil},
	{204, "DELETE", collection + "/:id", "", nil},
}

// on returns all operations on a record with further headers, and with another expected status unless
// status is 0.
func on(id string, status int, headers ...string) []request {
	list := slices.Clone(operations)
	for i, r := range list {
		list[i].path, list[i].headers = strings.ReplaceAll(r.path, ":id", id), headers
		if status != 0 {
			list[i].status = status
		}
	}
	return list
}

// keyed returns the operations that need a key.
func keyed(all []request) []request {
	return slices.DeleteFunc(all, func(r request) bool {
		return !strings.HasPrefix(r.path, "/api/") || strings.Contains(r.path, "openapi")
	})
}

// TestEveryOperation checks the answers that every operation can return.
func TestEveryOperation(t *testing.T) {
	t.Parallel()
	s := startOpen(t)
	id := s.create(t, ana)
	s.sendAll(t, on(id, 421, "Host", "evil.example"))
	var running sync.WaitGroup // net/http needs half a second for each of these
	for _, r := range append(on(id, 431, "X-Large", strings.Repeat("x", 80<<10)), request{431, "GET", collection + longQuery(80<<10), "", nil}) {
		running.Go(func() { s.sendAll(t, []request{r}) })
	}
	running.Wait()
	s.as("").sendAll(t, keyed(on(id, 401)))
	for _, r := range on(id, 405) {
		s.do(t, "BREW", r.path, r.body, "Origin", roster).wants(t, 405)
	}
	s.sendAll(t, on(id, 0, "Origin", roster, "X-Request-Id", "mine", "Accept-Encoding", "gzip"))
}

// TestConditionsOfOperations checks the answers to If-Match and If-None-Match.
func TestConditionsOfOperations(t *testing.T) {
	t.Parallel()
	s := startOpen(t)
	for range 20 {
		s.create(t, ana)
	}
	id := s.create(t, ana)
	one, page, document := collection+"/"+id, collection, "/api/v1/openapi.json"
	for _, path := range []string{one, page, document, "/api/v1/openapi.yaml"} {
		whole := s.do(t, "GET", path, "", "Accept-Encoding", "gzip").wants(t, 200)
		etag := whole.header.Get("ETag")
		if gzipped := whole.header.Get("Content-Encoding") == "gzip"; gzipped != (path != one) {
			t.Errorf("%s: gzip is %t", path, gzipped)
		}
		s.sendAll(t, []request{
			{304, "GET", path, "", []string{"If-None-Match", `"x", ` + etag}},
			{304, "HEAD", path, "", []string{"If-None-Match", "*"}},
			{200, "GET", path, "", []string{"If-None-Match", `"x"`}},
			{400, "GET", path, "", []string{"If-None-Match", "x"}},
		})
	}
	s.sendAll(t, []request{
		{200, "GET", one, "", []string{"If-Match", "*"}},
		{412, "GET", one, "", []string{"If-Match", `"x", W/"y"`}},
		{400, "GET", one, "", []string{"If-Match", "x"}},
		{200, "GET", page, "", []string{"If-Match", "x"}},
		{200, "GET", document, "", []string{"If-Match", `"x"`}},
	})
	etag := s.do(t, "GET", one, "").header.Get("ETag")
	s.sendAll(t, []request{
		{412, "PUT", one, ana, []string{"If-Match", `"x"`}},
		{412, "DELETE", one, "", []string{"If-None-Match", "*"}},
		{400, "DELETE", one, "", []string{"If-None-Match", "x"}},
		{200, "PUT", one, ana, []string{"If-Match", etag, "If-None-Match", `"x"`, "X-Request-Id", "mine"}},
		{413, "PUT", one, largeBody(maxBody + 1), nil},
		{404, "DELETE", collection + "/" + nobody, "", []string{"If-None-Match", `"x"`}},
		{204, "DELETE", one, "", []string{"If-Match", etag, "If-None-Match", `"x"`, "X-Request-Id", "mine"}},
	})
}

// TestRateLimitOfEach checks that the rate limit applies to each operation that needs a key and to no
// other.
func TestRateLimitOfEach(t *testing.T) {
	t.Parallel()
	s := start(t, "--rate-limit", "1")
	for _, r := range keyed(on(nobody, 0)) { // a few requests succeed as time passes
		eventually(t, "the rate limit", func() bool { return s.do(t, r.method, r.path, r.body, r.headers...).status == 429 })
	}
	for _, path := range []string{"/healthz", "/readyz", "/nowhere"} {
		if got := s.do(t, "GET", path, "").header.Get("RateLimit"); got != "" {
			t.Errorf("%s has the rate limit %s", path, got)
		}
	}
}

// TestFailuresOfEach checks that a damaged schema is an internal error.
func TestFailuresOfEach(t *testing.T) {
	t.Parallel()
	s := startOpen(t)
	s.mayFail = true
	id := s.create(t, ana)
	execSQL(t, s.db, `UPDATE firefighters SET last_name = 'X'; ALTER TABLE changes RENAME COLUMN action TO deed; ALTER TABLE imports RENAME COLUMN number TO nr`)
	for _, event := range []string{"INSERT", "UPDATE"} {
		execSQL(t, s.db, fmt.Sprintf(`CREATE TRIGGER fails_%s BEFORE %s ON firefighters BEGIN SELECT RAISE(ABORT, 'no'); END`, event, event))
	}
	execSQL(t, s.db, `ALTER TABLE tenants RENAME COLUMN name TO title`)
	for _, r := range keyed(on(id, 500)) {
		if r.method != "GET" || !strings.HasPrefix(r.path, collection) {
			s.sendAll(t, []request{r})
		}
	}
}

// TestDocument checks that a 404 links to the document, which needs no key.
func TestDocument(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/", "/api/v1/", "/api/v1"} {
		link := s.as("").do(t, "GET", path, "").wants(t, 404).header.Get("Link")
		target, ok := strings.CutSuffix(link, `>; rel="service-desc"; type="application/json"`)
		a := s.as("").do(t, "GET", strings.TrimPrefix(target, "<"), "").wants(t, 200)
		if !ok || a.body != string(openAPIJSON()) || a.header.Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("the Link of %s is %q: %v", path, link, a.header)
		}
	}
	a := s.as("").do(t, "GET", "/api/v1/openapi.yaml", "").wants(t, 200)
	if a.body != string(openAPIYAML()) || a.header.Get("Content-Type") != "application/yaml" {
		t.Errorf("%v", a.header)
	}
}
