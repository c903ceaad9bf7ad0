package dav

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"net/http/httptest"
	"net/textproto"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the answers in testdata as they are now")

// TestClients replays recorded requests of clients, from account setup to later syncs, and compares
// the responses with the files in testdata. A file contains a request and its response. The names of a
// client's files give their order. The book changes before the first file with "later" in its name.
// Placeholders in braces differ between books: {ana} is Ana's id, {ana.etag} the entity tag of her
// card, {token} the sync token, {token.later} the token after the change, and {token.part} a token in
// between. Irrelevant headers and the password are left out.
func TestClients(t *testing.T) {
	t.Parallel()
	clients := map[string][]string{}
	for _, file := range recordedFiles(t) {
		name, _, _ := strings.Cut(filepath.Base(file), "-")
		clients[name] = append(clients[name], file)
	}
	if len(clients) < 8 {
		t.Errorf("found only %d clients", len(clients))
	}
	for name, files := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBook(t)
			later := false
			for _, file := range files {
				if !later && strings.Contains(file, "-later-") {
					later = true
					b.change()
				}
				b.compare(t, file, later)
			}
		})
	}
}

// partToken is a token for a state between the two others.
var partToken = regexp.MustCompile(`data:,[\w-]+`)

// recordedFiles returns the files in testdata, grouped by client.
func recordedFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	must(t, err)
	return files
}

// compare sends the request in a file and compares the response with the file.
func (b *book) compare(t *testing.T, file string, later bool) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	must(t, err)
	if len(archive.Files) == 0 || archive.Files[0].Name != "request" {
		t.Fatalf("missing request in %s", file)
	}
	values := b.values(t, later)
	a := b.recorded(t, archive, values)
	a.t = t
	if a.wants(a.status); a.status == 207 {
		a.multistatus()
	}
	got := a.written()
	for name, value := range values {
		got = strings.ReplaceAll(got, value, "{"+name+"}")
	}
	got = partToken.ReplaceAllString(got, "data:,{token.part}")
	if *update {
		archive.Files = append(archive.Files[:1], txtar.File{Name: "answer", Data: []byte(got)})
		must(t, os.WriteFile(file, txtar.Format(archive), 0o644))
		return
	}
	if len(archive.Files) != 2 || string(archive.Files[1].Data) != got {
		t.Errorf("%s: got response\n%s", file, got)
	}
}

// values returns the values of the placeholders.
func (b *book) values(t testing.TB, later bool) map[string]string {
	t.Helper()
	token, err := b.store.SyncToken(ours)
	must(t, err)
	if b.token == "" {
		b.token = token
	}
	all := map[string]string{"token": b.token}
	if later {
		all["token.later"] = token
	}
	for word, name := range map[string]string{"ana": "Ana", "eric": "Éric", "ilay": "İlay", "mia": "Mia"} {
		id := b.id[name]
		if id == "" {
			continue
		}
		all[word] = id
		if f, err := b.store.Get(ours, id); err == nil {
			all[word+".etag"] = (&target{caller: caller{ours, true}, person: &f, store: b.store}).etag()
		}
	}
	return all
}

// recorded sends the request in a file.
func (b *book) recorded(t testing.TB, archive *txtar.Archive, values map[string]string) reply {
	t.Helper()
	request := string(archive.Files[0].Data)
	for name, value := range values {
		request = strings.ReplaceAll(request, "{"+name+"}", value)
	}
	line, headers, body := split(t, request)
	method, rest, _ := strings.Cut(line, " ")
	r := httptest.NewRequest(method, strings.TrimSuffix(rest, " HTTP/1.1"), strings.NewReader(body))
	r.Header = headers
	r.Host = r.Header.Get("Host")
	r.Header.Del("Host")
	if !b.Takes(r) {
		t.Fatalf("%s is not a request to the address book", line)
	}
	return b.serveTo(r)
}

// split splits a message into its first line, headers and body.
func split(t testing.TB, message string) (line string, headers map[string][]string, body string) {
	t.Helper()
	head, body, whole := strings.Cut(message, "\n\n")
	line, rest, _ := strings.Cut(head, "\n")
	headers = map[string][]string{}
	for _, header := range strings.Split(rest, "\n") {
		name, value, ok := strings.Cut(header, ": ")
		if !ok || !whole {
			t.Fatalf("invalid header %q", header)
		}
		headers[textproto.CanonicalMIMEHeaderKey(name)] = []string{value}
	}
	return line, headers, body
}

// written returns a response in the format of the files.
func (a reply) written() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d\n", a.status)
	for _, name := range slices.Sorted(maps.Keys(a.header)) {
		if name != "Content-Length" {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(a.header[name], ", "))
		}
	}
	b.WriteString("\n" + a.body)
	if a.body != "" && !strings.HasSuffix(a.body, "\n") {
		b.WriteString("\n")
	}
	return b.String()
}
