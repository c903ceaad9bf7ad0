package lists

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/lang"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// TestMessages checks that each format, result and field of a list has a message.
func TestMessages(t *testing.T) {
	t.Parallel()
	messages := map[string]any{}
	for _, file := range []string{"messages/import.json", "messages/export.json", "../messages/fields.json"} {
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &messages)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var keys []string
	add := func(prefix string, values ...string) {
		for _, value := range values {
			keys = append(keys, prefix+value)
		}
	}
	add("import.dates.", "")
	add("import.encoding.", "")
	add("import.tally.", "asked", imports.Added, imports.Changed, imports.Left, imports.Refused, imports.Perhaps, imports.Skipped)
	add("import.result.", imports.Added, imports.Changed, imports.Left, imports.Refused, imports.Perhaps, imports.Skipped)
	add("export.format.", exportFormats...)
	add("export.hint.", exportFormats...)
	add("import.format.", sheet.XLSX, sheet.CSV, sheet.VCard, sheet.JSONL)
	for _, delimiter := range delimiters {
		add("import.delimiter.", delimiter)
	}
	for _, name := range view.FieldNames {
		add("field.", name)
		add("fault."+name+".", record.Invalid)
	}
	for _, key := range keys {
		if messages[key] == nil {
			t.Errorf("no message %s", key)
		}
	}
}

// TestFaultMessages checks that each error of a row has a message.
func TestFaultMessages(t *testing.T) {
	t.Parallel()
	catalog := lang.MustLoad("messages/*.json", files, os.DirFS(".."))
	long := strings.Repeat("x", 2000)
	table := &sheet.Table{Header: []string{"id", "firstName", "lastName", "phone", "email", "dateOfBirth"}}
	for _, texts := range [][]string{
		{"1", "", "", "", "", "", "one more"}, {"", long, long, long, long, long}, {"", "\x00", "\x00", "\x00", "a@", "31.2.1990"},
		{"", "\u200b", "\u202e", "4.41E+11", "\x00", "12.3."}, {"", "a", "b", "", "", "1800-01-01"}, {"", "a", "b", "", "", "2100-01-01"}, {"", "a", "b", "", "", "x"},
	} {
		row := sheet.Row{}
		for _, text := range texts {
			row.Cells = append(row.Cells, sheet.Cell{Text: text})
		}
		table.Rows = append(table.Rows, row)
	}
	read, err := mapping.Map(t.Context(), table, mapping.Options{Now: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC), Answers: sheet.Answers{mapping.AskDates: mapping.DMY}})
	if err != nil {
		t.Fatal(err)
	}
	faults := map[string]bool{"id.unknown": true, "phoneNumber." + mapping.LostDigits: true, "dateOfBirth." + record.OutOfRange: true}
	for _, p := range read.People {
		for _, e := range p.Errors {
			faults[e.Field+"."+e.Code] = true
		}
	}
	for fault := range faults {
		if !slices.Contains(catalog.Keys(), "import.reason."+fault) && !slices.Contains(catalog.Keys(), "fault."+fault) {
			t.Errorf("no message for %s", fault)
		}
	}
	if len(faults) < 15 {
		t.Errorf("got only %d faults, want at least 15: %v", len(faults), faults)
	}
}

// TestLongText checks that the page does not show a long pasted text again.
func TestLongText(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]int{maxText: maxText, maxText + 1: 0} {
		l := uploadedList{keptList: &keptList{pasted: true, file: upload.FromText(1, strings.Repeat("x", size))}}
		if got := len(l.text()); got != want {
			t.Errorf("the page shows %d of %d bytes, want %d", got, size, want)
		}
	}
}
