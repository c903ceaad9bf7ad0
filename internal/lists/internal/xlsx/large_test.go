package xlsx

import (
	"fmt"
	"strings"
	"testing"
)

// TestLimits: a workbook of 10,000 people takes a tenth of the limits at most, because one of
// 100,000 people must be within them. TestMemoryOfImports in acceptance has workbooks that
// exceed them.
func TestLimits(t *testing.T) {
	t.Parallel()
	// Eight columns as Excel writes them, each with a text of its own.
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
		t.Errorf("of %+v there is left %+v", most, left)
	}
}
