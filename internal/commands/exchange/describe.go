package exchange

import (
	"fmt"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// formatNames are the formats, as people call them.
var formatNames = map[string]string{sheet.CSV: "CSV", sheet.XLSX: "XLSX", sheet.VCard: "vCard", sheet.JSONL: "JSON lines"}

// delimiterNames are the delimiters that cannot be seen in a text.
var delimiterNames = map[string]string{"\t": "a tab"}

// orderNames are the orders of dates in words.
var orderNames = map[string]string{mapping.DMY: "day, month, year", mapping.MDY: "month, day, year", mapping.YMD: "year, month, day"}

// describe says how a file was read.
func (t *text) describe(name string, o *imports.Outcome) {
	t.line("%s", shown(describeFile(name, o.File)))
	if o.Dates != nil {
		t.line("Its dates are read as %s (%s).", orderNames[*o.Dates], *o.Dates)
	}
	var columns [][]string
	for _, c := range o.Columns {
		if c.Field != nil {
			columns = append(columns, []string{orDash(c.Header), *c.Field})
		}
	}
	t.table("Its columns:", columns)
	t.leftOut(o)
}

// leftOut names the columns for nothing that we keep.
func (t *text) leftOut(o *imports.Outcome) {
	var headers []string
	for _, c := range o.Columns {
		if c.Field == nil {
			headers = append(headers, shown(orDash(c.Header)))
		}
	}
	if len(headers) > 0 {
		t.line("Left out: %s", strings.Join(headers, ", "))
	}
}

// describeFile is "people.csv is read as CSV in utf-8, with ; between the cells."
func describeFile(name string, f imports.FileInfo) string {
	said := fmt.Sprintf("%s is read as %s", name, formatNames[f.Format])
	if f.Encoding != nil {
		said += " in " + *f.Encoding
	}
	if f.Sheet != nil {
		said += fmt.Sprintf(", its sheet %q", *f.Sheet)
	}
	if f.Delimiter != nil {
		between := *f.Delimiter
		if word, ok := delimiterNames[between]; ok {
			between = word
		}
		said += ", with " + between + " between the cells"
	}
	return said + "."
}
