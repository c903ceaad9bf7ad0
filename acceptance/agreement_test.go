package acceptance

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// The document and the service agree about each request: what the document allows is not
// refused for its form, and what it forbids is refused, by the names of what is wrong.

// claim is what the document says of the form of a request.
type claim struct {
	*validation
	groups [5]group
	media  string // why the body has a type that the operation does not take
	large  bool   // the body has more than it may have
	broken string // why the body as a whole is not what it must be
}

// group is a part of a request of which the service names all faults at once.
type group struct {
	wrong  map[string]string // what is wrong, by the names that the service uses
	unsure map[string]bool   // names of what can be wrong or not
}

// The groups of a request.
const (
	inPath = iota
	inQuery
	inConditions
	inKey
	inBody
)

// ofOthers are the statuses that do not say anything of the form of a request, but of who sends
// it, how often and where to, and of how the service is.
var ofOthers = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusMisdirectedRequest, http.StatusTooManyRequests,
	http.StatusRequestHeaderFieldsTooLarge, http.StatusExpectationFailed, http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusInsufficientStorage}

// checkRequest compares what the document says of a request with the answer.
func (v *validation) checkRequest(item, operation object, id string, x traffic) {
	if x.answer.isPlain() || slices.Contains(ofOthers, x.answer.status) {
		return
	}
	c := &claim{validation: &validation{document: v.document, saw: v.saw}}
	for i := range c.groups {
		c.groups[i] = group{map[string]string{}, map[string]bool{}}
	}
	if x.answer.status == http.StatusBadRequest {
		c.saw = func(string) {}
	}
	c.readParameters(append(listOf(item["parameters"]), listOf(operation["parameters"])...), operation, id, x)
	body := v.document.follow(operation["requestBody"])
	if body != nil {
		c.readBody(body, x)
	}
	name := fmt.Sprint(operation["operationId"])
	for _, fault := range c.disagreements(x, body != nil && schemaOfJSON(body) == nil) {
		v.fault(name, "%s: %.300s %.300q: %s", fault, x.query, x.body, x.answer.body)
	}
}

// disagreements returns in what the answer differs from the claim. A file decides by
// itself whether it can be read, and which parameters it needs.
func (c *claim) disagreements(x traffic, isFile bool) (faults []string) {
	kind := func(status int, is bool) {
		if x.answer.status == status && !is && !isFile {
			faults = append(faults, fmt.Sprintf("%d to a request that is as the document has it", status))
		}
	}
	known := x.bodyKnown || x.body != ""
	kind(http.StatusUnsupportedMediaType, c.media != "")
	kind(http.StatusRequestEntityTooLarge, c.large || !known)
	switch x.answer.status {
	case http.StatusUnsupportedMediaType, http.StatusRequestEntityTooLarge:
		return faults
	case http.StatusBadRequest:
		return append(faults, c.refused(x, isFile)...)
	case http.StatusConflict, http.StatusUnprocessableEntity:
		if x.header.Get("Idempotency-Key") != "" { // the key is looked up first
			return faults
		}
	}
	wrong := cmp.Or(c.media, c.broken)
	if c.large {
		wrong = "the body is too large"
	}
	for _, g := range c.groups {
		for name, why := range g.wrong {
			wrong = cmp.Or(wrong, name+": "+why)
		}
	}
	if wrong != "" && known {
		faults = append(faults, fmt.Sprintf("%d to a request that the document forbids, %s", x.answer.status, wrong))
	}
	return faults
}

// refused compares a refusal with the claim: everything that it names must be wrong,
// and nothing that is wrong beside that may be left out.
func (c *claim) refused(x traffic, isFile bool) (faults []string) {
	if x.method == http.MethodHead || !x.bodyKnown {
		return nil
	}
	var p problemDetails
	if err := json.Unmarshal([]byte(x.answer.body), &p); err != nil {
		return []string{err.Error()}
	}
	if p.Code != "invalid" {
		if c.broken == "" && !isFile {
			faults = append(faults, "refused, and as the document has it")
		}
		return faults
	}
	named := map[string]bool{}
	for _, fault := range p.Errors {
		named[fault.Field] = true
		if !c.mayBeWrong(fault.Field) && !(isFile && (fault.Code == record.Unknown || slices.Contains(byFile, fault.Field))) {
			faults = append(faults, fmt.Sprintf("%s is refused, and as the document has it", fault.Field))
		}
	}
	for _, g := range c.groups {
		wrong := slices.Sorted(maps.Keys(g.wrong))
		if slices.ContainsFunc(wrong, func(name string) bool { return named[name] }) {
			for _, name := range wrong {
				if !named[name] {
					faults = append(faults, fmt.Sprintf("the refusal does not name %s, %s", name, g.wrong[name]))
				}
			}
			break // the other parts were not looked at
		}
	}
	return faults
}

// byFile are what a file can be refused for: it needs another value of these.
var byFile = []string{"file", "sheet", "encoding", "dates", "map", "names", "same", "add"}

func (c *claim) mayBeWrong(name string) bool {
	return slices.ContainsFunc(c.groups[:], func(g group) bool { return g.wrong[name] != "" || g.unsure[name] })
}

// compare notes what is wrong with a value by its schema.
func (c *claim) compare(group int, name string, schema, value any) {
	one := &validation{document: c.document, saw: c.saw}
	if one.check(name, schema, value); len(one.faults) > 0 {
		c.wrong(group, name, one.faults[0])
	}
}

func (c *claim) wrong(group int, name, why string) { c.groups[group].wrong[name] = why }

// compareTrimmed is compare for a text around which white space does not count, for its
// length neither.
func (c *claim) compareTrimmed(group int, name string, schema any, text string) {
	s := c.document.follow(schema)
	raw := maps.Clone(s)
	delete(raw, "maxLength")
	delete(raw, "$ref") // it was followed
	c.compare(group, name, raw, text)
	if most, ok := s["maxLength"].(json.Number); ok && utf8.RuneCountInString(strings.TrimSpace(text)) > atoi(most) {
		c.wrong(group, name, "is too long")
	}
}

// readParameters compares those of the path, the query and the headers. It takes them as
// the descriptions of the document say: an empty one of the query is absent, but an empty filter
// is wrong.
func (c *claim) readParameters(parameters []any, operation object, id string, x traffic) {
	query, err := url.ParseQuery(strings.ReplaceAll(x.query, ";", "%3B"))
	known, isAPI := map[string]bool{}, strings.HasPrefix(x.path, "/api/v1/")
	for _, ref := range parameters {
		if p := c.document.follow(ref); p["in"] == "query" {
			known[p["name"].(string)] = true
		}
	}
	if err != nil && isAPI {
		c.wrong(inQuery, "query", err.Error())
	}
	for name := range query {
		if isAPI && !known[name] {
			c.wrong(inQuery, string([]rune(name)), "is unknown") // as JSON has it
		}
	}
	for _, ref := range parameters {
		p := c.document.follow(ref)
		name, schema := p["name"].(string), c.document.follow(p["schema"])
		var values []string
		in := inQuery
		switch p["in"] {
		case "path":
			in, values = inPath, []string{id}
		case "query":
			values = slices.DeleteFunc(slices.Clone(query[name]), func(text string) bool { return text == "" })
			if ref, _ := ref.(object)["$ref"].(string); strings.HasPrefix(ref, "#/components/parameters/Filter") && query[name] != nil && len(elements(values)) == 0 {
				c.wrong(in, name, "is empty")
			}
			if schema["type"] == "array" {
				values = elements(values)
				c.compareCount(in, name, schema, len(values))
				schema = c.document.follow(schema["items"])
			} else if len(values) > 1 {
				c.wrong(in, name, "is there twice")
			}
		case "header":
			in, values = inConditions, slices.Clone(x.header.Values(name))
			if strings.HasSuffix(name, "Match") && len(values) > 1 {
				values = []string{strings.Join(values, ", ")}
			}
			if name == "Idempotency-Key" {
				if in = inKey; len(values) > 1 {
					c.wrong(in, name, "is there twice")
				}
			}
		}
		for _, text := range values {
			c.saw(fmt.Sprintf("%s takes %s", operation["operationId"], name))
			c.readParameter(p, in, name, schema, text)
		}
	}
}

// compareCount compares how many elements a parameter has.
func (c *claim) compareCount(group int, name string, schema object, count int) {
	one := &validation{document: c.document}
	if one.limits(name, schema, "Items", count); len(one.faults) > 0 {
		c.wrong(group, name, one.faults[0])
	}
}

// elements returns those of a parameter that has several, separated by commas or given
// several times.
func elements(values []string) (all []string) {
	for _, value := range values {
		for element := range strings.SplitSeq(value, ",") {
			if element = strings.TrimSpace(element); element != "" {
				all = append(all, element)
			}
		}
	}
	return all
}

// readParameter compares one value of a parameter.
func (c *claim) readParameter(p object, in int, name string, schema object, text string) {
	switch {
	case p["in"] == "header":
		text = latin1(strings.Trim(text, " \t")) // as every reader of headers does
	case name == "sortDir": // in any case
		text = strings.ToLower(text)
	case name == "encoding": // by any of its names
		if encoding, known := sheet.EncodingOf(text); known {
			text = encoding
		}
	case schema["type"] == "boolean" && (text == "0" || text == "1"): // which are as good
		text = map[string]string{"0": "false", "1": "true"}[text]
	case name == "search" && !utf8.ValidString(text):
		c.wrong(in, name, "is not UTF-8")
		return
	case name == "search", name == "email":
		c.compareTrimmed(in, name, schema, text)
		return
	case name == "cursor": // it is of one list, and good for a day
		c.groups[in].unsure[name] = true
	case saidInWords(name, text) != "":
		c.wrong(in, name, saidInWords(name, text))
		return
	}
	value := c.typed(schema, text)
	if n, isNumber := value.(json.Number); isNumber && p["in"] == "path" && number64(n).Sign() > 0 && number64(n).Cmp(number64(cmp.Or(schema["maximum"], any(n)))) > 0 {
		c.groups[in].unsure[name] = true // there is nothing with so large a number
		return
	}
	c.compare(in, name, schema, value)
}

// latin1 returns the bytes of a header as characters.
func latin1(text string) string {
	characters := make([]rune, len(text))
	for i := range len(text) {
		characters[i] = rune(text[i])
	}
	return string(characters)
}

// readBody compares the type, the size and the content of a body.
func (c *claim) readBody(body object, x traffic) {
	schema := schemaOfJSON(body)
	if schema == nil {
		if x.answer.status < 300 {
			c.readForm(body, x)
		}
		return
	}
	content, _ := body["content"].(object)
	types := x.header.Values("Content-Type")
	mediaType, params, err := mime.ParseMediaType(strings.Join(types, ""))
	charset, given := params["charset"]
	coding := x.header.Get("Content-Encoding")
	switch {
	case len(types) > 1:
		c.broken = "there are two headers Content-Type"
	case coding != "" && !strings.EqualFold(coding, "identity"):
		c.media = "it is compressed"
	case strings.Join(types, "") == "":
	case err != nil, content[mediaType] == nil, given && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "utf8"):
		c.media = fmt.Sprintf("the type %q", types)
	}
	c.large = len(x.body) > maxBody
	if x.bodyKnown {
		c.readObject(nameOf(schema, "body"), c.document.follow(schema), strings.TrimPrefix(x.body, "\ufeff"))
	}
}

// readObject compares the members of a body.
func (c *claim) readObject(component string, s object, text string) {
	fields, twice, err := parseObject(text)
	if err != nil {
		c.broken = err.Error()
		return
	}
	for _, name := range twice {
		c.wrong(inBody, name, "is there twice")
	}
	for _, name := range listOf(s["required"]) {
		if _, ok := fields[name.(string)]; !ok {
			c.wrong(inBody, name.(string), "is missing")
		}
	}
	properties, _ := s["properties"].(object)
	for name, value := range fields {
		schema, known := properties[name]
		text, isText := value.(string)
		switch {
		case !known:
			c.wrong(inBody, name, "is unknown")
		case !isText:
			c.compare(inBody, name, schema, value)
		default:
			c.compareTrimmed(inBody, name, schema, text)
			if why := saidInWords(name, strings.TrimSpace(text)); why == notSure {
				c.groups[inBody].unsure[name] = true
			} else if why != "" {
				c.wrong(inBody, name, why)
			}
		}
		if known {
			c.saw(component + "." + name)
		}
	}
}

// notSure is what saidInWords says of a date of birth that is just a day ahead.
const notSure = "not sure"

// saidInWords says what the document says of a field in words, because no schema can: a date
// exists, one of birth is at most a day ahead of now, and a name shows something. What is wrong by
// the schema as well may have any answer.
func saidInWords(name, text string) (wrong string) {
	switch name {
	case "firstName", "lastName":
		if !record.Visible(text) {
			return "shows nothing"
		}
	case "dateOfBirth", "updatedSince":
		if text == "" {
			return ""
		}
		day, clock, _ := strings.Cut(strings.ToUpper(text), "T")
		clock = cmp.Or(clock, "00:00:00Z")
		if !strings.ContainsAny(clock, "Z+-") {
			clock += "Z"
		}
		born, err := time.Parse(time.RFC3339, day+"T"+clock)
		ahead := time.Until(born) - 24*time.Hour
		switch {
		case err != nil:
			return "does not exist"
		case name == "updatedSince":
		case ahead.Abs() < patience:
			return notSure
		case ahead > 0:
			return "is more than a day ahead"
		}
	}
	return ""
}

// parseObject returns the members of a JSON object, and the names of those that are
// there twice.
func parseObject(text string) (fields object, twice []string, err error) {
	value, err := parseJSON([]byte(text))
	if err != nil {
		return nil, nil, err
	}
	fields, ok := value.(object)
	if !ok {
		return nil, nil, fmt.Errorf("%T is no object", value)
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.Token() // the opening brace
	given := map[string]int{}
	for d.More() {
		var skipped json.RawMessage
		token, _ := d.Token()
		d.Decode(&skipped)
		if name := token.(string); given[name] == 1 {
			twice = append(twice, name)
		}
		given[token.(string)]++
	}
	d.Token() // the closing brace
	if _, err := d.Token(); err != io.EOF {
		return nil, nil, fmt.Errorf("something follows the object")
	}
	return fields, twice, nil
}

// readForm compares a form with its schema. A body that is the file itself can be
// anything, and so can the name of the file's part.
func (c *claim) readForm(body object, x traffic) {
	mediaType, params, _ := mime.ParseMediaType(x.header.Get("Content-Type"))
	media, isForm := c.document.follow(body["content"])[mediaType].(object)
	if !isForm || !x.bodyKnown || params["boundary"] == "" {
		return
	}
	part, err := multipart.NewReader(strings.NewReader(x.body), params["boundary"]).NextPart()
	if err != nil {
		c.broken = err.Error()
		return
	}
	var file bytes.Buffer
	if _, err := io.Copy(&file, part); err != nil {
		c.broken = err.Error()
	}
	c.compare(inBody, "file", media["schema"], object{"file": file.String()})
}

// schemaOfJSON returns the schema of a body that is JSON, nil for another one.
func schemaOfJSON(body object) any {
	content, _ := body["content"].(object)
	for _, mediaType := range []string{"application/json", "application/merge-patch+json"} {
		if media, ok := content[mediaType].(object); ok {
			return media["schema"]
		}
	}
	return nil
}
