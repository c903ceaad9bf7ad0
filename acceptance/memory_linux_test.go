//go:build !race

package acceptance

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// mostMemory is the limit for the memory of the service in bytes, with any number of clients. The
// race detector needs several times as much.
const mostMemory = 150 << 20

// crowd is a service in a separate process with the headers that its clients send.
type crowd struct {
	client
	pid           int
	authorization string // header of a key
	cookie        string // header of a session of the key
}

// startCrowd serves a department of 1500 people. The clients have the given scope.
func startCrowd(t *testing.T, scope string) *crowd {
	t.Helper()
	db := filepath.Join(t.TempDir(), "x.db")
	cmd, _ := process(t, "demo", "--db", db, "--people", "1500", "--listen", "127.0.0.1:0")
	c := &crowd{client: startedProcess(t, cmd), pid: cmd.Process.Pid}
	var department string
	scanSQL(t, db, "SELECT name FROM tenants", &department)
	key := newKey(t, db, department, "--scope", scope)
	b := c.signIn(t, key, "en")
	page, err := url.Parse(c.url + "/office/")
	must(t, err)
	cookie := b.Jar.Cookies(page)[0]
	c.authorization, c.cookie = "Authorization: Bearer "+key, "Cookie: "+cookie.Name+"="+cookie.Value
	return c
}

// checkPeak checks the peak memory of the process.
func (c *crowd) checkPeak(t *testing.T) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.pid))
	must(t, err)
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	kilobytes, err := strconv.Atoi(string(found[1]))
	must(t, err)
	if t.Logf("peak memory: %d MB", kilobytes>>10); kilobytes<<10 > mostMemory {
		t.Errorf("peak memory: %d MB, want at most %d MB", kilobytes>>10, mostMemory>>20)
	}
}

// request formats a request. Its Content-Length is larger than the body by missing bytes.
func (c *crowd) request(line, body string, missing int, headers ...string) string {
	_, host, _ := strings.Cut(c.url, "://")
	if body != "" {
		headers = append(headers, fmt.Sprintf("Content-Length: %d", len(body)+missing))
	}
	return line + " HTTP/1.1\r\nHost: " + host + "\r\n" + strings.Join(append(headers, "", ""), "\r\n") + body
}

// crowd sends a request from many connections at the same time and keeps them open. If answer is
// set, each reads the first byte of its answer.
func (c *crowd) crowd(t *testing.T, connections int, request string, answer bool) {
	t.Helper()
	content := []byte(request) // one copy for all connections
	var all sync.WaitGroup
	for range connections {
		conn := c.dial(t)
		must(t, conn.(*net.TCPConn).SetReadBuffer(4096))
		all.Go(func() {
			conn.Write(content) // fails if the service stops reading
			if answer {
				conn.Read(make([]byte, 1))
			}
		})
	}
	all.Wait()
}

// TestMemory checks that many clients do not take much memory, whatever they send and however
// little they read. All connections stay open. Together, the long answers are larger than
// mostMemory.
func TestMemory(t *testing.T) {
	t.Parallel()
	const (
		inForm     = "Content-Type: multipart/form-data; boundary=b"
		urlencoded = "Content-Type: application/x-www-form-urlencoded"
		field      = "--b\r\nContent-Disposition: form-data; name=\""
		ofFile     = field + "file\"; filename=\"a.csv\"\r\n\r\n"
	)
	largest := strings.Repeat("First name,Last name\nAna,Horvat\n", 10<<20/32)
	large := largest[:2<<20] // 200 connections send 400 MB, more than twice mostMemory
	var fields, parts, headers strings.Builder
	for i := 0; fields.Len() < 65_000; i++ {
		fmt.Fprintf(&fields, "&%x", i)
	}
	for i := range 100 {
		fmt.Fprintf(&parts, "%s%d%s\"\r\n\r\n\r\n", field, i, strings.Repeat("x", 60_000))
	}
	for i := 0; headers.Len() < 63_000; i++ {
		fmt.Fprintf(&headers, "X%d:\r\n", i)
	}
	for name, tt := range map[string]struct {
		number  int
		scope   string
		answer  bool // clients read the first byte of the answer
		request func(c *crowd) string
	}{
		"idle": {300, "read", true, func(c *crowd) string { return c.request("GET /office/", "", 0, c.cookie) }},
		"slow headers": {300, "read", false, func(c *crowd) string {
			return "GET /healthz HTTP/1.1\r\n" + headers.String()
		}},
		"JSON": {300, "write", false, func(c *crowd) string {
			return c.request("POST "+collection, "{"+strings.Repeat(" ", 65_000), 1, c.authorization)
		}},
		"long names, no session": {300, "read", false, func(c *crowd) string {
			return c.request("POST /office/import", parts.String(), 1, inForm)
		}},
		"long names, API": {300, "write", false, func(c *crowd) string {
			return c.request("POST /api/v1/imports", field+large, 1, inForm, c.authorization)
		}},
		"uploads, write session": {200, "write", false, func(c *crowd) string {
			return c.request("POST /office/import", ofFile+large, 1, inForm, c.cookie)
		}},
		"uploads, API": {200, "write", false, func(c *crowd) string {
			return c.request("POST /api/v1/imports", ofFile+large, 1, inForm, c.authorization)
		}},
		"uploads to their end": {100, "write", true, func(c *crowd) string {
			return c.request("POST /api/v1/imports", ofFile+largest+"\r\n--b--\r\n", 0, inForm, c.authorization)
		}},
		"many fields": {300, "read", true, func(c *crowd) string {
			return c.request("POST /office/sign-in", fields.String(), 0, urlencoded)
		}},
		"long search": {300, "read", true, func(c *crowd) string {
			return c.request("GET /office/?search="+strings.Repeat("'", 60_000), "", 0, c.cookie)
		}},
		"print": {150, "read", true, func(c *crowd) string {
			return c.request("GET /office/print?list=full", "", 0, c.cookie)
		}},
		"changes": {300, "read", true, func(c *crowd) string {
			return c.request("GET /api/v1/changes?limit=1000", "", 0, c.authorization)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCrowd(t, tt.scope)
			c.crowd(t, tt.number, tt.request(c), tt.answer)
			c.checkPeak(t)
		})
	}
}

// TestMemoryOfPhones checks that clients with the key of a phone do not take much memory either,
// whatever they request.
func TestMemoryOfPhones(t *testing.T) {
	t.Parallel()
	const (
		list     = "PROPFIND " + davBook
		report   = "REPORT " + davBook
		multiget = "<C:addressbook-multiget" + davNamespaces + ">"
		getAll   = "<D:getetag/><C:address-data/>"
		end      = "</C:addressbook-multiget>"
	)
	var hrefs, names, attributes strings.Builder
	for i := range 49_000 {
		fmt.Fprintf(&hrefs, "<D:href>%d</D:href>", i)
	}
	for i := range 200 {
		fmt.Fprintf(&names, "<x:a%d/>", i)
	}
	named := "<D:propfind" + davNamespaces + " xmlns:x=\"%s\"><D:prop>" + names.String() + "</D:prop></D:propfind>"
	for i := range 49_000 {
		fmt.Fprintf(&attributes, ` a%d=""`, i)
	}
	element := "<a" + attributes.String()[:60_000]
	element = element[:strings.LastIndex(element, " ")] + "/>"
	for name, tt := range map[string]struct {
		number            int
		line, depth, body string
	}{
		"whole book":              {100, report, "1", "<D:sync-collection" + davNamespaces + "><D:sync-token/><D:prop>" + getAll + "</D:prop></D:sync-collection>"},
		"cards by their names":    {100, report, "1", multiget + "<D:prop>" + getAll + "</D:prop>" + hrefs.String() + end},
		"many attributes":         {100, report, "1", multiget + strings.Repeat(element, 30) + end},
		"a namespace many times":  {100, list, "0", fmt.Sprintf(named, strings.Repeat("'", 60_000))},
		"namespaces of each card": {40, list, "1", fmt.Sprintf(named, strings.Repeat("'", 6))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCrowd(t, "read")
			c.crowd(t, tt.number, c.request(tt.line, tt.body, 0, "Depth: "+tt.depth, c.authorization), true)
			c.checkPeak(t)
		})
	}
}

// TestMemoryOfImports checks the memory of two simultaneous imports of the longest lists, of
// workbooks with the maximum number of cells, and of workbooks with millions of strings.
func TestMemoryOfImports(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	list.WriteString("First name,Last name,Phone,Email,Date of birth\n")
	for i := range 99_000 {
		fmt.Fprintf(&list, "Ana%05d Maria,Čović-Horvat%05d,+385 91 %07d,ana%05d@example.com,1990-05-15\n", i, i, i, i)
	}
	cell := func(text string) string { return `<c t="str"><v>` + text + `</v></c>` }
	wide := "<row>" + cell("First name") + cell("Last name")
	for i := range 998 {
		wide += cell(strconv.Itoa(i))
	}
	wideRow := "<row>" + strings.Repeat(cell("a"), 1000) + "</row>"
	few := []repeated{{`<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>`, 2}}
	emptyStrings := strings.Repeat("<si/>", 1000)
	for name, content := range map[string]string{
		"list":          list.String(),
		"wide workbook": workbookOf(t, []repeated{{wide + "</row>", 1}, {wideRow, 1190}}, nil),
		"most strings":  workbookOf(t, few, []repeated{{emptyStrings, 12_000}}),
		"too large":     workbookOf(t, []repeated{{wide + "</row>", 1}, {wideRow, 3490}}, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := filepath.Join(t.TempDir(), "x.db")
			cmd, _ := process(t, "--db", db, "--listen", "127.0.0.1:0")
			c := &crowd{client: startedProcess(t, cmd), pid: cmd.Process.Pid}
			want := 200
			if name == "too large" || name == "most strings" {
				want = 413
			}
			var all sync.WaitGroup
			for _, key := range []string{c.key, newKey(t, db, "another")} {
				all.Go(func() {
					a, err := c.as(key).try(t, "POST", "/api/v1/imports", strings.NewReader(content), "Content-Type", "application/octet-stream")
					if err != nil || a.status != want {
						t.Errorf("%d, %v", a.status, err)
					}
				})
			}
			all.Wait()
			c.checkPeak(t)
		})
	}
}

// repeated is a text and the number of its repetitions.
type repeated struct {
	text  string
	times int
}

// workbookOf returns a workbook with these rows and, if shared is not nil, a part with these
// shared strings. It never holds all rows in memory.
func workbookOf(t *testing.T, rows, shared []repeated) string {
	t.Helper()
	var content bytes.Buffer
	archive := zip.NewWriter(&content)
	write := func(name string, texts ...repeated) {
		w, err := archive.Create(name)
		must(t, err)
		for _, part := range texts {
			for range part.times {
				_, err := io.WriteString(w, part.text)
				must(t, err)
			}
		}
	}
	relations := `<Relationship Id="1" Type="x/worksheet" Target="a.xml"/>`
	if shared != nil {
		relations += `<Relationship Id="2" Type="x/sharedStrings" Target="s.xml"/>`
	}
	write("xl/workbook.xml", repeated{`<workbook><sheets><sheet name="A" r:id="1"/></sheets></workbook>`, 1})
	write("xl/_rels/workbook.xml.rels", repeated{`<Relationships>` + relations + `</Relationships>`, 1})
	write("xl/a.xml", slices.Concat([]repeated{{"<worksheet><sheetData>", 1}}, rows, []repeated{{"</sheetData></worksheet>", 1}})...)
	if shared != nil {
		write("xl/s.xml", slices.Concat([]repeated{{"<sst>", 1}}, shared, []repeated{{"</sst>", 1}})...)
	}
	must(t, archive.Close())
	return content.String()
}

// TestSlowExports checks that clients that do not read their exports do not block a page.
func TestSlowExports(t *testing.T) {
	t.Parallel()
	c := startCrowd(t, "write")
	var list strings.Builder
	list.WriteString("First name,Last name,Phone,Email\n")
	for i := range 10_000 { // 10 MB, more than the kernel keeps for a client
		fmt.Fprintf(&list, "%s,%s%04d,,%s%04d@example.com\n", strings.Repeat("ž", 100), strings.Repeat("ž", 96), i, strings.Repeat("a", 238), i)
	}
	key := strings.TrimPrefix(c.authorization, "Authorization: Bearer ")
	c.as(key).do(t, "POST", "/api/v1/imports?apply=true", list.String(), "Content-Type", "text/csv").wants(t, 201)
	c.crowd(t, 9, c.request("GET /office/export/file?format=csv", "", 0, c.cookie), true)
	c.browser(t, "en").get(t, "/office/sign-in").wants(t, 200)
}
