package acceptance

import (
	"strings"
	"testing"
)

// TestUnknownParameters checks that every operation below /api/v1 rejects an unknown parameter before it
// does anything, and lists the supported parameters. Other paths ignore unknown parameters.
func TestUnknownParameters(t *testing.T) {
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
		a := s.do(t, route.method, path+"?Page=1&serach=covic&%22=&a%00=1", body).wants(t, 400)
		if got := a.faults(t); !sameFaults(got, `" unknown, Page unknown, `+"a\x00"+` unknown, serach unknown`) {
			t.Errorf("%s %s: %s", route.method, path, got)
		}
		if route.method == "GET" {
			s.do(t, "HEAD", path+"?serach=covic", "").wants(t, 400)
		}
	}
	if operations < 15 || s.contentOf(t) != content {
		t.Errorf("%d operations, content changed: %t", operations, s.contentOf(t) != content)
	}
	if detail := s.do(t, "GET", collection+"?limit=5", "").problem(t).Detail; !strings.Contains(detail, "pageSize") || !strings.Contains(detail, "include") {
		t.Errorf("the detail does not list the parameters: %s", detail)
	}
	if got := s.do(t, "GET", collection+"?page=0&emial=x&birthMonth=13", "").wants(t, 400).faults(t); got != "page out_of_range, birthMonth out_of_range, emial unknown" {
		t.Errorf("faults: %s", got)
	}
	s.as("wrong").do(t, "GET", collection+"?x=1", "").wants(t, 401)
	s.do(t, "GET", collection+"/"+nobody+"?x=1", "").wants(t, 400)
	for _, path := range []string{"/healthz?_=1", "/readyz?_=1", "/openapi.json?_=1", "/docs?_=1"} {
		s.do(t, "GET", path, "").wants(t, 200)
	}
}

// TestEmptyParameters checks that an empty parameter counts as absent, except for a filter.
func TestEmptyParameters(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	for path, query := range map[string]string{
		collection:            "page=&pageSize=&search=&sortBy=&sortDir=&cursor=&include=",
		collection + "/" + id: "include=",
		changesPath:           "after=&limit=&wait=&include=",
		exportPath:            "format=&search=&sortBy=&sortDir=&include=",
		"/api/v1/whoami":      "",
	} {
		s.do(t, "GET", path+"?"+query, "").wants(t, 200)
	}
	s.do(t, "POST", importsPath+"?apply=&update=&skipBad=&sheet=&encoding=&dates=&map=&headerRow=&answer=&names=&zero=&leaveOutBadFields=&skip=&keep=&same=&add=&spelling=&rows=", csvOf(2)).wants(t, 200)
	for _, filter := range []string{"id", "email", "phoneNumber", "birthMonth", "hasEmail", "hasPhoneNumber", "hasDateOfBirth", "updatedSince"} {
		for _, path := range []string{collection, exportPath} {
			if got := s.do(t, "GET", path+"?"+filter+"=", "").wants(t, 400).faults(t); got != filter+" invalid" {
				t.Errorf("%s: an empty %s returns %s", path, filter, got)
			}
		}
	}
}
