package mapping

import (
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

func TestParseHeaders(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]Header{
		"Vorname=firstName,Handy=phoneNumber":       {{"Vorname", "firstName"}, {"Handy", "phoneNumber"}},
		" Vorname = FIRSTNAME , Spind = - , Ort = ": {{"Vorname", "firstName"}, {"Spind", LeftOut}, {"Ort", LeftOut}},
		`"Name, Vorname"=nameReversed,id=id`:        {{"Name, Vorname", LastFirst}, {"id", ID}},
		`"Name, Vorname=name",a=b=email`:            {{"Name, Vorname", FullName}, {"a=b", "email"}},
		`"Born ""on"""=dateOfBirth`:                 {{`Born "on"`, "dateOfBirth"}},
		`"a=b"=lastName`:                            {{"a=b", "lastName"}},
	} {
		if got, err := ParseHeaders(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	const form = `must be like "Vorname=firstName,Handy=phoneNumber", not `
	fields := "; the fields are " + strings.Join(record.FieldNames(), ", ") + ", id, name, nameReversed, or - to leave a column out"
	for text, want := range map[string]string{
		"":                        form + `""`,
		"Vorname":                 form + `"Vorname"`,
		"=email":                  form + `"=email"`,
		"a=email,":                form + `"a=email,"`,
		"Handy=phone":             `has the unknown field "phone"` + fields,
		"a=email,b=userId":        `has the unknown field "userId"` + fields,
		"Handy=email,Handy=email": `has the header "Handy" twice`,
	} {
		if got, err := ParseHeaders(text); got != nil || err == nil || err.Error() != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

// FuzzParseHeaders checks that the result contains only known fields.
func FuzzParseHeaders(f *testing.F) {
	for _, text := range []string{"", "a=email", `"a,b"=-,c=`, `"a""`, `""=""`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		headers, err := ParseHeaders(text)
		for _, h := range headers {
			known := false
			for _, target := range targets {
				known = known || target == h.Field
			}
			if err != nil || h.Header == "" || !known {
				t.Errorf("%q: %q is %q, %v", text, h.Header, h.Field, err)
			}
		}
	})
}
