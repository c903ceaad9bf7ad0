package xlsx

import (
	"fmt"
	"strings"
	"testing"
)

// TestLimits checks that a workbook of 10,000 people uses at most a tenth of the limits, so that
// 100,000 people fit. TestMemoryOfImports in acceptance covers workbooks that exceed them.
func TestLimits(t *testing.T) {
	t.Parallel()
	// Eight columns as written by Excel, each with a distinct text.
	var rows, texts strings.Builder
	rows.WriteString("<worksheet><sheetData>")
	texts.WriteString("<sst>")
	for i := range 10_000 {
		fmt.Fprintf(&rows, `<row r="%d" spans="1:8" x14ac:dyDescent="0.25">`, i+1)
		for j := range 8 {
			fmt.Fprintf(&rows, `<c r="%c%d" s="1" t="s"><v>%d</v></c>`, 'A'+j, i+1, 8*i+j)
			fmt.Fprintf(&texts, `<si><t>Krešimir Čović-Horvat %d</t></si>`, 8*i+j)
		}
		rows.WriteString("</row>")
	}
	rows.WriteString("</sheetData></worksheet>")
	texts.WriteString("</sst>")
	list := book("", parts{"xl/worksheets/sheet1.xml": rows.String(), "xl/sharedStrings.xml": texts.String()})
	f, err := Open(t.Context(), list.zip(t))
	must(t, err)
	count := 0
	if _, err := f.Rows(t.Context(), f.Sheets[0], func(Row) error { count++; return nil }); err != nil || count != 10_000 {
		t.Errorf("%d of 10,000 people, %v", count, err)
	}
	left, most := f.left, defaultLimits
	if 10*(most.unpacked-left.unpacked) > most.unpacked || 10*(most.text-left.text) > most.text || 10*(most.marks-left.marks) > most.marks {
		t.Errorf("limits %+v, remaining %+v", most, left)
	}
}
