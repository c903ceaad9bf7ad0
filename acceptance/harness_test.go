package acceptance

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

const (
	collection  = "/api/v1/firefighters"
	importsPath = "/api/v1/imports"
	// maxBody is the size of the largest body of a request with one record.
	maxBody = 64 << 10
	// firstDepartment is the name of the department in a new database.
	firstDepartment = "default"
	ana             = `{"firstName":"Ana","lastName":"Čović","phoneNumber":"091 234 5678","email":"ana@example.com","dateOfBirth":"1990-05-15"}`
	nobody          = "01890000-0000-7000-8000-000000000000" // no record has this id
	// patience is the longest wait, also on a busy machine.
	patience = 2 * time.Minute
)

var keyForm = regexp.MustCompile(`ff_[0-9A-Za-z]{49}`)

// must ends the test on an unexpected error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until ready returns true.
func eventually(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ready(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited too long for %s", what)
		}
	}
}

// syncBuffer holds the output of a program while a test reads it. String returns the log of
// a server in words.
type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string { return inWords(b.raw()) }

// raw returns the unchanged output of the program.
func (b *syncBuffer) raw() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return plain(b.text.String())
}

// checkLog checks that all lines are log entries.
func (b *syncBuffer) checkLog(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(b.raw()) {
		if _, ok := readEntry(line); !ok {
			t.Errorf("invalid log entry: %s", line)
		}
	}
}

// readEntry parses a line of a server's log. Every entry has a time, a level and a message.
func readEntry(line string) (entry map[string]any, ok bool) {
	if json.Unmarshal([]byte(line), &entry) != nil {
		return nil, false
	}
	at, _ := entry["time"].(string)
	level, _ := entry["level"].(string)
	message, _ := entry["msg"].(string)
	_, err := time.Parse(time.RFC3339Nano, at)
	return entry, err == nil && slices.Contains([]string{"INFO", "WARN", "ERROR"}, level) && message != "" && strings.HasSuffix(line, "\n")
}

// inWords returns a log with its notes, its warnings and its final error in the format of a
// terminal. Other entries stay unchanged.
func inWords(log string) string {
	var words strings.Builder
	for line := range strings.Lines(log) {
		entry, ok := readEntry(line)
		hint, _ := entry["try"].(string)
		label := map[any]string{"WARN": "Warning: "}[entry["level"]]
		delete(entry, "try")
		if entry["exitCode"] != nil {
			delete(entry, "exitCode")
			label = "Error: "
		}
		if !ok || len(entry) > 3 || entry["level"] == "ERROR" && label == "" {
			words.WriteString(line)
			continue
		}
		fmt.Fprintf(&words, "%s%s\n", label, entry["msg"])
		for try := range strings.Lines(hint) {
			fmt.Fprintf(&words, "Try: %s\n", strings.TrimSuffix(try, "\n"))
		}
	}
	return words.String()
}

// serves reports whether the arguments start a server.
func serves(args []string) bool {
	return len(args) == 0 || args[0] == "serve" || args[0] == "demo" || strings.HasPrefix(args[0], "-") && args[0] != "-v" && args[0] != "-h" && !strings.HasPrefix(args[0], "--version") && args[0] != "--help"
}

// curl returns the command that the program prints for a request.
func curl(key, url string) string {
	name := "curl"
	if runtime.GOOS == "windows" { // in PowerShell, curl is a different command
		name = "curl.exe"
	}
	return fmt.Sprintf("  %s -H \"Authorization: Bearer %s\" %s\n", name, key, url)
}

var quotedPlace = regexp.MustCompile("'(" + regexp.QuoteMeta(os.TempDir()) + "[^']*)'")

// plain returns the output of a command without the quotes around paths in the temporary
// folder, whose name may contain spaces.
func plain(text string) string {
	if cli.Quote(os.TempDir()) == os.TempDir() {
		return text
	}
	return quotedPlace.ReplaceAllString(text, "$1")
}

// testService is a running server and a client with its first key.
type testService struct {
	client
	db             string
	stdout, stderr *syncBuffer
	mayFail        bool // the log may contain an ERROR
	process        *exec.Cmd
	done           chan error // receives the result of the program
	cancelOnce     sync.Once
	stopOnce       sync.Once
}

// start starts a service with a new database.
func start(t *testing.T, flags ...string) *testService {
	t.Helper()
	db := filepath.Join(t.TempDir(), "x.db")
	return startWith(t, db, append([]string{"serve", "--db", db}, flags...)...)
}

func startOn(t *testing.T, db string) *testService {
	t.Helper()
	return startWith(t, db, "serve", "--db", db)
}

// startDemo starts a demo with a department of invented people.
func startDemo(t *testing.T, people string) *testService {
	t.Helper()
	db := filepath.Join(t.TempDir(), "x.db")
	return startWith(t, db, "demo", "--db", db, "--people", people)
}

// startWith runs a command that serves the database db.
func startWith(t *testing.T, db string, args ...string) *testService {
	t.Helper()
	cmd, _ := process(t, append(args, "--listen", "127.0.0.1:0")...)
	return serving(t, db, cmd)
}

// serving starts a process that serves the database db, and waits until it listens.
func serving(t *testing.T, db string, cmd *exec.Cmd) *testService {
	t.Helper()
	s := &testService{db: db, stdout: &syncBuffer{}, stderr: &syncBuffer{}, process: cmd, done: make(chan error, 1)}
	if cmd.Stderr == cmd.Stdout { // otherwise the test has set it
		cmd.Stderr = s.stderr
	}
	cmd.Stdout = s.stdout
	must(t, cmd.Start())
	go func() { s.done <- cmd.Wait() }()
	t.Cleanup(func() {
		s.stop(t)
		s.stderr.checkLog(t)
		if strings.Contains(s.stderr.String(), `"level":"ERROR"`) && !s.mayFail {
			t.Errorf("the service logged an error:\n%s", s.stderr)
		}
		sawLog(t.Name(), s.stderr.String())
		sawFolder(t, filepath.Dir(s.db))
	})
	address := regexp.MustCompile(`(?m)^Listening on (https?://\S+)\n`)
	eventually(t, "the address", func() bool {
		select {
		case err := <-s.done:
			s.stopOnce.Do(func() {})
			t.Fatalf("serve ended: %v\n%s", err, s.stderr)
		default:
		}
		return address.MatchString(s.stdout.String())
	})
	out := s.stdout.String()
	s.client = newClient(t, address.FindStringSubmatch(out)[1], keyForm.FindString(out))
	return s
}

// cancel interrupts the program once. A second interrupt would end it at once.
func (s *testService) cancel() {
	s.cancelOnce.Do(func() { interrupt(s.process.Process) })
}

// stop interrupts the program and waits for it. It must end without an error.
func (s *testService) stop(t *testing.T) {
	t.Helper()
	s.stopOnce.Do(func() {
		s.cancel()
		select {
		case err := <-s.done:
			if err != nil {
				t.Errorf("serve ended with: %v", err)
			}
		case <-time.After(patience):
			s.process.Process.Kill()
			t.Fatal("serve does not end")
		}
	})
}

// logs waits until the texts appear on the standard error of the service.
func (s *testService) logs(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		eventually(t, "standard error to contain "+text, func() bool { return strings.Contains(s.stderr.String(), text) })
	}
}

// openSQL opens the database like another program.
func openSQL(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// execSQL changes the database like another program.
func execSQL(t *testing.T, path, query string, args ...any) {
	t.Helper()
	db := openSQL(t, path)
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	must(t, db.Close())
}

// scanSQL reads one row of the database like another program.
func scanSQL(t *testing.T, path, query string, dest ...any) {
	t.Helper()
	db := openSQL(t, path)
	if err := db.QueryRow(query).Scan(dest...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	must(t, db.Close())
}

// lockForWriting locks the database for writing like another program.
func lockForWriting(t *testing.T, path string) (unlock func()) {
	t.Helper()
	db := openSQL(t, path)
	db.SetMaxOpenConns(1)
	_, err := db.Exec(`BEGIN IMMEDIATE`)
	must(t, err)
	return func() {
		_, err := db.Exec(`ROLLBACK`)
		must(t, err)
	}
}

// runCommand runs a command and returns its exit code and output.
func runCommand(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return runWith(t, "", args...)
}

// runWith runs a command with standard input and returns its exit code and output.
func runWith(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd, _ := process(t, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	code = exitCode(t, cmd.Run())
	sawLog(strings.Join(args, " "), errs.String())
	stderr = plain(errs.String())
	if serves(args) {
		stderr = inWords(stderr)
	}
	return code, plain(out.String()), stderr
}

// exitCode returns the exit code of a process. err is the result of Wait.
func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil {
		return exit.ExitCode()
	}
	return 0
}

// newKey creates a key with further flags, and the department if it does not exist.
func newKey(t *testing.T, db, tenant string, flags ...string) string {
	t.Helper()
	code, stdout, stderr := runCommand(t, append([]string{"keys", "create", "--db", db, "--department", tenant, "--new"}, flags...)...)
	if code != 0 {
		t.Fatalf("creating a key: %d %s", code, stderr)
	}
	return strings.TrimSpace(stdout)
}

// newExpiredKey creates an expired key of the department default.
func newExpiredKey(t *testing.T, db string) string {
	t.Helper()
	key := newKey(t, db, "default", "--expires", "1y")
	execSQL(t, db, `UPDATE keys SET expires_at = 1 WHERE hash = ?`, hashOf(key))
	return key
}

// client sends requests with one key.
type client struct {
	*http.Client
	url, key string
}

func newClient(t *testing.T, url, key string) client {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return client{&http.Client{
		Transport:     transport,
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, url, key}
}

func (c client) as(key string) client { c.key = key; return c }

// refused waits until the server rejects the key with an error that contains why.
func (c client) refused(t *testing.T, why string) {
	t.Helper()
	eventually(t, "a key to be "+why, func() bool {
		a := c.do(t, "GET", collection, "")
		return a.status == 401 && strings.Contains(a.body, why)
	})
}

// answer is a complete response.
type answer struct {
	status int
	header http.Header
	body   string
}

// do sends a request with further headers as name, value, name, value. It checks what must
// hold for every answer.
func (c client) do(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	a, err := c.try(t, method, path, strings.NewReader(body), headers...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	a.check(t, method)
	return a
}

func (c client) try(t *testing.T, method, path string, body io.Reader, headers ...string) (answer, error) {
	sent := unread(body)
	r, err := http.NewRequestWithContext(t.Context(), method, c.url+path, body)
	if err != nil {
		return answer{}, err
	}
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Add(pair[0], pair[1])
	}
	r.Host = r.Header.Get("Host") // empty for the host of the URL
	response, err := c.Do(r)
	if err != nil {
		return answer{}, err
	}
	a, err := readAnswer(response)
	sawAnswer(t.Name()+": "+method+" "+path, a)
	if err == nil {
		holdAgainstDocument(t, r, sent, a)
	}
	return a, err
}

// unread returns the text of a body that is not sent yet, or "" if it is unknown.
func unread(body io.Reader) string {
	r, ok := body.(*strings.Reader)
	if !ok {
		return ""
	}
	var b strings.Builder
	io.Copy(&b, io.NewSectionReader(r, 0, r.Size()))
	return b.String()
}

func readAnswer(response *http.Response) (answer, error) {
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(text)}, err
}

// dial connects to the service with a deadline.
func (c client) dial(t *testing.T) net.Conn {
	t.Helper()
	_, address, _ := strings.Cut(c.url, "://")
	conn, err := net.Dial("tcp", address)
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	must(t, conn.SetDeadline(time.Now().Add(patience)))
	return conn
}

// rawRequest sends the exact bytes of a request and reads the answer at the same time. It
// checks what must hold for every answer.
func rawRequest(t *testing.T, c net.Conn, request string) answer {
	t.Helper()
	go io.WriteString(c, request)
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	must(t, err)
	a, err := readAnswer(response)
	must(t, err)
	a.check(t, "GET")
	return a
}

// isPlain reports whether net/http sent the answer without calling a handler of the service.
func (a answer) isPlain() bool {
	plain := a.header.Get("Content-Type") == "text/plain; charset=utf-8" || a.status == http.StatusExpectationFailed && a.body == ""
	return plain && a.status >= 400 && a.header.Get("X-Request-Id") == ""
}

// contentTypes are the types of all answers that are not problems.
var contentTypes = []string{"text/html; charset=utf-8", "text/css; charset=utf-8", "text/javascript; charset=utf-8", "application/json; charset=utf-8", "application/yaml", sheet.ContentType(sheet.CSV), sheet.ContentType(sheet.XLSX),
	sheet.ContentType(sheet.VCard), sheet.ContentType(sheet.JSONL)}

// check checks what must hold for every answer of the service.
func (a answer) check(t *testing.T, method string) {
	t.Helper()
	if a.isPlain() {
		return
	}
	if a.header.Get("X-Request-Id") == "" {
		t.Errorf("%d without an X-Request-Id: %v", a.status, a.header)
	}
	contentType := a.header.Get("Content-Type")
	switch {
	case a.status == http.StatusNotModified && a.body == "" && contentType == "":
	case a.status >= 300 && a.status < 400:
		t.Errorf("unexpected redirect: %d %v", a.status, a.header)
	case a.status >= 400 && contentType != "application/problem+json":
		t.Errorf("%d with Content-Type %q", a.status, contentType)
	case a.status >= 400 && method != http.MethodHead:
		a.problem(t)
	case a.status < 300 && a.body != "" && !slices.Contains(contentTypes, contentType):
		t.Errorf("%d with Content-Type %q", a.status, contentType)
	case method == http.MethodHead && a.body != "", a.status == http.StatusNoContent && contentType != "":
		t.Errorf("%s %d with the body %q and Content-Type %q", method, a.status, a.body, contentType)
	}
	if vary := a.header["Vary"]; len(vary) > 1 {
		t.Errorf("%d with two lines of Vary: %q", a.status, vary)
	}
	a.checkSecurity(t)
}

// checkSecurity checks the security headers of an answer.
func (a answer) checkSecurity(t *testing.T) {
	t.Helper()
	for name, value := range map[string]string{
		"Cache-Control":                "no-store",
		"X-Content-Type-Options":       "nosniff",
		"Content-Security-Policy":      "default-src 'none'; frame-ancestors 'none'",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin",
		"X-Frame-Options":              "DENY",
	} {
		if got := a.header.Values(name); len(got) != 1 || got[0] != value && got[0] != docsPolicy {
			t.Errorf("%s of %d: %q", name, a.status, got)
		}
	}
}

// problemDetails are the members of RFC 9457 and of the service.
type problemDetails struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Code      string `json:"code"`
	Detail    string `json:"detail"`
	RequestID string `json:"requestId"`
	Errors    []struct {
		Field  string `json:"field"`
		Code   string `json:"code"`
		Detail string `json:"detail"`
	} `json:"errors"`
}

// codes are the codes of problems and their status.
var codes = map[string]int{"key_missing": 401, "key_unknown": 401, "key_revoked": 401, "key_expired": 401, "scope": 403, "path": 404, "record": 404,
	"import": 404, "method": 405, "taken_back": 409, "position": 410, "host": 421, "invalid": 400, "malformed": 400, "too_large": 413, "content_type": 415, "precondition": 412, "key_reused": 422, "rows_refused": 422,
	"in_flight": 409, "rate_limit": 429, "busy": 503, "stopping": 503, "unavailable": 503, "temp_files": 503, "full": 507, "internal": 500}

// renamedStatus are the names of RFC 9110 that net/http lacks.
var renamedStatus = map[int]string{413: "Content Too Large", 422: "Unprocessable Content"}

// problem decodes the body of an error and checks what must hold for every problem.
func (a answer) problem(t *testing.T) problemDetails {
	t.Helper()
	p := struct {
		problemDetails
		wireReport // of an import that was not applied
	}{}
	decode(t, a.body, &p)
	title := http.StatusText(a.status)
	if renamed := renamedStatus[a.status]; renamed != "" {
		title = renamed
	}
	if p.Type != "about:blank" || p.Title != title || p.Status != a.status || p.Detail == "" ||
		p.RequestID != a.header.Get("X-Request-Id") {
		t.Errorf("%d, request id %q: %s", a.status, a.header.Get("X-Request-Id"), a.body)
	}
	if status, ok := codes[p.Code]; !ok || status != a.status || (p.Code == "invalid") != (len(p.Errors) > 0) {
		t.Errorf("code %q of a %d: %s", p.Code, a.status, a.body)
	}
	if len(p.Errors) > 0 {
		count := strconv.Itoa(len(p.Errors))
		if a.status != 400 || p.Detail != p.Errors[0].Detail && !strings.Contains(p.Detail, count) {
			t.Errorf("%d: %s", a.status, a.body)
		}
	}
	for _, e := range p.Errors {
		if e.Detail == "" || e.Field == "" && e.Code != record.Unknown { // a member may have no name
			t.Errorf("%s: an error without its field or detail", a.body)
		}
	}
	if (p.Code == "rows_refused") != (p.Rows != nil) {
		t.Errorf("%d: %s", a.status, a.body)
	}
	return p.problemDetails
}

// faults returns the errors of a problem as "field code, field code".
func (a answer) faults(t *testing.T) string {
	t.Helper()
	var list []string
	for _, e := range a.problem(t).Errors {
		list = append(list, e.Field+" "+e.Code)
	}
	return strings.Join(list, ", ")
}

// wants ends the test unless the answer has this status.
func (a answer) wants(t *testing.T, status int) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
}

// wireRecord is a record as a client would declare it.
type wireRecord struct {
	ID               string  `json:"id"`
	FirstName        string  `json:"firstName"`
	LastName         string  `json:"lastName"`
	PhoneNumber      *string `json:"phoneNumber"`
	Email            *string `json:"email"`
	DateOfBirth      *string `json:"dateOfBirth"`
	InvitationStatus *string `json:"invitationStatus"`
	UserID           *string `json:"userId"`
}

// UnmarshalJSON returns an error for a missing or an unknown member.
func (w *wireRecord) UnmarshalJSON(text []byte) error {
	type plain wireRecord
	var members map[string]any
	if err := errors.Join(json.Unmarshal(text, (*plain)(w)), json.Unmarshal(text, &members)); err != nil {
		return err
	}
	want := slices.Sorted(slices.Values(append(record.FieldNames(), "id", "invitationStatus", "userId")))
	if got := slices.Sorted(maps.Keys(members)); !slices.Equal(got, want) {
		return fmt.Errorf("a record has the members %q, want %q", got, want)
	}
	return nil
}

// withLater returns the JSON of records with null for the fields that were added after
// the first five.
func withLater(text string) string {
	nulls := ""
	for _, name := range record.FieldNames()[5:] {
		nulls += `"` + name + `":null,`
	}
	return strings.ReplaceAll(text, `"invitationStatus":`, nulls+`"invitationStatus":`)
}

// wireList is the envelope of a list.
type wireList struct {
	Data struct {
		Items           []wireRecord `json:"items"`
		Page            int64        `json:"page"`
		PageSize        int64        `json:"pageSize"`
		TotalCount      int64        `json:"totalCount"`
		TotalPages      int64        `json:"totalPages"`
		HasPreviousPage bool         `json:"hasPreviousPage"`
		HasNextPage     bool         `json:"hasNextPage"`
	} `json:"data"`
	TotalCount int64 `json:"totalCount"`
}

// create creates a record and returns its id.
func (c client) create(t *testing.T, body string) string {
	t.Helper()
	a := c.do(t, "POST", collection, body)
	if a.status != http.StatusCreated {
		t.Fatalf("creating %s: %d %s", body, a.status, a.body)
	}
	var f wireRecord
	decode(t, a.body, &f)
	return f.ID
}

// list returns a page of the list. The request must succeed.
func (c client) list(t *testing.T, query string) wireList {
	t.Helper()
	a := c.do(t, "GET", collection+"?"+query, "")
	if a.status != http.StatusOK {
		t.Fatalf("listing %s: %d %s", query, a.status, a.body)
	}
	var l wireList
	decode(t, a.body, &l)
	return l
}
