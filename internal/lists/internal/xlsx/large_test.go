//go:build !race

package xlsx

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Only one goroutine reads a workbook, and the race detector takes ten times as long for it.

// TestLimits: a workbook of few kilobytes costs little, and one of 100,000 people
// has room.
func TestLimits(t *testing.T) {
	t.Parallel()
	refused := book("<row/>"+strings.Repeat("<a/>", maxMarks/2), nil)
	if _, err := rowsOf(refused.zip(t)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%d empty tags: %v", maxMarks/2, err)
	}
	// Eight columns as Excel writes them, each with a text of its own.
	var rows, texts strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&rows, `<row r="%d" spans="1:8" x14ac:dyDescent="0.25">`, i+1)
		for j := range 8 {
			fmt.Fprintf(&rows, `<c r="%c%d" s="1" t="s"><v>%d</v></c>`, 'A'+j, i+1, 8*i+j)
			fmt.Fprintf(&texts, `<si><t>Krešimir Čović-Horvat %d</t></si>`, 8*i+j)
		}
		rows.WriteString("</row>")
	}
	list := book(rows.String(), parts{"xl/sharedStrings.xml": "<sst>" + texts.String() + "</sst>"})
	f, err := Open(t.Context(), list.zip(t))
	must(t, err)
	count := 0
	if _, err := f.Rows(t.Context(), f.Sheets[0], func(Row) error { count++; return nil }); err != nil || count != 100_000 {
		t.Errorf("%d of 100,000 people, %v", count, err)
	}
}
