package xlsx

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// written writes rows as a workbook. The first row is the header.
func written(t testing.TB, rows ...[]Cell) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, `A & "B's"`, rows[0])
	for _, row := range rows[1:] {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// cellsOf reads the cells of the only sheet.
func cellsOf(t testing.TB, content []byte) (rows [][]Cell) {
	t.Helper()
	f, err := Open(t.Context(), content)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Sheets) != 1 || f.Sheets[0].Name != `A & "B's"` {
		t.Fatalf("sheets: %+v", f.Sheets)
	}
	_, err = f.Rows(t.Context(), f.Sheets[0], func(row Row) error {
		rows = append(rows, row.Cells)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestWrite(t *testing.T) {
	t.Parallel()
	rows := [][]Cell{
		{{Text: "a"}, {Text: "b"}, {Text: "0049"}},
		{{Text: "0049 170"}, {}, {Text: "  x  y \n z\r\t"}, {Text: "beyond the header"}},
		{{Text: "33008", Kind: Number}, {Text: "-12.5", Kind: Number}, {Text: "#N/A", Kind: Error}, {Text: "4.41E+11", Kind: Number}},
		{{Text: "1900-03-01", Kind: Date}, {Text: "1990-05-15", Kind: Date}, {Text: "2026-11-22", Kind: Date}},
		{{Text: "_x0041_"}, {Text: "_xZZZZ_x0041_"}, {Text: "_x005F_x0041_"}, {Text: "_x1_ _X0041_"}},
		{{Text: "\ufffe\uffff\x01"}, {Text: "<a href=\"b\">&amp;'"}, {Text: "🚒é\u200fא"}, {Text: "=1+1"}},
	}
	want := [][]Cell{rows[0], rows[1],
		{{Text: "33008", Kind: Number}, {Text: "-12.5", Kind: Number}, {Text: "#N/A", Kind: Error}, {Text: "4.41E+11"}},
		rows[3], rows[4], rows[5]}
	if got := cellsOf(t, written(t, rows...)); !reflect.DeepEqual(got, want) {
		t.Errorf("got:\n%q\nwant:\n%q", got, want)
	}
}

// TestExcelize reads a workbook with an independent library.
func TestExcelize(t *testing.T) {
	t.Parallel()
	content := written(t, []Cell{{Text: "First name"}, {Text: "Date of birth"}}, []Cell{{Text: "'0049_x0041_\ufffe"}, {Text: "1990-05-15", Kind: Date}})
	f, err := excelize.OpenReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	name := f.GetSheetName(0)
	rows, err := f.GetRows(name)
	if want := [][]string{{"First name", "Date of birth"}, {"'0049_x0041_\ufffe", "1990-05-15"}}; err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("got %q, %v; want %q", rows, err, want)
	}
	if panes, err := f.GetPanes(name); err != nil || !panes.Freeze || panes.YSplit != 1 || panes.TopLeftCell != "A2" {
		t.Errorf("the header is not frozen: %+v, %v", panes, err)
	}
	filters := f.GetDefinedName()
	if want := `'A & "B''s"'!$A$1:$B$2`; len(filters) != 1 || filters[0].RefersTo != want {
		t.Errorf("filter %+v, want %s", filters, want)
	}
	for column, want := range map[string]float64{"A": 15, "B": 17} {
		if width, err := f.GetColWidth(name, column); err != nil || width != want {
			t.Errorf("column %s is %v wide, %v; want %v", column, width, err, want)
		}
	}
	text, _ := f.GetCellStyle(name, "A2")
	date, _ := f.GetCellStyle(name, "B2")
	if style, err := f.GetStyle(text); err != nil || style.NumFmt != 49 {
		t.Errorf("a text has the style %+v, %v", style, err)
	}
	if style, err := f.GetStyle(date); err != nil || style.CustomNumFmt == nil || *style.CustomNumFmt != `yyyy\-mm\-dd` {
		t.Errorf("a date has the style %+v, %v", style, err)
	}
}

// TestColumnNames checks column names beyond Z.
func TestColumnNames(t *testing.T) {
	t.Parallel()
	for i, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 51: "AZ", 52: "BA", 701: "ZZ", 702: "AAA", 16383: "XFD"} {
		if got := columnName(i); got != want {
			t.Errorf("column %d is %s, want %s", i, got, want)
		}
	}
}

// TestLongText checks that text is truncated, because Excel reports workbooks with longer text as
// damaged.
func TestLongText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		strings.Repeat("č", MaxCell-1):         strings.Repeat("č", MaxCell-1),
		strings.Repeat("č", MaxCell+1):         strings.Repeat("č", MaxCell-1) + "…",
		strings.Repeat("🚒", MaxCell/2) + "abc": strings.Repeat("🚒", MaxCell/2) + "…",
	} {
		if got := cellsOf(t, written(t, []Cell{{Text: text}})); got[0][0].Text != want {
			t.Errorf("%d bytes came back as %d, want %d", len(text), len(got[0][0].Text), len(want))
		}
	}
}
