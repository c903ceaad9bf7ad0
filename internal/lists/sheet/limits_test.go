package sheet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// ending is a context that ends after a number of calls to Err.
type ending struct {
	context.Context
	left, calls int
}

func (e *ending) Err() error {
	if e.calls++; e.calls > e.left {
		return context.Canceled
	}
	return nil
}

// TestEnds checks that reading every format polls the context regularly and returns its error.
func TestEnds(t *testing.T) {
	t.Parallel()
	const rows = 3000
	book := excelize.NewFile()
	writer, err := book.NewStreamWriter("Sheet1")
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		cell, _ := excelize.CoordinatesToCellName(1, i+1)
		if err := writer.SetRow(cell, []any{"Ana", i}); err != nil {
			t.Fatal(err)
		}
	}
	var workbook bytes.Buffer
	if err := errors.Join(writer.Flush(), book.Write(&workbook)); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"csv":   "a,b\n" + strings.Repeat("1,2\n", rows),
		"1252":  "a,b\n" + strings.Repeat("1,\xe8\n", rows),
		"vcard": strings.Repeat("BEGIN:VCARD\nFN:Ana\nEND:VCARD\n", rows),
		"jsonl": strings.Repeat("{\"a\":\"b\"}\n", rows),
		"xlsx":  workbook.String(),
	} {
		all := &ending{Context: t.Context(), left: 1 << 30}
		if _, err := Read(all, []byte(content), Options{}); err != nil || all.calls < rows {
			t.Errorf("%s: %d calls in %d rows, %v", name, all.calls, rows, err)
		}
		for left := 0; left < all.calls; left += 1 + all.calls/50 {
			ctx := &ending{Context: t.Context(), left: left}
			table, err := Read(ctx, []byte(content), Options{})
			if table != nil || !errors.Is(err, context.Canceled) || ctx.calls > left+5 {
				t.Errorf("%s: %d calls, and %d after the end: %v", name, left, ctx.calls-left, err)
			}
		}
	}
}

// TestManyCells checks the limit of 12 cells for each of 100,000 rows in every format, however
// small the file is.
func TestManyCells(t *testing.T) {
	t.Parallel()
	if maxCells < 12*maxRows || maxCells > 13*maxRows {
		t.Errorf("the limit is %d cells", maxCells)
	}
	const rows = maxCells/maxColumns + 1
	var object, card strings.Builder
	for i := range maxColumns - 30 {
		fmt.Fprintf(&object, `,"%d":"x"`, i)
		fmt.Fprintf(&card, "X-%d:x\n", i)
	}
	last := strconv.Itoa(maxColumns - 31)
	for name, content := range map[string]string{
		"csv":   "a,b\n" + strings.Repeat(strings.Repeat(",", maxColumns-1)+"x\n", rows),
		"jsonl": "{" + object.String()[1:] + "}\n" + strings.Repeat(`{"`+last+`":"x"}`+"\n", rows+rows/20),
		"vcard": "BEGIN:VCARD\n" + card.String() + "END:VCARD\n" + strings.Repeat("BEGIN:VCARD\nX-"+last+":x\nEND:VCARD\n", rows+rows/20),
		"xlsx": archiveOf(t, "<row><c><v>1</v></c><c><v>2</v></c></row>"+
			strings.Repeat(`<row><c r="ALL1"><v>1</v></c></row>`, rows)),
	} {
		_, err := Read(t.Context(), []byte(content), Options{})
		var file *FileError
		if !errors.As(err, &file) || file.Code != FileTooMany || file.Args[0] != "cells" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// archiveOf returns a workbook with the given rows.
func archiveOf(t *testing.T, rows string) string {
	return string(archive(t, "xl/workbook.xml", `<workbook><sheets><sheet name="A" r:id="1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="1" Type="x/worksheet" Target="a.xml"/></Relationships>`,
		"xl/a.xml", "<worksheet><sheetData>"+rows+"</sheetData></worksheet>"))
}

// TestLongTitle checks that a long title is shortened in the note.
func TestLongTitle(t *testing.T) {
	t.Parallel()
	table, err := Read(t.Context(), []byte(strings.Repeat("č", 5000)+"\nVorname;Name\nAna;Anić\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat("č", shownTitle); len(table.Notes) != 1 || table.Notes[0].Args[1] != Quoted(want) {
		t.Errorf("the notes are %.500v", table.Notes)
	}
}
