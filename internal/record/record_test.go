package record

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// today is what no date of birth may be more than a day ahead of.
var today = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// codes writes faults as "field code, field code".
func codes(faults Faults) string {
	var list []string
	for _, f := range faults {
		list = append(list, f.Field+" "+f.Code)
	}
	return strings.Join(list, ", ")
}

func TestCleanTexts(t *testing.T) {
	tests := []struct{ name, in, want, fault string }{
		{"plain", "Ana", "Ana", ""},
		{"white space around", " \t\u00a0\u2003Ana Marija\u3000\r\n", "Ana Marija", ""},
		{"code points", strings.Repeat("\U0001f692", 100), strings.Repeat("\U0001f692", 100), ""},
		{"trimmed, then measured", " " + strings.Repeat("č", 100) + " ", strings.Repeat("č", 100), ""},
		{"one too many", strings.Repeat("č", 101), "", "too_long"},
		{"marks count, too", strings.Repeat("c\u030c", 51), "", "too_long"},
		{"decomposed stays so", "C\u030covic\u0301", "C\u030covic\u0301", ""},
		{"format characters", "\u200bAna\u202e\ufeff", "\u200bAna\u202e\ufeff", ""},
		{"empty", "", "", "required"},
		{"white space alone", " \u2028\u0085\n", "", "required"},
		{"NUL", "A\x00na", "", "invalid"},
		{"tab", "A\tna", "", "invalid"},
		{"newline", "A\nna", "", "invalid"},
		{"delete", "Ana\x7f", "", "invalid"},
		{"next line", "A\u0085na", "", "invalid"},
		{"damaged", "An\ufffd", "", "invalid"},
		{"broken UTF-8", "An\xff", "", "invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, faults := Fields{FirstName: tt.in, LastName: "Ivić"}.Clean(today)
			checkText(t, got.FirstName, tt.want, faults, "firstName", tt.fault)
			phone, faults := Fields{FirstName: "A", LastName: "B", Email: tt.in, PhoneNumber: tt.in}.Clean(today)
			if (phone.PhoneNumber == "") != (tt.want == "" || len([]rune(tt.want)) > 50) {
				t.Errorf("as a phone number: %q %v", phone.PhoneNumber, faults)
			}
		})
	}
}

func checkText(t *testing.T, got, want string, faults Faults, field, code string) {
	t.Helper()
	if code != "" {
		code = field + " " + code
	}
	if got != want || codes(faults) != code {
		t.Errorf("got %q with faults %q, want %q with %q", got, codes(faults), want, code)
	}
}

func TestCleanLimits(t *testing.T) {
	long := Fields{strings.Repeat("a", 101), strings.Repeat("b", 101), strings.Repeat("1", 51),
		strings.Repeat("a", 243) + "@example.com", "soon"}
	_, faults := long.Clean(today)
	want := "firstName too_long, lastName too_long, phoneNumber too_long, email too_long, dateOfBirth invalid"
	if codes(faults) != want {
		t.Errorf("got %s, want %s", codes(faults), want)
	}
	longest := Fields{strings.Repeat("a", 100), strings.Repeat("b", 100), strings.Repeat("1", 50),
		strings.Repeat("a", 242) + "@example.com", "1990-05-15T00:00:00.123456789+02:00"}
	if got, faults := longest.Clean(today); got != longest || len(faults) > 0 {
		t.Errorf("got %+v with %v", got, faults)
	}
	if got, faults := (Fields{FirstName: "A", LastName: "B"}).Clean(today); len(faults) > 0 || got.Born() != (time.Time{}) {
		t.Errorf("got %+v with %v", got, faults)
	}
}

func TestCleanEmail(t *testing.T) {
	tests := []struct{ in, want, fault string }{
		{"Ana.Ivic@Example.COM", "Ana.Ivic@Example.COM", ""},
		{" ana+fire@example.com ", "ana+fire@example.com", ""},
		{"čedo@primjer.hr", "čedo@primjer.hr", ""},
		{"ana@localhost", "ana@localhost", ""},
		{"", "", ""},
		{" ", "", ""},
		{"ana", "ana", "invalid"},
		{"ana@", "ana@", "invalid"},
		{"@example.com", "@example.com", "invalid"},
		{"ana@b@example.com", "ana@b@example.com", "invalid"},
		{"<ana@example.com>", "<ana@example.com>", "invalid"},
		{"Ana <ana@example.com>", "Ana <ana@example.com>", "invalid"},
		{"ana@example.com (Ana)", "ana@example.com (Ana)", "invalid"},
		{"ana@example.com, b@example.com", "ana@example.com, b@example.com", "invalid"},
		{"ana ivic@example.com", "ana ivic@example.com", "invalid"},
		{`"ana ivic"@example.com`, `"ana ivic"@example.com`, "invalid"},
		{"mailto:ana@example.com", "mailto:ana@example.com", "invalid"},
		{"ana@\texample.com", "", "invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got, faults := Fields{FirstName: "A", LastName: "B", Email: tt.in}.Clean(today)
			checkText(t, got.Email, tt.want, faults, "email", tt.fault)
		})
	}
}

func TestCleanBirth(t *testing.T) {
	tests := []struct{ in, want string }{
		{"1990-05-15", "1990-05-15T00:00:00Z"},
		{"1990-05-15T00:00:00", "1990-05-15T00:00:00Z"},
		{"1990-05-15t07:08:09z", "1990-05-15T07:08:09Z"},
		{" 1990-05-15T00:00:00.000Z\n", "1990-05-15T00:00:00Z"},
		{"1990-05-15T00:00:00+02:00", "1990-05-15T00:00:00+02:00"},
		{"1990-05-15T23:59:59.999999999-11:30", "1990-05-15T23:59:59.999999999-11:30"},
		{"1990-05-15T00:00:00.120", "1990-05-15T00:00:00.120Z"},
		{"1990-05-15T00:00:00+00:00", "1990-05-15T00:00:00+00:00"},
		{"2000-02-29", "2000-02-29T00:00:00Z"},
		{"1900-01-01", "1900-01-01T00:00:00Z"},
		{"2026-07-02T12:00:00Z", "2026-07-02T12:00:00Z"},
		{"2026-07-02T14:00:00+02:00", "2026-07-02T14:00:00+02:00"},
		{"2026-07-02T12:00:00.000000001Z", "out_of_range"},
		{"2026-07-02T13:59:59+01:00", "out_of_range"},
		{"9999-12-31", "out_of_range"},
		{"1899-12-31T23:59:59Z", "out_of_range"},
		{"0000-01-01", "out_of_range"},
		{"1900-02-29", "invalid"},
		{"1990-02-30", "invalid"},
		{"1990-13-01", "invalid"},
		{"1990-00-01", "invalid"},
		{"1990-05-00", "invalid"},
		{"1990-05-15T24:00:00Z", "invalid"},
		{"1990-05-15T00:60:00Z", "invalid"},
		{"1990-05-15T00:00:00+24:00", "invalid"},
		{"1990-05-15T00:00:00+0200", "invalid"},
		{"1990-05-15T00:00:00,5Z", "invalid"},
		{"1990-05-15T00:00:00.Z", "invalid"},
		{"1990-05-15 00:00:00Z", "invalid"},
		{"1990-05-15T00:00Z", "invalid"},
		{"1990-05-15Z", "invalid"},
		{"1990-5-15", "invalid"},
		{"90-05-15", "invalid"},
		{"-1990-05-15", "invalid"},
		{"15.05.1990", "invalid"},
		{"١٩٩٠-٠٥-١٥", "invalid"},
		{"1990-05-15\n1990-05-15", "invalid"},
		{"1990-05-15T00:00:00Z\x00", "invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got, faults := Fields{FirstName: "A", LastName: "B", DateOfBirth: tt.in}.Clean(today)
			if strings.HasPrefix(codes(faults), "dateOfBirth ") {
				got.DateOfBirth = faults[0].Code
			}
			if got.DateOfBirth != tt.want {
				t.Errorf("got %q, want %q", got.DateOfBirth, tt.want)
			}
		})
	}
}

func TestBorn(t *testing.T) {
	f, _ := Fields{FirstName: "A", LastName: "B", DateOfBirth: "1990-05-15T00:00:00+02:00"}.Clean(today)
	want := time.Date(1990, 5, 14, 22, 0, 0, 0, time.UTC)
	if !f.Born().Equal(want) || f.Born().Day() != 15 {
		t.Errorf("got %v, want the instant %v on the 15th", f.Born(), want)
	}
}

func TestNameAndLabel(t *testing.T) {
	if name, faults := Name("--tenant", " Engine 7 "); name != "Engine 7" || len(faults) > 0 {
		t.Errorf("got %q with %v", name, faults)
	}
	if _, faults := Name("--tenant", " "); codes(faults) != "--tenant required" {
		t.Errorf("got %v", faults)
	}
	if label, faults := Label("--label", " "); label != "" || len(faults) > 0 {
		t.Errorf("got %q with %v", label, faults)
	}
	if _, faults := Label("--label", "a\nb"); codes(faults) != "--label invalid" {
		t.Errorf("got %v", faults)
	}
}

func TestFaults(t *testing.T) {
	var faults Faults
	faults.Add("a", Required, "%s is required.", "a")
	if faults.Error() != "a is required." {
		t.Errorf("got %q", faults.Error())
	}
	faults.Merge(Faults{{"a", TooLong, "a is long."}, {"b", Invalid, "b is bad."}, {"b", TooLong, "b is long."}})
	if codes(faults) != "a required, b invalid, b too_long" {
		t.Errorf("got %s", codes(faults))
	}
	if !strings.Contains(faults.Error(), "3") || !strings.Contains(faults.Error(), "a is required.") {
		t.Errorf("got %q", faults.Error())
	}
}

func TestDecode(t *testing.T) {
	tests := []struct {
		name, body string
		want       Fields
		faults     string
	}{
		{"all", `{"firstName":"A","lastName":"B","phoneNumber":"1","email":"e","dateOfBirth":"d"}`,
			Fields{"A", "B", "1", "e", "d"}, ""},
		{"white space", " \t\r\n{ \"firstName\" : \"A\" } \n", Fields{FirstName: "A"}, ""},
		{"none", `{}`, Fields{}, ""},
		{"nulls", `{"firstName":null,"email":null}`, Fields{}, ""},
		{"escapes", `{"first\u004eame":"\u010c\ud83d\ude92\/"}`, Fields{FirstName: "Č\U0001f692/"}, ""},
		{"damaged", "{\"firstName\":\"\\ud800\",\"lastName\":\"\xff\"}", Fields{FirstName: "\ufffd", LastName: "\ufffd"}, ""},
		{"read-only", `{"id":1,"invitationStatus":[{"id":2}],"userId":{"a":null},"firstName":"A"}`, Fields{FirstName: "A"}, ""},
		{"other case", `{"FirstName":"A","firstname":"B"}`, Fields{}, "FirstName unknown, firstname unknown"},
		{"unknown", `{"phone":"1","":2}`, Fields{}, "phone unknown,  unknown"},
		{"twice", `{"email":"a","email":"b"}`, Fields{Email: "a"}, "email duplicate"},
		{"three times", `{"email":"a","email":"b","\u0065mail":"c"}`, Fields{Email: "a"}, "email duplicate"},
		{"read-only twice", `{"id":"a","id":"a"}`, Fields{}, "id duplicate"},
		{"twice within", `{"id":{"a":1,"a":2},"firstName":"A"}`, Fields{FirstName: "A"}, ""},
		{"types", `{"firstName":1,"lastName":true,"phoneNumber":{},"email":[],"dateOfBirth":1.5e3}`, Fields{},
			"firstName wrong_type, lastName wrong_type, phoneNumber wrong_type, email wrong_type, dateOfBirth wrong_type"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, faults, err := Decode([]byte(tt.body))
			if err != nil || got != tt.want || codes(faults) != tt.faults {
				t.Errorf("got %+v, %q, %v; want %+v, %q", got, codes(faults), err, tt.want, tt.faults)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	bodies := []string{"", " \n", "null", "true", "1", `"{}"`, "[]", "[{}]", "{", "}", "{}{}", "{} x", `{} null`,
		`{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{'a':1}`, `{"a":01}`, `{"a":NaN}`, "{\"a\":\"\n\"}", `{"a":"\x"}`,
		"\ufeff{}", "\x00{}", "{}\x00", "{} // comment", "firstName=Ana", "\xff\xfe{\x00}\x00",
		`{"a":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`}
	for _, body := range bodies {
		_, faults, err := Decode([]byte(body))
		if _, ok := err.(BodyError); !ok || len(faults) > 0 || err.Error() == "" {
			t.Errorf("%.40q: got %v, %v", body, faults, err)
		}
	}
}

func TestAppendJSON(t *testing.T) {
	text := func(s string) *string { return &s }
	tests := []struct {
		name string
		f    Firefighter
		want string
	}{
		{"empty", Firefighter{ID: "i", Fields: Fields{FirstName: "A", LastName: "B"}},
			`{"id":"i","firstName":"A","lastName":"B","phoneNumber":null,"email":null,"dateOfBirth":null,` +
				`"invitationStatus":null,"userId":null}`},
		{"full", Firefighter{"i", Fields{"<Čć>&", "O\"B\\", "1", "e@x", "1990"}, text("Sent"), text("u")},
			`{"id":"i","firstName":"<Čć>&","lastName":"O\"B\\","phoneNumber":"1","email":"e@x","dateOfBirth":"1990",` +
				`"invitationStatus":"Sent","userId":"u"}`},
		{"odd platform text", Firefighter{ID: "i", InvitationStatus: text("a\x00\n\x1f\x7f\u2028\xffb\xed\xa0\x80"), UserID: text("")},
			`{"id":"i","firstName":"","lastName":"","phoneNumber":null,"email":null,"dateOfBirth":null,` +
				"\"invitationStatus\":\"a\\u0000\\u000a\\u001f\x7f\u2028\ufffdb\ufffd\",\"userId\":\"\"}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(tt.f.AppendJSON([]byte("x"))); got != "x"+tt.want {
				t.Errorf("got  %s\nwant x%s", got, tt.want)
			}
		})
	}
}

// wire is the record as any client would declare it.
type wire struct {
	ID               string  `json:"id"`
	FirstName        string  `json:"firstName"`
	LastName         string  `json:"lastName"`
	PhoneNumber      *string `json:"phoneNumber"`
	Email            *string `json:"email"`
	DateOfBirth      *string `json:"dateOfBirth"`
	InvitationStatus *string `json:"invitationStatus"`
	UserID           *string `json:"userId"`
}

func FuzzDecode(f *testing.F) {
	for _, body := range []string{`{"firstName":"Ana","lastName":"Čović","phoneNumber":"091 234","email":"a@b.hr",` +
		`"dateOfBirth":"1990-05-15T00:00:00+02:00"}`, `{"firstName":" \ud800","id":{"a":[1]}}`, `{"lastName":"\ud83d\ude92"}`,
		`{"firstName":"<&\u2028\"\\","lastName":"\u007f"}`, "{\"email\":\"\xff\"}", `{"a":1,"a":2}`, `[]`, `{}{}`, ``} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		fields, faults, err := Decode(body)
		clean, more := fields.Clean(today)
		if err != nil || len(faults) > 0 || len(more) > 0 {
			return
		}
		if again, faults := clean.Clean(today); again != clean || len(faults) > 0 {
			t.Fatalf("%q is clean, but cleaning it gives %q and %v", clean, again, faults)
		}
		checkStored(t, clean)
		checkJSON(t, Firefighter{ID: "i", Fields: clean})
	})
}

// checkStored tells what every stored text promises to the database.
func checkStored(t *testing.T, f Fields) {
	t.Helper()
	for _, s := range []string{f.FirstName, f.LastName, f.PhoneNumber, f.Email, f.DateOfBirth} {
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\x00\n\ufffd") || utf8.RuneCountInString(s) > 254 {
			t.Fatalf("%q is stored", s)
		}
	}
	if f.FirstName == "" || f.LastName == "" || (f.DateOfBirth != "") != !f.Born().IsZero() {
		t.Fatalf("%q is stored", f)
	}
}

// checkJSON reads the record back with encoding/json.
func checkJSON(t *testing.T, f Firefighter) {
	t.Helper()
	text := f.AppendJSON(nil)
	var got wire
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	valid := func(s string) string { return string([]rune(s)) }
	optional := func(s string) *string {
		if s == "" {
			return nil
		}
		s = valid(s)
		return &s
	}
	want := wire{ID: valid(f.ID), FirstName: valid(f.FirstName), LastName: valid(f.LastName),
		PhoneNumber: optional(f.PhoneNumber), Email: optional(f.Email), DateOfBirth: optional(f.DateOfBirth)}
	if f.InvitationStatus != nil {
		status := valid(*f.InvitationStatus)
		want.InvitationStatus = &status
	}
	got.InvitationStatus, want.InvitationStatus = runs(got.InvitationStatus), runs(want.InvitationStatus)
	got.ID, want.ID = *runs(&got.ID), *runs(&want.ID)
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s became %+v, want %+v", text, got, want)
	}
}

// runs makes one of each run of U+FFFD: how many stand for broken UTF-8 is
// not promised.
func runs(s *string) *string {
	if s == nil {
		return nil
	}
	one := *s
	for strings.Contains(one, "\ufffd\ufffd") {
		one = strings.ReplaceAll(one, "\ufffd\ufffd", "\ufffd")
	}
	return &one
}

func FuzzAppendJSON(f *testing.F) {
	f.Add("id", "Sent")
	f.Add("\x00\"\\", "\xff\xfe\u2028")
	f.Fuzz(func(t *testing.T, id, status string) {
		checkJSON(t, Firefighter{ID: id, Fields: Fields{FirstName: "A", LastName: "B"}, InvitationStatus: &status})
	})
}
