//go:build !race

package xlsx

import (
	"fmt"
	"strings"
	"testing"
)

// Only one goroutine reads a workbook, and the race detector takes ten times as long for it.

// TestLimits: a workbook of 100,000 people is within the limits. TestMemoryOfImports in
// acceptance has workbooks that exceed them.
func TestLimits(t *testing.T) {
	t.Parallel()
	// Eight columns as Excel writes them, each with a text of its own.
	var rows, texts strings.Builder
	rows.Grow(40 << 20)
	texts.Grow(40 << 20)
	rows.WriteString("<worksheet><sheetData>")
	texts.WriteString("<sst>")
	for i := range 100_000 {
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
	if _, err := f.Rows(t.Context(), f.Sheets[0], func(Row) error { count++; return nil }); err != nil || count != 100_000 {
		t.Errorf("%d of 100,000 people, %v", count, err)
	}
}
