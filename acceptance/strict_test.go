package acceptance

import (
	"strings"
	"testing"
)

// TestStrict: who prefers strict handling learns of each parameter that an operation does
// not have, before anything is done. Every operation of the document has this.
func TestStrict(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	content := s.contentOf(t)
	operations := 0
	for _, route := range routes() {
		if !strings.HasPrefix(route.path, "/api/v1/") {
			continue
		}
		operations++
		path := strings.NewReplacer(":id", id, ":number", "1").Replace(route.path)
		body := ""
		if route.method == "POST" || route.method == "PUT" || route.method == "PATCH" {
			body = ana
		}
		a := s.do(t, route.method, path+"?Page=1&serach=covic&%22=&a%00=1", body, "Prefer", "return=minimal, Handling=\"strict\"").wants(t, 400)
		if got := a.faults(t); !sameFaults(got, `" unknown, Page unknown, `+"a\x00"+` unknown, serach unknown`) || a.header.Get("Preference-Applied") != "handling=strict" {
			t.Errorf("%s %s: %s, %v", route.method, path, got, a.header)
		}
		if route.method == "GET" {
			s.do(t, "HEAD", path+"?serach=covic", "", "Prefer", "handling=strict").wants(t, 400)
		}
	}
	if operations < 15 || s.contentOf(t) != content {
		t.Errorf("%d operations, and something has changed: %t", operations, s.contentOf(t) != content)
	}

	all := "page=1&pageSize=2&search=a&sortBy=email&sortDir=asc&include=times&email=&phoneNumber=&id=&birthMonth=&hasEmail=&hasPhoneNumber=&hasDateOfBirth=&updatedSince="
	for path, query := range map[string]string{collection: all, collection + "/" + id: "include=times", changesPath: "after=&limit=1&include=&wait=",
		exportPath: "format=jsonl" + strings.TrimPrefix(all, "page=1&pageSize=2"), "/api/v1/whoami": "", importsPath: "", "/api/v1/openapi.json": ""} {
		a := s.do(t, "GET", path+"?"+query, "", "Prefer", "handling=strict").wants(t, 200)
		if a.header.Get("Preference-Applied") != "handling=strict" {
			t.Errorf("%s: %v", path, a.header)
		}
		for _, prefer := range []string{"", "handling=lenient", "handling=lenient, handling=strict", "return=minimal"} {
			a := s.do(t, "GET", path+"?serach=covic&"+query, "", "Prefer", prefer).wants(t, 200)
			if a.header["Preference-Applied"] != nil {
				t.Errorf("%s with %s: %v", path, prefer, a.header)
			}
		}
	}
	imported := s.do(t, "POST", importsPath+"?apply=&update=true&skipBad=&sheet=&encoding=&dates=&map=&names=&zero=&leaveOutBadFields=&same=&add=&spelling=&rows=all",
		csvOf(2), "Prefer", "handling=strict").wants(t, 200)
	if imported.header.Get("Preference-Applied") != "handling=strict" {
		t.Errorf("%v", imported.header)
	}
	if got := s.do(t, "GET", collection+"?page=0&emial=x&birthMonth=13", "", "Prefer", "handling=strict").wants(t, 400).faults(t); got != "page out_of_range, birthMonth out_of_range, emial unknown" {
		t.Errorf("all faults at once: %s", got)
	}
	s.as("wrong").do(t, "GET", collection+"?x=1", "", "Prefer", "handling=strict").wants(t, 401)
	s.do(t, "GET", collection+"/"+nobody, "", "Prefer", "handling=strict").wants(t, 404)
	s.do(t, "GET", "/healthz?x=1", "", "Prefer", "handling=strict").wants(t, 200)
}
