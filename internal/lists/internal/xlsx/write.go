package xlsx

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Constant parts of a workbook. The styles, in order: general, text, date, header.
const (
	xmlHead      = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	mainSpace    = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	officeSpace  = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	packageSpace = "http://schemas.openxmlformats.org/package/2006/"
	mainType     = "application/vnd.openxmlformats-officedocument.spreadsheetml."

	contentTypes = xmlHead + `<Types xmlns="` + packageSpace + `content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="` + mainType + `sheet.main+xml"/>` +
		`<Override PartName="/xl/styles.xml" ContentType="` + mainType + `styles+xml"/>` +
		`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + mainType + `worksheet+xml"/></Types>`
	packageParts = xmlHead + `<Relationships xmlns="` + packageSpace + `relationships">` +
		`<Relationship Id="rId1" Type="` + officeSpace + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`
	workbookParts = xmlHead + `<Relationships xmlns="` + packageSpace + `relationships">` +
		`<Relationship Id="rId1" Type="` + officeSpace + `/worksheet" Target="worksheets/sheet1.xml"/>` +
		`<Relationship Id="rId2" Type="` + officeSpace + `/styles" Target="styles.xml"/></Relationships>`
	styles = xmlHead + `<styleSheet xmlns="` + mainSpace + `">` +
		`<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd"/></numFmts>` +
		`<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>` +
		`<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
		`<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4">` +
		`<xf xfId="0"/><xf xfId="0" numFmtId="49" applyNumberFormat="1"/><xf xfId="0" numFmtId="164" applyNumberFormat="1"/>` +
		`<xf xfId="0" numFmtId="49" fontId="1" applyNumberFormat="1" applyFont="1"/></cellXfs>` +
		`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`
)

// Writer streams a workbook with one sheet, a frozen header row and a filter. Spreadsheets read at
// most 1,048,576 rows, more than any department has.
type Writer struct {
	zip     *zip.Writer
	sheet   string
	first   [][]Cell      // buffered rows that determine the column widths
	out     *bufio.Writer // the sheet; nil while rows are buffered
	columns int
	rows    int
}

// widthRows is the number of rows that determine the column widths.
const widthRows = 500

// NewWriter returns a Writer for a workbook with a header row.
func NewWriter(w io.Writer, sheet string, header []Cell) *Writer {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	return &Writer{zip: z, sheet: sheet, columns: len(header), rows: 1, first: [][]Cell{header}}
}

// Write writes a row. The Writer may retain cells.
func (w *Writer) Write(cells []Cell) error {
	w.rows++
	if w.out != nil {
		return w.row(w.rows, cells)
	}
	if w.first = append(w.first, cells); len(w.first) > widthRows {
		return w.begin()
	}
	return nil
}

// begin writes the constant parts, the start of the sheet and the buffered rows.
func (w *Writer) begin() error {
	for _, part := range [][2]string{{"[Content_Types].xml", contentTypes}, {"_rels/.rels", packageParts},
		{"xl/_rels/workbook.xml.rels", workbookParts}, {"xl/styles.xml", styles}} {
		if err := w.part(part[0], part[1]); err != nil {
			return err
		}
	}
	out, err := w.zip.Create("xl/worksheets/sheet1.xml")
	if err != nil {
		return err
	}
	w.out = bufio.NewWriterSize(out, 64<<10)
	w.out.WriteString(xmlHead + `<worksheet xmlns="` + mainSpace + `"><sheetViews><sheetView workbookViewId="0">` +
		`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>`)
	for i := range w.columns {
		fmt.Fprintf(w.out, `<col min="%d" max="%d" width="%d" customWidth="1"/>`, i+1, i+1, w.width(i))
	}
	w.out.WriteString("</cols><sheetData>")
	for i, cells := range w.first {
		err = w.row(i+1, cells)
	}
	w.first = nil
	return err
}

func (w *Writer) part(name, content string) error {
	out, err := w.zip.Create(name)
	if err == nil {
		_, err = io.WriteString(out, content)
	}
	return err
}

func (w *Writer) width(column int) int {
	width := 8
	for i, cells := range w.first {
		if column < len(cells) {
			width = max(width, utf8.RuneCountInString(cells[column].Text))
		}
		if i == 0 {
			width += 2 // for the button of the filter
		}
	}
	return min(width, 58) + 2
}

func (w *Writer) row(number int, cells []Cell) error {
	w.out.WriteString(`<row r="` + strconv.Itoa(number) + `">`)
	for i, cell := range cells {
		if cell.Text == "" {
			continue
		}
		w.out.WriteString(`<c r="` + columnName(i) + strconv.Itoa(number))
		switch {
		case cell.Kind == Date:
			w.out.WriteString(`" s="2"><v>` + strconv.Itoa(serial(cell.Text)) + "</v></c>")
		case cell.Kind == Number && isNumber(cell.Text):
			w.out.WriteString(`"><v>` + cell.Text + "</v></c>")
		case cell.Kind == Error:
			w.out.WriteString(`" t="e"><v>` + escape(cell.Text) + "</v></c>")
		case number == 1:
			w.out.WriteString(`" s="3" t="inlineStr"><is><t xml:space="preserve">` + escape(cell.Text) + "</t></is></c>")
		default:
			w.out.WriteString(`" s="1" t="inlineStr"><is><t xml:space="preserve">` + escape(cell.Text) + "</t></is></c>")
		}
	}
	_, err := w.out.WriteString("</row>")
	return err
}

// Close completes the workbook. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.out == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	last := columnName(max(w.columns, 1) - 1)
	fmt.Fprintf(w.out, `</sheetData><autoFilter ref="A1:%[1]s%[2]d"/>`+
		`<ignoredErrors><ignoredError sqref="A1:%[1]s%[2]d" numberStoredAsText="1"/></ignoredErrors></worksheet>`, last, w.rows)
	if err := w.out.Flush(); err != nil {
		return err
	}
	err := w.part("xl/workbook.xml", fmt.Sprintf(xmlHead+`<workbook xmlns="%s" xmlns:r="%s"><sheets>`+
		`<sheet name="%s" sheetId="1" r:id="rId1"/></sheets><definedNames>`+
		`<definedName name="_xlnm._FilterDatabase" localSheetId="0" hidden="1">'%s'!$A$1:$%s$%d</definedName></definedNames></workbook>`,
		mainSpace, officeSpace, escape(w.sheet), escape(strings.ReplaceAll(w.sheet, "'", "''")), last, w.rows))
	if err != nil {
		return err
	}
	return w.zip.Close()
}

// columnName returns the letters of a column, numbered from 0.
func columnName(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return columnName(i/26-1) + columnName(i%26)
}

func serial(date string) int {
	t, _ := time.Parse(time.DateOnly, date)
	return int(t.Sub(time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)).Hours() / 24)
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil && strings.Trim(text, "-.0123456789") == ""
}

// MaxCell is the maximum length of a cell's text in UTF-16 code units.
const MaxCell = 32767

// escape returns text as XML. It encodes characters that XML cannot represent in Excel's form
// _xFFFE_, also escapes text that only looks like such a sequence, and truncates text at MaxCell.
func escape(text string) string {
	b, units := make([]byte, 0, len(text)+16), 0
	for i, r := range text {
		if units++; r > 0xffff {
			units++
		}
		if units >= MaxCell {
			b = append(b, "…"...)
			break
		}
		switch {
		case r == '_' && looksEscaped(text[i:]):
			b = append(b, "_x005F_"...)
		case r < ' ' && r != '\t' && r != '\n' || r == 0xfffe || r == 0xffff:
			b = fmt.Appendf(b, "_x%04X_", r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	var escaped bytes.Buffer
	xml.EscapeText(&escaped, b) // a bytes.Buffer never fails
	return escaped.String()
}

// looksEscaped reports whether text starts like an escaped character. Some readers also accept
// letters other than A to F.
func looksEscaped(text string) bool {
	return len(text) > 6 && text[1] == 'x' && text[6] == '_' &&
		strings.Trim(strings.ToLower(text[2:6]), "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}
