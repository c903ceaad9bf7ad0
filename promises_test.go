package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unseen is what the document promises and no test need meet, and why.
var unseen = []*regexp.Regexp{
	// Answers of net/http itself, which TestProtocolErrors sees without a route.
	regexp.MustCompile(`^(whoAmI|checkHealth|checkReadiness) 400$|^NotWellFormed `),
}

// promises are all parts of the document that are to be seen: each status of
// each operation, each of its parameters, each header of each response, each
// member of each schema, each value of an enumeration.
func promises() (all []string) {
	d := description()
	for _, item := range d.at("paths") {
		for _, verb := range verbs {
			operation, ok := item.(object)[verb].(object)
			if !ok {
				continue
			}
			for status := range operation["responses"].(object) {
				all = append(all, fmt.Sprintf("%s %s", operation["operationId"], status))
			}
			for _, p := range append(listOf(item.(object)["parameters"]), listOf(operation["parameters"])...) {
				all = append(all, fmt.Sprintf("%s takes %s", operation["operationId"], d.follow(p)["name"]))
			}
		}
	}
	for name, response := range d.at("components", "responses") {
		headers, _ := response.(object)["headers"].(object)
		for header := range headers {
			all = append(all, headerPart(name, header))
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

// unmet are the promises of the document that nobody has seen kept.
func unmet() (list []string) {
	for _, promise := range promises() {
		excused := func(form *regexp.Regexp) bool { return form.MatchString(promise) }
		if _, kept := seen.Load(promise); !kept && !slices.ContainsFunc(unseen, excused) {
			list = append(list, promise)
		}
	}
	return list
}

// TestSchemasAreUnderstood: no schema has a keyword that the tests would pass
// over.
func TestSchemasAreUnderstood(t *testing.T) {
	t.Parallel()
	var look func(where string, schema any)
	look = func(where string, schema any) {
		o, _ := schema.(object)
		for keyword, value := range o {
			switch {
			case !slices.Contains(keywords, keyword):
				t.Errorf("%s: the keyword %s", where, keyword)
			case keyword == "properties":
				for name, member := range value.(object) {
					look(where+"."+name, member)
				}
			case keyword == "items":
				look(where+".items", value)
			}
		}
	}
	for _, kind := range []string{"parameters", "headers"} {
		for name, component := range description().at("components", kind) {
			look(name, component.(object)["schema"])
		}
	}
	for name, schema := range description().at("components", "schemas") {
		look(name, schema)
	}
}

// TestRoutesAreDescribed: the document has each route, and no other.
func TestRoutesAreDescribed(t *testing.T) {
	t.Parallel()
	described, there := map[string]bool{}, map[string]bool{}
	for path, item := range description().at("paths") {
		for _, verb := range verbs {
			operation, ok := item.(object)[verb].(object)
			if !ok {
				continue
			}
			name := strings.ToUpper(verb) + " " + path
			described[name] = true
			if security, own := operation["security"].([]any); own && len(security) == 0 {
				described[name+", public"] = true
			}
		}
	}
	for _, route := range routes {
		name := route.method + " " + strings.ReplaceAll(route.path, ":id", "{id}")
		there[name] = true
		if route.scope == public {
			there[name+", public"] = true
		}
	}
	if !maps.Equal(described, there) {
		t.Errorf("described: %q\nthere: %q", slices.Sorted(maps.Keys(described)), slices.Sorted(maps.Keys(there)))
	}
}
