package imports

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// mapped reads and maps a file.
func mapped(t *testing.T, content []byte, o Options) *File {
	t.Helper()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	list, err := Read(t.Context(), content, o, now)
	if err != nil {
		t.Fatal(err)
	}
	f, err := list.Map(t.Context(), o, now)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestReportKeepsDates checks that the report of a workbook contains dates instead of serial
// numbers, and reads like the workbook.
func TestReportKeepsDates(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"excel-dates.xlsx", "excel-1904.xlsx"} {
		content, err := os.ReadFile("../../../acceptance/testdata/sheets/" + name)
		if err != nil {
			t.Fatal(err)
		}
		f := mapped(t, content, Options{Answers: sheet.Answers{mapping.AskDates: "dmy"}})
		r, err := f.Check(t.Context(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range []string{sheet.CSV, sheet.XLSX} {
			var b bytes.Buffer
			if err := WriteReport(&b, format, f, r, []string{"result"}, func(row Row) []string { return []string{row.Result} }); err != nil {
				t.Fatal(err)
			}
			again := mapped(t, b.Bytes(), Options{Answers: sheet.Answers{mapping.AskDates: "dmy"}})
			serials := 0
			for i, p := range f.Mapped.People {
				if got := again.Mapped.People[i]; got.Fields != p.Fields {
					t.Errorf("%s as %s: %+v, want %+v", name, format, got.Fields, p.Fields)
				}
				if p.Fields.DateOfBirth != "" && strings.Contains(b.String(), p.Fields.DateOfBirth[:10]) {
					serials++
				}
			}
			if format == sheet.CSV && serials == 0 {
				t.Errorf("%s as %s: no date", name, format)
			}
		}
	}
}
