package acceptance

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// rest returns the expected JSON of a record after its id.
func rest(first, last, phone, email, born string) string {
	return withLater(fmt.Sprintf(`,"firstName":%s,"lastName":%s,"phoneNumber":%s,"email":%s,"dateOfBirth":%s,`+
		`"invitationStatus":null,"userId":null}`, first, last, phone, email, born))
}

var (
	x50  = strings.Repeat("5", 50)
	x100 = strings.Repeat("Č", 100)
	x242 = strings.Repeat("a", 242)
)

// inHours returns a time in the future as JSON.
func inHours(hours int) string {
	return time.Now().Add(time.Duration(hours) * time.Hour).UTC().Format(`"` + time.RFC3339 + `"`)
}

var tomorrow = inHours(23)

// fieldCases are JSON values of a field with the JSON value of the answer or the code of the error.
// Package record tests each rule.
var fieldCases = []struct{ field, in, want string }{
	{"firstName", `" \u00a0\tAna Marija\n\u3000"`, `"Ana Marija"`},
	{"firstName", `"C\u030covic\u0301"`, "\"C\u030covic\u0301\""},
	{"firstName", `"  ` + x100 + `  "`, `"` + x100 + `"`},
	{"firstName", `"` + strings.Repeat("\U0001f692", 100) + `"`, `"` + strings.Repeat("\U0001f692", 100) + `"`},
	{"firstName", `"` + strings.Repeat(`\ud83d\ude92`, 101) + `"`, "too_long"},
	{"firstName", `null`, "required"},
	{"firstName", `7`, "wrong_type"},
	{"firstName", `"A\u0000"`, "invalid"},
	{"firstName", `"\udc00\ud800"`, "invalid"},
	{"firstName", `"\u200b"`, "invalid"},
	{"lastName", `"` + x100 + `x"`, "too_long"},
	{"lastName", `""`, "required"},
	{"lastName", `"A\nB"`, "invalid"},
	{"phoneNumber", `" +385 (91) 234-5678 "`, `"+385 (91) 234-5678"`},
	{"phoneNumber", `"` + x50 + `"`, `"` + x50 + `"`},
	{"phoneNumber", `"` + x50 + `5"`, "too_long"},
	{"phoneNumber", `"\u0301"`, "\"\u0301\""}, // folds to nothing
	{"phoneNumber", `null`, `null`},
	{"phoneNumber", `"09\t1"`, "invalid"},
	{"email", `" Ana.Ivić@Example.COM "`, `"Ana.Ivić@Example.COM"`},
	{"email", `"` + x242 + `@example.com"`, `"` + x242 + `@example.com"`},
	{"email", `"a` + x242 + `@example.com"`, "too_long"},
	{"email", `""`, `null`},
	{"email", `null`, `null`},
	{"email", `"Ana <ana@example.com>"`, "invalid"},
	{"dateOfBirth", `"1990-05-15T00:00:00"`, `"1990-05-15T00:00:00Z"`},
	{"dateOfBirth", `"1990-05-15T00:00:00+02:00"`, `"1990-05-15T00:00:00+02:00"`},
	{"dateOfBirth", `"1990-05-15T00:00Z"`, `"1990-05-15T00:00:00Z"`},
	{"dateOfBirth", `"1990-05-15T00:00"`, `"1990-05-15T00:00:00Z"`},
	{"dateOfBirth", `"1990-05-15T00:00:00.000+0000"`, `"1990-05-15T00:00:00+00:00"`},
	{"dateOfBirth", `"1990-05-15T00:00+02"`, `"1990-05-15T00:00:00+02:00"`},
	{"dateOfBirth", `"1900-01-01"`, `"1900-01-01T00:00:00Z"`},
	{"dateOfBirth", `"1899-12-31T23:59:59Z"`, "out_of_range"},
	{"dateOfBirth", tomorrow, tomorrow},
	{"dateOfBirth", inHours(25), "out_of_range"},
	{"dateOfBirth", `""`, `null`},
	{"dateOfBirth", `null`, `null`},
	{"dateOfBirth", `642729600`, "wrong_type"},
	{"dateOfBirth", `"15.05.1990"`, "invalid"},
}

// TestFields checks each value in a POST and in a PUT, which have the same rules.
func TestFields(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	for _, tt := range fieldCases {
		values := map[string]string{"firstName": `"A"`, "lastName": `"B"`}
		values[tt.field] = tt.in
		var members []string
		for _, name := range slices.Sorted(maps.Keys(values)) {
			members = append(members, `"`+name+`":`+values[name])
		}
		body := "{" + strings.Join(members, ",") + "}"
		want := map[string]string{"firstName": `"A"`, "lastName": `"B"`, "phoneNumber": "null", "email": "null", "dateOfBirth": "null"}
		want[tt.field] = tt.want
		wanted := rest(want["firstName"], want["lastName"], want["phoneNumber"], want["email"], want["dateOfBirth"])
		for _, method := range []string{"POST", "PUT"} {
			name := fmt.Sprintf("%s/%s=%.30s", method, tt.field, strings.ToValidUTF8(tt.in, "?"))
			t.Run(name, func(t *testing.T) { checkField(t, s.client, method, id, body, tt.field, tt.want, wanted) })
		}
	}
}

func checkField(t *testing.T, c client, method, id, body, field, want, wanted string) {
	t.Helper()
	path, status := collection, http.StatusCreated
	if method == "PUT" {
		path, status = collection+"/"+id, http.StatusOK
	}
	a := c.do(t, method, path, body)
	if !strings.HasPrefix(want, `"`) && want != "null" {
		if a.status != 400 || a.faults(t) != field+" "+want {
			t.Errorf("%d %s, want the fault %s", a.status, a.body, want)
		}
		return
	}
	if a.wants(t, status); method == "POST" {
		var f wireRecord
		decode(t, a.body, &f)
		id = f.ID
	}
	if want := `{"id":"` + id + `"` + wanted; a.body != want {
		t.Errorf("got  %s\nwant %s", a.body, want)
	}
	if got := c.do(t, "GET", collection+"/"+id, ""); got.body != a.body {
		t.Errorf("%s returns %s, but GET returns %s", method, a.body, got.body)
	}
}

// bodyCases are whole bodies. A rejected body without faults is not a JSON object.
var bodyCases = []struct {
	name, body string
	status     int
	faults     string
}{
	{"least", `{"firstName":"A","lastName":"B"}`, 201, ""},
	{"read-only members", `{"id":7,"invitationStatus":{"a":[]},"userId":"x","firstName":"A","lastName":"B"}`, 201, ""},
	{"white space around", " \r\n\t{\"firstName\":\"A\",\"lastName\":\"B\"}\n ", 201, ""},
	{"byte order mark", "\ufeff" + `{"firstName":"A","lastName":"B"}`, 201, ""},
	{"largest", largeBody(maxBody), 201, ""},
	{"no member", `{}`, 400, "firstName required, lastName required"},
	{"twice", `{"firstName":"A","lastName":"B","firstName":"A"}`, 400, "firstName duplicate"},
	{"unknown", `{"firstName":"A","lastName":"B","phone":"1"}`, 400, "phone unknown"},
	{"other case", `{"FirstName":"A","lastName":"B"}`, 400, "FirstName unknown, firstName required"},
	{"all at once", `{"firstName":5,"lastName":" ","phoneNumber":"` + x50 + `1","email":"x","dateOfBirth":"1899-01-01","nick":1,"userId":1,"userId":2}`,
		400, "firstName wrong_type, nick unknown, userId duplicate, lastName required, phoneNumber too_long, email invalid, dateOfBirth out_of_range"},
	{"empty", ``, 400, ""},
	{"null", `null`, 400, ""},
	{"two objects", `{"firstName":"A","lastName":"B"}{}`, 400, ""},
	{"deep", `{"a":` + strings.Repeat("[", 32000) + strings.Repeat("]", 32000) + `}`, 400, ""},
	{"too large", largeBody(maxBody + 1), 413, ""},
}

// largeBody returns a valid body of this size.
func largeBody(size int) string {
	const body = `{"firstName":"A","lastName":"B"}`
	return body + strings.Repeat(" ", size-len(body))
}

func TestBodies(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, tt := range bodyCases {
		t.Run(tt.name, func(t *testing.T) {
			a := s.do(t, "POST", collection, tt.body).wants(t, tt.status)
			if tt.status == 400 && !sameFaults(a.faults(t), tt.faults) {
				t.Errorf("got %q, want %q", a.faults(t), tt.faults)
			}
			chunked, err := s.try(t, "POST", collection, io.NopCloser(strings.NewReader(tt.body)))
			if must(t, err); chunked.status != tt.status {
				t.Errorf("chunked: %d %s", chunked.status, chunked.body)
			}
		})
	}
	if a := s.do(t, "POST", collection, `{"phone":"1"}`).wants(t, 400); !strings.Contains(a.body, `\"phone\"`) {
		t.Errorf("the detail does not name the member: %s", a.body)
	}
}

// sameFaults compares two lists of faults without regard to the order.
func sameFaults(got, want string) bool {
	a, b := strings.Split(got, ", "), strings.Split(want, ", ")
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// TestMediaTypes checks that a body must be JSON in UTF-8 without compression.
func TestMediaTypes(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := collection + "/" + s.create(t, ana)
	for _, tt := range []struct {
		header, value string
		good          bool
	}{
		{"Content-Type", "application/json", true},
		{"Content-Type", "Application/JSON;charset=\"UTF-8\"", true},
		{"Content-Type", "application/json; charset=utf8", true},
		{"Content-Encoding", "Identity", true},
		{"Content-Type", "application/json; charset=latin1", false},
		{"Content-Type", "application/problem+json", false},
		{"Content-Type", "application/x-www-form-urlencoded", false},
		{"Content-Type", ";", false},
		{"Content-Encoding", "gzip", false},
		{"Content-Encoding", "identity, gzip", false},
	} {
		post, put := 415, 415
		if tt.good {
			post, put = 201, 200
		}
		s.do(t, "POST", collection, ana, tt.header, tt.value).wants(t, post)
		s.do(t, "PUT", path, ana, tt.header, tt.value).wants(t, put)
	}
	s.do(t, "POST", collection, ana, "Content-Type", "application/json", "Content-Type", "application/json").wants(t, 400)
	if l := s.list(t, ""); l.TotalCount != 5 {
		t.Errorf("%d records, want 5", l.TotalCount)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.do(t, "POST", collection, ana).wants(t, 201)
	id := strings.TrimPrefix(a.header.Get("Location"), collection+"/")
	if u, err := uuid.Parse(id); err != nil || u.Version() != 7 || u.String() != id {
		t.Errorf("id %q: %v", id, err)
	}
	want := `{"id":"` + id + `"` + rest(`"Ana"`, `"Čović"`, `"091 234 5678"`, `"ana@example.com"`, `"1990-05-15T00:00:00Z"`)
	if a.body != want {
		t.Errorf("got  %s\nwant %s", a.body, want)
	}
	if again := s.create(t, ana); again == id {
		t.Error("two records have the same id")
	}
	sent := `{"id":"` + nobody + `","firstName":"A","lastName":"B","userId":"` + nobody + `","invitationStatus":"x"}`
	if b := s.do(t, "POST", collection, sent).wants(t, 201); strings.Contains(b.body, nobody) || strings.Contains(b.body, `"x"`) {
		t.Errorf("read-only members were not ignored: %s", b.body)
	}
}

// TestReplace checks that a PUT replaces everything except the platform's fields.
func TestReplace(t *testing.T) {
	t.Parallel()
	s := start(t)
	id, user := s.create(t, ana), uuid.NewString()
	path := collection + "/" + id
	var before, after int64
	scanSQL(t, s.db, `SELECT created_at FROM firefighters`, &before)
	execSQL(t, s.db, `UPDATE firefighters SET invitation_status = 'Sent "é"', user_id = ? WHERE id = ?`, user, id)
	shown := s.do(t, "GET", path, "").wants(t, 200).body
	if want := `"invitationStatus":"Sent \"é\"","userId":"` + user + `"}`; !strings.HasSuffix(shown, want) {
		t.Errorf("%s does not end with %s", shown, want)
	}
	if same := s.do(t, "PUT", path, shown).wants(t, 200).body; same != shown {
		t.Errorf("a PUT of the body of a GET changed %s to %s", shown, same)
	}
	sent := `{"id":"` + nobody + `","firstName":"Iva","lastName":"B","invitationStatus":null,"userId":null}`
	want := withLater(`{"id":"` + id + `","firstName":"Iva","lastName":"B","phoneNumber":null,"email":null,"dateOfBirth":null,` +
		`"invitationStatus":"Sent \"é\"","userId":"` + user + `"}`)
	if got := s.do(t, "PUT", path, sent).wants(t, 200).body; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s.do(t, "PUT", path, `{"firstName":"Eva"}`).wants(t, 400)
	s.do(t, "PUT", collection+"/"+nobody, ana).wants(t, 404)
	if got := s.do(t, "GET", path, "").wants(t, 200).body; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if scanSQL(t, s.db, `SELECT created_at FROM firefighters`, &after); before != after {
		t.Errorf("createdAt changed from %d to %d", before, after)
	}
	if total := s.list(t, "").TotalCount; total != 1 {
		t.Errorf("%d records", total)
	}
}

// TestDelete checks that a deleted record is in no answer and that its row stays.
func TestDelete(t *testing.T) {
	t.Parallel()
	s := start(t)
	keep, id := s.create(t, ana), s.create(t, ana)
	path := collection + "/" + id
	if a := s.do(t, "DELETE", path, "").wants(t, 204); a.body != "" {
		t.Errorf("unexpected body %q", a.body)
	}
	s.do(t, "GET", path, "").wants(t, 404)
	s.do(t, "PUT", path, ana).wants(t, 404)
	s.do(t, "DELETE", path, "").wants(t, 404)
	for _, query := range []string{"", "search=ana", "sortBy=email&sortDir=asc", "search=091"} {
		l := s.list(t, query)
		if l.TotalCount != 1 || l.Data.TotalCount != 1 || len(l.Data.Items) != 1 || l.Data.Items[0].ID != keep {
			t.Errorf("list %q: %+v", query, l)
		}
	}
	var name string
	var deleted int64
	scanSQL(t, s.db, `SELECT first_name, deleted_at FROM firefighters WHERE id = '`+id+`'`, &name, &deleted)
	if age := time.Since(time.UnixMilli(deleted)).Abs(); name != "Ana" || age > time.Minute {
		t.Errorf("the row is %q, deleted %v ago", name, age)
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	upper := collection + "/" + strings.ToUpper(id)
	got := s.do(t, "GET", upper, "").wants(t, 200)
	if !strings.HasPrefix(got.body, `{"id":"`+id+`"`) {
		t.Errorf("got %s", got.body)
	}
	s.do(t, "PUT", upper, ana).wants(t, 200)
	for _, bad := range []string{"x", "%20", strings.ReplaceAll(id, "-", ""), "%7B" + id + "%7D", "urn:uuid:" + id,
		id[:35], id[:35] + "%00", "..%2f" + id, strings.Repeat("a", 3000)} {
		for _, method := range []string{"GET", "HEAD", "PUT", "DELETE"} {
			a := s.do(t, method, collection+"/"+bad, ana)
			if strings.Contains(bad, "%2f") { // a different path
				a.wants(t, 404)
			} else if a.wants(t, 400); method != "HEAD" && a.faults(t) != "id invalid" {
				t.Errorf("%s %s: %s", method, bad, a.body)
			}
		}
	}
	s.do(t, "DELETE", upper, "").wants(t, 204)
	s.do(t, "GET", collection+"/"+id, "").wants(t, 404)
	s.do(t, "GET", collection+"/00000000-0000-0000-0000-000000000000", "").wants(t, 404)
}
