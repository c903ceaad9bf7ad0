package xlsx

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Maximum size of a sheet in Excel.
const (
	maxRow    = 1 << 20
	maxColumn = 1 << 14
)

// Row is a row of a sheet. Files may omit rows without cells.
type Row struct {
	Number int // from 1
	Hidden bool
	Cells  []Cell // from column A to the last cell with text

	Uncalculated int // formulas without a stored value
}

// Layout is what a sheet shows in addition to its cells.
type Layout struct {
	Merged []string // ranges, such as A1:C1
	Hidden [][2]int // first and last of adjacent hidden columns, from 1
}

// Rows calls visit for each row of a sheet in file order and returns the layout. It stops at the
// first error of visit. Each call counts towards the limits of the workbook.
func (f *File) Rows(ctx context.Context, s Sheet, visit func(Row) error) (Layout, error) {
	r := rowReader{file: f, part: s.part, visit: visit}
	err := f.walk(ctx, s.part, r.take)
	return r.layout, err
}

var errStop = errors.New("enough")

// IsFilled reports whether a sheet has a cell with text or a formula.
func (f *File) IsFilled(ctx context.Context, s Sheet) (bool, error) {
	_, err := f.Rows(ctx, s, func(row Row) error {
		if len(row.Cells) > 0 || row.Uncalculated > 0 {
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) {
		return true, nil
	}
	return false, err
}

type rowReader struct {
	file   *File
	part   string
	visit  func(Row) error
	layout Layout

	data    bool // within sheetData
	row     Row
	column  int    // of the cell, from 1
	kind    string // of the cell
	style   string // of the cell
	formula bool   // the cell has a formula
	stored  bool   // the cell has a value, which may be empty
	value   textReader
}

func (r *rowReader) take(token xml.Token) error {
	if r.data {
		if err := r.value.take(token); err != nil {
			return err
		}
	}
	switch e := token.(type) {
	case xml.StartElement:
		return r.begin(e)
	case xml.EndElement:
		return r.end(e)
	}
	return nil
}

func (r *rowReader) begin(e xml.StartElement) error {
	switch name := e.Name.Local; {
	case name == "sheetData":
		r.data = true
	case name == "mergeCell":
		if len(r.layout.Merged) == maxRow {
			return ErrTooLarge
		}
		cells := attribute(e, "ref")
		r.layout.Merged = append(r.layout.Merged, cells)
		return r.file.count(cells)
	case name == "col" && !r.data && (isTrue(attribute(e, "hidden")) || attribute(e, "width") == "0"):
		first, _ := strconv.Atoi(attribute(e, "min"))
		last, _ := strconv.Atoi(attribute(e, "max"))
		r.layout.Hidden = append(r.layout.Hidden, [2]int{first, last})
		return r.file.count("")
	case name == "row" && r.data:
		return r.beginRow(e)
	case name == "c" && r.data:
		return r.beginCell(e)
	case name == "f":
		r.formula = true
	case name == "v":
		r.stored = true
	}
	return nil
}

func (r *rowReader) end(e xml.EndElement) error {
	switch name := e.Name.Local; {
	case name == "sheetData":
		r.data = false
	case name == "row" && r.data:
		row := r.row
		r.row.Cells = nil
		return r.visit(row)
	case name == "c" && r.data:
		return r.endCell()
	}
	return nil
}

// beginRow starts a row. A row without a number follows the previous row.
func (r *rowReader) beginRow(e xml.StartElement) (err error) {
	number := r.row.Number + 1
	place := attribute(e, "r")
	if place != "" {
		number, err = strconv.Atoi(place)
	}
	if err != nil || number < 1 || number > maxRow {
		return damaged(r.part, fmt.Errorf("invalid row number %q", place))
	}
	r.row, r.column = Row{Number: number, Hidden: isTrue(attribute(e, "hidden"))}, 0
	return nil
}

// beginCell starts a cell. A cell without a reference follows the previous cell.
func (r *rowReader) beginCell(e xml.StartElement) error {
	r.column++
	r.kind, r.style = attribute(e, "t"), attribute(e, "s")
	r.formula, r.stored = false, false
	r.value.cut()
	place := attribute(e, "r")
	if place != "" {
		r.column, _ = Place(place)
	}
	if r.column < 1 || r.column > maxColumn || r.row.Number == 0 {
		return damaged(r.part, fmt.Errorf("invalid cell reference %q", place))
	}
	return nil
}

func (r *rowReader) endCell() error {
	text, marks := r.value.cut()
	cell, err := r.file.cell(r.kind, text)
	if r.column == 0 {
		err = errors.New("row inside a cell")
	}
	if err != nil {
		return damaged(r.part, err)
	}
	cell = r.file.styled(cell, r.style)
	cell.Marks |= marks
	switch {
	case cell.Text == "" && r.formula && !(r.stored && r.kind == "str"): // the value of ="" is an empty str
		r.row.Uncalculated++
		return nil
	case cell.Text == "":
		return nil
	}
	for len(r.row.Cells) < r.column {
		r.row.Cells = append(r.row.Cells, Cell{})
	}
	r.row.Cells[r.column-1] = cell
	if r.kind == sharedString { // as much work as text in the cell
		return deduct(&r.file.left.unpacked, len(cell.Text))
	}
	return r.file.count(cell.Text)
}

// Place parses a cell reference: C7 is column 3, row 7. It returns zeros if cell is invalid.
func Place(cell string) (column, row int) {
	if len(cell) > len("XFD1048576") {
		return 0, 0
	}
	digits := strings.TrimLeft(cell, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	row, err := strconv.Atoi(digits)
	letters := cell[:len(cell)-len(digits)]
	if err != nil || row < 1 || row > maxRow || len(letters) == 0 || len(letters) > 3 {
		return 0, 0
	}
	for _, r := range letters {
		column = 26*column + int(r-'A') + 1
	}
	return column, row
}
