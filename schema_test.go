package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// JSON Schema (2020-12), as much of it as docs/openapi.json uses:
// TestSchemasAreUnderstood sees to it that this is all.

// object is a JSON object.
type object = map[string]any

// jsonDocument has references within itself.
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

// at gives the object that is under the names, nil if there is none.
func (d *jsonDocument) at(names ...string) object {
	o := d.root
	for _, name := range names {
		o = d.follow(o[name])
	}
	return o
}

// follow gives an object, or the one that it refers to.
func (d *jsonDocument) follow(value any) object {
	o, _ := value.(object)
	ref, ok := o["$ref"].(string)
	if !ok {
		return o
	}
	if known, ok := d.known.Load(ref); ok {
		return known.(object)
	}
	o = d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	d.known.Store(ref, o)
	return o
}

// nameOf is that of the component that value refers to, otherwise where.
func nameOf(value any, where string) string {
	o, _ := value.(object)
	if ref, ok := o["$ref"].(string); ok {
		return ref[strings.LastIndexByte(ref, '/')+1:]
	}
	return where
}

func listOf(value any) []any { list, _ := value.([]any); return list }

// validation is that of one value by its schema. A member that the schema does
// not name is a fault even where it is none to JSON Schema, unless it says that
// there may be others.
type validation struct {
	document *jsonDocument
	saw      func(member string) // as Schema.member, and Schema.member=value of an enumeration
	faults   []string
}

func (v *validation) fault(where, format string, args ...any) {
	v.faults = append(v.faults, where+": "+fmt.Sprintf(format, args...))
}

// check holds a value, as parseJSON gives it, against a schema.
func (v *validation) check(where string, schema, value any) {
	where = nameOf(schema, where)
	s := v.document.follow(schema)
	if s == nil {
		v.fault(where, "there is no schema")
		return
	}
	if !hasType(s["type"], typeOf(value)) {
		v.fault(where, "%v is no %v", value, s["type"])
		return
	}
	if constant, ok := s["const"]; ok && constant != value {
		v.fault(where, "%v is not %v", value, constant)
	}
	if enum, ok := s["enum"].([]any); ok {
		if !slices.Contains(enum, value) {
			v.fault(where, "%v is none of %v", value, enum)
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
			v.check(where+".items", s["items"], item)
		}
	case object:
		v.checkObject(where, s, value)
	}
}

// keywords are those that are understood.
var keywords = []string{"$ref", "type", "const", "enum", "format", "minLength", "maxLength", "pattern", "minimum", "maximum", "items",
	"minItems", "maxItems", "properties", "required", "additionalProperties", "default", "description", "examples"}

// hasType compares with the keyword type, a name or a list of names or absent.
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
		v.fault(where, "min%s is %v, not %d", what, least, size)
	}
	if most, ok := s["max"+what].(json.Number); ok && size > atoi(most) {
		v.fault(where, "max%s is %v, not %d", what, most, size)
	}
}

func atoi(n json.Number) int {
	i, _ := strconv.Atoi(n.String()) // what is no number is 0
	return i
}

func number64(value any) *big.Int {
	n, _ := new(big.Int).SetString(fmt.Sprint(value), 10)
	return n
}

func (v *validation) checkNumber(where string, s object, value json.Number) {
	n := number64(value)
	if n == nil {
		v.fault(where, "%v is not whole", value)
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
		v.fault(where, "%v is no %v", n, s["format"])
	}
}

var patterns sync.Map // compiled

func (v *validation) checkText(where string, s object, value string) {
	v.limits(where, s, "Length", utf8.RuneCountInString(value))
	if pattern, ok := s["pattern"].(string); ok {
		compiled, ok := patterns.Load(pattern)
		if !ok {
			compiled = regexp.MustCompile(pattern)
			patterns.Store(pattern, compiled)
		}
		if !compiled.(*regexp.Regexp).MatchString(value) {
			v.fault(where, "%.100q is not like %s", value, pattern)
		}
	}
	var err error
	switch s["format"] {
	case nil:
	case "uuid":
		_, err = uuid.Parse(value)
	case "date-time":
		_, err = time.Parse(time.RFC3339, value)
	case "uri-reference":
		_, err = url.Parse(value)
	default:
		v.fault(where, "the format %s is not known to the tests", s["format"])
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
		case s["additionalProperties"] == false, s["additionalProperties"] == nil:
			v.fault(where, "there is no member %s", name)
		}
	}
}
