package xlsx

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// limited reads all rows of the first sheet within the given limits.
func limited(t *testing.T, p parts, most limits) (rows []Row, err error) {
	t.Helper()
	f, err := open(t.Context(), p.zip(t), most)
	if err != nil {
		return nil, err
	}
	_, err = f.Rows(t.Context(), f.Sheets[0], func(row Row) error {
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// TestLongCell checks that text longer than Excel allows is rejected, in one or many pieces.
func TestLongCell(t *testing.T) {
	t.Parallel()
	const shared = `<row r="3"><c r="B3" t="s"><v>0</v></c></row>`
	texts := func(text string) parts {
		return parts{"xl/sharedStrings.xml": `<sst><si>` + text + `</si></sst>`}
	}
	inline := func(text string) string { return `<row><c t="inlineStr"><is><t>` + text + `</t></is></c></row>` }
	for name, test := range map[string]struct {
		parts parts
		long  bool
	}{
		"inline, as long as can be": {book(inline(strings.Repeat("č", MaxCell)), nil), false},
		"inline, longer":            {book(inline(strings.Repeat("č", longest/2+1)), nil), true},
		"shared, of escapes":        {book(shared, texts(`<t>`+strings.Repeat("_x0041_", MaxCell)+`</t>`)), false},
		"shared, in many pieces":    {book(shared, texts(strings.Repeat(`<r><t>`+strings.Repeat("č", 5000)+`</t></r>`, 50))), true},
	} {
		if _, err := rowsOf(test.parts.zip(t)); errors.Is(err, ErrTooLarge) != test.long || !test.long && err != nil {
			t.Errorf("%s: got the error %v", name, err)
		}
	}
}

// TestSharedTextCounts checks that each use of a shared string counts towards the limit.
func TestSharedTextCounts(t *testing.T) {
	t.Parallel()
	p := book(strings.Repeat(`<row><c t="s"><v>0</v></c></row>`, 100), parts{"xl/sharedStrings.xml": "<sst><si><t>" + strings.Repeat("a", 20_000) + "</t></si></sst>"})
	if _, err := limited(t, p, limits{unpacked: 1 << 20, text: 1 << 20, marks: 1 << 20}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("2 MB of one text in a limit of 1 MB: %v", err)
	}
	if rows, err := limited(t, p, limits{unpacked: 3 << 20, text: 1 << 20, marks: 1 << 20}); err != nil || len(rows) != 100 {
		t.Errorf("in a limit of 3 MB: %d rows, %v", len(rows), err)
	}
}

// TestReadAgain checks that reading a sheet again counts again, so that a workbook cannot list one
// sheet many times.
func TestReadAgain(t *testing.T) {
	t.Parallel()
	p := book(strings.Repeat("<row/>", 50_000), nil)
	f, err := open(t.Context(), p.zip(t), limits{unpacked: 1 << 20, text: 1 << 20, marks: 1 << 20})
	must(t, err)
	for range 3 {
		_, err := f.IsFilled(t.Context(), f.Sheets[0])
		must(t, err)
	}
	if _, err := f.IsFilled(t.Context(), f.Sheets[0]); !errors.Is(err, ErrTooLarge) {
		t.Errorf("300 KB for the fourth time in a limit of 1 MB: %v", err)
	}
}

// TestMarksCount checks that tags, attributes and texts of every part count regardless of their
// length.
func TestMarksCount(t *testing.T) {
	t.Parallel()
	row := func(inside string) parts { return book("<row>"+inside+"</row>", nil) }
	for name, test := range map[string]struct {
		parts parts
		marks int // per 1000 repetitions
	}{
		"tags":       {row(strings.Repeat("<a/>", 1000)), 2000},
		"attributes": {row("<a" + strings.Repeat(` b=""`, 1000) + "/>"), 1000},
		"texts":      {row(strings.Repeat("<a>x</a>", 1000)), 3000},
		"comments":   {row(strings.Repeat("<!---->", 1000)), 1000},
		"strings":    {book("", parts{"xl/sharedStrings.xml": "<sst>" + strings.Repeat("<si/>", 1000) + "</sst>"}), 2000},
	} {
		most := limits{unpacked: 1 << 20, text: 1 << 20, marks: test.marks}
		if _, err := limited(t, test.parts, most); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s in a limit of %d: %v", name, test.marks, err)
		}
		if most.marks += 100; test.marks > 0 {
			if _, err := limited(t, test.parts, most); err != nil {
				t.Errorf("%s in a limit of %d: %v", name, most.marks, err)
			}
		}
	}
}

// TestManyParts checks the limits on sheets, relationships and merged cells.
func TestManyParts(t *testing.T) {
	t.Parallel()
	sheets := strings.Repeat(`<sheet name="A" r:id="rId1"/>`, maxParts+1)
	names := strings.Repeat(`<sheet name="`+strings.Repeat("n", 900)+`" r:id="rId1"/>`, 1500)
	var relations strings.Builder
	for i := range maxParts + 1 {
		fmt.Fprintf(&relations, `<Relationship Id="r%d" Type="x/worksheet" Target="a"/>`, i)
	}
	workbook := func(sheets string) string {
		return strings.Replace(workbookXML, `<sheet name="Tabelle1" sheetId="1" r:id="rId1"/>`, sheets, 1)
	}
	merged := func(ranges string) string {
		return `<worksheet><sheetData><row/></sheetData><mergeCells>` + ranges + `</mergeCells></worksheet>`
	}
	for name, p := range map[string]parts{
		"sheets":    book("", parts{"xl/workbook.xml": workbook(sheets)}),
		"names":     book("", parts{"xl/workbook.xml": workbook(names)}),
		"name":      book("", parts{"xl/workbook.xml": workbook(`<sheet name="` + strings.Repeat("n", maxName+1) + `" r:id="rId1"/>`)}),
		"relations": book("", parts{"xl/_rels/workbook.xml.rels": `<Relationships>` + relations.String() + `</Relationships>`}),
		"merged":    book("", parts{"xl/worksheets/sheet1.xml": merged(strings.Repeat(`<mergeCell ref="A1:B1"/>`, 80_000))}),
		"no ranges": book("", parts{"xl/worksheets/sheet1.xml": merged(strings.Repeat(`<mergeCell/>`, 80_000))}),
	} {
		if _, err := limited(t, p, limits{unpacked: 8 << 20, text: 1 << 20, marks: 1 << 20}); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: got the error %v", name, err)
		}
	}
}

// TestPlace checks cell references up to the maximum length.
func TestPlace(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string][2]int{"A1": {1, 1}, "XFD1048576": {maxColumn, maxRow}, "AA00000007": {27, 7}, "AA000000007": {}, "A0": {}, "1": {}, "A": {}, "AAAA1": {}, "A1048577": {}} {
		if column, row := Place(cell); column != want[0] || row != want[1] {
			t.Errorf("%s is in column %d and row %d, want %v", cell, column, row, want)
		}
	}
}
