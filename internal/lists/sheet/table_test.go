package sheet

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// report is a table with values that a report could lose.
func report(format string) *Table {
	return &Table{Format: format, Header: []string{"Vorname", "=Name", ""}, HeaderRow: 1, Rows: []Row{
		{2, []Cell{{Text: "Ana"}, {Text: "+385; \"91\"\nx"}, {}, {Text: "beyond"}}},
		{3, []Cell{{Text: "'=1"}, {Text: "M&uuml;ller"}, {Text: "'0"}, {Text: "'&amp;"}}},
		{4, []Cell{{Text: "0049"}, {Text: "1990-05-15"}, {Text: "-5"}}},
	}}
}

func addition(row int) []string {
	return []string{[]string{"added", "refused", "left"}[row], strings.Repeat("-", row)}
}

// checkReport writes a table with two additional columns and reads it back.
func checkReport(t *testing.T, format string, table *Table) *Table {
	t.Helper()
	var b bytes.Buffer
	if err := WriteTable(&b, format, table, []string{"Result", "Reason"}, addition); err != nil {
		t.Fatal(err)
	}
	got, err := Read(t.Context(), b.Bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Vorname", "=Name", "", "", "Result", "Reason"}
	if !reflect.DeepEqual(got.Header, want) || len(got.Rows) != len(table.Rows) {
		t.Fatalf("%s: header %q, %d rows; want %q, %d", format, got.Header, len(got.Rows), want, len(table.Rows))
	}
	for i, row := range got.Rows {
		cells := make([]Cell, len(want))
		copy(cells, table.Rows[i].Cells)
		cells[4].Text, cells[5].Text = addition(i)[0], addition(i)[1]
		if i == 0 {
			cells = cells[:5]
		}
		for i := range row.Cells {
			row.Cells[i].Marks = 0
		}
		if !reflect.DeepEqual(row.Cells, cells) {
			t.Errorf("%s: got %q, want %q", format, row.Cells, cells)
		}
	}
	return got
}

func TestWriteTable(t *testing.T) {
	t.Parallel()
	for _, delimiter := range []string{"", ",", ";", "\t", "|"} {
		table := report(CSV)
		table.Delimiter = delimiter
		want := delimiter
		if want == "" {
			want = ","
		}
		if got := checkReport(t, CSV, table); got.Delimiter != want || got.Encoding != UTF8 {
			t.Errorf("delimiter %q is written as %q in %s", delimiter, got.Delimiter, got.Encoding)
		}
		checkReport(t, XLSX, table)
	}
	book := report(XLSX)
	book.Sheet = "Mann & \"Frau\""
	book.Rows[2].Cells[1] = Cell{Text: "33008", Kind: Number}
	book.Rows[2].Cells[2] = Cell{Text: "#N/A", Kind: Error}
	if got := checkReport(t, XLSX, book); got.Sheet != book.Sheet {
		t.Errorf("sheet %q", got.Sheet)
	}
	if err := WriteTable(&bytes.Buffer{}, VCard, book, nil, nil); err == nil {
		t.Error("a report as vCards")
	}
}
