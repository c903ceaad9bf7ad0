package xlsx

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"
)

// parts are the files of a workbook by name.
type parts map[string]string

const (
	documentRels = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`
	workbookXML = `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">` +
		`<sheets><sheet name="Tabelle1" sheetId="1" r:id="rId1"/></sheets></workbook>`
	workbookRels = `<Relationships>` +
		`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>` +
		`<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/>` +
		`<Relationship Id="rId3" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>`
)

// book returns the parts of a workbook with one sheet and the given rows. others replace or add
// parts; an empty part is removed.
func book(rows string, others parts) parts {
	all := parts{
		"_rels/.rels":                documentRels,
		"xl/workbook.xml":            workbookXML,
		"xl/_rels/workbook.xml.rels": workbookRels,
		"xl/worksheets/sheet1.xml":   `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><worksheet><sheetData>` + rows + `</sheetData></worksheet>`,
		"xl/sharedStrings.xml":       `<sst><si><t>Vorname</t></si><si><t xml:space="preserve"> 007 </t></si></sst>`,
	}
	maps.Copy(all, others)
	return all
}

func (p parts) zip(t testing.TB) []byte {
	t.Helper()
	var content bytes.Buffer
	archive := zip.NewWriter(&content)
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if p[name] == "" {
			continue
		}
		w, err := archive.Create(name)
		if err == nil {
			_, err = io.Copy(w, struct{ io.Reader }{strings.NewReader(p[name])}) // in pieces, without copying the whole part
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return content.Bytes()
}

// rowsOf reads all rows of the first sheet.
func rowsOf(content []byte) (rows []Row, err error) {
	ctx := context.Background()
	f, err := Open(ctx, content)
	if err != nil {
		return nil, err
	}
	if len(f.Sheets) == 0 {
		return nil, errors.New("no sheet")
	}
	_, err = f.Rows(ctx, f.Sheets[0], func(row Row) error {
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

func cells(all ...any) (row []Cell) {
	for _, cell := range all {
		switch cell := cell.(type) {
		case string:
			row = append(row, Cell{Text: cell})
		case Cell:
			row = append(row, cell)
		}
	}
	return row
}

func TestCells(t *testing.T) {
	t.Parallel()
	number := func(text string) Cell { return Cell{Text: text, Kind: Number} }
	for xml, want := range map[string][]Cell{
		`<c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c>`:                                              cells("Vorname", " 007 "),
		`<c r="A1"><v>385912345678</v></c><c r="B1" t="n"><v>1</v></c>`:                                         cells(number("385912345678"), number("1")),
		`<c r="A1"><v>4.41E+11</v></c><c r="B1"><v>3.85912345678E11</v></c>`:                                    cells(number("441000000000"), number("385912345678")),
		`<c r="A1"><v>0.30000000000000004</v></c><c r="B1"><v>33008.354166666664</v></c>`:                       cells(number("0.3"), number("33008.3541666667")),
		`<c r="A1"><v>12345678901234567</v></c><c r="B1"><v>-7</v></c>`:                                         cells(number("12345678901234567"), number("-7")),
		`<c r="A1"><v>NaN</v></c><c r="B1"><v>1e999</v></c><c r="C1"><v>12 34</v></c>`:                          cells("NaN", "1e999", "12 34"),
		`<c r="C1" t="b"><v>1</v></c><c r="B1" t="b"><v>0</v></c>`:                                              cells("", "FALSE", "TRUE"),
		`<c r="A1" t="e"><f>NA()</f><v>#N/A</v></c>`:                                                            {{Text: "#N/A", Kind: Error}},
		`<c r="A1" t="str"><f>A2&amp;"x"</f><v>Ivo</v></c><c r="B1"><f>1+1</f><v>2</v></c>`:                     cells("Ivo", number("2")),
		`<c r="A1" t="d"><v>1990-05-15T00:00:00.000</v></c><c t="d"><v>1990-05-15T08:30:00</v></c>`:             cells("1990-05-15T00:00:00.000", "1990-05-15T08:30:00"),
		`<c t="inlineStr"><is><t>Ivo</t></is></c><c t="inlineStr"><is><r><t>A</t></r><r><t>na</t></r></is></c>`: cells("Ivo", "Ana"),
		`<c t="inlineStr"><is><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></is></c>`:                          cells("東京"),
		`<c t="inlineStr"><is><t>a_x000D_&#10;b_x005F_x0041_</t></is></c>`:                                      cells("a\r\nb_x0041_"),
		`<c r="A1" s="3"/><c r="B1"><v></v></c><c r="D1" t="s"><v/></c>`:                                        nil,
		`<v>7</v><c r="A1"><v>1</v></c><v>8</v><c r="B1"><v>2</v></c>`:                                          cells(number("1"), number("2")),
		`<c r="AA1"><v>1</v></c>`: append(make([]Cell, 26), number("1")),
	} {
		rows, err := rowsOf(book("<row>"+xml+"</row>", nil).zip(t))
		if err != nil || len(rows) != 1 || !slices.Equal(rows[0].Cells, want) {
			t.Errorf("%s is read as %v (%v), want %v", xml, rows, err, want)
		}
	}
}

func TestRowNumbers(t *testing.T) {
	t.Parallel()
	rows, err := rowsOf(book(`<row r="3" hidden="1"><c r="A3"><v>1</v></c></row><row/><row r="1048576" hidden="false"/>`, nil).zip(t))
	want := []Row{{Number: 3, Hidden: true, Cells: []Cell{{Text: "1", Kind: Number}}}, {Number: 4}, {Number: 1 << 20}}
	if err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("got %v (%v), want %v", rows, err, want)
	}
}

// TestForms reads equivalent sheets as different programs write them.
func TestForms(t *testing.T) {
	t.Parallel()
	const row = `<row><c t="s"><v>0</v></c></row>`
	strict := strings.NewReplacer("http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://purl.oclc.org/ooxml/spreadsheetml/main",
		"http://schemas.openxmlformats.org/officeDocument/2006/relationships", "http://purl.oclc.org/ooxml/officeDocument/relationships")
	strictBook := book(row, nil)
	for name, part := range strictBook {
		strictBook[name] = strict.Replace(part)
	}
	wide := func(order unicode.Endianness, mark unicode.BOMPolicy) parts {
		all := book(row, parts{"xl/sharedStrings.xml": `<sst><si><t>Čović 🚒</t></si></sst>`})
		for name, part := range all {
			part, err := unicode.UTF16(order, mark).NewEncoder().String(`<?xml version="1.0" encoding="utf-16"?>` + strings.TrimPrefix(part, `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`))
			must(t, err)
			all[name] = part
		}
		return all
	}
	for name, p := range map[string]parts{
		"UTF-16":              wide(unicode.LittleEndian, unicode.UseBOM),
		"big-endian UTF-16":   wide(unicode.BigEndian, unicode.UseBOM),
		"UTF-16 without mark": wide(unicode.LittleEndian, unicode.IgnoreBOM),
		"big-endian, no mark": wide(unicode.BigEndian, unicode.IgnoreBOM),
	} {
		rows, err := rowsOf(p.zip(t))
		if err != nil || !reflect.DeepEqual(rows, []Row{{Number: 1, Cells: cells("Čović 🚒")}}) {
			t.Errorf("%s: got %v (%v)", name, rows, err)
		}
	}
	for name, p := range map[string]parts{
		"plain":             book(row, nil),
		"strict":            strictBook,
		"no root relations": book(row, parts{"_rels/.rels": ""}),
		"absolute targets":  book(row, parts{"xl/_rels/workbook.xml.rels": strings.ReplaceAll(workbookRels, `Target="`, `Target="/xl/`)}),
		"upper case": book(row, parts{"xl/sharedStrings.xml": "", "xl/SharedStrings.xml": `<sst><si><t>Vorname</t></si></sst>`,
			"xl/worksheets/sheet1.xml": "", `xl\Worksheets\Sheet1.xml`: `<worksheet><sheetData>` + row + `</sheetData></worksheet>`}),
		"prefixes": book("", parts{"xl/worksheets/sheet1.xml": `<x:worksheet xmlns:x="main"><x:sheetData><x:row><x:c t="s"><x:v>0</x:v></x:c></x:row></x:sheetData></x:worksheet>`}),
		"row of a drawing": book("", parts{"xl/worksheets/sheet1.xml": `<worksheet><sheetData>` + row +
			`</sheetData><oleObjects><xdr:from><xdr:row>5</xdr:row></xdr:from></oleObjects></worksheet>`}),
		"byte order mark": book("", parts{"xl/worksheets/sheet1.xml": "\ufeff" + `<?xml version="1.0" encoding="utf-8"?><worksheet><sheetData>` + row + `</sheetData></worksheet>`}),
	} {
		rows, err := rowsOf(p.zip(t))
		if err != nil || !reflect.DeepEqual(rows, []Row{{Number: 1, Cells: cells("Vorname")}}) {
			t.Errorf("%s: got %v (%v)", name, rows, err)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	cut := book("<row><c><v>1</v></c></row>", nil)
	cut["xl/worksheets/sheet1.xml"] = strings.TrimSuffix(cut["xl/worksheets/sheet1.xml"], "</worksheet>")
	entities := `<!DOCTYPE worksheet [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><worksheet><sheetData><row><c><v>&b;</v></c></row></sheetData></worksheet>`
	for name, test := range map[string]struct {
		parts parts
		want  string
	}{
		"broken root":       {book("<row/>", parts{"_rels/.rels": documentRels[:len(documentRels)-5]}), "_rels/.rels: XML syntax error"},
		"broken empty root": {book("<row/>", parts{"_rels/.rels": "<Relationships>"}), "unexpected EOF"},
		"no end":            {cut, "unexpected EOF"},
		"entities":          {book("", parts{"xl/worksheets/sheet1.xml": entities}), "declaration"},
		"unknown entity":    {book("<row><c><v>&b;</v></c></row>", nil), "entity"},
		"missing sheet":     {book("", parts{"xl/worksheets/sheet1.xml": ""}), "missing"},
		"missing string":    {book(`<row><c t="s"><v>2</v></c></row>`, nil), "invalid shared string index"},
		"no strings at all": {book(`<row><c t="s"><v>0</v></c></row>`, parts{"xl/sharedStrings.xml": ""}), "missing"},
		"row 0":             {book(`<row r="0"/>`, nil), `invalid row number "0"`},
		"row too far":       {book(`<row r="1048577"/>`, nil), `invalid row number "1048577"`},
		"column too far":    {book(`<row><c r="XFE1"/></row>`, nil), `invalid cell reference "XFE1"`},
		"no column":         {book(`<row><c r="17"/></row>`, nil), `invalid cell reference "17"`},
		"too deep":          {book(strings.Repeat("<a>", 200), nil), "nested too deeply"},
		"crossed elements":  {book("<row><c><v>1</c></v></row>", nil), "closed by </c>"},
		"end alone":         {book("</c>", nil), "closed by </c>"},
		"row in a cell":     {book("<row><c><row><v>1</v></row></c></row>", nil), "row inside a cell"},
		"cell without row":  {book(`<c r="A1"><v>1</v></c>`, nil), `invalid cell reference "A1"`},
		"long text":         {book("<row><c><v>"+strings.Repeat("1", 2<<20)+"</v></c></row>", nil), "too large"},
		"long attribute":    {book("<row a=\""+strings.Repeat("1", 2<<20)+"\"/>", nil), "too long"},
		"long tag":          {book(`<row a="`+strings.Repeat("1", 2<<20)+`"/>`, nil), "too long"},
		"word processor":    {parts{"_rels/.rels": strings.Replace(documentRels, "xl/workbook", "word/document", 1), "word/document.xml": "<w:document/>"}, ErrNotWorkbook.Error()},
		"not a workbook":    {parts{"a.txt": "a"}, ErrNotWorkbook.Error()},
	} {
		if _, err := rowsOf(test.parts.zip(t)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got the error %v, want %q", name, err, test.want)
		}
	}
	whole := book("<row/>", nil).zip(t)
	if _, err := rowsOf(whole[:len(whole)/2]); err == nil {
		t.Error("no error for half an archive")
	}
}

// TestBombs checks that archives designed to exhaust memory are rejected.
func TestBombs(t *testing.T) {
	t.Parallel()
	many := parts{}
	for i := range maxParts + 1 {
		many[fmt.Sprint("xl/", i)] = "x"
	}
	small := limits{unpacked: 2 << 20, text: 1 << 20, marks: 1 << 20}
	for name, p := range map[string]parts{
		"sheet":   book("", parts{"xl/worksheets/sheet1.xml": string(make([]byte, 2<<20))}),
		"media":   book("", parts{"xl/media/image1.png": string(make([]byte, 2<<20))}),
		"parts":   many,
		"strings": book("", parts{"xl/sharedStrings.xml": "<sst>" + strings.Repeat("<si/>", 70_000) + "</sst>"}),
		"cells":   book("<row>"+strings.Repeat("<c><v>1</v></c>", 10_000)+"</row>"+strings.Repeat("<row>"+strings.Repeat("<c><v>1</v></c>", 10_000)+"</row>", 7), nil),
	} {
		f, err := open(t.Context(), p.zip(t), small)
		if err == nil {
			_, err = f.Rows(t.Context(), f.Sheets[0], func(Row) error { return nil })
		}
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: got the error %v", name, err)
		}
	}
	fits := book("<row/>", parts{"xl/media/image1.png": string(make([]byte, 1<<20))}).zip(t)
	if _, err := open(t.Context(), fits, small); err != nil {
		t.Errorf("workbook within the limits: %v", err)
	}
}

// TestLies checks an archive that declares too small a size for a part.
func TestLies(t *testing.T) {
	t.Parallel()
	var content bytes.Buffer
	archive := zip.NewWriter(&content)
	for name, text := range book("", parts{"xl/worksheets/sheet1.xml": ""}) {
		if text != "" {
			w, err := archive.Create(name)
			must(t, err)
			_, err = io.WriteString(w, text)
			must(t, err)
		}
	}
	var packed bytes.Buffer
	deflate, err := flate.NewWriter(&packed, 9)
	must(t, err)
	_, err = deflate.Write([]byte("<worksheet>" + strings.Repeat(" ", 4<<20)))
	must(t, err)
	must(t, deflate.Close())
	w, err := archive.CreateRaw(&zip.FileHeader{Name: "xl/worksheets/sheet1.xml", Method: zip.Deflate, UncompressedSize64: 100, CompressedSize64: uint64(packed.Len())})
	must(t, err)
	_, err = w.Write(packed.Bytes())
	must(t, err)
	must(t, archive.Close())
	f, err := open(t.Context(), content.Bytes(), limits{unpacked: 1 << 20, text: 1 << 20, marks: 1 << 20})
	must(t, err)
	if _, err = f.Rows(t.Context(), f.Sheets[0], func(Row) error { return nil }); err == nil {
		t.Error("no error for a part larger than declared")
	}
}

// FuzzOpen reads workbooks with one arbitrary part.
func FuzzOpen(f *testing.F) {
	names := []string{"xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "_rels/.rels", "xl/styles.xml"}
	f.Add(uint8(5), `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="00 00"/></numFmts><cellXfs><xf numFmtId="164"/></cellXfs></styleSheet>`)
	f.Add(uint8(0), `<worksheet><sheetData><row r="2"><c r="B2" t="s"><v>0</v></c></row></sheetData><mergeCells><mergeCell ref="A1:B1"/></mergeCells></worksheet>`)
	f.Add(uint8(1), `<sst><si><r><t>a</t></r><rPh><t>b</t></rPh></si></sst>`)
	f.Add(uint8(2), workbookXML)
	f.Add(uint8(3), workbookRels)
	f.Add(uint8(4), documentRels)
	f.Fuzz(func(t *testing.T, n uint8, content string) {
		p := book(`<row><c t="s"><v>0</v></c></row>`, parts{names[int(n)%len(names)]: content})
		w, err := Open(t.Context(), p.zip(t))
		if err != nil {
			return
		}
		for _, s := range w.Sheets {
			filled, hasErr := w.IsFilled(t.Context(), s)
			text := 0
			_, err := w.Rows(t.Context(), s, func(row Row) error {
				if row.Number < 1 || row.Number > maxRow || len(row.Cells) > maxColumn {
					t.Errorf("row %d has %d cells", row.Number, len(row.Cells))
				}
				text += len(row.Cells)
				return nil
			})
			if err == nil && (hasErr != nil || filled != (text > 0)) {
				t.Errorf("IsFilled is %t (%v) with %d cells", filled, hasErr, text)
			}
		}
	})
}

// FuzzBytes reads archives with arbitrary damage.
func FuzzBytes(f *testing.F) {
	whole := book(`<row><c t="s"><v>0</v></c></row>`, nil).zip(f)
	f.Add(whole)
	f.Add(whole[:len(whole)-30])
	f.Fuzz(func(_ *testing.T, content []byte) { rowsOf(content) })
}
