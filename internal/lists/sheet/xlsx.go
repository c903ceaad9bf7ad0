package sheet

import (
	"context"
	"errors"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/internal/xlsx"
)

// readXLSX reads a sheet of a workbook. An empty name selects the only visible sheet with text.
func readXLSX(ctx context.Context, content []byte, name string) (*Table, error) {
	if code := sniffZip(content); code != "" {
		return nil, fail(code)
	}
	t, err := readWorkbook(ctx, content, name)
	if err != nil {
		return nil, workbookError(err)
	}
	return t, nil
}

func readWorkbook(ctx context.Context, content []byte, name string) (*Table, error) {
	w, err := xlsx.Open(ctx, content)
	if err != nil {
		return nil, err
	}
	s, err := chooseSheet(ctx, w, name)
	if err != nil {
		return nil, err
	}
	t, err := readSheet(ctx, w, s)
	if err != nil {
		return nil, err
	}
	if hidden := sheetNames(w, true); len(hidden) > 0 {
		t.Notes = append(t.Notes, Note{NoteHiddenSheets, []any{strings.Join(hidden, ", ")}})
	}
	t.Format, t.Sheet, t.Date1904 = XLSX, s.Name, w.Date1904
	return t, nil
}

// workbookError converts an error of package xlsx to a *FileError.
func workbookError(err error) error {
	switch {
	case errors.Is(err, xlsx.ErrNotWorkbook):
		return fail(FileZip)
	case errors.Is(err, xlsx.ErrTooLarge):
		return fail(FileBomb, xlsx.MaxUnpacked)
	}
	return damaged(err)
}

// chooseSheet returns the sheet with the given name, ignoring case, or else the only visible sheet
// with content.
func chooseSheet(ctx context.Context, w *xlsx.File, name string) (found xlsx.Sheet, err error) {
	var names []string
	for _, s := range w.Sheets {
		if name != "" && strings.EqualFold(s.Name, name) {
			return s, nil
		}
		if name != "" || s.Hidden {
			continue
		}
		filled, err := w.IsFilled(ctx, s)
		if err != nil {
			return s, err
		}
		if filled {
			found, names = s, append(names, s.Name)
		}
	}
	switch {
	case name != "":
		err = failSheets(sheetNames(w, false), FileSheet, Quoted(name))
	case len(names) == 0:
		err = fail(FileNoSheet)
	case len(names) > 1:
		err = failSheets(names, FileSheets)
	}
	return found, err
}

// sheetNames returns the names of all hidden or all visible sheets.
func sheetNames(w *xlsx.File, hidden bool) (names []string) {
	for _, s := range w.Sheets {
		if s.Hidden == hidden {
			names = append(names, s.Name)
		}
	}
	return names
}

func readSheet(ctx context.Context, w *xlsx.File, s xlsx.Sheet) (*Table, error) {
	rows := collector{ctx: ctx, guarded: true}
	hidden, uncalculated := 0, 0
	layout, err := w.Rows(ctx, s, func(row xlsx.Row) error {
		if row.Hidden && len(row.Cells) > 0 {
			hidden++
		}
		uncalculated += row.Uncalculated
		return rows.add(row.Number, row.Cells)
	})
	if err != nil {
		return nil, err
	}
	t, err := rows.table()
	if err != nil && uncalculated > 0 {
		return nil, fail(FileFormulas)
	}
	if err != nil {
		return nil, err
	}
	t.apply(layout)
	if hidden > 0 {
		t.Notes = append(t.Notes, Note{NoteHiddenRows, []any{hidden}})
	}
	if uncalculated > 0 {
		t.Notes = append(t.Notes, Note{NoteFormulas, []any{uncalculated}})
	}
	return t, nil
}

// apply sets the hidden columns and the cells merged with cells below, and adds notes about merged
// headers.
func (t *Table) apply(layout xlsx.Layout) {
	t.Hidden = make([]bool, maxColumns)
	for _, columns := range layout.Hidden {
		for i := max(columns[0], 1); i <= min(columns[1], maxColumns); i++ {
			t.Hidden[i-1] = true
		}
	}
	for _, cells := range layout.Merged {
		first, last, _ := strings.Cut(cells, ":")
		firstColumn, firstRow := xlsx.Place(first)
		lastColumn, lastRow := xlsx.Place(last)
		if firstColumn > 0 && firstRow < lastRow {
			t.Merged = append(t.Merged, Range{firstColumn - 1, firstRow, lastRow})
		}
		if firstColumn < lastColumn && firstRow <= t.HeaderRow && t.HeaderRow <= lastRow && len(t.Notes) < maxColumns {
			t.Notes = append(t.Notes, Note{NoteMergedHeader, []any{cells}})
		}
	}
}

// Day returns the date for a serial number in the workbook, such as 1990-05-15, or
// 1990-05-15T08:30:00 with a time.
func (t *Table) Day(serial string) (date string, ok bool) { return xlsx.Day(serial, t.Date1904) }
