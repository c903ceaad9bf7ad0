package xlsx

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// checkXML parses every part of a workbook with encoding/xml, which is strict.
func checkXML(t *testing.T, content []byte) {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	must(t, err)
	for _, part := range archive.File {
		r, err := part.Open()
		must(t, err)
		decoder := xml.NewDecoder(r)
		for err == nil {
			_, err = decoder.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s is not XML: %v", part.Name, err)
		}
	}
}

// checkExcelize reads a workbook with an independent library.
func checkExcelize(t *testing.T, content []byte, want [][]string) {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(content))
	must(t, err)
	defer f.Close()
	rows, err := f.GetRows(f.GetSheetName(0), excelize.Options{RawCellValue: true})
	if err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("excelize reads %q, %v; want %q", rows, err, want)
	}
}

// FuzzWrite writes arbitrary text and reads it back as XML, with excelize and with this package.
func FuzzWrite(f *testing.F) {
	for _, text := range []string{"a]]>b", "]]>", "<![CDATA[x]]>", "&amp;", "_x0041_", "'", "a\tb\nc\rd", "\x00\x1f\ufffe\uffff", "🚒", "--><!--", "<?xml?>", "\"'<>&"} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, header, text string) {
		header, text = strings.ToValidUTF8(header, "\ufffd")+".", strings.ToValidUTF8(text, "\ufffd")+"."
		if len(header)+len(text) > MaxCell {
			return
		}
		checkXML(t, written(t, []Cell{{Text: header, Kind: Error}}, []Cell{{Text: text, Kind: Error}}))
		content := written(t, []Cell{{Text: header}}, []Cell{{Text: text}, {Text: text, Kind: Number}})
		checkXML(t, content)
		checkExcelize(t, content, [][]string{{header}, {text, text}})
		if got := cellsOf(t, content); got[0][0].Text != header || got[1][0].Text != text {
			t.Errorf("%q and %q came back as %q", header, text, got)
		}
	})
}
