package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestRecord follows a record through the API, as an introduction for new readers. The tests in
// acceptance/ cover the details.
func TestRecord(t *testing.T) {
	t.Parallel()

	// A department has its own records, and its keys give access only to these.
	path := filepath.Join(t.TempDir(), "x.db")
	records, err := schema.Open(cli.Env{Context: t.Context(), Stderr: io.Discard}, path, true)
	must(t, err)
	defer records.Close()
	var key string
	must(t, records.CreateKey(store.NewKey{Tenant: "Engine 7", Scope: store.ScopeWrite}, func(secret string) error {
		key = secret // shown only now; the database stores its hash
		return nil
	}))
	service := httptest.NewServer(newServer(serviceOf(t, records), routes))
	defer service.Close()
	c := client{service.URL, key}
	c.as("").do(t, "GET", "/api/v1/firefighters", "").wants(t, http.StatusUnauthorized)

	// POST creates a record. Names are required. Texts are trimmed.
	created := c.do(t, "POST", "/api/v1/firefighters",
		`{"firstName":" Ana ","lastName":"Čović","phoneNumber":"091 234 5678","dateOfBirth":"1990-05-15"}`).wants(t, http.StatusCreated)
	ana := created.header.Get("Location") // /api/v1/firefighters/ and its id
	id := strings.TrimPrefix(ana, "/api/v1/firefighters/")
	want := `{"id":"` + id + `","firstName":"Ana","lastName":"Čović","phoneNumber":"091 234 5678","email":null,` +
		`"dateOfBirth":"1990-05-15T00:00:00Z",`
	if !strings.HasPrefix(created.body, want) {
		t.Errorf("created %s, want %s", created.body, want)
	}

	// Errors are problems (RFC 9457) with a code and a list of the invalid fields.
	refused := c.do(t, "POST", "/api/v1/firefighters", `{"firstName":"Ana","email":"nowhere"}`).wants(t, http.StatusBadRequest)
	if p := refused.problem(t); p.Code != "invalid" || !strings.Contains(refused.body, `"field":"lastName","code":"required"`) ||
		!strings.Contains(refused.body, `"field":"email","code":"invalid"`) {
		t.Errorf("got problem %s", refused.body)
	}

	// GET returns a record by its id. The entity tag identifies the current state.
	read := c.do(t, "GET", ana, "").wants(t, http.StatusOK)
	if read.body != created.body {
		t.Errorf("read %s, want %s", read.body, created.body)
	}
	tag := read.header.Get("ETag")
	c.do(t, "GET", ana, "", "If-None-Match", tag).wants(t, http.StatusNotModified)

	// Lists have pages. A search matches any part of the names, numbers and address, ignoring case and
	// accents.
	found := func(query string) (total int) {
		t.Helper()
		var page struct {
			Data struct {
				Items      []struct{ ID string }
				TotalCount int
			}
		}
		must(t, json.Unmarshal([]byte(c.do(t, "GET", "/api/v1/firefighters?"+query, "").wants(t, http.StatusOK).body), &page))
		if len(page.Data.Items) != page.Data.TotalCount {
			t.Errorf("%q: %+v", query, page)
		}
		return page.Data.TotalCount
	}
	for query, want := range map[string]int{
		"sortBy=lastName&sortDir=asc&page=1&pageSize=10": 1, "search=COVIC": 1, "search=2345678": 1, "search=eva": 0,
	} {
		if got := found(query); got != want {
			t.Errorf("search %q found %d, want %d", query, got, want)
		}
	}

	// PUT replaces the whole record. With If-Match, it fails if the record has changed since the client
	// read it.
	replaced := c.do(t, "PUT", ana, `{"firstName":"Ana","lastName":"Horvat"}`, "If-Match", tag).wants(t, http.StatusOK)
	if !strings.Contains(replaced.body, `"lastName":"Horvat","phoneNumber":null`) || replaced.header.Get("ETag") == tag {
		t.Errorf("after PUT: %s, %s", replaced.body, replaced.header.Get("ETag"))
	}
	conflict := c.do(t, "PUT", ana, `{"firstName":"Ana","lastName":"Kos"}`, "If-Match", tag).wants(t, http.StatusPreconditionFailed)
	if p := conflict.problem(t); p.Code != "precondition" {
		t.Errorf("got problem %+v", p)
	}

	// PATCH changes only the fields in the request.
	patched := c.do(t, "PATCH", ana, `{"email":"ana@example.com"}`).wants(t, http.StatusOK)
	if !strings.Contains(patched.body, `"lastName":"Horvat","phoneNumber":null,"email":"ana@example.com"`) {
		t.Errorf("after PATCH: %s", patched.body)
	}

	// DELETE hides the record from all clients. The row stays until the department purges it.
	c.do(t, "DELETE", ana, "").wants(t, http.StatusNoContent)
	c.do(t, "GET", ana, "").wants(t, http.StatusNotFound)
	c.do(t, "DELETE", ana, "").wants(t, http.StatusNotFound)
	if got := found("search=horvat"); got != 0 {
		t.Errorf("found the deleted record %d times", got)
	}
	var rows int
	if scanSQL(t, path, `SELECT count(*) FROM firefighters WHERE deleted_at IS NOT NULL`, &rows); rows != 1 {
		t.Errorf("got %d deleted rows", rows)
	}

	// A client that keeps a copy requests the changes since its last position.
	var changes struct {
		Items []struct {
			Action, ID string
			Record     json.RawMessage // current state
		}
	}
	must(t, json.Unmarshal([]byte(c.do(t, "GET", "/api/v1/changes", "").wants(t, http.StatusOK).body), &changes))
	var actions []string
	for _, change := range changes.Items {
		if actions = append(actions, change.Action); change.ID != id || string(change.Record) != "null" {
			t.Errorf("change %s of %s: %s", change.Action, change.ID, change.Record)
		}
	}
	if want := []string{"create", "replace", "replace", "delete"}; !slices.Equal(actions, want) {
		t.Errorf("got changes %q, want %q", actions, want)
	}
}
