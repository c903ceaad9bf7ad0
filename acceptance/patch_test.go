package acceptance

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

const (
	mergePatch  = "application/merge-patch+json"
	acceptPatch = mergePatch + ", application/json"
)

// TestPatch checks that a patch changes only the members that it names. Package record tests all
// patches.
func TestPatch(t *testing.T) {
	t.Parallel()
	s := start(t)
	created := s.do(t, "POST", collection, ana)
	path, whole := created.header.Get("Location"), created.body
	execSQL(t, s.db, `UPDATE firefighters SET invitation_status = 'sent'`)
	whole = strings.Replace(whole, `"invitationStatus":null`, `"invitationStatus":"sent"`, 1)
	for i, tt := range []struct{ patch, old, new string }{
		{`{}`, "", ""},
		{`{"lastName":" Horvat "}`, `"Čović"`, `"Horvat"`},
		{`{"phoneNumber":null}`, `"091 234 5678"`, `null`},
		{`{"email":""}`, `"ana@example.com"`, `null`},
		{`{"dateOfBirth":"1990-05-16"}`, `1990-05-15`, `1990-05-16`},
		{`{"id":"` + nobody + `","invitationStatus":null,"userId":1,"email":"Ana@example.com"}`, `"email":null`, `"email":"Ana@example.com"`},
	} {
		whole = strings.Replace(whole, tt.old, tt.new, 1)
		mediaType := []string{mergePatch, "application/json"}[i%2]
		a := s.do(t, "PATCH", path, tt.patch, "Content-Type", mediaType).wants(t, 200)
		if got := s.do(t, "GET", path, ""); a.body != whole || got.body != whole || got.tagOf(t, false) != a.tagOf(t, false) {
			t.Errorf("%s\ngot  %s\nthen %s\nwant %s", tt.patch, a.body, got.body, whole)
		}
	}
	s.do(t, "PATCH", path, `{}`, "If-None-Match", `"x"`).wants(t, 200)
	if all := historyOf(t, s.db, "default"); len(all) != 8 || all[7].Action != "replace" { // like a PUT without a change
		t.Errorf("history: %+v", all)
	}
}

// TestPatchRefused checks that a rejected patch changes nothing and that the error lists all faults.
func TestPatchRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	created := s.do(t, "POST", collection, ana)
	path, counted := created.header.Get("Location"), s.contentOf(t)
	for _, tt := range []struct{ patch, want string }{
		{`{"firstName":null}`, "firstName required"},
		{`{"boots":"Chief","email":"x","firstName":" ","phoneNumber":1,"lastName":"A","lastName":"B"}`,
			"boots unknown, phoneNumber wrong_type, lastName duplicate, firstName required, email invalid"},
	} {
		if got := s.do(t, "PATCH", path, tt.patch).wants(t, 400).faults(t); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.patch, got, tt.want)
		}
	}
	for _, body := range []string{"", "null", "[]", `{}{}`, `[{"op":"remove","path":"/email"}]`} {
		if p := s.do(t, "PATCH", path, body).wants(t, 400).problem(t); p.Code != "malformed" {
			t.Errorf("%q: %s", body, p.Code)
		}
	}
	for _, contentType := range []string{"text/plain", "application/json-patch+json", mergePatch + "; charset=latin1"} {
		a := s.do(t, "PATCH", path, `{}`, "Content-Type", contentType).wants(t, 415)
		if got := a.header.Get("Accept-Patch"); got != acceptPatch {
			t.Errorf("%s: Accept-Patch: %q", contentType, got)
		}
	}
	s.do(t, "PATCH", path, `{}`, "Content-Type", mergePatch, "Content-Encoding", "gzip").wants(t, 415)
	s.do(t, "PATCH", path, largeBody(maxBody+1)).wants(t, 413)
	s.do(t, "PATCH", path, `{}`, "If-Match", `"x"`).wants(t, 412)
	s.do(t, "PATCH", path, `{}`, "If-None-Match", created.tagOf(t, false)).wants(t, 412)
	s.do(t, "PATCH", collection+"/"+nobody, `{}`).wants(t, 404)
	s.do(t, "PATCH", collection+"/x", `{}`).wants(t, 400)
	if body := s.do(t, "GET", path, "").body; body != created.body || s.contentOf(t) != counted {
		t.Errorf("rejected, but %s became %s", created.body, body)
	}
	for path, want := range map[string]string{collection + "/" + nobody: acceptPatch, collection: "", "/healthz": ""} {
		if got := s.as("").do(t, "OPTIONS", path, "").wants(t, 204).header.Get("Accept-Patch"); got != want {
			t.Errorf("OPTIONS %s: Accept-Patch: %q", path, got)
		}
	}
}

// TestConcurrentPatches checks that simultaneous patches of different members lose no change, even
// without conditions.
func TestConcurrentPatches(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.do(t, "POST", collection, `{"firstName":"A","lastName":"B"}`).header.Get("Location")
	var running sync.WaitGroup
	for _, patch := range []string{`{"phoneNumber":"%d"}`, `{"email":"%d@x.hr"}`, `{"lastName":"%d"}`} {
		running.Go(func() {
			for i := range 20 {
				s.do(t, "PATCH", path, fmt.Sprintf(patch, i)).wants(t, 200)
			}
		})
	}
	running.Wait()
	if body := s.do(t, "GET", path, "").body; !strings.Contains(body, `"A","lastName":"19","phoneNumber":"19","email":"19@x.hr"`) {
		t.Errorf("the record became %s", body)
	}
}
