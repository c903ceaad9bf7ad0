package acceptance

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A client that knows nothing but docs/openapi.json sends requests that it makes by chance.
// holdAgainstDocument checks each answer, and whether the document says the same of the
// request as the service.

var (
	generatedSeed  = flag.Uint64("generated.seed", 23, "seed of the requests of TestGenerated")
	generatedCases = flag.Int("generated.cases", unlessRace(1200, 500), "requests of TestGenerated")
)

// operation is one of the document.
type operation struct {
	object
	verb, path string
	parameters []object
	body       object // nil: it takes none
}

// operationsOf returns those of the document, in order.
func operationsOf(d *jsonDocument) (all []operation) {
	paths := d.at("paths")
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := d.follow(paths[path])
		for _, verb := range verbs {
			o, ok := item[verb].(object)
			if !ok {
				continue
			}
			op := operation{object: o, verb: strings.ToUpper(verb), path: path, body: d.follow(o["requestBody"])}
			for _, p := range append(listOf(item["parameters"]), listOf(o["parameters"])...) {
				op.parameters = append(op.parameters, d.follow(p))
			}
			all = append(all, op)
		}
	}
	return all
}

// weight says how much there is to try of an operation.
func (o operation) weight() int {
	if o.body != nil {
		return 12 + len(o.parameters)
	}
	return 2 + len(o.parameters)
}

// canBeWrong reports whether a request for the operation can have a wrong form.
func (o operation) canBeWrong() bool {
	return o.body != nil || strings.HasPrefix(o.path, "/api/v1/")
}

// commonHeaders are those that any request may have, and values of them.
var commonHeaders = []struct {
	name   string
	values []string
}{
	{"Accept-Encoding", []string{"gzip", "identity", "gzip;q=0.5, identity;q=1", "*;q=0", "br", "gzip;q=x", "", "x-gzip, *;q=0.1"}},
	{"Accept", []string{"application/json", "*/*", "text/html", "application/xml;q=0", "\u00e9"}},
	{"Origin", []string{roster, "https://evil.example", "null"}},
	{"Range", []string{"bytes=0-1"}},
	{"If-Modified-Since", []string{"Sat, 29 Oct 1994 19:43:31 GMT"}},
	{"Content-Encoding", []string{"identity", "gzip", ""}},
	{"X-Http-Method-Override", []string{"DELETE"}},
	{"Cookie", []string{"key=ff_x"}},
}

// TestGenerated: with -generated.cases=20000 it takes about a minute.
func TestGenerated(t *testing.T) {
	t.Parallel()
	s := startOpen(t)
	other := s.as(newKey(t, s.db, "other"))
	clients := []client{s.as(newKey(t, s.db, firstDepartment, "--scope", "read")), other, s.as("")}
	s.create(t, `{"firstName":"A","lastName":"B"}`)
	other.create(t, `{"firstName":"A","lastName":"B"}`)
	g := &generator{Rand: rand.New(rand.NewPCG(*generatedSeed, 0)), met: map[string][]string{}}
	operations := operationsOf(description())
	var all []operation
	for _, o := range operations {
		all = append(all, slices.Repeat([]operation{o}, o.weight())...)
	}
	answers := map[string]int{}
	for failed, i := 0, 0; i < *generatedCases && failed < 10; i++ {
		o := all[i%len(all)]
		c := s.client
		if g.oneOf(25) {
			c = pickOne(g, clients)
		}
		if !t.Run(fmt.Sprint(i), func(t *testing.T) {
			method, path, body, headers := g.request(o)
			a := c.do(t, method, path, body, headers...)
			g.learn(a)
			answers[fmt.Sprint(o.object["operationId"], " ", a.status/100)]++
			if t.Failed() {
				t.Logf("-generated.seed=%d: %s %.1000s\n%.1000q\n%.1000q\n%d %v\n%.1000s", *generatedSeed, method, path, headers, body, a.status, a.header, a.body)
			}
		}) {
			failed++
		}
	}
	for _, o := range operations { // else much would not be tried at all
		name := fmt.Sprint(o.object["operationId"])
		if name != "takeImportBack" && answers[name+" 2"] == 0 || o.canBeWrong() && answers[name+" 4"] == 0 {
			t.Errorf("of %s there are too few answers: %v", name, answers)
		}
	}
}

// walks is how many people TestGeneratedWalk makes.
const walks = 8

// TestGeneratedWalk: what the document allows can be created, found, changed by each kind of
// patch, replaced and deleted, and the changes tell of all that.
func TestGeneratedWalk(t *testing.T) {
	t.Parallel()
	s := startOpen(t)
	g := &generator{Rand: rand.New(rand.NewPCG(*generatedSeed, 1)), met: map[string][]string{}}
	const one = collection + "/{id}"
	for range walks {
		position := ""
		for more := true; more; {
			var feed struct {
				Next string
				More bool
			}
			must(t, json.Unmarshal([]byte(s.do(t, "GET", "/api/v1/changes?limit=1000&after="+position, "").wants(t, 200).body), &feed))
			position, more = feed.Next, feed.More
		}
		made := s.do(t, "POST", collection, g.bodyOf("post", collection, "application/json")).wants(t, 201)
		path := made.header.Get("Location")
		got := s.do(t, "GET", path, "").wants(t, 200)
		if got.body != made.body || got.header.Get("ETag") != made.header.Get("ETag") {
			t.Errorf("made %s, got %s", made.body, got.body)
		}
		for _, mediaType := range slices.Sorted(maps.Keys(description().at("paths", one, "patch", "requestBody", "content"))) {
			got = s.do(t, "PATCH", path, g.bodyOf("patch", one, mediaType), "Content-Type", mediaType, "If-Match", got.header.Get("ETag")).wants(t, 200)
		}
		got = s.do(t, "PUT", path, got.body, "If-Match", got.header.Get("ETag")).wants(t, 200)
		got = s.do(t, "PUT", path, g.bodyOf("put", one, "application/json"), "If-Match", got.header.Get("ETag")).wants(t, 200)
		if list := s.do(t, "GET", collection, "").body; !strings.Contains(list, got.body) {
			t.Errorf("the list does not have %s: %s", got.body, list)
		}
		if feed := s.do(t, "GET", "/api/v1/changes?after="+position, "").body; !strings.Contains(feed, `"action":"create"`) || !strings.Contains(feed, got.body) {
			t.Errorf("the changes do not have %s: %s", got.body, feed)
		}
		s.do(t, "DELETE", path, "", "If-Match", got.header.Get("ETag")).wants(t, 204)
		s.do(t, "GET", path, "").wants(t, 404)
	}
}

// bodyOf returns a body that an operation takes.
func (g *generator) bodyOf(verb, path, mediaType string) string {
	g.careless = 0
	media := description().at("paths", path, verb, "requestBody", "content", mediaType)
	return g.json(description().follow(media["schema"]))
}

// request makes one for an operation.
func (g *generator) request(o operation) (method, path, body string, headers []string) {
	g.careless = pickOne(g, []float64{0, 0, 0.1, 0.4})
	method, path = o.verb, o.path
	if method == http.MethodGet && g.oneOf(10) {
		method = http.MethodHead
	} else if g.careless > 0 && g.oneOf(40) {
		method = pickOne(g, []string{"PUT", "DELETE", "OPTIONS", "TRACE", "BREW", "get"})
	}
	var query []string
	target := -1 // the only parameter that need not fit
	if g.oneOf(2) && len(o.parameters) > 0 {
		g.careless, target = 0, g.IntN(len(o.parameters))
	}
	careless := g.careless
	for i, p := range o.parameters {
		if g.careless = careless; i == target {
			g.careless = 1
		}
		name := p["name"].(string)
		schema := description().follow(p["schema"])
		switch p["in"] {
		case "path":
			text := g.text(name, schema)
			if text == "" || strings.Contains(text, "/") {
				text = "x"
			}
			path = strings.Replace(path, "{"+name+"}", url.PathEscape(text), 1)
		case "query":
			if i == target || g.oneOf(3) {
				query = append(query, g.parameter(name, schema)...)
			}
		case "header":
			for n := 0; n < 2 && g.oneOf(4); n++ { // the second is there seldom
				headers = append(headers, name, sendable(g.text(name, schema)))
			}
		}
	}
	g.careless = careless
	if g.oneOf(15) {
		query = append(query, pickOne(g, []string{"foo=1", "Page=0", "%20page=0", "", "=", "search", "\xff=1"}))
	}
	if g.careless > 0 && g.oneOf(30) {
		query = append(query, pickOne(g, []string{"%zz", "%", "page=%ff%ff", "search=%ff"}))
	}
	if slices.ContainsFunc(query, func(p string) bool { return strings.HasPrefix(p, "wait=") }) { // from the first change on, nobody waits
		query = slices.DeleteFunc(query, func(p string) bool { return strings.HasPrefix(p, "after=") })
	}
	g.Shuffle(len(query), func(i, j int) { query[i], query[j] = query[j], query[i] })
	if len(query) > 0 || g.oneOf(30) {
		path += "?" + strings.Join(query, "&")
	}
	for _, h := range commonHeaders {
		if g.oneOf(15) && (h.name != "Content-Encoding" || g.careless > 0) {
			headers = append(headers, h.name, pickOne(g, h.values))
		}
	}
	if o.body != nil {
		mediaType, text := g.body(o.body)
		body = text
		if headers = append(headers, "Content-Type", mediaType); g.careless > 0 && g.oneOf(40) {
			headers = append(headers, "Content-Type", mediaType)
		}
	} else if g.oneOf(20) {
		body = "{}"
	}
	return method, path, body, headers
}

// parameter returns one of a query, each time that it is there.
func (g *generator) parameter(name string, schema object) (all []string) {
	times, items := 1, schema
	if schema["type"] == "array" {
		items = description().follow(schema["items"])
		if times = g.IntN(4); g.oneOf(20) {
			times = 99 + g.IntN(4)
		}
	} else if g.Float64() < g.careless && g.oneOf(6) {
		times = 2
	}
	var texts []string
	for range times {
		text := g.text(name, items)
		if g.oneOf(20) {
			text = ""
		}
		texts = append(texts, text)
	}
	if schema["type"] == "array" && g.oneOf(2) {
		texts = []string{strings.Join(texts, ",")}
	}
	for _, text := range texts {
		all = append(all, url.QueryEscape(name)+"="+url.QueryEscape(text))
	}
	return all
}

// unsendable are the characters that no header can have.
var unsendable = regexp.MustCompile(`[\x00-\x08\x0a-\x1f\x7f]`)

func sendable(text string) string { return unsendable.ReplaceAllString(text, "") }

// body returns a body for an operation, and its type.
func (g *generator) body(requestBody object) (mediaType, text string) {
	content := description().follow(requestBody["content"])
	mediaType = pickOne(g, slices.Sorted(maps.Keys(content)))
	media := content[mediaType].(object)
	if schema := description().follow(media["schema"]); strings.HasSuffix(mediaType, "json") {
		text = g.json(schema)
	} else {
		text = g.file()
	}
	if mediaType == "multipart/form-data" {
		var b bytes.Buffer
		form := multipart.NewWriter(&b)
		for range pickOne(g, []int{1, 1, 1, 1, 0, 2}) {
			part, _ := form.CreateFormFile("file", sendable(g.odd()))
			part.Write([]byte(text))
		}
		form.Close()
		return form.FormDataContentType(), b.String()
	}
	if g.Float64() < g.careless && g.oneOf(4) {
		mediaType = pickOne(g, []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json-patch+json", "application/jsonx", "*/*", "json", ";",
			mediaType + ";", mediaType + "; charset", mediaType + "; charset=latin1", mediaType + `; charset="utf-8"`, mediaType + "; charset=utf8", strings.ToUpper(mediaType),
			" " + mediaType + " ", mediaType + ", text/plain", mediaType + "; charset=utf-8; charset=utf-16", mediaType + "; foo=\u00e9"})
	}
	return mediaType, text
}

// file returns one to import.
func (g *generator) file() string {
	switch known := g.met["file"]; {
	case len(known) > 0 && g.oneOf(3):
		return pickOne(g, known)
	case g.Float64() < g.careless:
		return g.odd()
	}
	return csvOf(1 + g.IntN(3))
}

// learn keeps values of an answer for later requests.
func (g *generator) learn(a answer) {
	keep := func(name, value string) {
		if known := g.met[name]; len(known) < 40 {
			g.met[name] = append(known, value)
		} else {
			known[g.IntN(len(known))] = value
		}
	}
	var read func(name string, value any)
	read = func(name string, value any) {
		switch value := value.(type) {
		case object:
			for _, member := range slices.Sorted(maps.Keys(value)) {
				read(member, value[member])
			}
		case []any:
			for _, item := range value[:min(len(value), 3)] {
				read(name, item)
			}
		case nil:
		default:
			keep(name, fmt.Sprint(value))
		}
	}
	switch value, err := parseJSON([]byte(a.body)); {
	case a.header.Get("Content-Disposition") != "" && len(a.body) < 8<<10:
		keep("file", a.body)
	case err == nil && a.status < 300 && len(a.body) < 64<<10: // the document is larger
		read("", value)
	}
	for _, as := range [][2]string{{"next", "after"}, {"lastName", "search"}} {
		if known := g.met[as[0]]; len(known) > 0 {
			keep(as[1], pickOne(g, known))
		}
	}
	if tag := a.header.Get("ETag"); tag != "" {
		keep("If-Match", tag)
		keep("If-None-Match", tag)
	}
	for _, link := range regexp.MustCompile(`<[^>?]*\?([^>]*)>`).FindAllStringSubmatch(a.header.Get("Link"), -1) {
		query, _ := url.ParseQuery(link[1])
		for _, name := range slices.Sorted(maps.Keys(query)) {
			keep(name, query.Get(name))
		}
	}
}
