package sheet

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// workbook returns an XLSX with the sheets created by fill. It starts with Sheet1.
func workbook(t testing.TB, fill func(f *excelize.File) error) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	if err := fill(f); err != nil {
		t.Fatal(err)
	}
	var content bytes.Buffer
	if err := f.Write(&content); err != nil {
		t.Fatal(err)
	}
	return content.Bytes()
}

// list writes a header row and a person to a sheet.
func list(f *excelize.File, sheet string, row int) error {
	return errors.Join(
		f.SetSheetRow(sheet, fmt.Sprint("A", row), &[]any{"Vorname", "Name", "Handy", "Geboren"}),
		f.SetSheetRow(sheet, fmt.Sprint("A", row+1), &[]any{"Änne", " Müller ", "'+43 664", 33008}))
}

func TestXLSX(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		fill  func(f *excelize.File) error
		sheet string
		want  string
		notes []Note
	}{
		{"plain", func(f *excelize.File) error { return list(f, "Sheet1", 1) }, "",
			`xlsxSheet1 ["Vorname" "Name" "Handy" "Geboren"] 2["Änne" "Müller" "+43 664" "33008"]`, nil},
		{"merged title, gaps", func(f *excelize.File) error {
			return errors.Join(list(f, "Sheet1", 4), f.SetCellStr("Sheet1", "A1", "Mitglieder 2025"), f.MergeCell("Sheet1", "A1", "D1"),
				f.SetSheetRow("Sheet1", "B9", &[]any{"Horvat"}))
		}, "", `xlsxSheet1 ["Vorname" "Name" "Handy" "Geboren"] 5["Änne" "Müller" "+43 664" "33008"] 9["" "Horvat"]`, []Note{{NoteTitle, []any{1, Quoted("Mitglieder 2025")}}}},
		{"merged header", func(f *excelize.File) error {
			return errors.Join(list(f, "Sheet1", 1), f.MergeCell("Sheet1", "D1", "E1"), f.MergeCell("Sheet1", "A2", "A3"))
		}, "", `xlsxSheet1 ["Vorname" "Name" "Handy" "Geboren"] 2["Änne" "Müller" "+43 664" "33008"]`, []Note{{NoteMergedHeader, []any{"D1:E1"}}}},
		{"hidden rows", func(f *excelize.File) error {
			return errors.Join(list(f, "Sheet1", 1), f.SetRowVisible("Sheet1", 2, false), f.SetRowVisible("Sheet1", 9, false))
		}, "", `xlsxSheet1 ["Vorname" "Name" "Handy" "Geboren"] 2["Änne" "Müller" "+43 664" "33008"]`, []Note{{NoteHiddenRows, []any{1}}}},
		{"numbers as they are shown", func(f *excelize.File) error {
			phone, day := `0000\ 000000`, "dd/mm/yyyy"
			shown, err := f.NewStyle(&excelize.Style{CustomNumFmt: &phone})
			date, dateErr := f.NewStyle(&excelize.Style{CustomNumFmt: &day})
			return errors.Join(err, dateErr, list(f, "Sheet1", 1), f.SetCellInt("Sheet1", "C2", 664123456), f.SetCellStyle("Sheet1", "C2", "C2", shown), f.SetCellStyle("Sheet1", "D2", "D2", date))
		}, "", `xlsxSheet1 ["Vorname" "Name" "Handy" "Geboren"] 2["Änne" "Müller" "0664 123456" "1990-05-15"]`, nil},
		{"formulas", func(f *excelize.File) error {
			return errors.Join(list(f, "Sheet1", 1), f.SetCellFormula("Sheet1", "E2", "A2"), f.SetCellFormula("Sheet1", "A3", "A2"), f.SetCellFormula("Sheet1", "B3", "B2"))
		}, "", `xlsxSheet1 ["Vorname" "Name" "Handy" "Geboren"] 2["Änne" "Müller" "+43 664" "33008"]`, []Note{{NoteFormulas, []any{3}}}},
		{"hidden sheets", func(f *excelize.File) error {
			f.NewSheet("Alt")
			f.NewSheet("Intern")
			return errors.Join(list(f, "Sheet1", 1), list(f, "Alt", 1), list(f, "Intern", 1),
				f.SetSheetVisible("Alt", false), f.SetSheetVisible("Intern", false, true))
		}, "", `xlsxSheet1 ["Vorname" "Name" "Handy" "Geboren"] 2["Änne" "Müller" "+43 664" "33008"]`, []Note{{NoteHiddenSheets, []any{"Alt, Intern"}}}},
		{"empty sheets", func(f *excelize.File) error {
			f.NewSheet("Liste")
			return errors.Join(list(f, "Liste", 1), f.SetCellStr("Sheet1", "C7", ""), f.SetCellStr("Sheet1", "A1", "  "))
		}, "Liste", `xlsxListe ["Vorname" "Name" "Handy" "Geboren"] 2["Änne" "Müller" "+43 664" "33008"]`, nil},
		{"asked for", func(f *excelize.File) error {
			f.NewSheet("Mannschaft Süd")
			return errors.Join(list(f, "Sheet1", 1), list(f, "Mannschaft Süd", 3))
		}, "MANNSCHAFT SÜD", `xlsxMannschaft Süd ["Vorname" "Name" "Handy" "Geboren"] 4["Änne" "Müller" "+43 664" "33008"]`, nil},
		{"not in column A", func(f *excelize.File) error {
			return errors.Join(f.SetSheetRow("Sheet1", "C3", &[]any{"Vorname", "Name"}), f.SetSheetRow("Sheet1", "C4", &[]any{"A", "B"}))
		}, "", `xlsxSheet1 ["" "" "Vorname" "Name"] 4["" "" "A" "B"]`, nil},
	} {
		got, err := Read(t.Context(), workbook(t, test.fill), Options{Sheet: test.sheet})
		if err != nil || show(got) != test.want || !reflect.DeepEqual(got.Notes, test.notes) {
			t.Errorf("%s: %v\n got %s %v\nwant %s %v", test.name, err, show(cmpTable(got)), cmpTable(got).Notes, test.want, test.notes)
		}
	}
}

func TestXLSXRefusals(t *testing.T) {
	t.Parallel()
	two := func(f *excelize.File) error {
		f.NewSheet("Jugend")
		return errors.Join(list(f, "Sheet1", 1), list(f, "Jugend", 1))
	}
	hidden := func(f *excelize.File) error {
		f.NewSheet("Leer")
		f.SetActiveSheet(1)
		return errors.Join(list(f, "Sheet1", 1), f.SetSheetVisible("Sheet1", false))
	}
	nothing := func(*excelize.File) error { return nil }
	damaged := workbook(t, two)
	damaged = damaged[:len(damaged)-100]
	bomb := archive(t, "xl/workbook.xml", "<workbook/>", "xl/media/image1.png", "")
	entry := bytes.LastIndex(bomb, []byte("PK\x01\x02")) // the entry of the picture, which declares 161 MB
	binary.LittleEndian.PutUint32(bomb[entry+24:], 161<<20)
	longCell := archive(t, "xl/workbook.xml", `<workbook><sheets><sheet name="A" r:id="1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="1" Type="x/worksheet" Target="a.xml"/></Relationships>`,
		"xl/a.xml", `<worksheet><sheetData><row r="2"><c r="B2" t="str"><v>`+strings.Repeat("x", 300_000)+`</v></c></row></sheetData></worksheet>`)
	for name, test := range map[string]struct {
		content []byte
		sheet   string
		want    FileError
	}{
		"several sheets": {workbook(t, two), "", FileError{Code: FileSheets, Args: []any{"Sheet1, Jugend"}}},
		"unknown sheet":  {workbook(t, two), "Aktive", FileError{Code: FileSheet, Args: []any{"Aktive", "Sheet1, Jugend"}}},
		"hidden":         {workbook(t, hidden), "", FileError{Code: FileNoSheet, Args: nil}},
		"nothing":        {workbook(t, nothing), "", FileError{Code: FileNoSheet, Args: nil}},
		"only a header": {workbook(t, func(f *excelize.File) error {
			return f.SetSheetRow("Sheet1", "A1", &[]any{"Vorname", "Name"})
		}), "", FileError{Code: FileEmpty, Args: nil}},
		"only formulas": {workbook(t, func(f *excelize.File) error {
			return errors.Join(f.SetSheetRow("Sheet1", "A1", &[]any{"Vorname", "Name"}), f.SetCellFormula("Sheet1", "A2", "A1"))
		}), "", FileError{Code: FileFormulas, Args: nil}},
		"nothing but formulas": {workbook(t, func(f *excelize.File) error { return f.SetCellFormula("Sheet1", "A1", "A2") }), "", FileError{Code: FileFormulas, Args: nil}},
		"wide": {workbook(t, func(f *excelize.File) error {
			return errors.Join(list(f, "Sheet1", 1), f.SetCellStr("Sheet1", "ALM2", "x"))
		}), "", FileError{Code: FileTooMany, Args: []any{"columns", maxColumns}}},
		"ods":            {archive(t, "mimetype", "application/vnd.oasis.opendocument.spreadsheet"), "", FileError{Code: FileODS, Args: nil}},
		"numbers":        {archive(t, "Index/Document.iwa", ""), "", FileError{Code: FileNumbers, Args: nil}},
		"xlsb":           {archive(t, "xl/workbook.bin", ""), "", FileError{Code: FileXLSB, Args: nil}},
		"odt":            {archive(t, "mimetype", "application/vnd.oasis.opendocument.text"), "", FileError{Code: FileWord, Args: nil}},
		"word processor": {archive(t, "word/document.xml", "<w:document/>"), "", FileError{Code: FileWord, Args: nil}},
		"broken":         {damaged, "", FileError{Code: FileDamaged, Args: []any{"zip: not a valid zip file"}}},
		"long cell":      {longCell, "", FileError{Code: FileBomb, Args: []any{160}}},
		"zip bomb":       {bomb, "", FileError{Code: FileBomb, Args: []any{160}}},
	} {
		_, err := Read(t.Context(), test.content, Options{Sheet: test.sheet})
		var file *FileError
		if !errors.As(err, &file) || file.Code != test.want.Code || fmt.Sprint(file.Args) != fmt.Sprint(test.want.Args) {
			t.Errorf("%s: got the error %+v, want %+v", name, file, test.want)
		}
	}
}

// archive returns a ZIP archive with the given names and contents.
func archive(t testing.TB, files ...string) []byte {
	t.Helper()
	var content bytes.Buffer
	w := zip.NewWriter(&content)
	for i := 0; i < len(files); i += 2 {
		method := zip.Deflate
		if files[i] == "mimetype" {
			method = zip.Store
		}
		file, err := w.CreateHeader(&zip.FileHeader{Name: files[i], Method: method})
		if err == nil {
			_, err = file.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return content.Bytes()
}

// FuzzReadXLSX reads sheets with arbitrary XML, and damaged archives.
func FuzzReadXLSX(f *testing.F) {
	whole := workbook(f, func(f *excelize.File) error { return list(f, "Sheet1", 1) })
	f.Add(whole, "")
	f.Add([]byte(nil), `<row r="1"><c t="inlineStr"><is><t>a</t></is></c></row><row r="3"><c r="C3"><v>1</v></c></row>`)
	f.Fuzz(func(t *testing.T, content []byte, rows string) {
		if rows != "" {
			const rels = `<Relationships><Relationship Id="a" Type="/worksheet" Target="s.xml"/></Relationships>`
			content = archive(t, "xl/workbook.xml", `<workbook><sheet name="A" id="a"/></workbook>`, "xl/_rels/workbook.xml.rels", rels,
				"xl/s.xml", "<worksheet><sheetData>"+rows+"</sheetData></worksheet>")
		}
		got, err := Read(t.Context(), content, Options{})
		var file *FileError
		if err != nil && !errors.As(err, &file) {
			t.Fatalf("the error is %v", err)
		}
		if err == nil && got.Format == XLSX && len(got.Rows) == 0 {
			t.Fatal("a table without rows")
		}
	})
}

// TestLayout checks that the table has merged cells, hidden columns and struck cells.
func TestLayout(t *testing.T) {
	t.Parallel()
	content := workbook(t, func(f *excelize.File) error {
		struck, err := f.NewStyle(&excelize.Style{Font: &excelize.Font{Strike: true}})
		return errors.Join(err, f.SetSheetRow("Sheet1", "A1", &[]any{"Zug", "Name", "Telefon"}),
			f.SetSheetRow("Sheet1", "A2", &[]any{"1", "Ana Kos", "01 222"}), f.SetCellStr("Sheet1", "B3", "Ivo Kos"),
			f.SetSheetRow("Sheet1", "A4", &[]any{"", "Eva Bilic", "01 333"}), f.SetSheetRow("Sheet1", "A6", &[]any{"", "Jan Dot", "01 444"}),
			f.MergeCell("Sheet1", "A2", "A5"), f.MergeCell("Sheet1", "C2", "C3"), f.MergeCell("Sheet1", "B6", "B9"), f.MergeCell("Sheet1", "C1", "D1"),
			f.SetColVisible("Sheet1", "C:H", false), f.SetCellStyle("Sheet1", "A4", "C4", struck), f.SetCellStyle("Sheet1", "C6", "C6", struck),
			f.SetCellRichText("Sheet1", "B2", []excelize.RichTextRun{{Text: "Ana "}, {Text: "Kos", Font: &excelize.Font{Strike: true}}}))
	})
	got, err := Read(t.Context(), content, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const want = `xlsxSheet1 ["Zug" "Name" "Telefon"] 2["1" "Ana Kos" "01 222"] 3["" "Ivo Kos"] 4["" "Eva Bilic" "01 333"] 6["" "Jan Dot" "01 444"]`
	if show(got) != want || !reflect.DeepEqual(got.Hidden[:4], []bool{false, false, true, true}) {
		t.Errorf("got %s, hidden %v", show(got), got.Hidden[:4])
	}
	if merged := []Range{{0, 2, 5}, {2, 2, 3}, {1, 6, 9}}; !reflect.DeepEqual(got.Merged, merged) {
		t.Errorf("merged %v", got.Merged)
	}
	for i, row := range got.Rows {
		if row.IsStruck() != (i == 2) || row.Cell(2).Marks&Struck != 0 != (i > 1) || row.Cell(1).Marks&Struck != 0 != (i%2 == 0) {
			t.Errorf("row %d: %v", row.Number, row.Cells)
		}
	}
}
