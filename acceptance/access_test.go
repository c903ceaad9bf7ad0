package acceptance

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestUnauthorized checks the four authentication errors. Each has its own detail.
func TestUnauthorized(t *testing.T) {
	t.Parallel()
	s := start(t)
	expired := newExpiredKey(t, s.db)
	revoked := newKey(t, s.db, "default")
	works(t, "keys", "revoke", "3", "--db", s.db)
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
			t.Errorf("%s: WWW-Authenticate is %q", tt.name, got)
		}
		p := a.problem(t)
		if p.Code != "key_"+tt.kind {
			t.Errorf("%s: code %q", tt.name, p.Code)
		}
		detail := p.Detail
		if known, ok := details[tt.kind]; ok && known != detail {
			t.Errorf("%s: detail %q, want %q as before", tt.name, detail, known)
		}
		details[tt.kind] = detail
	}
	if kinds := slices.Sorted(maps.Values(details)); len(slices.Compact(kinds)) != 4 {
		t.Errorf("details %q, want four different ones", kinds)
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

// credentials are the columns of the access matrix.
var credentials = []string{"none", "malformed", "unknown", "mistyped", "revoked", "expired", "session", "cookie", "read", "other", "right", "admin"}

// locked are the statuses for the first eight of credentials on every route that is not
// public.
var locked = slices.Repeat([]int{401}, 8)

// accessMatrix lists the status of each route for each of credentials. A route without an
// entry fails TestAccess.
var accessMatrix = map[string][]int{
	"GET " + collection:                  append(locked[:8:8], 200, 200, 200, 200),
	"POST " + collection:                 append(locked[:8:8], 403, 201, 201, 201),
	"GET " + collection + "/:id":         append(locked[:8:8], 200, 404, 200, 200),
	"PUT " + collection + "/:id":         append(locked[:8:8], 403, 404, 200, 200),
	"DELETE " + collection + "/:id":      append(locked[:8:8], 403, 404, 204, 204),
	"PATCH " + collection + "/:id":       append(locked[:8:8], 403, 404, 200, 200),
	"GET /api/v1/changes":                append(locked[:8:8], 200, 200, 200, 200),
	"GET /api/v1/export":                 append(locked[:8:8], 200, 200, 200, 200),
	"GET " + importsPath:                 append(locked[:8:8], 200, 200, 200, 200),
	"POST " + importsPath:                append(locked[:8:8], 403, 200, 200, 200),
	"GET " + importsPath + "/:number":    append(locked[:8:8], 200, 404, 200, 200),
	"DELETE " + importsPath + "/:number": append(locked[:8:8], 403, 404, 200, 200),
	"GET /api/v1/whoami":                 append(locked[:8:8], 200, 200, 200, 200),
	"GET /api/v1/openapi.json":           slices.Repeat([]int{200}, 12),
	"GET /api/v1/openapi.yaml":           slices.Repeat([]int{200}, 12),
	"GET /healthz":                       slices.Repeat([]int{200}, 12),
	"GET /readyz":                        slices.Repeat([]int{200}, 12),
}

// openSession opens a session in a database from another process. Without a key or a code,
// it opens the session with a new key of the scope admin.
func openSession(t *testing.T, db, keyOrCode string) (secret string) {
	t.Helper()
	if keyOrCode == "" {
		keyOrCode = newKey(t, db, "default", "--scope", "admin")
	}
	s, err := store.Open(db, time.Now)
	must(t, err)
	secret, _, err = s.OpenSession(keyOrCode, "", time.Hour)
	must(t, errors.Join(err, s.Close()))
	return secret
}

// authorizations returns the headers for each of credentials.
func authorizations(t *testing.T, s *testService) map[string][]string {
	t.Helper()
	keys := map[string]string{
		"admin":    newKey(t, s.db, "default", "--scope", "admin"),
		"session":  openSession(t, s.db, ""),
		"unknown":  strings.Repeat("k", 40),
		"mistyped": s.key[:len(s.key)-1] + "~",
		"expired":  newExpiredKey(t, s.db),
		"read":     newKey(t, s.db, "default", "--scope", "read"),
		"other":    newKey(t, s.db, "other"),
		"revoked":  newKey(t, s.db, "default"),
		"right":    s.key,
	}
	execSQL(t, s.db, `UPDATE keys SET revoked_at = 1 WHERE hash = ?`, hashOf(keys["revoked"]))
	s.as(keys["revoked"]).refused(t, "revoked")
	headers := map[string][]string{"none": nil, "malformed": {"Authorization", "Key " + s.key},
		"cookie": {"Cookie", "firefighters=" + keys["session"] + "; firefighters-8080=" + s.key}}
	for name, key := range keys {
		headers[name] = []string{"Authorization", "Bearer " + key}
	}
	return headers
}

func TestAccess(t *testing.T) {
	t.Parallel()
	s := start(t)
	headers := authorizations(t, s)
	for _, route := range routes() {
		name := route.method + " " + route.path
		statuses := accessMatrix[name]
		if len(statuses) != len(credentials) {
			t.Errorf("%s is not in accessMatrix: add its status for each of %q", name, credentials)
			continue
		}
		for i, credential := range credentials {
			t.Run(name+"/"+credential, func(t *testing.T) {
				checkAccess(t, s, route.method, route.path, headers[credential], statuses[i])
			})
		}
	}
	if len(accessMatrix) != len(routes()) {
		t.Errorf("accessMatrix has %d routes, want %d", len(accessMatrix), len(routes()))
	}
}

// checkAccess checks the status of a request, and that a rejected request changes nothing.
func checkAccess(t *testing.T, s *testService, method, path string, headers []string, status int) {
	t.Helper()
	id := s.create(t, ana)
	one, replacement := collection+"/"+id, `{"firstName":"Eva","lastName":"X"}`
	number := s.importPeople(t, "", csvOfOne(t.Name(), "Import"))
	before := s.do(t, "GET", one, "").body + s.do(t, "GET", collection, "").body
	path = strings.NewReplacer(":id", id, ":number", strconv.FormatInt(number, 10)).Replace(path)
	a := s.as("").do(t, method, path, replacement, headers...).wants(t, status)
	if challenge := a.header.Get("WWW-Authenticate"); status == 403 && challenge != `Bearer realm="firefighters", error="insufficient_scope"` {
		t.Errorf("403 with WWW-Authenticate: %q", challenge)
	}
	if status >= 400 && strings.Contains(a.body, "Ana") {
		t.Errorf("the error discloses a record: %s", a.body)
	}
	if after := s.do(t, "GET", one, "").body + s.do(t, "GET", collection, "").body; status >= 400 && after != before {
		t.Errorf("rejected, but %s became %s", before, after)
	}
}

// TestNotFoundAlike checks that the answers for a record that never existed, for a deleted
// record and for a record of another department are identical.
func TestNotFoundAlike(t *testing.T) {
	t.Parallel()
	s := start(t)
	deleted, theirs := s.create(t, ana), s.as(newKey(t, s.db, "other")).create(t, ana)
	s.do(t, "DELETE", collection+"/"+deleted, "").wants(t, 204)
	for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE"} {
		t.Run(method, func(t *testing.T) {
			answers := map[string]bool{}
			for _, id := range []string{nobody, deleted, theirs, strings.ToUpper(theirs)} {
				a := s.do(t, method, collection+"/"+id, ana, "X-Request-Id", "same").wants(t, 404)
				a.header.Del("Date")
				whole := fmt.Sprint(a.header, a.body)
				answers[strings.ReplaceAll(strings.ReplaceAll(whole, id, "ID"), strings.ToLower(id), "ID")] = true
			}
			if len(answers) != 1 {
				t.Errorf("answers differ: %q", slices.Collect(maps.Keys(answers)))
			}
		})
	}
}

const whoamiPath = "/api/v1/whoami"

// TestWhoAmI checks that a key can read its own properties and nothing about other keys.
func TestWhoAmI(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, tt := range []struct{ key, want string }{
		{s.key, `{"department":"default","label":"first key","scope":"admin","expiresAt":null}`},
		{newKey(t, s.db, "default", "--scope", "read"), `{"department":"default","label":"","scope":"read","expiresAt":null}`},
		{newKey(t, s.db, "default", "--scope", "write"), `{"department":"default","label":"","scope":"write","expiresAt":null}`},
		{newKey(t, s.db, `Požega "7" <b>`, "--label", `Ana & "co"`, "--expires", "2099-12-31"),
			`{"department":"Požega \"7\" <b>","label":"Ana & \"co\"","scope":"write","expiresAt":"2100-01-01T00:00:00.000Z"}`},
		{newKey(t, s.db, "default", "--scope", "read", "--expires", "2099-12-31"),
			`{"department":"default","label":"","scope":"read","expiresAt":"2100-01-01T00:00:00.000Z"}`},
	} {
		if a := s.as(tt.key).do(t, "GET", whoamiPath, "").wants(t, 200); a.body != tt.want {
			t.Errorf("got  %s\nwant %s", a.body, tt.want)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE"} {
		s.do(t, method, whoamiPath, "").wants(t, 405)
	}
	execSQL(t, s.db, `UPDATE keys SET label = 'renamed' WHERE id = 1`)
	if a := s.do(t, "GET", whoamiPath, ""); !strings.Contains(a.body, `"renamed"`) {
		t.Errorf("whoami after the key was renamed: %s", a.body)
	}
}

// TestHost checks that a service on loopback accepts only loopback host names, on every
// route and before authentication. Package httpapi tests which names these are.
func TestHost(t *testing.T) {
	t.Parallel()
	s := start(t)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.url, "http://"), ":")
	get := func(line, host string) answer {
		return rawRequest(t, s.dial(t), line+" HTTP/1.1\r\nHost: "+host+"\r\nAuthorization: Bearer "+s.key+"\r\nConnection: close\r\n\r\n")
	}
	for _, host := range []string{"LocalHost", "localhost:" + port, "app.localhost", "127.1.2.3", "[::1]:" + port} {
		get("GET "+collection, host).wants(t, 200)
		get("GET http://"+host+collection, "evil.example").wants(t, 200) // the target counts (RFC 9112, section 3.2.2)
	}
	for _, host := range []string{"x", "localhost.evil.example", "127.0.0.1.evil.example", "192.0.2.1", "0.0.0.0", "[::]", "localhost:80:80"} {
		get("GET "+collection, host).wants(t, 421)
	}
	for _, line := range []string{"GET /healthz", "POST " + collection, "OPTIONS " + collection, "PATCH " + collection, "GET /nowhere", "OPTIONS *"} {
		get(line, "evil.example:"+port).wants(t, 421)
	}
	get("GET http://evil.example"+collection, "localhost").wants(t, 421)
	rawRequest(t, s.dial(t), "GET /healthz HTTP/1.0\r\n\r\n").wants(t, 200)
}

// newCertificate writes a certificate for 127.0.0.1 into two files, and returns
// a pool that trusts it.
func newCertificate(t *testing.T) (certFile, keyFile string, trusted *x509.CertPool) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	must(t, err)
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		must(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	trusted = x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	return write("cert.pem", "CERTIFICATE", server.Certificate().Raw), write("key.pem", "PRIVATE KEY", key), trusted
}

func TestTLS(t *testing.T) {
	t.Parallel()
	certFile, keyFile, trusted := newCertificate(t)
	s := start(t, "--tls-cert", certFile, "--tls-key", keyFile)
	s.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: trusted}
	if !strings.HasPrefix(s.url, "https://127.0.0.1:") ||
		!strings.Contains(s.stdout.String(), curl(s.key, s.url+collection)) {
		t.Errorf("stdout:\n%s", s.stdout)
	}
	s.create(t, ana)
	a := s.do(t, "GET", collection, "").wants(t, 200)
	if got := a.header.Get("Strict-Transport-Security"); got != "max-age=31536000" {
		t.Errorf("Strict-Transport-Security: %q", got)
	}
	eventually(t, "standard error", func() bool { return s.stderr.String() == "Created the database "+s.db+".\n"+noBackups })
	plain := s.dial(t)
	io.WriteString(plain, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if line, err := bufio.NewReader(plain).ReadString('\n'); err != nil || line != "HTTP/1.0 400 Bad Request\r\n" {
		t.Errorf("plain HTTP returned %q, %v", line, err)
	}
	if a := start(t).do(t, "GET", "/healthz", ""); a.header["Strict-Transport-Security"] != nil {
		t.Errorf("without TLS: %v", a.header)
	}
}

func TestCertificateRefused(t *testing.T) {
	t.Parallel()
	certFile, keyFile, _ := newCertificate(t)
	db := filepath.Join(t.TempDir(), "x.db")
	for _, files := range [][2]string{{keyFile, certFile}, {certFile, certFile}, {certFile, db}, {db, keyFile}} {
		code, stdout, stderr := runCommand(t, "serve", "--db", db, "--listen", "127.0.0.1:0", "--tls-cert", files[0], "--tls-key", files[1])
		if code != 1 || stdout != "" || !strings.Contains(stderr, files[0]) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: code %d, stdout %q, stderr:\n%s", files, code, stdout, stderr)
		}
	}
	if exists(db) {
		t.Error("a database was created")
	}
}

// TestClientsThatDoNotRead checks that many clients that do not read their answers do not
// block other clients, although there are more of them than connections to the database.
func TestClientsThatDoNotRead(t *testing.T) {
	t.Parallel()
	s := startInvented(t, 100)
	clients := max(4, runtime.NumCPU()) + 2 // package sqlite has connections for all but two of them
	request := fmt.Sprintf("GET %s?pageSize=100 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", collection, s.key)
	for range clients {
		_, err := io.WriteString(s.dial(t), strings.Repeat(request, 150)) // the answers do not fit into its buffers
		must(t, err)
	}
	s.do(t, "GET", collection, "").wants(t, 200)
	s.do(t, "PUT", collection+"/"+nobody, ana).wants(t, 404)
}

// TestModes checks that only their owner can read the files, even if the umask lets others
// read new files.
func TestModes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no umask")
	}
	db := filepath.Join(t.TempDir(), "x.db")
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `umask 0; exec "$0" --db "$1" --listen 127.0.0.1:0`, program, db)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "Listening on ") {
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-lock"} {
		if !exists(db + suffix) {
			t.Errorf("the %s file is missing", suffix)
		}
	}
	checkModes(t, filepath.Dir(db))
	must(t, cmd.Process.Kill())
	cmd.Wait()
}

// TestKeyFile checks that the file of --output is private, and that keys create replaces no file.
func TestKeyFile(t *testing.T) {
	t.Parallel()
	folder, db := t.TempDir(), filepath.Join(t.TempDir(), "x.db")
	file := filepath.Join(folder, "key.txt")
	stdout, _ := works(t, "keys", "create", "--db", db, "--output", file)
	text, err := os.ReadFile(file)
	must(t, err)
	if key := strings.TrimSpace(string(text)); keyForm.FindString(key) != key || stdout != "" {
		t.Errorf("the file has %q, stdout is %q", text, stdout)
	}
	checkModes(t, folder)
	refuses(t, 1, fmt.Sprintf("Error: %q already exists\n", file),
		"keys", "create", "--db", db, "--output", file)
	if stdout, _ := works(t, "keys", "list", "--db", db); strings.Count(stdout, "active") != 1 {
		t.Errorf("keys: %s", stdout)
	}
}

// TestLooseModes checks that the service warns about a database that other users can read,
// and does not change its mode.
func TestLooseModes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	db := invented(t, 1, 1)
	must(t, os.Chmod(db, 0o640))
	s := startOn(t, db)
	s.logs(t, "Warning: other users of this computer can read or write "+db, "Try: chmod 600 "+db)
	info, err := os.Stat(db)
	if must(t, err); info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v", info.Mode())
	}
}

const (
	roster   = "https://roster.example.org"
	wallMap  = "http://localhost:3000"
	stranger = "https://roster.example.org.evil.example"
)

// corsPaths are paths of each kind and a path that does not exist.
var corsPaths = []string{collection, collection + "/" + nobody, collection + "/x", "/api/v1/export", importsPath, whoamiPath, "/healthz", "/nothing"}

// corsHeaders returns the CORS headers of an answer as one text.
func (a answer) corsHeaders() (text string) {
	for _, name := range []string{"Allow-Origin", "Allow-Credentials", "Allow-Methods", "Allow-Headers", "Max-Age", "Expose-Headers"} {
		if values := a.header.Values("Access-Control-" + name); values != nil {
			text += name + fmt.Sprint(values) + " "
		}
	}
	return text
}

// preflight sends a preflight request like a browser, without a key.
func (s *testService) preflight(t *testing.T, path, origin, method string) answer {
	t.Helper()
	return s.as("").do(t, "OPTIONS", path, "", "Origin", origin, "Access-Control-Request-Method", method,
		"Access-Control-Request-Headers", "authorization,content-type,if-match")
}

// startOpen starts a service with all options that add headers to answers.
func startOpen(t *testing.T) *testService {
	t.Helper()
	return start(t, "--cors-origin", roster, "--cors-origin", wallMap, "--rate-limit", "100000")
}

func TestWithoutCORS(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range corsPaths {
		for _, a := range []answer{s.do(t, "GET", path, "", "Origin", roster), s.preflight(t, path, roster, "GET")} {
			if got := a.corsHeaders(); got != "" || strings.Contains(a.header.Get("Vary"), "Origin") {
				t.Errorf("%s: %d %s, Vary %q", path, a.status, got, a.header["Vary"])
			}
		}
	}
}

// TestCORS checks that pages of the allowed origins can read every answer, including errors,
// and that other pages cannot. Package httpapi tests which requests are a preflight.
func TestCORS(t *testing.T) {
	t.Parallel()
	s := startOpen(t)
	for _, path := range corsPaths {
		for _, origin := range []string{roster, wallMap} {
			for _, c := range []client{s.client, s.as("wrong")} {
				for _, method := range []string{"GET", "HEAD", "PUT"} {
					a := c.do(t, method, path, ana, "Origin", origin)
					if !strings.HasPrefix(a.corsHeaders(), "Allow-Origin["+origin+"] Expose-Headers[") || !strings.HasPrefix(a.header.Get("Vary"), "Origin") {
						t.Errorf("%s %s: %d, %s, Vary %q", method, path, a.status, a.corsHeaders(), a.header["Vary"])
					}
				}
			}
			a := s.preflight(t, path, origin, "BREW").wants(t, 204)
			want := "Allow-Origin[" + origin + "] Allow-Methods[GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS] " +
				"Allow-Headers[Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id] Max-Age[600] "
			if !strings.HasPrefix(a.corsHeaders(), want) || a.body != "" || a.header.Get("Vary") != "Origin" {
				t.Errorf("%s: %s, Vary %q", path, a.corsHeaders(), a.header["Vary"])
			}
		}
		a := s.do(t, "GET", path, "", "Origin", stranger)
		if got := a.corsHeaders() + s.preflight(t, path, stranger, "GET").corsHeaders(); got != "" || !strings.HasPrefix(a.header.Get("Vary"), "Origin") {
			t.Errorf("%s is allowed: %s, Vary %q", stranger, got, a.header["Vary"])
		}
	}
	refuses(t, 2, "Error: --cors-origin must be an origin such as https://roster.example.org, not \"*\"\n",
		"serve", "--db", s.db, "--listen", "127.0.0.1:0", "--cors-origin", roster+",*")
}

// TestExposedHeaders checks that a page can read every header that an answer may have.
func TestExposedHeaders(t *testing.T) {
	t.Parallel()
	s := startOpen(t)
	// Headers that a page can always read, and headers that only the browser needs.
	const unexposed = ", cache-control, content-language, content-length, content-type, expires, last-modified, pragma, " +
		"vary, connection, allow, " +
		"x-content-type-options, content-security-policy, referrer-policy, cross-origin-resource-policy, x-frame-options, "
	created := s.post(t, "a", ana)
	for range 20 {
		s.create(t, ana)
	}
	exposed := s.do(t, "GET", "/healthz", "", "Origin", roster).header.Get("Access-Control-Expose-Headers")
	all := strings.ToLower(", " + exposed + unexposed)
	for _, a := range []answer{created, s.post(t, "a", ana), s.do(t, "GET", collection, "", "Accept-Encoding", "gzip"),
		s.as("").do(t, "GET", collection, ""),
		s.do(t, "DELETE", created.header.Get("Location"), ""), s.do(t, "GET", "/nothing", ""), s.do(t, "GET", "/api/v1/export", ""),
		s.do(t, "PATCH", created.header.Get("Location"), "", "Content-Type", "text/plain"), s.do(t, "OPTIONS", collection+"/"+nobody, "")} {
		for name := range a.header {
			if !strings.Contains(all, ", "+strings.ToLower(name)+", ") {
				t.Errorf("%d has a header that is not exposed: %s", a.status, name)
			}
		}
	}
}
