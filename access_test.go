package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestProblems(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	one := collection + "/" + id
	reader := newKey(t, s.db, "default", "--scope", "read")
	tests := []struct {
		name, method, path, key, body string
		status                        int
		allow                         string
	}{
		{"no such path", "GET", "/", s.key, "", 404, ""},
		{"no such path, no key", "GET", "/api/v1/firefighter", "", "", 404, ""},
		{"trailing slash", "GET", collection + "/", s.key, "", 404, ""},
		{"trailing slash on one", "GET", one + "/", s.key, "", 404, ""},
		{"two slashes", "GET", "/" + collection, s.key, "", 404, ""},
		{"dots", "GET", "/api/v1/../v1/firefighters", s.key, "", 404, ""},
		{"other case", "GET", "/API/v1/Firefighters", s.key, "", 404, ""},
		{"below one", "GET", one + "/x", s.key, "", 404, ""},
		{"other version", "POST", "/api/v2/firefighters", s.key, ana, 404, ""},
		{"PATCH", "PATCH", one, s.key, ana, 405, "DELETE, GET, HEAD, OPTIONS, PUT"},
		{"POST to one", "POST", one, s.key, ana, 405, "DELETE, GET, HEAD, OPTIONS, PUT"},
		{"DELETE all", "DELETE", collection, s.key, "", 405, "GET, HEAD, OPTIONS, POST"},
		{"PUT all, no key", "PUT", collection, "", ana, 405, "GET, HEAD, OPTIONS, POST"},
		{"odd method", "BREW", collection, s.key, "", 405, "GET, HEAD, OPTIONS, POST"},
		{"may only read", "POST", collection, reader, ana, 403, ""},
		{"may only read one", "PUT", one, reader, ana, 403, ""},
		{"may only read what is not there", "DELETE", collection + "/" + nobody, reader, "", 403, ""},
		{"may only read, bad body", "PUT", collection + "/" + nobody, reader, "x", 403, ""},
		{"no key, bad body", "POST", collection, "", "x", 401, ""},
		{"no such record", "GET", collection + "/" + nobody, reader, "", 404, ""},
		{"HEAD of no such record", "HEAD", collection + "/" + nobody, s.key, "", 404, ""},
		{"HEAD of no such path", "HEAD", "/x", s.key, "", 404, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := s.as(tt.key).do(t, tt.method, tt.path, tt.body).wants(t, tt.status)
			if got := sortedList(a.header.Get("Allow")); got != tt.allow {
				t.Errorf("Allow: %s", got)
			}
		})
	}
	if got := s.list(t, "").TotalCount; got != 1 {
		t.Errorf("%d records, not 1", got)
	}
}

// sortedList sorts a header's list, whose order says nothing.
func sortedList(header string) string {
	list := strings.Split(header, ", ")
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// TestUnauthorized covers the four refusals, each with its own detail.
func TestUnauthorized(t *testing.T) {
	t.Parallel()
	s := start(t)
	expired := newKey(t, s.db, "default", "--expires", "2000-01-31")
	revoked := newKey(t, s.db, "default")
	if code, _, errs := command(t, "keys", "revoke", "3", "--db", s.db); code != 0 {
		t.Fatal(errs)
	}
	s.as(revoked).refused(t, "revoked")
	mistyped := s.key[:20] + swapCase(s.key[20:])
	unnamed, invalid := `Bearer realm="firefighters"`, `Bearer realm="firefighters", error="invalid_token"`
	tests := []struct{ name, header, kind, challenge string }{
		{"none", "", "missing", unnamed},
		{"no key", "Bearer", "missing", unnamed},
		{"blank key", "Bearer  ", "missing", unnamed},
		{"other scheme", "Basic " + s.key, "missing", unnamed},
		{"no scheme", s.key, "missing", unnamed},
		{"two keys", "Bearer " + s.key + " " + s.key, "missing", unnamed},
		{"a list", "Bearer " + s.key + ", Bearer " + s.key, "missing", unnamed},
		{"unknown", "Bearer secret", "unknown", invalid},
		{"mistyped", "Bearer " + mistyped, "unknown", invalid},
		{"revoked", "Bearer " + revoked, "revoked", invalid},
		{"expired", "bearer " + expired, "expired", invalid},
	}
	details := map[string]string{}
	for _, tt := range tests {
		a := s.as("").do(t, "GET", collection, "", "Authorization", tt.header).wants(t, 401)
		if got := a.header.Values("WWW-Authenticate"); len(got) != 1 || got[0] != tt.challenge {
			t.Errorf("%s: WWW-Authenticate: %q", tt.name, got)
		}
		detail := a.problem(t).Detail
		if known, ok := details[tt.kind]; ok && known != detail {
			t.Errorf("%s: %q, but the same refusal was %q", tt.name, detail, known)
		}
		details[tt.kind] = detail
	}
	if kinds := slices.Sorted(maps.Values(details)); len(slices.Compact(kinds)) != 4 {
		t.Errorf("not four different details: %q", kinds)
	}
	two := []string{"Authorization", "Bearer " + s.key, "Authorization", "Bearer " + s.key}
	s.as("").do(t, "GET", collection, "", two...).wants(t, 401)
	s.as("").do(t, "GET", collection+"?api_key="+s.key+"&access_token="+s.key, "", "Cookie", "Authorization="+s.key).wants(t, 401)
	for _, scheme := range []string{"Bearer ", "bearer ", "BEARER  "} {
		s.as("").do(t, "GET", collection, "", "Authorization", scheme+s.key).wants(t, 200)
	}
}

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, s)
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	s := start(t)
	seen := map[string]bool{}
	for range 3 {
		id := s.do(t, "GET", collection+"/"+nobody, "").problem(t).RequestID
		if seen[id] {
			t.Errorf("%q again", id)
		}
		seen[id] = true
	}
	for _, id := range []string{"abc-123_DEF.4", "7", uuid.NewString()} {
		if got := s.do(t, "GET", collection, "", "X-Request-Id", id).header.Get("X-Request-Id"); got != id {
			t.Errorf("%q became %q", id, got)
		}
	}
	for _, id := range []string{"", "a b", "a\tb", "<script>", "é", `"`, strings.Repeat("x", 10000)} {
		if got := s.do(t, "GET", "/x", "", "X-Request-Id", id).header.Get("X-Request-Id"); got == id || got == "" {
			t.Errorf("%q became %q", id, got)
		}
	}
}

// TestNotFoundAlike compares the answers for a record that never was, one that
// is deleted and one of another department, to the byte.
func TestNotFoundAlike(t *testing.T) {
	t.Parallel()
	s := start(t)
	deleted, theirs := s.create(t, ana), s.as(newKey(t, s.db, "other")).create(t, ana)
	s.do(t, "DELETE", collection+"/"+deleted, "").wants(t, 204)
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE"} {
		t.Run(method, func(t *testing.T) {
			answers := map[string]bool{}
			for _, id := range []string{nobody, deleted, theirs, strings.ToUpper(theirs)} {
				a := s.do(t, method, collection+"/"+id, ana, "X-Request-Id", "same").wants(t, 404)
				a.header.Del("Date")
				whole := fmt.Sprint(a.header, a.body)
				answers[strings.ReplaceAll(strings.ReplaceAll(whole, id, "ID"), strings.ToLower(id), "ID")] = true
			}
			if len(answers) != 1 {
				t.Errorf("not alike: %q", slices.Collect(maps.Keys(answers)))
			}
		})
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	for _, path := range []string{collection, collection + "?page=0", collection + "/" + id, collection + "/" + nobody,
		collection + "/x", "/api/v1/whoami", "/api/v1/openapi.json", "/healthz", "/readyz", "/x"} {
		get := s.do(t, "GET", path, "", "X-Request-Id", "same")
		head := s.do(t, "HEAD", path, "", "X-Request-Id", "same")
		get.header.Del("Date")
		head.header.Del("Date")
		if get.status != head.status || fmt.Sprint(get.header) != fmt.Sprint(head.header) {
			t.Errorf("%s: GET %d %v, HEAD %d %v", path, get.status, get.header, head.status, head.header)
		}
	}
	s.as("").do(t, "HEAD", collection, "").wants(t, 401)
}

func TestOptions(t *testing.T) {
	t.Parallel()
	s := start(t)
	tests := []struct{ path, allow string }{
		{collection, "GET, HEAD, OPTIONS, POST"},
		{collection + "/" + nobody, "DELETE, GET, HEAD, OPTIONS, PUT"},
		{collection + "/x", "DELETE, GET, HEAD, OPTIONS, PUT"},
		{"/healthz", "GET, HEAD, OPTIONS"},
	}
	for _, tt := range tests {
		a := s.as("").do(t, "OPTIONS", tt.path, "").wants(t, 204)
		if got := sortedList(a.header.Get("Allow")); got != tt.allow || a.body != "" {
			t.Errorf("%s: Allow: %s, body %q", tt.path, got, a.body)
		}
	}
	s.as("").do(t, "OPTIONS", collection+"/", "").wants(t, 404)
}

func TestHeadersTooLarge(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.do(t, "GET", collection, "", "X-Large", strings.Repeat("x", 60<<10)).wants(t, 200)
	for _, c := range []client{s.client, s.as("")} {
		c.do(t, "GET", collection, "", "X-Large", strings.Repeat("x", 65<<10)).wants(t, 431)
	}
	many := slices.Repeat([]string{"X-Many", strings.Repeat("x", 1000)}, 70)
	s.do(t, "GET", "/x", "", many...).wants(t, 431)
}

// TestProtocolErrors: what net/http refuses without asking us is a problem too.
func TestProtocolErrors(t *testing.T) {
	t.Parallel()
	s := start(t)
	const host = "Host: localhost\r\n"
	tests := []struct {
		request string
		status  int
	}{
		{"nonsense\r\n\r\n", 400},
		{"GET /%zz HTTP/1.1\r\n" + host + "\r\n", 400},
		{"GET / HTTP/1.1\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\n" + host + "no colon\r\n\r\n", 400},
		{"GET / HTTP/3.0\r\n" + host + "\r\n", 400},
		{"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\n" + host + "Content-Length: x\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\n" + host + "Expect: wonders\r\n\r\n", 417},
		{"POST / HTTP/1.0\r\n" + host + "Expect: wonders\r\n\r\n", 417},
		{"GET / HTTP/1.1\r\n" + host + "X: " + strings.Repeat("x", 2<<20) + "\r\n\r\n", 431},
	}
	for _, tt := range tests {
		t.Run(strings.TrimSpace(tt.request[:min(len(tt.request), 60)]), func(t *testing.T) {
			rawRequest(t, s.dial(t), tt.request).wants(t, tt.status)
		})
	}
}

// dial connects to the service, and sees to it that no test hangs.
func (s *service) dial(t *testing.T) net.Conn {
	t.Helper()
	_, address, _ := strings.Cut(s.url, "://")
	c, err := net.Dial("tcp", address)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	must(t, c.SetDeadline(time.Now().Add(patience)))
	return c
}

// rawRequest sends a request, to the byte, and checks of the answer what holds
// for all.
func rawRequest(t *testing.T, c net.Conn, request string) answer {
	t.Helper()
	go io.WriteString(c, request)
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	must(t, err)
	text, err := io.ReadAll(response.Body)
	must(t, err)
	a := answer{response.StatusCode, response.Header, string(text)}
	a.check(t, "GET")
	a.checkSecurity(t)
	return a
}

// TestRefusedBodies: a client that sends before it listens hears why it was
// refused, however much it sends.
func TestRefusedBodies(t *testing.T) {
	t.Parallel()
	s := start(t)
	large := strings.Repeat(" ", 20<<20)
	for _, tt := range []struct {
		client             client
		method, path, kind string
		status             int
	}{
		{s.client, "POST", collection, "application/json", 413},
		{s.client, "POST", collection, "text/plain", 415},
		{s.client, "PATCH", collection, "application/json", 405},
		{s.client, "PUT", collection + "/x", "application/json", 400},
		{s.client, "POST", "/nowhere", "application/json", 404},
		{s.as("wrong"), "POST", collection, "application/json", 401},
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		must(t, err)
		_, err = fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
			tt.method, tt.path, tt.client.key, tt.kind, len(large), large)
		must(t, err)
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		must(t, err)
		if response.StatusCode != tt.status {
			t.Errorf("%s %s: %d, not %d", tt.method, tt.path, response.StatusCode, tt.status)
		}
		c.Close()
	}
}

// credentials are the columns of the access matrix.
var credentials = []string{"none", "malformed", "unknown", "mistyped", "revoked", "expired", "read", "other", "right"}

// locked are the answers to the first six of credentials, everywhere but on
// the public routes.
var locked = []int{401, 401, 401, 401, 401, 401}

// accessMatrix says what each route answers to each of credentials. A route
// that is not in it fails the test.
var accessMatrix = map[string][]int{
	"GET " + collection:             append(locked[:6:6], 200, 200, 200),
	"POST " + collection:            append(locked[:6:6], 403, 201, 201),
	"GET " + collection + "/:id":    append(locked[:6:6], 200, 404, 200),
	"PUT " + collection + "/:id":    append(locked[:6:6], 403, 404, 200),
	"DELETE " + collection + "/:id": append(locked[:6:6], 403, 404, 204),
	"GET /api/v1/whoami":            append(locked[:6:6], 200, 200, 200),
	"GET /api/v1/openapi.json":      slices.Repeat([]int{200}, 9),
	"GET /api/v1/openapi.yaml":      slices.Repeat([]int{200}, 9),
	"GET /healthz":                  slices.Repeat([]int{200}, 9),
	"GET /readyz":                   slices.Repeat([]int{200}, 9),
}

// authorizations gives an Authorization header for each of credentials.
func authorizations(t *testing.T, s *service) map[string]string {
	t.Helper()
	keys := map[string]string{
		"unknown":  strings.Repeat("k", 40),
		"mistyped": s.key[:len(s.key)-1] + "~",
		"expired":  newKey(t, s.db, "default", "--expires", "0s"),
		"read":     newKey(t, s.db, "default", "--scope", "read"),
		"other":    newKey(t, s.db, "other"),
		"revoked":  newKey(t, s.db, "default"),
		"right":    s.key,
	}
	execSQL(t, s.db, `UPDATE keys SET revoked_at = 1 WHERE hash = ?`, keyHashOf(keys["revoked"]))
	s.as(keys["revoked"]).refused(t, "revoked")
	for name, key := range keys {
		keys[name] = "Bearer " + key
	}
	keys["none"], keys["malformed"] = "", "Key "+s.key
	return keys
}

func keyHashOf(key string) []byte {
	hash := sha256.Sum256([]byte(key))
	return hash[:]
}

func TestAccess(t *testing.T) {
	t.Parallel()
	s := start(t)
	headers := authorizations(t, s)
	for _, route := range routes {
		name := route.method + " " + route.path
		statuses := accessMatrix[name]
		if len(statuses) != len(credentials) {
			t.Errorf("%s is missing in accessMatrix", name)
			continue
		}
		for i, credential := range credentials {
			t.Run(name+"/"+credential, func(t *testing.T) {
				checkAccess(t, s, route.method, route.path, headers[credential], statuses[i])
			})
		}
	}
	if len(accessMatrix) != len(routes) {
		t.Errorf("accessMatrix has %d routes, not %d", len(accessMatrix), len(routes))
	}
}

// checkAccess also sees to it that a request that was refused did nothing.
func checkAccess(t *testing.T, s *service, method, path, authorization string, status int) {
	t.Helper()
	id := s.create(t, ana)
	one, replacement := collection+"/"+id, `{"firstName":"Eva","lastName":"X"}`
	before := s.do(t, "GET", one, "").body + s.do(t, "GET", collection, "").body
	a := s.as("").do(t, method, strings.ReplaceAll(path, ":id", id), replacement, "Authorization", authorization).wants(t, status)
	if status >= 400 && strings.Contains(a.body, "Ana") {
		t.Errorf("the refusal tells: %s", a.body)
	}
	if after := s.do(t, "GET", one, "").body + s.do(t, "GET", collection, "").body; status >= 400 && after != before {
		t.Errorf("refused, and yet %s became %s", before, after)
	}
}

// TestDepartments sees to it that lists and searches stay in their department.
func TestDepartments(t *testing.T) {
	t.Parallel()
	s := start(t)
	other := s.as(newKey(t, s.db, "other"))
	mine, theirs := s.create(t, ana), other.create(t, ana)
	for _, query := range []string{"", "search=ana", "search=091", "search=%25", "sortBy=lastName", "page=2", "pageSize=1"} {
		for id, c := range map[string]client{mine: s.client, theirs: other} {
			l := c.list(t, query)
			if strings.Contains(query, "%25") != (l.TotalCount == 0) || l.TotalCount > 1 {
				t.Errorf("%q: %+v", query, l)
			}
			for _, f := range l.Data.Items {
				if f.ID != id {
					t.Errorf("%q gives a record of another department", query)
				}
			}
		}
	}
}

// TestKeyOfNoDepartment: a key whose department was damaged is no key, and not
// one of a department without records.
func TestKeyOfNoDepartment(t *testing.T) {
	t.Parallel()
	s := start(t)
	other := s.as(newKey(t, s.db, "other"))
	other.create(t, ana)
	execSQL(t, s.db, `PRAGMA foreign_keys = off; UPDATE keys SET tenant_id = 99 WHERE hash = ?`, keyHashOf(other.key))
	other.refused(t, "unknown")
	s.list(t, "")
}

// TestHashOfWrongLength: a key that nobody can have is no harm to the others.
func TestHashOfWrongLength(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, hash := range []string{`x''`, `x'00'`, `zeroblob(31)`, `zeroblob(33)`} {
		execSQL(t, s.db, `PRAGMA ignore_check_constraints = on;
			INSERT INTO keys (hash, tenant_id, scope, created_at) VALUES (`+hash+`, 1, 'read', 0)`)
		s.list(t, "")
		s.as(newKey(t, s.db, "default")).list(t, "") // for which all keys are read again
	}
	works(t, "keys", "revoke", "1", "--db", s.db)
	s.refused(t, "revoked")
}
