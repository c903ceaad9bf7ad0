package acceptance

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestFilters checks that filters apply to lists, counts, searches and exports, in a small
// department and in one that has an index.
func TestFilters(t *testing.T) {
	t.Parallel()
	for _, others := range []int{0, 250} {
		s := start(t)
		if others > 0 {
			s.importPeople(t, "", csvOf(others))
		}
		s.as(newKey(t, s.db, "other")).create(t, people[0])
		letter, id := map[string]string{}, map[string]string{}
		var updated string
		for i, body := range people {
			time.Sleep(2 * time.Millisecond)
			record, name := s.create(t, body), string(rune('a'+i))
			letter[record], id[name] = name, record
			if i == 2 {
				times := timesForm.FindStringSubmatch(s.do(t, "GET", collection+"/"+record+"?include=times", "").body)
				updated = times[2]
			}
		}
		s.do(t, "DELETE", collection+"/"+s.create(t, people[0]), "").wants(t, 204)
		for query, want := range map[string]string{
			"email=A.COV@Example.com":                          "a",
			"email=a.cov@example.co":                           "",
			"phoneNumber=(091)2345678":                         "a",
			"phoneNumber=091234567":                            "",
			"id=" + id["a"] + "," + strings.ToUpper(id["c"]):   "ca",
			"id=" + id["a"] + "&id=" + id["b"] + "&search=ana": "a",
			"id=" + nobody:                                     "",
			"birthMonth=5&hasDateOfBirth=true&search=strasse":  "c",
			"birthMonth=6&search=strasse":                      "",
			"hasEmail=false&search=strasse":                    "c",
			"hasPhoneNumber=false&search=neil":                 "d",
			"updatedSince=" + updated:                          "dc",
			"updatedSince=" + updated + "&sortBy=email":        "dc",
			"updatedSince=" + updated + "&hasEmail=false":      "c",
			"email=a.cov@example.com&birthMonth=6":             "",
		} {
			l := s.list(t, query)
			got := ""
			for _, f := range l.Data.Items {
				got += letter[f.ID]
			}
			if got != want || l.TotalCount != int64(len(want)) {
				t.Errorf("%s with %d others: got %q of %d, want %q", query, others, got, l.TotalCount, want)
			}
			got = ""
			for line := range strings.Lines(s.do(t, "GET", exportPath+"?format=jsonl&sortDir=desc&"+query, "").wants(t, 200).body) {
				got += letter[line[len(`{"id":"`):][:36]]
			}
			if got != want {
				t.Errorf("%s with %d others: the export has %q, want %q", query, others, got, want)
			}
		}
		for _, path := range []string{collection, exportPath} {
			const faults = "id invalid, email invalid, phoneNumber invalid, birthMonth out_of_range, hasEmail invalid, hasPhoneNumber invalid, hasDateOfBirth invalid, updatedSince invalid"
			a := s.do(t, "GET", path+"?email=ana+b@x.hr&phoneNumber=x&id=1&birthMonth=13&hasEmail=no&hasPhoneNumber=2&hasDateOfBirth=TRUE&updatedSince=2026-11-23", "").wants(t, 400)
			if got := a.faults(t); got != faults {
				t.Errorf("%s: %s", path, got)
			}
			if got := s.do(t, "GET", path+"?id="+strings.Repeat(nobody+",", 101), "").wants(t, 400).faults(t); got != "id out_of_range" {
				t.Errorf("%s: %s", path, got)
			}
		}
		links := s.do(t, "GET", collection+"?pageSize=1&updatedSince="+url.QueryEscape(updated), "").wants(t, 200).header.Get("Link")
		if !strings.Contains(links, "updatedSince="+url.QueryEscape(updated)) || !strings.Contains(links, "page=2") {
			t.Error(links)
		}
		if page := s.list(t, fmt.Sprintf("pageSize=1&page=2&updatedSince=%s", updated)); len(page.Data.Items) != 1 || letter[page.Data.Items[0].ID] != "c" || page.TotalCount != 2 {
			t.Errorf("%+v", page)
		}
	}
}
