package sheet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Writer writes people into a file.
type Writer interface {
	Write(f *record.Firefighter) error
	Close() error // ends the file; it does not close what the file is written to
}

// format is what is known of a format: how a file of it is sent and named, and
// who writes it.
type format struct {
	media   string
	endings []string // of the names of its files
	writer  func(io.Writer) Writer
}

var formats = map[string]format{
	XLSX:  {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", []string{".xlsx"}, newXLSX},
	CSV:   {"text/csv; charset=utf-8", []string{".csv"}, newCSV},
	VCard: {"text/vcard; charset=utf-8", []string{".vcf", ".vcard"}, newVCard},
	JSONL: {"application/x-ndjson", []string{".jsonl", ".ndjson"}, newJSONL},
}

// Formats are all of them, in the order in which they are offered.
var Formats = []string{XLSX, CSV, VCard, JSONL}

// NewWriter returns a writer of a format that writes to w. It needs memory for
// some rows only.
func NewWriter(w io.Writer, format string) (Writer, error) {
	if f, ok := formats[format]; ok {
		return f.writer(w), nil
	}
	return nil, fmt.Errorf("there is no format %q", format)
}

// WriteAll writes the people that each hands out, until ctx ends.
func WriteAll(ctx context.Context, w io.Writer, format string, each func(func(*record.Firefighter) error) error) error {
	to, err := NewWriter(w, format)
	if err != nil {
		return err
	}
	err = each(func(f *record.Firefighter) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return to.Write(f)
	})
	if closing := to.Close(); err == nil {
		err = closing
	}
	return err
}

// ContentType returns the media type of a format.
func ContentType(format string) string { return formats[format].media }

// FormatOf returns the format that the ending of a file's name says, empty for an
// unknown one.
func FormatOf(file string) string {
	ending := strings.ToLower(filepath.Ext(file))
	for name, f := range formats {
		if slices.Contains(f.endings, ending) {
			return name
		}
	}
	return ""
}

// members are the names of a record's members in JSON, in its order: the header
// of an export.
var members = slices.Concat([]string{"id"}, record.FieldNames(), []string{"invitationStatus", "userId"})

// texts returns the members of a record. What has no value is empty. Broken
// UTF-8, which only the platform's columns can hold, becomes U+FFFD, as in JSON.
func texts(f *record.Firefighter) []string {
	all := []string{f.ID}
	f.Each(func(_ string, value *string) { all = append(all, *value) })
	for _, column := range []*string{f.InvitationStatus, f.UserID} {
		if column == nil {
			column = new(string)
		}
		all = append(all, strings.ToValidUTF8(*column, string(utf8.RuneError)))
	}
	return all
}

// jsonlWriter writes each record as the API has it on a line.
type jsonlWriter struct {
	out  *bufio.Writer
	line []byte
}

func newJSONL(w io.Writer) Writer { return &jsonlWriter{out: bufio.NewWriter(w)} }

func (w *jsonlWriter) Write(f *record.Firefighter) error {
	w.line = append(f.AppendJSON(w.line[:0]), '\n')
	_, err := w.out.Write(w.line)
	return err
}

func (w *jsonlWriter) Close() error { return w.out.Flush() }
