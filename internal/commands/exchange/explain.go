package exchange

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// explain returns an error about a list in words, with what to type. It returns
// other errors, and nil, as they are.
func (l *list) explain(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("stopped; nothing was changed")
	}
	what, hint, ok := imports.English.Explain(err)
	if !ok {
		return err
	}
	if typed := l.hint(err); typed != "" {
		hint = typed
	}
	name := osutil.InQuotes(l.path)
	if l.path == standardInput {
		name = "standard input"
	}
	err = fmt.Errorf("%s: %s", name, shown(strings.TrimSuffix(lowerFirst(what), ".")))
	if hint == "" {
		return err
	}
	return cli.WithHint(err, strings.TrimSuffix(lowerFirst(hint), "."))
}

// hint returns what to type so that the list can be read, empty where no flag
// helps.
func (l *list) hint(err error) string {
	if e, ok := errors.AsType[*mapping.ColumnsError](err); ok {
		return l.hintOnColumns(e)
	}
	if e, ok := errors.AsType[*mapping.DatesError](err); ok {
		if e.Other != "" {
			return l.again("--dates "+mapping.DMY, "dates") + ", which refuses the others"
		}
		return l.again("--dates "+mapping.DMY, "dates") + ", or --dates " + mapping.MDY
	}
	if errors.As(err, new(*imports.EncodingError)) {
		return l.again("--encoding "+sheet.Windows1252, "encoding") + ", or --encoding " + sheet.Windows1250
	}
	e, ok := errors.AsType[*sheet.FileError](err)
	switch {
	case !ok:
	case e.Code == sheet.FileSheets, e.Code == sheet.FileSheet:
		return l.again("--sheet NAME", "sheet")
	case e.Code == sheet.FileEncoding, e.Code == sheet.FileEmpty && l.options.Encoding != "":
		return l.again("", "encoding") + ", which finds the encoding, or another --encoding"
	}
	return ""
}

// hintOnColumns returns the command with the --map that settles which column is
// which.
func (l *list) hintOnColumns(e *mapping.ColumnsError) string {
	suggestion := suggestMap(e)
	switch {
	case e.Code == mapping.ColumnsUnknown:
		return "a header of the file, as it is written there: " + l.again("--map HEADER=FIELD", "map")
	case suggestion == "":
		return ""
	case l.columns != "":
		suggestion = l.columns + "," + suggestion
	}
	return l.again("--map "+cli.Quote(suggestion), "map")
}

// suggestMap returns an example of what --map could say to settle an error, empty
// where it cannot.
func suggestMap(e *mapping.ColumnsError) string {
	if len(e.Headers) == 0 || slices.Contains(e.Headers, "") || e.SameHeader() {
		return ""
	}
	switch first := quoteHeader(e.Headers[0]); {
	case e.Code == mapping.ColumnsTwice:
		return first + "=" + mapping.MapName(e.Field)
	case e.Code == mapping.ColumnsNoName && len(e.Headers) > 1:
		return first + "=firstName," + quoteHeader(e.Headers[1]) + "=lastName"
	case e.Code == mapping.ColumnsNoName:
		return first + "=" + mapping.FullName
	}
	return ""
}

// quoteHeader returns a header as --map takes it.
func quoteHeader(header string) string {
	if strings.ContainsAny(header, `,="`) {
		return `"` + strings.ReplaceAll(header, `"`, `""`) + `"`
	}
	return header
}

// lowerFirst makes a sentence the rest of another.
func lowerFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToLower(first)) + text[size:]
}
