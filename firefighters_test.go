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

// TestRecord is the life of a record through the API: what a client sends, and what it
// gets. A newcomer reads this first. The tests in acceptance/ have the rest.
func TestRecord(t *testing.T) {
	t.Parallel()

	// A department has its own records, and keys that see no others.
	path := filepath.Join(t.TempDir(), "x.db")
	records, err := schema.Open(cli.Env{Context: t.Context(), Stderr: io.Discard}, path, true)
	must(t, err)
	defer records.Close()
	var key string
	must(t, records.CreateKey(store.NewKey{Tenant: "Engine 7", Scope: store.ScopeWrite}, func(made string) error {
		key = made // shown this once: the database has only its hash
		return nil
	}))
	service := httptest.NewServer(newServer(serviceOf(t, records)))
	defer service.Close()
	c := client{service.URL, key}
	c.as("").do(t, "GET", "/api/v1/firefighters", "").wants(t, http.StatusUnauthorized)

	// A record is created with a POST. Names are required; texts are trimmed.
	created := c.do(t, "POST", "/api/v1/firefighters",
		`{"firstName":" Ana ","lastName":"Čović","phoneNumber":"091 234 5678","dateOfBirth":"1990-05-15"}`).wants(t, http.StatusCreated)
	ana := created.header.Get("Location") // /api/v1/firefighters/ and its id
	id := strings.TrimPrefix(ana, "/api/v1/firefighters/")
	want := `{"id":"` + id + `","firstName":"Ana","lastName":"Čović","phoneNumber":"091 234 5678","email":null,` +
		`"dateOfBirth":"1990-05-15T00:00:00Z",`
	if !strings.HasPrefix(created.body, want) {
		t.Errorf("created %s, not %s", created.body, want)
	}

	// A refusal is a problem (RFC 9457) with a code, and says what is wrong with which field.
	refused := c.do(t, "POST", "/api/v1/firefighters", `{"firstName":"Ana","email":"nowhere"}`).wants(t, http.StatusBadRequest)
	if p := refused.problem(t); p.Code != "invalid" || !strings.Contains(refused.body, `"field":"lastName","code":"required"`) ||
		!strings.Contains(refused.body, `"field":"email","code":"invalid"`) {
		t.Errorf("refused with %s", refused.body)
	}

	// It is read by its id. The entity tag stands for the record as it is now.
	read := c.do(t, "GET", ana, "").wants(t, http.StatusOK)
	if read.body != created.body {
		t.Errorf("read %s, not %s", read.body, created.body)
	}
	tag := read.header.Get("ETag")
	c.do(t, "GET", ana, "", "If-None-Match", tag).wants(t, http.StatusNotModified)

	// It is listed in pages, and found by any part of its names, numbers and address,
	// without regard to case and accents.
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
			t.Errorf("%q finds %d, not %d", query, got, want)
		}
	}

	// A PUT replaces all of it. With the entity tag it replaces only what the client has
	// read: a second client that has read the same meets a conflict.
	replaced := c.do(t, "PUT", ana, `{"firstName":"Ana","lastName":"Horvat"}`, "If-Match", tag).wants(t, http.StatusOK)
	if !strings.Contains(replaced.body, `"lastName":"Horvat","phoneNumber":null`) || replaced.header.Get("ETag") == tag {
		t.Errorf("replaced by %s, %s", replaced.body, replaced.header.Get("ETag"))
	}
	conflict := c.do(t, "PUT", ana, `{"firstName":"Ana","lastName":"Kos"}`, "If-Match", tag).wants(t, http.StatusPreconditionFailed)
	if p := conflict.problem(t); p.Code != "precondition" {
		t.Errorf("the conflict is %+v", p)
	}

	// A PATCH changes only what it names.
	patched := c.do(t, "PATCH", ana, `{"email":"ana@example.com"}`).wants(t, http.StatusOK)
	if !strings.Contains(patched.body, `"lastName":"Horvat","phoneNumber":null,"email":"ana@example.com"`) {
		t.Errorf("patched to %s", patched.body)
	}

	// Deleted, it is gone for every client. The row stays until the department purges it.
	c.do(t, "DELETE", ana, "").wants(t, http.StatusNoContent)
	c.do(t, "GET", ana, "").wants(t, http.StatusNotFound)
	c.do(t, "DELETE", ana, "").wants(t, http.StatusNotFound)
	if got := found("search=horvat"); got != 0 {
		t.Errorf("a deleted record is found %d times", got)
	}
	var rows int
	if scanSQL(t, path, `SELECT count(*) FROM firefighters WHERE deleted_at IS NOT NULL`, &rows); rows != 1 {
		t.Errorf("%d deleted rows", rows)
	}

	// A client that keeps a copy asks what has changed since its last position.
	var changes struct {
		Items []struct {
			Action, ID string
			Record     json.RawMessage // as it is now
		}
	}
	must(t, json.Unmarshal([]byte(c.do(t, "GET", "/api/v1/changes", "").wants(t, http.StatusOK).body), &changes))
	var actions []string
	for _, change := range changes.Items {
		if actions = append(actions, change.Action); change.ID != id || string(change.Record) != "null" {
			t.Errorf("the change %s of %s is %s", change.Action, change.ID, change.Record)
		}
	}
	if want := []string{"create", "replace", "replace", "delete"}; !slices.Equal(actions, want) {
		t.Errorf("the changes are %q, not %q", actions, want)
	}
}
