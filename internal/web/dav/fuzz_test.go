package dav

import (
	"encoding/xml"
	"errors"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// FuzzBody checks that readXML returns elements within the limits, or a client error.
func FuzzBody(f *testing.F) {
	for _, file := range recordedFiles(f) {
		archive, err := txtar.ParseFile(file)
		must(f, err)
		_, _, body := split(f, string(archive.Files[0].Data))
		f.Add(body)
	}
	for _, body := range []string{"", "\ufeff", `<!DOCTYPE x [<!ENTITY e "e">]><x>&e;</x>`, `<D:6x xmlns:D="DAV:"/>`, `<a:x xmlns:a="u:" xmlns:b="u:" a:y="" b:y=""/>`,
		`<x xmlns="u:"><y xmlns=""/></x>`, `<x xmlns:p="xmlns" p:b=""/>`, `<a:x xmlns:a="b"><b:x xmlns:b="a" a:b=""/></a:x>`, `<xml:x/>`, "<x>\xff</x>", "<x", "<x/><x/>", `<?xml version="1.0" encoding="utf-16"?><x/>`,
		strings.Repeat("<x>", 33) + strings.Repeat("</x>", 33)} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		root, err := readXML([]byte(body))
		if p := (*httpapi.Problem)(nil); errors.As(err, &p) && (p.Status == 400 || p.Status == 413) {
			return
		}
		must(t, err)
		if root == nil {
			if strings.TrimSpace(strings.TrimPrefix(body, "\ufeff")) != "" {
				t.Error("no element was returned")
			}
			return
		}
		var all []xml.Name
		if depth := collect(root, &all); depth > maxDepth || len(all) > maxElements {
			t.Errorf("%d elements with a nesting depth of %d", len(all), depth)
		}
	})
}

// collect appends the names of an element and its descendants in order, and returns the nesting depth.
func collect(e *element, all *[]xml.Name) (depth int) {
	*all = append(*all, e.name)
	for _, c := range e.children {
		depth = max(depth, collect(c, all))
	}
	return depth + 1
}

// FuzzReport checks that any request gets a known status and valid XML, which contains only names and
// addresses of the book or of the request, and only people of the caller's department.
func FuzzReport(f *testing.F) {
	b := newBook(f)
	values := b.values(f, false)
	for _, file := range recordedFiles(f) {
		archive, err := txtar.ParseFile(file)
		must(f, err)
		request := string(archive.Files[0].Data)
		for name, value := range values {
			request = strings.ReplaceAll(request, "{"+name+"}", value)
		}
		line, headers, body := split(f, request)
		method, path, _ := strings.Cut(strings.TrimSuffix(line, " HTTP/1.1"), " ")
		f.Add(method == "REPORT", path, strings.Join(headers["Depth"], ""), len(headers["Brief"]) > 0, body)
	}
	for _, more := range []string{"<C:limit><C:nresults>1</C:nresults></C:limit>", `<C:filter test="allof"><C:prop-filter name="TEL"><C:is-not-defined/></C:prop-filter></C:filter>`,
		`<C:filter><C:prop-filter name="TEL"><C:param-filter name="TYPE"><C:text-match negate-condition="yes" match-type="ends-with">x</C:text-match></C:param-filter></C:prop-filter></C:filter>`} {
		f.Add(true, bookPath, "1", false, queryOf(more))
	}
	f.Add(true, bookPath, "0", true, syncOf("data:,"+b.token, "<D:limit><D:nresults>1</D:nresults></D:limit>"))
	f.Add(true, bookPath, "", false, multigetOf("/", "x:", "//x/", bookPath+b.id["Ana"]+".vcf", bookPath+b.id["Zora"]+".vcf"))
	f.Add(false, bookPath+b.id["Ana"]+".vcf", "0", false, propfindOf("<C:address-data/>"))
	f.Add(false, "/", "infinity", false, `<D:propfind xmlns:D="DAV:"><D:propname/></D:propfind>`)
	f.Fuzz(func(t *testing.T, report bool, path, depth string, brief bool, body string) {
		u, err := url.ParseRequestURI(path)
		if err != nil || u.Host != "" || u.Scheme != "" {
			return // not a request path
		}
		method := "PROPFIND"
		if report {
			method = "REPORT"
		}
		b.t = t
		b.asks(t, method, u, depth, brief, body)
	})
}

// asks sends a request, checks the response and returns its status.
func (b *book) asks(t *testing.T, method string, u *url.URL, depth string, brief bool, body string) int {
	t.Helper()
	r := httptest.NewRequest(method, "/", strings.NewReader(body))
	r.URL = u
	r.Header["Depth"] = []string{depth}
	if brief {
		r.Header["Brief"] = []string{"t"}
	}
	a := b.serveTo(r)
	if !slices.Contains([]int{200, 207, 301, 400, 403, 404, 405, 413}, a.status) {
		t.Fatalf("%s %s with %s: %d %s", method, u, body, a.status, a.body)
	}
	if a.wants(a.status); a.status == 207 {
		b.checkEcho(t, a, body)
	}
	return a.status
}

// checkEcho checks that a response contains only data of the book or of the request.
func (b *book) checkEcho(t *testing.T, a reply, body string) {
	t.Helper()
	request, err := readXML([]byte(body))
	must(t, err)
	var names []xml.Name
	hrefs := []string{"/", "/principals/", "/dav/", PrincipalPath, homePath, bookPath}
	if request != nil {
		collect(request, &names)
		for _, e := range request.children {
			hrefs = append(hrefs, e.trimmed())
		}
	}
	for _, name := range []string{"Ana", "Éric", "İlay"} {
		hrefs = append(hrefs, cardPath(b.id[name]))
	}
	for _, r := range a.multistatus().Responses {
		if !slices.Contains(hrefs, r.Href) {
			t.Errorf("unrequested href %q", r.Href)
		}
		for _, p := range r.Propstats {
			for _, property := range p.Prop.All {
				if name := property.XMLName; properties[name] == nil && !slices.Contains(names, name) {
					t.Errorf("unrequested property %v", name)
				}
			}
		}
	}
	if strings.Contains(a.body, "Marić") && !strings.Contains(body, "Marić") {
		t.Error("the response contains a person of another department")
	}
}
