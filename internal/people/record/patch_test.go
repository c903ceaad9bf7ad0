package record

import (
	"encoding/json"
	"errors"
	"testing"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	with := func(change func(f *Fields)) Fields {
		f := ana
		change(&f)
		return f
	}
	tests := []struct {
		name, patch string
		want        Fields
	}{
		{"nothing", `{}`, ana},
		{"one", `{"lastName":" Horvat "}`, with(func(f *Fields) { f.LastName = "Horvat" })},
		{"null", `{"phoneNumber":null}`, with(func(f *Fields) { f.PhoneNumber = "" })},
		{"empty", `{"email":"  "}`, with(func(f *Fields) { f.Email = "" })},
		{"a date", `{"dateOfBirth":"1991-01-02"}`, with(func(f *Fields) { f.DateOfBirth = "1991-01-02T00:00:00Z" })},
		{"read-only", `{"id":null,"invitationStatus":5,"userId":{"firstName":"X"},"createdAt":0,"updatedAt":""}`, ana},
		{"all", `{"firstName":"A","lastName":"B","phoneNumber":null,"email":null,"dateOfBirth":null}`, Fields{FirstName: "A", LastName: "B"}},
	}
	for _, tt := range tests {
		p, err := DecodePatch([]byte(tt.patch), today)
		if got := p.Merge(ana); err != nil || got != tt.want {
			t.Errorf("%s: got %+v, %v; want %+v", tt.name, got, err, tt.want)
		}
	}
}

// TestPatchRejects checks that all errors are reported at once, and none for members outside the
// patch.
func TestPatchRejects(t *testing.T) {
	t.Parallel()
	tests := []struct{ patch, want string }{
		{`{"firstName":null}`, "firstName required"},
		{`{"lastName":" ","firstName":""}`, "firstName required, lastName required"},
		{`{"FirstName":"A"}`, "FirstName unknown"},
		{`{"email":"a@b.hr","email":null}`, "email duplicate"},
		{`{"id":1,"id":2}`, "id duplicate"},
		{`{"phoneNumber":5,"boots":1,"email":"x","dateOfBirth":"2026-07-03","firstName":null}`,
			"phoneNumber wrong_type, boots unknown, firstName required, email invalid, dateOfBirth out_of_range"},
	}
	for _, tt := range tests {
		_, err := DecodePatch([]byte(tt.patch), today)
		var errs FieldErrors
		if !errors.As(err, &errs) || codes(errs) != tt.want {
			t.Errorf("%s: got %q, %v; want %q", tt.patch, codes(errs), err, tt.want)
		}
	}
	for _, patch := range []string{"", "null", `"x"`, "[]", "{}{}", "{", `[{"op":"remove"}]`} {
		if _, err := DecodePatch([]byte(patch), today); !errors.As(err, new(BodyError)) {
			t.Errorf("%s: %v", patch, err)
		}
	}
}

// FuzzMerge compares merging with RFC 7396, section 2: a value replaces, null removes. The result
// must be a valid record.
func FuzzMerge(f *testing.F) {
	for _, patch := range []string{`{}`, `{"lastName":"B","email":null}`, `{"dateOfBirth":"1990-05-15T00:00:00+02:00","id":[1]}`,
		`{"phoneNumber":"","firstName":" \ud83d\ude92 "}`, `{"email":"a","email":"b"}`, `[]`, ``} {
		f.Add([]byte(patch))
	}
	f.Fuzz(func(t *testing.T, patch []byte) {
		p, err := DecodePatch(patch, today)
		if err != nil {
			return
		}
		got := p.Merge(ana)
		members := map[string]any{}
		if err := json.Unmarshal(patch, &members); err != nil {
			t.Fatal(err)
		}
		want := ana
		for d, value := range want.Each {
			if member, given := members[d.Name]; given {
				*value, _ = member.(string)
			}
		}
		want, errs := want.Normalize(today)
		if got != want || len(errs) > 0 {
			t.Fatalf("%s: got %+v; want %+v, %v", patch, got, want, errs)
		}
		checkStored(t, got)
	})
}
