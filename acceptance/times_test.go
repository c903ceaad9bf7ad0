package acceptance

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// timesForm matches the members that include=times adds at the end of a record.
var timesForm = regexp.MustCompile(`,"createdAt":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)","updatedAt":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"}`)

// TestTimes checks that a record has its times only on request, that all answers have the same times,
// and that the entity tag does not change.
func TestTimes(t *testing.T) {
	t.Parallel()
	s := start(t)
	began := time.Now().Add(-time.Minute)
	id := s.create(t, ana)
	path := collection + "/" + id
	time.Sleep(5 * time.Millisecond)
	s.do(t, "PATCH", path, `{"lastName":"B"}`).wants(t, 200)

	plain, timed := s.do(t, "GET", path, "").wants(t, 200), s.do(t, "GET", path+"?include=times", "").wants(t, 200)
	times := timesForm.FindStringSubmatch(timed.body)
	if times == nil || timed.body != strings.TrimSuffix(plain.body, "}")+times[0] {
		t.Fatalf("%s\n%s", plain.body, timed.body)
	}
	created, err := time.Parse(time.RFC3339, times[1])
	must(t, err)
	if updated, err := time.Parse(time.RFC3339, times[2]); err != nil || !updated.After(created) || created.Before(began) || updated.After(time.Now().Add(time.Minute)) {
		t.Errorf("%s, %v", times[0], err)
	}
	etag := plain.header.Get("ETag")
	if other := timed.header.Get("ETag"); other != etag {
		t.Errorf("the tag is %s with times and %s without", other, etag)
	}
	s.do(t, "GET", path+"?include=times", "", "If-None-Match", etag).wants(t, 304)
	for query, want := range map[string]string{"": plain.body, "include=": plain.body, "include=times": timed.body} {
		if a := s.do(t, "GET", collection+"?"+query, "").wants(t, 200); !strings.HasPrefix(a.body, `{"data":{"items":[`+want+`],`) {
			t.Errorf("list %s: %s", query, a.body)
		}
		if a := s.do(t, "GET", exportPath+"?format=jsonl&"+query, "").wants(t, 200); a.body != want+"\n" {
			t.Errorf("export %s: %s", query, a.body)
		}
		var feed wireFeed
		if decode(t, s.do(t, "GET", changesPath+"?"+query, "").wants(t, 200).body, &feed); len(feed.Items) != 2 || string(feed.Items[1].Record) != want {
			t.Errorf("changes %s: %+v", query, feed)
		}
	}
	for _, path := range []string{path, collection, exportPath, changesPath} {
		for query, want := range map[string]string{"include=time": "include invalid", "include=times,times": "include invalid", "include=times&include=times": "include duplicate"} {
			if got := s.do(t, "GET", path+"?"+query, "").wants(t, 400).faults(t); got != want {
				t.Errorf("%s?%s: %s", path, query, got)
			}
		}
	}

	s.do(t, "PUT", path, ana).wants(t, 200)
	for method, path := range map[string]string{"PUT": path, "PATCH": path, "POST": collection} { // they are ignored
		if a := s.do(t, method, path, timed.body); a.status/100 != 2 || strings.Contains(a.body, "At") {
			t.Errorf("%s with times: %d %s", method, a.status, a.body)
		}
	}
}

// TestTimesInFiles checks that each format has the times, and that an import of such a file asks no
// question and changes nothing.
func TestTimesInFiles(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i := range 3 {
		s.create(t, fmt.Sprintf(`{"firstName":"A","lastName":"B%d","phoneNumber":"09%d","dateOfBirth":"1990-05-0%d"}`, i, i, i+1))
	}
	content := s.contentOf(t)
	for _, format := range []string{"csv", "xlsx", "vcf", "jsonl"} {
		file := s.do(t, "GET", exportPath+"?include=times&format="+format, "").wants(t, 200).body
		r := s.do(t, "POST", importsPath+"?apply=true&update=true", file).report(t, 200)
		if r.counts() != fmt.Sprint(0, 0, 3, 0) || s.contentOf(t) != content {
			t.Errorf("%s: %+v", format, r)
		}
		of := map[string]bool{}
		for _, c := range r.Columns {
			of[c.Header] = c.Field == nil
		}
		created, updated := "createdAt", "updatedAt"
		if format == "vcf" {
			created, updated = "X-FIREFIGHTERS-CREATED-AT", "REV"
			if !regexp.MustCompile(`(?m)^X-FIREFIGHTERS-CREATED-AT:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\r\nREV:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\r$`).MatchString(file) {
				t.Error(file)
			}
		}
		if !of[created] || !of[updated] {
			t.Errorf("%s: %+v", format, r.Columns)
		}
		if plain := s.do(t, "GET", exportPath+"?format="+format, "").wants(t, 200).body; format != "xlsx" && (strings.Contains(plain, created) || strings.Contains(plain, updated)) {
			t.Errorf("%s without times: %s", format, plain)
		}
	}
	if header, _, _ := strings.Cut(s.do(t, "GET", exportPath+"?include=times", "").body, "\r\n"); !strings.HasSuffix(header, ",invitationStatus,userId,createdAt,updatedAt") {
		t.Error(header)
	}
}

// TestSortByUpdate checks that the most recently changed record comes first, also across pages.
func TestSortByUpdate(t *testing.T) {
	t.Parallel()
	s := start(t)
	ids := []string{s.create(t, ana), s.create(t, ana), s.create(t, ana)}
	for _, i := range []int{1, 0} {
		time.Sleep(5 * time.Millisecond)
		s.do(t, "PUT", collection+"/"+ids[i], ana).wants(t, 200)
	}
	for query, want := range map[string][]int{"": {0, 1, 2}, "&sortDir=asc": {2, 1, 0}, "&pageSize=2&page=2": {2}} {
		var list struct {
			Data struct{ Items []struct{ ID string } }
		}
		must(t, json.Unmarshal([]byte(s.do(t, "GET", collection+"?sortBy=updatedAt"+query, "").wants(t, 200).body), &list))
		got := []int{}
		for _, f := range list.Data.Items {
			for i, id := range ids {
				if id == f.ID {
					got = append(got, i)
				}
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, want %v", query, got, want)
		}
	}
}
