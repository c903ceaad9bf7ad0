package acceptance

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestSearchFindsOtherSpellings: in the API, on the page and in an export alike.
func TestSearchFindsOtherSpellings(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, body := range []string{
		`{"firstName":"Jürgen","lastName":"Müller","phoneNumber":"00385 92 354 3631"}`,
		`{"firstName":"Josip","lastName":"Mueller","phoneNumber":"+385 (0)92 354 3631"}`,
		`{"firstName":"Ana","lastName":"Weiß","phoneNumber":"091 234 Büro"}`,
	} {
		s.create(t, body)
	}
	b := s.signIn(t, s.key, "en")
	for search, want := range map[string]string{
		"mueller": "Josip Jürgen", "Müller": "Josip Jürgen", "juergen": "Jürgen", "weiss": "Ana", "WEISZ": "", "joe": "",
		"0923543631": "Josip Jürgen", "092 354 3631": "Josip Jürgen", "+385923543631": "Josip Jürgen", "00385 (0)92 354-3631": "Josip Jürgen",
		"0923543": "Josip", "büro": "Ana", "BUERO": "Ana", "091 234": "Ana", "%": "",
	} {
		query := "sortBy=firstName&sortDir=asc&search=" + url.QueryEscape(search)
		var listed []string
		for _, f := range s.list(t, query).Data.Items {
			listed = append(listed, f.FirstName)
		}
		if got := strings.Join(listed, " "); got != want {
			t.Errorf("%q finds %q, not %q", search, got, want)
		}
		page := b.get(t, "/office/?"+query).wants(t, http.StatusOK)
		if rows := page.all("th", "scope", "row"); len(rows) != len(listed) {
			t.Errorf("%q: the page shows %d people, not %d", search, len(rows), len(listed))
		}
		if n := strings.Count(string(s.do(t, "GET", "/api/v1/export?"+query, "").wants(t, http.StatusOK).body), "\n") - 1; n != len(listed) {
			t.Errorf("%q: the export has %d people, not %d", search, n, len(listed))
		}
	}
}
