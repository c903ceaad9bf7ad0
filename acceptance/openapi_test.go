package acceptance

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"mime"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
)

// The tests compare every request and its answer with docs/openapi.json. In the end they must have
// seen everything that it documents.

// howToRemake ends the messages of tests that fail if only one of the two files was updated.
const howToRemake = "docs/openapi.json is generated from docs/openapi.yaml. To generate it again:\n" +
	"\tgo run github.com/mikefarah/yq/v4@v4.54.1 -o=json docs/openapi.yaml >docs/openapi.json"

// openAPIJSON and openAPIYAML return the document in its two forms.
var openAPIJSON, openAPIYAML = fileOnce("../docs/openapi.json"), fileOnce("../docs/openapi.yaml")

// fileOnce returns a function that reads a file once.
func fileOnce(path string) func() []byte {
	return sync.OnceValue(func() []byte {
		text, err := os.ReadFile(path)
		if err != nil {
			panic(err)
		}
		return text
	})
}

var description = sync.OnceValue(func() *jsonDocument {
	root, err := parseJSON(openAPIJSON())
	if err != nil {
		panic(err)
	}
	return &jsonDocument{root: root.(object)}
})

// traffic is a request and its answer.
type traffic struct {
	method, path, query string
	header              http.Header
	body                string
	answer              answer
}

// seen has the parts of the document that tests have seen, such as "getFirefighter 200".
var seen sync.Map

func sawPart(part string) {
	if _, known := seen.Load(part); !known {
		seen.Store(part, true)
	}
}

// verbs are the members of a path item that are operations.
var verbs = []string{"get", "put", "post", "delete", "patch", "head", "options", "trace"}

// pathItem returns the entry of the document for a path and the value of its variable, or nil.
func pathItem(path string) (item object, id string) {
	if strings.Contains(strings.ToLower(path), "%2f") {
		return nil, ""
	}
	for template, item := range description().at("paths") {
		prefix, _, variable := strings.Cut(template, "{")
		rest, ok := strings.CutPrefix(path, prefix)
		if !variable && path == template || variable && ok && rest != "" && !strings.Contains(rest, "/") {
			return item.(object), rest
		}
	}
	return nil, ""
}

// sawExchange returns all differences between an exchange and the document.
func sawExchange(x traffic) []string {
	v := &validation{document: description(), saw: sawPart}
	item, id := pathItem(x.path)
	id, _ = url.PathUnescape(id)
	method := strings.ToLower(x.method)
	if method == "head" {
		method = "get"
	}
	operation, known := item[method].(object)
	switch {
	case item == nil:
		if x.answer.status >= 400 && x.method != http.MethodHead && !x.answer.isPlain() {
			v.checkContent("no operation", object{"content": object{"application/problem+json": object{"schema": object{"$ref": "#/components/schemas/Problem"}}}}, x)
		}
	case method == "options" && x.answer.status == http.StatusNoContent:
		if x.answer.header.Get("Allow") == "" && x.answer.header.Get("Access-Control-Allow-Methods") == "" {
			v.fault("OPTIONS", "%v", x.answer.header)
		}
	case known:
		v.checkAnswer(operation, x)
		v.seeRequest(item, operation, id, x)
	default: // every operation documents the errors of other methods
		for _, verb := range verbs {
			if o, ok := item[verb].(object); ok && x.answer.status >= 400 {
				v.checkAnswer(o, x)
			}
		}
	}
	return v.faults
}

// standing are the headers of every answer, which info.description documents.
var standing = []string{"Date", "Content-Length", "Content-Type", "X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy",
	"Cross-Origin-Resource-Policy", "X-Frame-Options", "Strict-Transport-Security", "Access-Control-Expose-Headers", "Connection"}

// general are the headers that tests must see only once, on any operation.
var general = []string{"X-Request-Id", "Cache-Control", "Access-Control-Allow-Origin", "RateLimit", "RateLimit-Policy", "Vary"}

func (v *validation) checkAnswer(operation object, x traffic) {
	name := fmt.Sprintf("%s %d", operation["operationId"], x.answer.status)
	ref, ok := operation["responses"].(object)[fmt.Sprint(x.answer.status)]
	if !ok {
		v.fault(name, "undocumented status: %s", x.answer.body)
		return
	}
	v.saw(name)
	response := v.document.follow(ref)
	if x.answer.isPlain() && response["content"] == nil && response["headers"] == nil {
		return
	}
	headers, _ := response["headers"].(object)
	described := map[string]bool{}
	for header := range headers {
		described[http.CanonicalHeaderKey(header)] = true
		value := x.answer.header.Get(header)
		if value == "" {
			if v.document.follow(headers[header])["required"] == true {
				v.fault(name, "missing header %s", header)
			}
			continue
		}
		v.saw(headerPart(name, header))
		schema := v.document.follow(headers[header])["schema"]
		v.check(name+" "+header, schema, v.typed(schema, value))
	}
	for header := range x.answer.header {
		if !described[header] && !slices.Contains(standing, header) {
			v.fault(name, "undocumented header %s", header)
		}
	}
	if x.method != http.MethodHead {
		v.checkContent(name, response, x)
	}
}

// seeRequest records the parameters and the body members of an accepted request.
func (v *validation) seeRequest(item, operation object, id string, x traffic) {
	if x.answer.status == http.StatusBadRequest {
		return
	}
	query, _ := url.ParseQuery(x.query)
	for _, ref := range append(listOf(item["parameters"]), listOf(operation["parameters"])...) {
		p := v.document.follow(ref)
		name := p["name"].(string)
		values := map[any][]string{"path": {id}, "query": query[name], "header": x.header.Values(name)}[p["in"]]
		if len(values) > 0 {
			v.saw(fmt.Sprintf("%s takes %s", operation["operationId"], name))
		}
	}
	body := v.document.follow(operation["requestBody"])
	for _, media := range v.document.follow(body["content"]) {
		fields, _ := parseJSON([]byte(x.body))
		members, _ := fields.(object)
		for name := range members {
			v.saw(nameOf(media.(object)["schema"], "body") + "." + name)
		}
	}
}

func headerPart(response, header string) string {
	if slices.Contains(general, header) {
		return "header " + header
	}
	return response + " header " + header
}

// typed converts the text of a header or a parameter to the type of its schema.
func (v *validation) typed(schema any, text string) any {
	switch v.document.follow(schema)["type"] {
	case "integer":
		if n, ok := new(big.Int).SetString(text, 10); ok && text[0] != '+' {
			return json.Number(n.String())
		}
	case "boolean":
		if value, err := strconv.ParseBool(text); err == nil && len(text) != len("T") && strings.ToLower(text) == text {
			return value
		}
	}
	return text
}

func (v *validation) checkContent(name string, response object, x traffic) {
	content, _ := response["content"].(object)
	mediaType, _, _ := mime.ParseMediaType(x.answer.header.Get("Content-Type"))
	media, ok := content[mediaType].(object)
	if !ok {
		if len(content) > 0 || x.answer.body != "" {
			v.fault(name, "undocumented body of type %q", mediaType)
		}
		return
	}
	text := []byte(x.answer.body)
	if x.answer.header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err == nil {
			text, err = io.ReadAll(z)
		}
		if err != nil {
			v.fault(name, "%v", err)
		}
	}
	value, err := parseJSON(text)
	if !strings.HasSuffix(mediaType, "json") || mediaType == "application/x-ndjson" {
		value, err = string(text), nil // TestDocumentIsUpToDate and TestExport check it
	}
	if err != nil {
		v.fault(name, "%v in %s", err, text)
		return
	}
	v.check(name, media["schema"], value)
}

// contradictions are the kinds of differences that were already reported.
var contradictions sync.Map

// holdAgainstDocument compares an exchange with the document. It reports each kind of difference
// once.
func holdAgainstDocument(t *testing.T, r *http.Request, body string, a answer) {
	x := traffic{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, r.Header, body, a}
	for _, fault := range sawExchange(x) {
		kind, _, _ := strings.Cut(fault, "{") // the body of the answer follows
		if _, reported := contradictions.LoadOrStore(r.Method+kind, true); reported {
			continue
		}
		t.Errorf("%s %.200s differs from docs/openapi.yaml: %.500s\n%s", r.Method, r.URL.Path, fault, howToRemake)
	}
}

// route is an operation of the document. A variable of its path has the form :id.
type route struct {
	method, path string
	public       bool // works without a key
}

// routes returns the routes of the document. A test in the root checks that the program has exactly
// these routes.
var routes = sync.OnceValue(func() (all []route) {
	for path, item := range description().at("paths") {
		for _, verb := range verbs {
			if operation, ok := item.(object)[verb].(object); ok {
				security, found := operation["security"].([]any)
				all = append(all, route{strings.ToUpper(verb), pathVariables.ReplaceAllString(path, ":$1"), found && len(security) == 0})
			}
		}
	}
	return all
})

// pathVariables matches the variables of a path in the document.
var pathVariables = regexp.MustCompile(`\{(\w+)\}`)

// TestDocumentIsUpToDate checks that docs/openapi.json has the text of docs/openapi.yaml in the same
// order, without regard to the syntax of the formats.
func TestDocumentIsUpToDate(t *testing.T) {
	t.Parallel()
	var ofJSON strings.Builder
	d := json.NewDecoder(bytes.NewReader(openAPIJSON()))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		must(t, err)
		switch token.(type) {
		case json.Delim:
		case nil:
			fmt.Fprintln(&ofJSON, "null")
		default:
			fmt.Fprintln(&ofJSON, token)
		}
	}
	_, ofYAML, _ := strings.Cut(string(openAPIYAML()), "\nopenapi:") // without the comment above it
	got, want := withoutForm(ofJSON.String()), withoutForm("openapi"+ofYAML)
	if got != want {
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		t.Errorf("docs/openapi.json is outdated: it has %.80q where docs/openapi.yaml has %.80q\n%s", got[at:], want[at:], howToRemake)
	}
}

// withoutForm removes white space, quotes and other characters of the syntax of YAML and JSON.
func withoutForm(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune(`"'\:,-|>[]{}`, r) {
			return -1
		}
		return r
	}, text)
}

// This is the part of JSON Schema (2020-12) that docs/openapi.json uses.
// TestSchemasAreUnderstood checks that it uses no more.

// object is a JSON object.
type object = map[string]any

// jsonDocument is a document with internal references.
type jsonDocument struct {
	root  object
	known sync.Map // references that were followed
}

func parseJSON(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}

// at returns the object under the names, or nil.
func (d *jsonDocument) at(names ...string) object {
	o := d.root
	for _, name := range names {
		o = d.follow(o[name])
	}
	return o
}

// follow returns an object or the target of its reference. Members next to the reference are added
// to the target. Schemas are returned flat.
func (d *jsonDocument) follow(value any) object {
	o, _ := value.(object)
	ref, ok := o["$ref"].(string)
	if !ok {
		return d.flat(o)
	}
	target, known := d.known.Load(ref)
	if !known {
		target = d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		d.known.Store(ref, target)
	}
	if len(o) == 1 {
		return target.(object)
	}
	both := maps.Clone(target.(object))
	maps.Copy(both, o)
	return both
}

// flat returns a schema without allOf, and without the oneOf of a nullable value: it merges the
// properties of all parts and adds the type null. Other objects are returned unchanged.
func (d *jsonDocument) flat(o object) object {
	if o["allOf"] == nil && o["oneOf"] == nil {
		return o
	}
	all := maps.Clone(o)
	delete(all, "allOf")
	delete(all, "oneOf")
	for _, part := range listOf(o["allOf"]) {
		for keyword, value := range d.follow(part) {
			existing := all[keyword]
			switch keyword {
			case "properties":
				both := maps.Clone(value.(object))
				members, _ := existing.(object)
				maps.Copy(both, members)
				all[keyword] = both
			case "required":
				all[keyword] = slices.Concat(value.([]any), listOf(existing))
			default:
				if existing == nil {
					all[keyword] = value
				}
			}
		}
	}
	if variants := listOf(o["oneOf"]); len(variants) == 2 && variants[1].(object)["type"] == "null" {
		some := maps.Clone(d.follow(variants[0]))
		maps.Copy(some, all)
		some["type"] = []any{d.follow(variants[0])["type"], "null"}
		return some
	}
	return all
}

// nameOf returns the name of the component that value refers to, or where.
func nameOf(value any, where string) string {
	o, _ := value.(object)
	if ref, ok := o["$ref"].(string); ok {
		return ref[strings.LastIndexByte(ref, '/')+1:]
	}
	return where
}

func listOf(value any) []any { list, _ := value.([]any); return list }

// validation is the validation of a value by its schema. A member that the schema does not name is
// a fault, also where JSON Schema allows it, unless the schema allows additional members.
type validation struct {
	document *jsonDocument
	saw      func(member string) // as Schema.member, and Schema.member=value of an enumeration
	faults   []string
}

func (v *validation) fault(where, format string, args ...any) {
	v.faults = append(v.faults, where+": "+fmt.Sprintf(format, args...))
}

// check compares a value from parseJSON with a schema.
func (v *validation) check(where string, schema, value any) {
	if o, _ := schema.(object); o["$ref"] != nil && len(o) > 1 { // members next to a reference also apply
		o = maps.Clone(o)
		delete(o, "$ref")
		v.check(nameOf(schema, where), o, value)
		schema = object{"$ref": schema.(object)["$ref"]}
	}
	where = nameOf(schema, where)
	s := v.document.follow(schema)
	if s == nil {
		v.fault(where, "missing schema")
		return
	}
	if !hasType(s["type"], typeOf(value)) {
		v.fault(where, "%v is not of type %v", value, s["type"])
		return
	}
	if constant, ok := s["const"]; ok && constant != value {
		v.fault(where, "%v is not %v", value, constant)
	}
	if enum, ok := s["enum"].([]any); ok {
		if !slices.Contains(enum, value) {
			v.fault(where, "%v is not one of %v", value, enum)
		}
		v.saw(fmt.Sprintf("%s=%v", where, value))
	}
	switch value := value.(type) {
	case string:
		v.checkText(where, s, value)
	case json.Number:
		v.checkNumber(where, s, value)
	case []any:
		v.limits(where, s, "Items", len(value))
		for _, item := range value {
			if s["items"] != nil {
				v.check(where+".items", s["items"], item)
			}
		}
	case object:
		v.checkObject(where, s, value)
	}
}

// keywords are the supported keywords.
var keywords = []string{"$ref", "type", "const", "enum", "format", "minLength", "maxLength", "pattern", "minimum", "maximum", "items",
	"minItems", "maxItems", "properties", "required", "additionalProperties", "unevaluatedProperties", "allOf", "oneOf", "default", "description", "examples"}

// hasType compares a type with the keyword type: a name, a list of names, or nil.
func hasType(types any, actual any) bool {
	list, several := types.([]any)
	return types == nil || types == actual || several && slices.Contains(list, actual)
}

func typeOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case json.Number:
		if strings.Trim(value.String(), "-0123456789") == "" {
			return "integer"
		}
		return "number"
	}
	return "object"
}

// limits checks a size against the keywords minX and maxX.
func (v *validation) limits(where string, s object, what string, size int) {
	if least, ok := s["min"+what].(json.Number); ok && size < atoi(least) {
		v.fault(where, "min%s is %v, got %d", what, least, size)
	}
	if most, ok := s["max"+what].(json.Number); ok && size > atoi(most) {
		v.fault(where, "max%s is %v, got %d", what, most, size)
	}
}

func atoi(n json.Number) int {
	i, _ := strconv.Atoi(n.String()) // 0 for an invalid number
	return i
}

func number64(value any) *big.Int {
	n, _ := new(big.Int).SetString(fmt.Sprint(value), 10)
	return n
}

func (v *validation) checkNumber(where string, s object, value json.Number) {
	n := number64(value)
	if n == nil { // not an integer; the type decides whether it must be
		return
	}
	if least, ok := s["minimum"]; ok && n.Cmp(number64(least)) < 0 {
		v.fault(where, "%v is less than %v", n, least)
	}
	if most, ok := s["maximum"]; ok && n.Cmp(number64(most)) > 0 {
		v.fault(where, "%v is more than %v", n, most)
	}
	bits := map[any]int{"int32": 31, "int64": 63, nil: 1 << 20}
	if n.BitLen() > bits[s["format"]] {
		v.fault(where, "%v is not an %v", n, s["format"])
	}
}

var patterns sync.Map // compiled

// characters matches the escaped characters of a pattern.
var characters = regexp.MustCompile(`\\u([0-9A-F]{4})`)

// inGo returns a pattern in the syntax of Go.
func inGo(pattern string) string { return characters.ReplaceAllString(pattern, `\x{$1}`) }

func (v *validation) checkText(where string, s object, value string) {
	v.limits(where, s, "Length", utf8.RuneCountInString(value))
	if pattern, ok := s["pattern"].(string); ok {
		compiled, ok := patterns.Load(pattern)
		if !ok {
			compiled = regexp.MustCompile(inGo(pattern))
			patterns.Store(pattern, compiled)
		}
		if !compiled.(*regexp.Regexp).MatchString(value) {
			v.fault(where, "%.100q does not match %s", value, pattern)
		}
	}
	var err error
	switch s["format"] {
	case nil:
	case "binary":
	case "uuid":
		_, err = uuid.Parse(value)
	case "date-time":
		_, err = time.Parse(time.RFC3339, value)
	case "uri-reference":
		_, err = url.Parse(value)
	default:
		v.fault(where, "the tests do not support the format %s", s["format"])
	}
	if err != nil {
		v.fault(where, "%v", err)
	}
}

func (v *validation) checkObject(where string, s, value object) {
	for _, name := range listOf(s["required"]) {
		if _, ok := value[name.(string)]; !ok {
			v.fault(where, "%s is missing", name)
		}
	}
	properties, described := s["properties"].(object)
	if !described {
		return
	}
	for name, member := range value {
		schema, known := properties[name]
		switch {
		case known:
			part := where + "." + name
			v.saw(part)
			v.check(part, schema, member)
		case s["additionalProperties"] == false, s["additionalProperties"] == nil: // also for unevaluatedProperties
			v.fault(where, "unknown member %s", name)
		}
	}
}

// unseen matches the promises that no test here must see: parts of schemas that tests see elsewhere in
// the document, parts of a form, answers of net/http, which package httpserver tests, and answers of a
// store that closes, which TestClosed in the root checks. The tests can fill a disk only on Linux.
var unseen = regexp.MustCompile(`^FirefighterFields\.|^ImportForm\.|^(whoAmI|listImports|checkHealth|checkReadiness) 400$|^ProblemCode=stopping$|^\w+ 503\b` +
	map[bool]string{true: `|^\w+ 507\b|^ProblemCode=full$`}[runtime.GOOS != "linux"])

// promises returns all parts of the document that tests must see: each status, header and parameter
// of each operation, each member of each schema, and each value of an enumeration. The default
// response is for future answers.
func promises() (all []string) {
	d := description()
	for _, item := range d.at("paths") {
		for _, verb := range verbs {
			operation, ok := item.(object)[verb].(object)
			if !ok {
				continue
			}
			for status, response := range operation["responses"].(object) {
				if status == "default" {
					continue
				}
				name := fmt.Sprintf("%s %s", operation["operationId"], status)
				all = append(all, name)
				headers, _ := d.follow(response)["headers"].(object)
				for header := range headers {
					all = append(all, headerPart(name, header))
				}
			}
			for _, p := range append(listOf(item.(object)["parameters"]), listOf(operation["parameters"])...) {
				all = append(all, fmt.Sprintf("%s takes %s", operation["operationId"], d.follow(p)["name"]))
			}
		}
	}
	for name := range d.at("components", "schemas") {
		all = append(all, members(name, d.at("components", "schemas", name))...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func members(name string, schema object) (all []string) {
	for _, value := range listOf(schema["enum"]) {
		all = append(all, fmt.Sprintf("%s=%v", name, value))
	}
	properties, _ := schema["properties"].(object)
	for member, value := range properties {
		all = append(all, name+"."+member)
		all = append(all, members(name+"."+member, value.(object))...)
	}
	return all
}

// unmet returns the promises that no test has seen.
func unmet() (list []string) {
	for _, promise := range promises() {
		if _, met := seen.Load(promise); !met && !unseen.MatchString(promise) {
			list = append(list, promise)
		}
	}
	return list
}

// TestOneProblemSchema checks that all problems of all operations have the same schema, including
// the default response. The problem of an import may also contain the report.
func TestOneProblemSchema(t *testing.T) {
	t.Parallel()
	for path, item := range description().at("paths") {
		for _, verb := range verbs {
			operation, ok := item.(object)[verb].(object)
			if !ok {
				continue
			}
			responses := operation["responses"].(object)
			if responses["default"] == nil {
				t.Errorf("%s %s has no default response", verb, path)
			}
			for status, response := range responses {
				content, _ := description().follow(response)["content"].(object)
				media, ok := content["application/problem+json"].(object)
				name := nameOf(media["schema"], "")
				report := name == "ImportProblem" && operation["operationId"] == "importFirefighters" && status == "422" && len(content) == 1
				if ok && name != "Problem" && !report || !ok && status == "default" {
					t.Errorf("%s %s %s is not a problem", verb, path, status)
				}
			}
		}
	}
}

// TestShownAnswers checks that the answers in docs/api.md have exactly the members of the document.
func TestShownAnswers(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../docs/api.md")
	must(t, err)
	shown := map[string]bool{}
	for _, block := range regexp.MustCompile("(?ms)^```json\n(.*?)^```$").FindAllSubmatch(guide, -1) {
		value, err := parseJSON(block[1])
		must(t, err)
		name := "FirefighterPage"
		if _, found := value.(object)["requestId"]; found {
			name = "Problem"
		}
		shown[name] = true
		v := &validation{document: description(), saw: func(string) {}}
		if v.check(name, description().at("components", "schemas", name), value); len(v.faults) > 0 {
			t.Errorf("%s\n%q", block[1], v.faults)
		}
	}
	if len(shown) != 2 {
		t.Errorf("docs/api.md shows %v", shown)
	}
}

// TestCodesAreDescribed checks that docs/api.md and the document describe every code of a problem.
func TestCodesAreDescribed(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../docs/api.md")
	must(t, err)
	schema := description().at("components", "schemas", "Problem", "properties", "code")
	if enum := listOf(schema["enum"]); len(enum) != len(codes) {
		t.Errorf("docs/openapi.yaml has %d codes, want %d", len(enum), len(codes))
	}
	for code, status := range codes {
		if !slices.Contains(listOf(schema["enum"]), any(code)) ||
			!strings.Contains(schema["description"].(string), fmt.Sprintf("- `%s` (%d): ", code, status)) {
			t.Errorf("docs/openapi.yaml does not describe the code %s", code)
		}
		if !strings.Contains(string(guide), fmt.Sprintf("| `%s` | %d | ", code, status)) {
			t.Errorf("docs/api.md does not have the code %s in its table", code)
		}
	}
}

// TestSchemasAreUnderstood checks that no schema has a keyword that the tests ignore.
func TestSchemasAreUnderstood(t *testing.T) {
	t.Parallel()
	var look func(where string, schema any)
	look = func(where string, schema any) {
		o, _ := schema.(object)
		for keyword, value := range o {
			switch {
			case !slices.Contains(keywords, keyword):
				t.Errorf("%s: unsupported keyword %s", where, keyword)
			case keyword == "properties":
				for name, member := range value.(object) {
					look(where+"."+name, member)
				}
			case keyword == "items":
				look(where+".items", value)
			case keyword == "allOf", keyword == "oneOf":
				for _, part := range value.([]any) {
					look(where, part)
				}
				if keyword == "oneOf" && (len(value.([]any)) != 2 || value.([]any)[1].(object)["type"] != "null") {
					t.Errorf("%s: unsupported oneOf", where)
				}
			}
		}
	}
	for _, kind := range []string{"parameters", "headers"} {
		for name, component := range description().at("components", kind) {
			look(name, component.(object)["schema"])
		}
	}
	for name, schema := range description().root["components"].(object)["schemas"].(object) {
		look(name, schema)
	}
}
