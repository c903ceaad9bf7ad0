package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Every request of the tests, and its answer, is held against
// docs/openapi.json, and what the document promises must have been seen in the
// end.

var description = sync.OnceValue(func() *jsonDocument {
	root, err := parseJSON(openAPIJSON)
	if err != nil {
		panic(err)
	}
	return &jsonDocument{root: root.(object)}
})

// exchange is a request and its answer.
type exchange struct {
	method, path, query string
	header              http.Header
	body                string
	bodyKnown           bool
	answer              answer
}

// seen is what of the document has been met: "getFirefighter 200" and the like.
var seen sync.Map

func sawPart(part string) {
	if _, known := seen.Load(part); !known {
		seen.Store(part, true)
	}
}

// verbs are the members of a path item that are operations.
var verbs = []string{"get", "put", "post", "delete", "patch", "head", "options", "trace"}

// pathItem gives the path of the document that a request's is, nil if there is
// none, and its id.
func pathItem(path string) (item object, id string) {
	for template, item := range description().at("paths") {
		prefix, suffix, variable := strings.Cut(template, "{id}")
		rest, ok := strings.CutPrefix(path, prefix)
		if !variable && path == template || variable && ok && suffix == "" && rest != "" && !strings.Contains(rest, "/") {
			return item.(object), rest
		}
	}
	return nil, ""
}

// sawExchange gives everything in which the exchange is not as the document
// has it.
func sawExchange(x exchange) []string {
	v := &validation{document: description(), saw: sawPart}
	item, id := pathItem(x.path)
	method := strings.ToLower(x.method)
	if method == "head" {
		method = "get"
	}
	operation, known := item[method].(object)
	switch {
	case item == nil:
		if x.answer.status >= 400 && x.method != http.MethodHead {
			v.checkContent("no operation", object{"content": object{problemType: object{"schema": object{"$ref": "#/components/schemas/Problem"}}}}, x)
		}
	case method == "options" && x.answer.status == http.StatusNoContent:
		if x.answer.header.Get("Allow") == "" && x.answer.header.Get("Access-Control-Allow-Methods") == "" {
			v.fault("OPTIONS", "%v", x.answer.header)
		}
	case known:
		v.checkAnswer(operation, x)
		v.checkRequest(item, operation, id, x)
	default: // any operation tells how other methods are answered
		for _, verb := range verbs {
			if o, ok := item[verb].(object); ok && x.answer.status >= 400 {
				v.checkAnswer(o, x)
			}
		}
	}
	return v.faults
}

// standing are the headers that go with every answer; info.description tells of
// them.
var standing = []string{"Date", "Content-Length", "Content-Type", "X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy",
	"Cross-Origin-Resource-Policy", "X-Frame-Options", "Strict-Transport-Security", "Access-Control-Expose-Headers", "Connection"}

// general are the headers of which it is enough to have seen them somewhere.
var general = []string{"X-Request-Id", "Cache-Control", "Access-Control-Allow-Origin", "RateLimit", "RateLimit-Policy", "Vary"}

func (v *validation) checkAnswer(operation object, x exchange) {
	name := fmt.Sprintf("%s %d", operation["operationId"], x.answer.status)
	ref, ok := operation["responses"].(object)[fmt.Sprint(x.answer.status)]
	if !ok {
		v.fault(name, "the document has no such status: %s", x.answer.body)
		return
	}
	v.saw(name)
	response, component := v.document.follow(ref), nameOf(ref, name)
	headers, _ := response["headers"].(object)
	described := map[string]bool{}
	for header := range headers {
		described[http.CanonicalHeaderKey(header)] = true
		value := x.answer.header.Get(header)
		if value == "" {
			continue
		}
		v.saw(headerPart(component, header))
		schema := v.document.follow(headers[header])["schema"]
		v.check(name+" "+header, schema, v.typed(schema, value))
	}
	for header := range x.answer.header {
		if !described[header] && !slices.Contains(standing, header) {
			v.fault(name, "the document has no header %s", header)
		}
	}
	if x.method != http.MethodHead {
		v.checkContent(name, response, x)
	}
}

func headerPart(component, header string) string {
	if slices.Contains(general, header) {
		return "header " + header
	}
	return component + " header " + header
}

// typed gives the text of a header or a parameter as its schema has it.
func (v *validation) typed(schema any, text string) any {
	if n, ok := new(big.Int).SetString(text, 10); ok && v.document.follow(schema)["type"] == "integer" {
		return json.Number(n.String())
	}
	return text
}

func (v *validation) checkContent(name string, response object, x exchange) {
	content, _ := response["content"].(object)
	mediaType, _, _ := mime.ParseMediaType(x.answer.header.Get("Content-Type"))
	media, ok := content[mediaType].(object)
	if !ok {
		if len(content) > 0 || x.answer.body != "" {
			v.fault(name, "a body of type %q", mediaType)
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
	if bytes.Equal(text, openAPIYAML) {
		text = openAPIJSON // .ci/contract sees to it that one is made of the other
	}
	value, err := parseJSON(text)
	if err != nil {
		v.fault(name, "%v in %s", err, text)
		return
	}
	v.check(name, media["schema"], value)
}

// checkRequest: what was answered with 2xx must be as the document has it, and
// what is as the document has it may be refused with 400 only for what no
// schema can tell.
func (v *validation) checkRequest(item, operation object, id string, x exchange) {
	if x.answer.status >= 300 && x.answer.status != http.StatusBadRequest {
		return
	}
	request := &validation{document: v.document, saw: v.saw}
	if x.answer.status == http.StatusBadRequest {
		request.saw = func(string) {}
	}
	request.checkParameters(append(listOf(item["parameters"]), listOf(operation["parameters"])...), operation["operationId"], id, x)
	if body := v.document.follow(operation["requestBody"]); body != nil && x.bodyKnown {
		value, err := parseJSON([]byte(x.body))
		if err != nil {
			request.fault("body", "%v", err)
		}
		schema := body["content"].(object)["application/json"].(object)["schema"]
		request.check("body", schema, trimmed(value))
	} else if body != nil {
		return
	}
	if good := x.answer.status < 300; good {
		v.faults = append(v.faults, request.faults...)
	} else if len(request.faults) == 0 && !beyondSchemas.MatchString(x.answer.body) {
		v.fault(fmt.Sprint(operation["operationId"]), "refused, and as the document has it: %s: %s", x.body, x.answer.body)
	}
}

// beyondSchemas are the refusals of what no schema can tell: that a member or a
// parameter is there twice, that a date does not exist or is in the future,
// that a search or a whole query is not UTF-8, that something follows the
// object, and what follows from the length of an e-mail address's parts.
var beyondSchemas = regexp.MustCompile(`"code":"duplicate"|"field":"dateOfBirth"|"field":"query"|not valid UTF-8|not well-formed|` +
	`The body is not valid JSON: invalid character .* after top-level value`)

// trimmed takes the white space from around texts, which the service does
// first.
func trimmed(value any) any {
	fields, ok := value.(object)
	for name, text := range fields {
		if text, isText := text.(string); ok && isText {
			fields[name] = strings.TrimSpace(text)
		}
	}
	return value
}

// checkParameters lets off what the service makes good, as the descriptions of
// the parameters say.
func (v *validation) checkParameters(parameters []any, operation any, id string, x exchange) {
	query, err := url.ParseQuery(strings.ReplaceAll(x.query, ";", "%3B"))
	if err != nil {
		v.fault("query", "%v", err)
	}
	for _, ref := range parameters {
		p := v.document.follow(ref)
		name := p["name"].(string)
		var values []string
		switch p["in"] {
		case "path":
			values = []string{strings.ToLower(id)}
		case "query":
			values = slices.DeleteFunc(query[name], func(text string) bool { return text == "" })
		case "header":
			values = x.header.Values(name)
			if strings.HasSuffix(name, "Match") && len(values) > 1 {
				values = []string{strings.Join(values, ", ")}
			}
			if len(values) > 1 && name == "Idempotency-Key" {
				v.fault(name, "is there twice")
			}
		}
		for _, text := range values {
			switch {
			case name == "X-Request-Id" && !harmlessID(text): // it is replaced
				continue
			case name == "pageSize" && len(text) > 18: // it means 100
				continue
			case p["in"] == "header":
				text = strings.Trim(text, " \t") // as every reader of headers does
			case name == "sortDir":
				text = strings.ToLower(text)
			case name == "search":
				text = strings.TrimSpace(text)
			}
			v.saw(fmt.Sprintf("%s takes %s", operation, name))
			v.check(name, p["schema"], v.typed(p["schema"], text))
		}
	}
}

// holdAgainstDocument is called in try with each exchange.
func holdAgainstDocument(t *testing.T, r *http.Request, body string, bodyKnown bool, a answer) {
	x := exchange{r.Method, r.URL.Path, r.URL.RawQuery, r.Header, body, bodyKnown, a}
	for _, fault := range sawExchange(x) {
		t.Errorf("%s %.200s is not as docs/openapi.yaml has it: %.500s", r.Method, r.URL.Path, fault)
	}
}
