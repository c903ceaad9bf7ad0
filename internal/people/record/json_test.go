package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		want       Fields
	}{
		{"all", `{"firstName":"A","lastName":"B","phoneNumber":"1","email":"e","dateOfBirth":"d"}`,
			Fields{FirstName: "A", LastName: "B", PhoneNumber: "1", Email: "e", DateOfBirth: "d"}},
		{"white space", " \t\r\n{ \"firstName\" : \"A\" } \n", Fields{FirstName: "A"}},
		{"none", `{}`, Fields{}},
		{"nulls", `{"firstName":null,"email":null}`, Fields{}},
		{"escapes", `{"first\u004eame":"\u010c\ud83d\ude92\/"}`, Fields{FirstName: "Č\U0001f692/"}},
		{"damaged", "{\"firstName\":\"\\ud800\",\"lastName\":\"\xff\"}", Fields{FirstName: "\ufffd", LastName: "\ufffd"}},
		{"read-only", `{"id":1,"invitationStatus":[{"id":2}],"userId":{"a":null},"createdAt":1,"updatedAt":"","firstName":"A"}`,
			Fields{FirstName: "A"}},
		{"twice within", `{"id":{"a":1,"a":2},"firstName":"A"}`, Fields{FirstName: "A"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Decode([]byte(tt.body), today)
			if err != nil || got != tt.want {
				t.Errorf("got %+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}

// TestDecodeFieldErrors checks that JSON errors include the errors of Normalize.
func TestDecodeFieldErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, body, want string }{
		{"other case", `{"FirstName":"A","firstname":"B","lastName":"C"}`, "FirstName unknown, firstname unknown, firstName required"},
		{"unknown", `{"phone":"1","":2,"firstName":"A","lastName":"B"}`, "phone unknown,  unknown"},
		{"unknown null", `{"firstName":"A","lastName":"B","deletedAt":null}`, "deletedAt unknown"},
		{"twice", `{"firstName":"A","lastName":"B","email":"a","email":"b"}`, "email duplicate"},
		{"twice, escaped", `{"firstName":"A","lastName":"B","lastNam\u0065":"B"}`, "lastName duplicate"},
		{"three times", `{"firstName":"A","lastName":"B","id":1,"id":2,"id":3}`, "id duplicate"},
		{"types", `{"firstName":1,"lastName":true,"phoneNumber":{},"email":[],"dateOfBirth":1.5e3}`,
			"firstName wrong_type, lastName wrong_type, phoneNumber wrong_type, email wrong_type, dateOfBirth wrong_type"},
		{"all at once", `{"firstName":5,"lastName":" ","phoneNumber":"` + strings.Repeat("1", 51) +
			`","email":"x","dateOfBirth":"2026-07-03","nick":1,"userId":1,"userId":2}`,
			"firstName wrong_type, nick unknown, userId duplicate, lastName required, phoneNumber too_long, " +
				"email invalid, dateOfBirth out_of_range"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Decode([]byte(tt.body), today)
			var errs FieldErrors
			if !errors.As(err, &errs) || codes(errs) != tt.want {
				t.Errorf("got %q, %v; want %q", codes(errs), err, tt.want)
			}
		})
	}
}

func TestDecodeRejects(t *testing.T) {
	t.Parallel()
	bodies := []string{"", " \n", "null", "true", "1", `"{}"`, "[]", "[{}]", "{", "}", "{}{}", "{} x", `{} null`,
		`{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{'a':1}`, `{"a":01}`, `{"a":NaN}`, "{\"a\":\"\n\"}", `{"a":"\x"}`,
		"\ufeff{}", "\x00{}", "{}\x00", "{} // comment", "firstName=Ana", "\xff\xfe{\x00}\x00",
		`{"a":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`}
	for _, body := range bodies {
		_, err := Decode([]byte(body), today)
		if _, ok := err.(BodyError); !ok || err.Error() == "" {
			t.Errorf("%.40q: got %v", body, err)
		}
	}
}

func TestAppendJSON(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	tests := []struct {
		name string
		f    Firefighter
		want string
	}{
		{"empty", Firefighter{ID: "i", Fields: Fields{FirstName: "A", LastName: "B"}},
			`{"id":"i","firstName":"A","lastName":"B","phoneNumber":null,"email":null,"dateOfBirth":null,` +
				`"invitationStatus":null,"userId":null}`},
		{"full", Firefighter{"i", Fields{FirstName: "<Čć>&", LastName: "O\"B\\", PhoneNumber: "1", Email: "e@x", DateOfBirth: "1990"}, text("Sent"), text("u"), 4, 5},
			`{"id":"i","firstName":"<Čć>&","lastName":"O\"B\\","phoneNumber":"1","email":"e@x","dateOfBirth":"1990",` +
				`"invitationStatus":"Sent","userId":"u"}`},
		{"odd platform text", Firefighter{ID: "i", InvitationStatus: text("a\x00\n\x1f\x7f\u2028\xffb\xed\xa0\x80"), UserID: text("")},
			`{"id":"i","firstName":"","lastName":"","phoneNumber":null,"email":null,"dateOfBirth":null,` +
				"\"invitationStatus\":\"a\\u0000\\u000a\\u001f\x7f\u2028\ufffdb\ufffd\",\"userId\":\"\"}"},
	}
	later := "" // fields added later
	for _, d := range fields[5:] {
		later += `"` + d.Name + `":null,`
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want = strings.Replace(tt.want, `"invitationStatus"`, later+`"invitationStatus"`, 1)
			if got := string(tt.f.AppendJSON([]byte("x"))); got != "x"+tt.want {
				t.Errorf("got  %s\nwant x%s", got, tt.want)
			}
			times := fmt.Sprintf(`,"createdAt":"1970-01-01T00:00:00.00%dZ","updatedAt":"1970-01-01T00:00:00.00%dZ"}`, tt.f.CreatedAt, tt.f.UpdatedAt)
			if got := string(tt.f.AppendJSONWithTimes([]byte("x"))); got != "x"+strings.TrimSuffix(tt.want, "}")+times {
				t.Errorf("with times: %s", got)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, body := range []string{`{"firstName":"Ana","lastName":"Čović","phoneNumber":"091 234","email":"a@b.hr",` +
		`"dateOfBirth":"1990-05-15T00:00:00+02:00"}`, `{"firstName":" \ud800","id":{"a":[1]}}`, `{"lastName":"\ud83d\ude92"}`,
		`{"firstName":"<&\u2028\"\\","lastName":"\u007f"}`, "{\"email\":\"\xff\"}", `{"firstName":"\u200b","lastName":"\u3164a"}`, `{"a":1,"a":2}`, `[]`, `{}{}`, ``} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		decoded, err := Decode(body, today)
		normal, errs := decoded.Normalize(today)
		if err != nil || len(errs) > 0 {
			return
		}
		if again, errs := normal.Normalize(today); again != normal || len(errs) > 0 {
			t.Fatalf("%q is normal, but normalizing it yields %q and %v", normal, again, errs)
		}
		checkStored(t, normal)
		checkJSON(t, Firefighter{ID: "i", Fields: normal})
	})
}

// checkStored checks the invariants of stored text that the database relies on.
func checkStored(t *testing.T, f Fields) {
	t.Helper()
	for _, s := range []string{f.FirstName, f.LastName, f.PhoneNumber, f.Email, f.DateOfBirth} {
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\x00\n\ufffd") || utf8.RuneCountInString(s) > maxEmail {
			t.Fatalf("%q is stored", s)
		}
	}
	if !Visible(f.FirstName) || !Visible(f.LastName) || (f.DateOfBirth != "") != !f.Born().IsZero() {
		t.Fatalf("%q is stored", f)
	}
}

// clientRecord is a record as declared by a client.
type clientRecord struct {
	ID               string  `json:"id"`
	FirstName        string  `json:"firstName"`
	LastName         string  `json:"lastName"`
	PhoneNumber      *string `json:"phoneNumber"`
	Email            *string `json:"email"`
	DateOfBirth      *string `json:"dateOfBirth"`
	InvitationStatus *string `json:"invitationStatus"`
	UserID           *string `json:"userId"`
}

// checkJSON decodes the record with encoding/json.
func checkJSON(t *testing.T, f Firefighter) {
	t.Helper()
	text := f.AppendJSON(nil)
	var got clientRecord
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	want := clientRecord{ID: valid(f.ID), FirstName: f.FirstName, LastName: f.LastName,
		PhoneNumber: optional(f.PhoneNumber), Email: optional(f.Email), DateOfBirth: optional(f.DateOfBirth)}
	if f.InvitationStatus != nil {
		status := valid(*f.InvitationStatus)
		want.InvitationStatus = &status
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s became %+v, want %+v", text, got, want)
	}
}

// valid replaces each run of invalid UTF-8 in s with U+FFFD.
func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func FuzzAppendJSON(f *testing.F) {
	f.Add("id", "Sent")
	f.Add("\x00\"\\", "\xff\xfe\u2028")
	f.Fuzz(func(t *testing.T, id, status string) {
		checkJSON(t, Firefighter{ID: id, Fields: Fields{FirstName: "A", LastName: "B"}, InvitationStatus: &status})
	})
}
