package record

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// today is the current time for normalization.
var today = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// codes formats errors as "field code, field code".
func codes(errs FieldErrors) string {
	var list []string
	for _, e := range errs {
		list = append(list, e.Field+" "+e.Code)
	}
	return strings.Join(list, ", ")
}

// TestTable checks that each of the Fields has a complete entry, in the order of the struct.
func TestTable(t *testing.T) {
	t.Parallel()
	members := reflect.TypeFor[Fields]()
	if len(fields) != members.NumField() {
		t.Fatalf("%d entries for %d fields", len(fields), members.NumField())
	}
	var columns []string
	for i, d := range fields {
		member := members.Field(i).Name
		if want := strings.ToLower(member[:1]) + member[1:]; d.Name != want {
			t.Errorf("entry %d is named %q, not %q", i, d.Name, want)
		}
		var f Fields
		*d.Of(&f) = "x"
		if reflect.ValueOf(f).Field(i).String() != "x" {
			t.Errorf("entry %q does not return field %s", d.Name, member)
		}
		if d.normalize == nil || d.limit == 0 && d.Name != "dateOfBirth" {
			t.Errorf("entry %q has no rule or limit", d.Name)
		}
		if d.column == "" || slices.Contains(columns, d.column) {
			t.Errorf("entry %q has column %q", d.Name, d.column)
		}
		if d.Headings == "" || d.VCard == "" {
			t.Errorf("entry %q has no headings or vCard property", d.Name)
		}
		columns = append(columns, d.column)
	}
	if FieldColumns != strings.Join(columns, ", ") {
		t.Errorf("FieldColumns is %q", FieldColumns)
	}
}

// TestNoLineBreaks checks that no field accepts a line break, because checksums cover lines.
func TestNoLineBreaks(t *testing.T) {
	t.Parallel()
	for _, d := range fields {
		for _, value := range []string{"a@b.example\nc@d.example", "1990-05-15\nT00:00:00Z", "1990-05-15\n1990-05-15", "a\r\nb", "a\n\n"} {
			var errs FieldErrors
			if normal := d.normalize(&errs, d, value, today); strings.ContainsAny(normal, "\r\n") || len(errs) == 0 && strings.ContainsAny(strings.TrimSpace(value), "\r\n") {
				t.Errorf("%s: %q becomes %q with %v", d.Name, value, normal, errs)
			}
		}
	}
}

func TestNormalizeTexts(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want, code string }{
		{"plain", "Ana", "Ana", ""},
		{"white space around", " \t\u00a0\u2003Ana Marija\u3000\r\n", "Ana Marija", ""},
		{"code points", strings.Repeat("\U0001f692", 100), strings.Repeat("\U0001f692", 100), ""},
		{"trimmed, then measured", " " + strings.Repeat("č", 100) + " ", strings.Repeat("č", 100), ""},
		{"one too many", strings.Repeat("č", 101), "", "too_long"},
		{"marks count, too", strings.Repeat("c\u030c", 51), "", "too_long"},
		{"decomposed stays so", "C\u030covic\u0301", "C\u030covic\u0301", ""},
		{"invisible characters", " \u200b A\u00adna\u202e\ufeff \u2066", "Ana", ""},
		{"invisible, then measured", strings.Repeat("č\u2060", 100), strings.Repeat("č", 100), ""},
		{"joiner without a use", "An\u200da", "Ana", ""},
		{"joiner within", "می\u200cخواهم", "می\u200cخواهم", ""},
		{"a mark alone shows", "\u0301", "\u0301", ""},
		{"zero width space", "\u200b", "", "invalid"},
		{"byte order mark", "\ufeff", "", "invalid"},
		{"direction", " \u202e\u200f \u2066", "", "invalid"},
		{"joiners and fillers", "\u2060\u00ad\u180e\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4", "", "invalid"},
		{"variation and tags", "\ufe0f\U000e0100\U000e0061\u180b", "", "invalid"},
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
			got, errs := Fields{FirstName: tt.in, LastName: "Ivić"}.Normalize(today)
			checkField(t, got.FirstName, tt.want, errs, "firstName", tt.code)
			got, errs = Fields{FirstName: "Ana", LastName: tt.in}.Normalize(today)
			checkField(t, got.LastName, tt.want, errs, "lastName", tt.code)
		})
	}
}

// checkField compares a normalized field and its error code. An empty code means no error.
func checkField(t *testing.T, got, want string, errs FieldErrors, field, code string) {
	t.Helper()
	if code != "" {
		code = field + " " + code
	}
	if got != want || codes(errs) != code {
		t.Errorf("got %q with errors %q, want %q with %q", got, codes(errs), want, code)
	}
}

func TestNormalizeLimits(t *testing.T) {
	t.Parallel()
	long := Fields{FirstName: strings.Repeat("a", 101), LastName: strings.Repeat("b", 101), PhoneNumber: strings.Repeat("1", 51),
		Email: strings.Repeat("a", 243) + "@example.com", DateOfBirth: "soon"}
	_, errs := long.Normalize(today)
	want := "firstName too_long, lastName too_long, phoneNumber too_long, email too_long, dateOfBirth invalid"
	if codes(errs) != want {
		t.Errorf("got %s, want %s", codes(errs), want)
	}
	longest := Fields{FirstName: strings.Repeat("a", 100), LastName: strings.Repeat("b", 100), PhoneNumber: strings.Repeat("1", 50),
		Email: strings.Repeat("a", 242) + "@example.com", DateOfBirth: "1990-05-15T00:00:00.123456789+02:00"}
	if got, errs := longest.Normalize(today); got != longest || len(errs) > 0 {
		t.Errorf("got %+v with %v", got, errs)
	}
	if _, errs := (Fields{}).Normalize(today); codes(errs) != "firstName required, lastName required" {
		t.Errorf("got %s", codes(errs))
	}
}

func TestNormalizeEmail(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want, code string }{
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
		{"ana\u00a0ivic@example.com", "ana\u00a0ivic@example.com", "invalid"},
		{"ana@exam\u2003ple.com", "ana@exam\u2003ple.com", "invalid"},
		{"\u202aana\ufeff@exam\u00adple.com\u200b", "ana@example.com", ""},
		{"c\u030cedo@primjer.hr", "čedo@primjer.hr", ""},
		{" \u200b ", "", ""},
		{"\u200b@example.com", "@example.com", "invalid"},
		{"mailto:ana@example.com", "mailto:ana@example.com", "invalid"},
		{"ana@\texample.com", "", "invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got, errs := Fields{FirstName: "A", LastName: "B", Email: tt.in}.Normalize(today)
			checkField(t, got.Email, tt.want, errs, "email", tt.code)
		})
	}
}

func TestNormalizePhone(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"\u202a+385\u00a091\u200b 234\u2011567\u202c": "+385\u00a091 234\u2011567", "Bu\u0308ro 5": "Büro 5", "\u200e": "",
		"tel:+385912345678": "+385912345678", " TEL: \u200btel:112": "112", "tel:": "tel:", "telephone 5": "telephone 5",
	} {
		got, errs := Fields{FirstName: "A", LastName: "B", PhoneNumber: in}.Normalize(today)
		checkField(t, got.PhoneNumber, want, errs, "phoneNumber", "")
	}
}

func FuzzNormalize(f *testing.F) {
	f.Add("\u200bAna", "علی\u200c", "tel: tel:\u200b5", "c\u030c@x\u200b", "1990-05-15\u200e")
	f.Add("A", "B", "", "", "1990-05-15T00:00:00,50+0200[Europe/Zagreb]")
	f.Add("A", "B", "", "", "1990-05-15-11:30")
	f.Fuzz(func(t *testing.T, first, last, phone, email, birth string) {
		once, errs := Fields{first, last, phone, email, birth}.Normalize(today)
		if len(errs) > 0 {
			return
		}
		if twice, errs := once.Normalize(today); twice != once || len(errs) > 0 {
			t.Errorf("%q becomes %q, %v", once, twice, errs)
		}
	})
}

func TestNameAndLabel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ value, name, nameErr, label, labelErr string }{
		{" Engine 7 ", "Engine 7", "<nil>", "Engine 7", "<nil>"},
		{" ", "", "is required", "", "<nil>"},
		{strings.Repeat("č", 101), "", "may have at most 100 characters", "", "may have at most 100 characters"},
		{"a\nb", "", "contains a control character", "", "contains a control character"},
		{"\xff", "", "contains a damaged character", "", "contains a damaged character"},
		{" \u200b", "", "has no visible character", "", "<nil>"},
		{" \u2800", "", "has no visible character", "", "has no visible character"},
		{"def\u200bault", "default", "<nil>", "default", "<nil>"},
	} {
		if _, err := NormalizeName(tt.value); err != nil {
			var text *TextError
			code := map[string]string{"is required": Required, "may have at most 100 characters": TooLong}[tt.nameErr]
			if !errors.As(err, &text) || text.Code != cmp.Or(code, Invalid) {
				t.Errorf("name %q: error %#v", tt.value, err)
			}
		}
		if name, err := NormalizeName(tt.value); name != tt.name || fmt.Sprint(err) != tt.nameErr {
			t.Errorf("name %q: got %q, %v", tt.value, name, err)
		}
		if label, err := NormalizeLabel(tt.value); label != tt.label || fmt.Sprint(err) != tt.labelErr {
			t.Errorf("label %q: got %q, %v", tt.value, label, err)
		}
	}
}

func TestParseID(t *testing.T) {
	t.Parallel()
	for _, text := range []string{anaID, strings.ToUpper(anaID)} {
		if id, err := ParseID(text); err != nil || id != anaID {
			t.Errorf("%q: got %q, %v", text, id, err)
		}
	}
	for _, text := range []string{"", "ana", "x" + anaID[1:], anaID + "x", "{" + anaID + "}", "urn:uuid:" + anaID, strings.ReplaceAll(anaID, "-", "")} {
		if id, err := ParseID(text); err == nil || !strings.Contains(err.Error(), "is not the id of a record") {
			t.Errorf("%q: got %q, %v", text, id, err)
		}
	}
}
