package acceptance

import (
	"bytes"
	"cmp"
	"errors"
	"html"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// The tests of the office page send the requests of a browser and look at pages like a user: by
// headings, labels and texts.

// browser is the browser of a user. It keeps cookies but follows redirects only in webPage.follow.
type browser struct {
	client
	language string // Accept-Language
}

// browser returns a browser without a session.
func (c client) browser(t *testing.T, language string) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	copied := *c.Client
	copied.Jar = jar
	return &browser{client{&copied, c.url, ""}, language}
}

// signIn returns a browser with a session that was opened with an API key.
func (c client) signIn(t *testing.T, key, language string) *browser {
	t.Helper()
	b := c.browser(t, language)
	p := b.post(t, "/office/sign-in", url.Values{"key": {key}})
	if p.wants(t, http.StatusSeeOther).header.Get("Location") != "/office/" {
		t.Fatalf("the sign-in redirects to %q", p.header.Get("Location"))
	}
	return b
}

// get requests a page like a link on another page. Further headers are name, value, name, value.
// They replace the headers of a browser. An empty value removes a header.
func (b *browser) get(t *testing.T, path string, headers ...string) *webPage {
	t.Helper()
	return b.send(t, http.MethodGet, path, nil, headers)
}

// post sends a form of a page.
func (b *browser) post(t *testing.T, path string, form url.Values, headers ...string) *webPage {
	t.Helper()
	return b.send(t, http.MethodPost, path, form, headers)
}

// upload sends a form of a page with a file.
func (b *browser) upload(t *testing.T, path, file, content string, form url.Values, headers ...string) *webPage {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, values := range form {
		for _, value := range values {
			must(t, w.WriteField(name, value))
		}
	}
	part, err := w.CreateFormFile("file", file)
	must(t, err)
	_, err = part.Write([]byte(content))
	must(t, err)
	must(t, w.Close())
	p, err := b.tryBody(t, http.MethodPost, path, body.String(), w.FormDataContentType(), headers)
	must(t, err)
	p.check(t)
	return p
}

func (b *browser) send(t *testing.T, method, path string, form url.Values, headers []string) *webPage {
	t.Helper()
	p, err := b.trySend(t, method, path, form, headers)
	must(t, err)
	p.check(t)
	return p
}

// trySend is send for a goroutine other than the test.
func (b *browser) trySend(t *testing.T, method, path string, form url.Values, headers []string) (*webPage, error) {
	return b.tryBody(t, method, path, form.Encode(), "application/x-www-form-urlencoded", headers)
}

func (b *browser) tryBody(t *testing.T, method, path, body, contentType string, headers []string) (*webPage, error) {
	r, err := http.NewRequestWithContext(t.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{"Accept": {"text/html,application/xhtml+xml,*/*;q=0.8"}, "Accept-Language": {b.language},
		"Sec-Fetch-Site": {"same-origin"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}}
	if method == http.MethodPost {
		r.Header.Set("Origin", b.url)
		r.Header.Set("Content-Type", contentType)
	}
	for pair := range slices.Chunk(headers, 2) {
		if r.Header.Set(pair[0], pair[1]); pair[1] == "" {
			r.Header.Del(pair[0])
		}
	}
	r.Host = r.Header.Get("Host") // empty for the host of the URL
	response, err := b.Do(r)
	if err != nil {
		return nil, err
	}
	a, err := readAnswer(response)
	p := &webPage{answer: a, browser: b, method: method, path: path}
	if strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		p.root, p.faults = parseHTML(a.body)
	}
	return p, err
}

// webPage is an answer to a browser.
type webPage struct {
	answer
	browser      *browser
	method, path string
	root         *element // nil if the answer is not a page
	faults       []error  // of its HTML
}

// wants ends the test unless the answer has this status.
func (p *webPage) wants(t *testing.T, status int) *webPage {
	t.Helper()
	if p.status != status {
		t.Fatalf("%s %s: status %d, want %d: %s%s", p.method, p.path, p.status, status, p.header.Get("Location"), p.text())
	}
	return p
}

// says checks that the visible text of the page contains these texts.
func (p *webPage) says(t *testing.T, texts ...string) *webPage {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(p.text(), text) {
			t.Errorf("%s %s, %d, lacks %q: %s", p.method, p.path, p.status, text, p.text())
		}
	}
	return p
}

// lacks checks that the visible text of the page contains none of these texts.
func (p *webPage) lacks(t *testing.T, texts ...string) *webPage {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(p.text(), text) {
			t.Errorf("%s %s, %d, contains %q: %s", p.method, p.path, p.status, text, p.text())
		}
	}
	return p
}

// follow follows redirects to a page.
func (p *webPage) follow(t *testing.T) *webPage {
	t.Helper()
	p.wants(t, http.StatusSeeOther)
	for range 5 {
		next := p.browser.get(t, p.header.Get("Location"))
		if next.status != http.StatusSeeOther {
			return next
		}
		p = next
	}
	t.Fatalf("too many redirects, the last to %s", p.path)
	return nil
}

// text returns the visible text of the page.
func (p *webPage) text() string {
	if p.root == nil {
		return p.body
	}
	return p.root.text()
}

// all returns the elements with a tag and attributes as name, value, name, value. An empty tag
// matches any element.
func (p *webPage) all(tag string, attributes ...string) []*element {
	if p.root == nil {
		return nil
	}
	return p.root.all(tag, attributes...)
}

// one returns the only element with a tag and attributes.
func (p *webPage) one(t *testing.T, tag string, attributes ...string) *element {
	t.Helper()
	found := p.all(tag, attributes...)
	if len(found) != 1 {
		t.Fatalf("%s %s has %d <%s %q>, want 1: %s", p.method, p.path, len(found), tag, attributes, p.text())
	}
	return found[0]
}

// heading returns the text of the page's heading.
func (p *webPage) heading(t *testing.T) string {
	t.Helper()
	return p.one(t, "h1").text()
}

// notice returns the text of the notice on the page.
func (p *webPage) notice(t *testing.T) string {
	t.Helper()
	return p.one(t, "div", "id", "notice").text()
}

// labelled returns the control with a label.
func (p *webPage) labelled(t *testing.T, label string) *element {
	t.Helper()
	for _, l := range p.all("label") {
		if l.text() != label {
			continue
		}
		if id := l.attributes["for"]; id != "" {
			return p.one(t, "", "id", id)
		}
		for _, control := range l.all("") {
			if control.isControl() {
				return control
			}
		}
	}
	t.Fatalf("%s %s has no field %q: %s", p.method, p.path, label, p.text())
	return nil
}

// fault returns the description of the fault of the field with that label, or "" if the field is
// valid.
func (p *webPage) fault(t *testing.T, label string) string {
	t.Helper()
	control := p.labelled(t, label)
	if control.attributes["aria-invalid"] != "true" {
		return ""
	}
	id, _, _ := strings.Cut(control.attributes["aria-describedby"], " ")
	return p.one(t, "", "id", id).text()
}

// form returns the form with an action.
func (p *webPage) form(t *testing.T, action string) *webForm {
	t.Helper()
	for _, e := range p.all("form") {
		if e.attributes["action"] == action {
			return &webForm{page: p, form: e, values: e.values()}
		}
	}
	t.Fatalf("%s %s has no form to %s: %s", p.method, p.path, action, p.text())
	return nil
}

// webForm is a form with its values.
type webForm struct {
	page   *webPage
	form   *element
	values url.Values
	file   string // name of the selected file, or empty
	list   string // content of the file
}

// attach selects a file.
func (f *webForm) attach(name, content string) *webForm {
	f.file, f.list = name, content
	return f
}

// set types a value into the field with that label.
func (f *webForm) set(t *testing.T, label, value string) *webForm {
	t.Helper()
	f.values.Set(f.page.labelled(t, label).attributes["name"], value)
	return f
}

// send submits the form with the button with that text.
func (f *webForm) send(t *testing.T, button string) *webPage {
	t.Helper()
	for _, b := range f.form.all("button") {
		if b.text() != button || b.attributes["type"] == "button" {
			continue
		}
		if name := b.attributes["name"]; name != "" {
			f.values.Set(name, b.attributes["value"])
		}
		action := cmp.Or(b.attributes["formaction"], f.form.attributes["action"])
		switch {
		case f.form.attributes["method"] != "post":
			return f.page.browser.get(t, action+"?"+f.values.Encode())
		case f.form.attributes["enctype"] == "multipart/form-data":
			return f.page.browser.upload(t, action, f.file, f.list, f.values)
		}
		return f.page.browser.post(t, action, f.values)
	}
	t.Fatalf("the form to %s has no button %q: %s", f.form.attributes["action"], button, f.form.text())
	return nil
}

// pagePolicy is the Content-Security-Policy of the page.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'"

// bareKey matches a message key that a page shows in place of a missing message.
var bareKey = sync.OnceValue(func() *regexp.Regexp {
	catalog := lang.MustLoad("*/messages/*.json", os.DirFS("../internal/web"), os.DirFS("../internal/web/office"))
	var groups []string
	for _, key := range catalog.Keys() {
		group, _, _ := strings.Cut(key, ".")
		groups = append(groups, group)
	}
	return regexp.MustCompile(`^(` + strings.Join(slices.Compact(groups), "|") + `)\.[a-zA-Z_.]+$`)
})

// badLink matches an address that no page may contain. html/template replaces unsafe values by
// ZgotmplZ.
var badLink = regexp.MustCompile(`^\s*(javascript|data):|ZgotmplZ`)

// check checks what must hold for every answer of the office.
func (p *webPage) check(t *testing.T) {
	t.Helper()
	where := p.method + " " + p.path
	for name, value := range map[string]string{
		"Content-Security-Policy":      pagePolicy,
		"X-Content-Type-Options":       "nosniff",
		"Referrer-Policy":              "same-origin",
		"X-Frame-Options":              "DENY",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got := p.header.Values(name); len(got) != 1 || got[0] != value {
			t.Errorf("%s, %d: %s %q", where, p.status, name, got)
		}
	}
	if got := p.header.Get("Cache-Control"); strings.TrimPrefix(got, "private, ") != "no-store" && !strings.HasPrefix(p.path, "/office/assets/") {
		t.Errorf("%s, %d: Cache-Control %q", where, p.status, got)
	}
	if p.header.Get("X-Request-Id") == "" || keyForm.MatchString(p.body) {
		t.Errorf("%s, %d: no request id, or a key: %v %s", where, p.status, p.header, p.body)
	}
	if p.root == nil {
		if p.status >= 400 {
			t.Errorf("%s, %d, is not a page: %v %s", where, p.status, p.header, p.body)
		}
		return
	}
	if err := errors.Join(append(p.faults, p.root.faults()...)...); err != nil {
		t.Errorf("%s, %d: %v\n%s", where, p.status, err, p.body)
	}
	if lang := p.one(t, "html").attributes["lang"]; lang != p.header.Get("Content-Language") || lang == "" {
		t.Errorf("%s: lang %q, Content-Language %q", where, lang, p.header.Get("Content-Language"))
	}
	if title := p.one(t, "title").text(); title == "" || p.heading(t) == "" {
		t.Errorf("%s: title %q", where, title)
	}
}

// element is an element of HTML, or a text if the tag is empty.
type element struct {
	tag        string
	attributes map[string]string
	content    string // of a text
	parent     *element
	children   []*element
}

var (
	htmlToken = regexp.MustCompile(`(?s)<!--.*?-->|<!doctype html>|<(/?)([a-z][a-z0-9]*)((?:[^"'>]|"[^"]*"|'[^']*')*)>|[^<]+|<`)
	htmlName  = regexp.MustCompile(`([^\s=/]+)(?:="([^"]*)")?`)
	voidTags  = []string{"br", "hr", "img", "input", "link", "meta"}
)

// parseHTML parses a page. faults describes what is not well-formed. The pages of the office close
// all elements.
func parseHTML(text string) (root *element, faults []error) {
	root = &element{}
	at := root
	for _, token := range htmlToken.FindAllStringSubmatch(text, -1) {
		tag := token[2]
		switch {
		case token[0] == "<":
			faults = append(faults, errors.New("a bare <"))
		case tag == "" && strings.HasPrefix(token[0], "<"):
		case tag == "":
			at.children = append(at.children, &element{content: html.UnescapeString(token[0]), parent: at})
		case token[1] != "" && tag != at.tag:
			faults = append(faults, errors.New("</"+tag+"> within <"+at.tag+">"))
		case token[1] != "":
			at = at.parent
		default:
			e := &element{tag: tag, attributes: map[string]string{}, parent: at}
			for _, a := range htmlName.FindAllStringSubmatch(token[3], -1) {
				if _, twice := e.attributes[a[1]]; twice {
					faults = append(faults, errors.New(a[1]+" twice in <"+tag+">"))
				}
				e.attributes[a[1]] = html.UnescapeString(a[2])
			}
			at.children = append(at.children, e)
			if !slices.Contains(voidTags, tag) {
				at = e
			}
		}
	}
	if at != root {
		faults = append(faults, errors.New("<"+at.tag+"> is not closed"))
	}
	return root, faults
}

// all returns the elements below e with a tag and attributes.
func (e *element) all(tag string, attributes ...string) (found []*element) {
	for _, child := range e.children {
		fits := child.tag != "" && (tag == "" || tag == child.tag)
		for pair := range slices.Chunk(attributes, 2) {
			value, there := child.attributes[pair[0]]
			fits = fits && there && value == pair[1]
		}
		if fits {
			found = append(found, child)
		}
		found = append(found, child.all(tag, attributes...)...)
	}
	return found
}

// text returns all texts below e, with one space between words.
func (e *element) text() string {
	var b strings.Builder
	e.write(&b)
	return strings.Join(strings.Fields(b.String()), " ")
}

// inlineTags are the tags that do not separate words.
var inlineTags = []string{"", "a", "b", "code", "del", "ins", "span", "strong"}

func (e *element) write(b *strings.Builder) {
	b.WriteString(e.content)
	for _, child := range e.children {
		if child.tag == "title" && e.tag == "head" {
			continue
		}
		if !slices.Contains(inlineTags, child.tag) {
			b.WriteByte(' ')
		}
		child.write(b)
		if !slices.Contains(inlineTags, child.tag) {
			b.WriteByte(' ')
		}
	}
}

func (e *element) isControl() bool {
	return slices.Contains([]string{"input", "textarea", "select"}, e.tag)
}

// values returns what a browser sends for the unchanged form.
func (e *element) values() url.Values {
	values := url.Values{}
	for _, control := range e.all("") {
		name := control.attributes["name"]
		_, checked := control.attributes["checked"]
		kind := control.attributes["type"]
		switch {
		case name == "" || !control.isControl():
		case control.tag == "textarea":
			values.Add(name, strings.TrimPrefix(control.raw(), "\n"))
		case control.tag == "select":
			options := control.all("option")
			if chosen := control.all("option", "selected", ""); len(chosen) > 0 {
				options = chosen
			}
			values.Add(name, options[0].attributes["value"])
		case kind != "radio" && kind != "checkbox" || checked:
			values.Add(name, control.attributes["value"])
		}
	}
	return values
}

// raw returns the unchanged texts below e.
func (e *element) raw() string {
	text := e.content
	for _, child := range e.children {
		text += child.raw()
	}
	return text
}

// faults returns what no page may contain: a repeated id, a reference to a missing id, a field
// without a label, an inline script or style, or the key of a missing message.
func (e *element) faults() (faults []error) {
	wrong := func(what string) { faults = append(faults, errors.New(what)) }
	ids, labels := map[string]bool{}, map[string]bool{}
	for _, child := range e.all("") {
		if id := child.attributes["id"]; id != "" {
			if ids[id] {
				wrong("duplicate id " + id)
			}
			ids[id] = true
		}
		labels[child.attributes["for"]] = child.tag == "label"
	}
	for _, child := range e.all("") {
		for name, value := range child.attributes {
			switch {
			case name == "style" || strings.HasPrefix(name, "on"):
				wrong(name + "=" + value + " in <" + child.tag + ">")
			case slices.Contains([]string{"href", "src", "action"}, name) && badLink.MatchString(value):
				wrong(name + "=" + value + " in <" + child.tag + ">")
			case name == "for" || name == "aria-describedby" || name == "aria-labelledby":
				for id := range strings.FieldsSeq(value) {
					if !ids[id] {
						wrong(name + " refers to a missing id: " + id)
					}
				}
			case bareKey().MatchString(value):
				wrong("a message is missing: " + value)
			}
		}
		hidden := child.attributes["type"] == "hidden"
		if child.isControl() && !hidden && !labels[child.attributes["id"]] && child.parent.tag != "label" && child.attributes["aria-label"] == "" {
			wrong("a field has no label: " + child.attributes["name"])
		}
		if _, src := child.attributes["src"]; child.tag == "style" || child.tag == "script" && !src {
			wrong("<" + child.tag + ">")
		}
		for _, text := range child.children {
			if content := strings.TrimSpace(text.content); bareKey().MatchString(content) || strings.Contains(content, "%!") {
				wrong("a message is missing: " + content)
			}
		}
	}
	return faults
}

// TestOfficeErrors checks that every code has messages for what happened and what to do.
func TestOfficeErrors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../internal/web/site/messages/error.json")
	must(t, err)
	for code := range codes {
		for _, message := range []string{"error." + code, "error." + code + ".todo"} {
			if !strings.Contains(string(text), `"`+message+`": {`) {
				t.Errorf("missing message %s", message)
			}
		}
	}
}
