package imports_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// members are the member names of a record in export order.
var members = slices.Concat([]string{"id"}, record.FieldNames(), []string{"invitationStatus", "userId"})

// properties are the vCard properties of the members.
var properties = map[string]string{"UID": "id", "TEL;TYPE=VOICE": "phoneNumber", "EMAIL;TYPE=INTERNET": "email",
	"BDAY;VALUE=date-time": "dateOfBirth", "X-FIREFIGHTERS-INVITATION-STATUS": "invitationStatus", "X-FIREFIGHTERS-USER-ID": "userId"}

// valuesOf returns the members of a record, with invalid UTF-8 replaced as in all formats.
func valuesOf(f record.Firefighter) []string {
	values := []string{f.ID}
	for _, value := range f.Each {
		values = append(values, *value)
	}
	for _, text := range []*string{f.InvitationStatus, f.UserID} {
		valid := ""
		if text != nil {
			for _, r := range *text {
				valid += string(r)
			}
		}
		values = append(values, valid)
	}
	return values
}

// independent reads the single record of an export with independent libraries and returns its
// values.
var independent = map[string]func(t *testing.T, content []byte) []string{
	sheet.CSV:   readCSV,
	sheet.XLSX:  readXLSX,
	sheet.VCard: readCard,
	sheet.JSONL: readJSON,
}

func readCSV(t *testing.T, content []byte) []string {
	rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(content, []byte("\ufeff")))).ReadAll()
	must(t, err)
	if len(rows) != 2 || !slices.Equal(rows[0], members) {
		t.Fatalf("rows %q", rows)
	}
	for i, cell := range rows[1] {
		rows[1][i] = strings.TrimPrefix(cell, "'")
		if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
			t.Errorf("a spreadsheet would interpret %q as a formula", cell)
		}
	}
	return rows[1]
}

func readXLSX(t *testing.T, content []byte) []string {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	must(t, err)
	for _, part := range archive.File {
		r, err := part.Open()
		must(t, err)
		decoder := xml.NewDecoder(r)
		for err == nil {
			_, err = decoder.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s is not XML: %v", part.Name, err)
		}
	}
	book, err := excelize.OpenReader(bytes.NewReader(content))
	must(t, err)
	defer book.Close()
	rows, err := book.GetRows(book.GetSheetName(0))
	must(t, err)
	if len(rows) != 2 || !slices.Equal(rows[0], members) {
		t.Fatalf("rows %q", rows)
	}
	values := append(rows[1], make([]string, len(members)-len(rows[1]))...)
	for i, text := range values { // text that looks guarded has an additional guard
		if len(text) > 1 && text[0] == '\'' && strings.ContainsAny(text[1:2], "=+-@'\t\r") {
			values[i] = text[1:]
		}
	}
	if len(values[5]) == len("1990-05-15") { // a date cell
		values[5] += "T00:00:00Z"
	}
	return values
}

func readCard(t *testing.T, content []byte) []string {
	values := make([]string, len(members))
	text := strings.ReplaceAll(string(content), "\r\n ", "")
	plain := strings.NewReplacer(`\\`, `\`, `\;`, ";", `\,`, ",", `\n`, "\n")
	for line := range strings.SplitSeq(text, "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "N":
			parts := strings.Split(strings.ReplaceAll(strings.ReplaceAll(value, `\\`, "\x00"), `\;`, "\x01"), ";")
			for i, part := range parts[:2] {
				parts[i] = plain.Replace(strings.ReplaceAll(strings.ReplaceAll(part, "\x00", `\\`), "\x01", `\;`))
			}
			values[1], values[2] = parts[1], parts[0]
		case "BDAY":
			values[5] = value + "T00:00:00Z"
		default:
			if i := slices.Index(members, properties[name]); i >= 0 {
				values[i] = plain.Replace(value)
			}
		}
	}
	return values
}

func readJSON(t *testing.T, content []byte) []string {
	var object map[string]*string
	must(t, json.Unmarshal(content, &object))
	values := make([]string, len(members))
	for i, name := range members {
		if object[name] != nil {
			values[i] = *object[name]
		}
	}
	return values
}

// FuzzExport writes arbitrary records in each format, and reads them both with independent
// libraries and as an import.
func FuzzExport(f *testing.F) {
	for _, text := range []string{"a]]>b", "]]>", "<a>&amp;", "'", "=1", `a\;b\\`, "_x0041_", "🚒", "a\u2028b", "\ufeffa", "\ufffe"} {
		f.Add(text, text, text, text, "1990-05-15", text)
	}
	f.Add("Ana", "Čović", "+385 91", "ana@example.com", "1988-02-29T23:30:00.5+02:00", "a\nb\xff")
	f.Fuzz(func(t *testing.T, first, last, phone, email, birth, status string) {
		person := record.Firefighter{ID: "0198c0de-0000-7000-8000-000000000001", InvitationStatus: &status}
		normal, errs := record.Fields{FirstName: first, LastName: last, PhoneNumber: phone, Email: email, DateOfBirth: birth}.Normalize(now)
		for _, e := range errs {
			switch e.Field {
			case "email":
				normal.Email = ""
			case "dateOfBirth":
				normal.DateOfBirth = ""
			default:
				return
			}
		}
		person.Fields = normal
		want := valuesOf(person)
		for _, format := range sheet.Formats {
			var b bytes.Buffer
			must(t, sheet.WriteAll(t.Context(), &b, format, sheet.Form{},
				func(write func(*record.Firefighter) error) error { return write(&person) }))
			if format != sheet.XLSX && !utf8.Valid(b.Bytes()) {
				t.Errorf("%s is not UTF-8", format)
			}
			// Formats may normalize line breaks in the platform's columns, which people do not
			// edit.
			if got := independent[format](t, b.Bytes()); !slices.Equal(got[:6], want[:6]) {
				t.Errorf("%s: the independent library reads %q, want %q", format, got, want)
			}
			read := read(t, b.String(), imports.Options{})
			if p := read.Mapped.People; len(p) != 1 || p[0].ID != person.ID || p[0].Fields != person.Fields || len(p[0].Errors) > 0 {
				t.Errorf("%s: the import reads %+v, want %+v", format, p, person)
			}
		}
	})
}
