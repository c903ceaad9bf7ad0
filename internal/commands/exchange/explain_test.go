package exchange

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// TestExplain: an error of a file says what is wrong in a line, and in another
// what to type. What was typed stays in it.
func TestExplain(t *testing.T) {
	t.Parallel()
	const typed = "firefighters import my.csv --tenant A "
	for _, tt := range []struct {
		err  error
		line string // of flags
		want string // of the hint
	}{
		{&sheet.FileError{Code: sheet.FilePDF}, "", "ask for the list as a spreadsheet, or copy its table into one and save it as .xlsx"},
		{&sheet.FileError{Code: sheet.FileSheets, Args: []any{"A B, C"}, Sheets: []string{"A B", "C"}}, "", typed + "--sheet " + cli.Quote("A B") + "\nTry: " + typed + "--sheet C"},
		{&sheet.FileError{Code: sheet.FileSheet, Args: []any{"C", "A"}, Sheets: []string{"A"}}, "--sheet C", typed + "--sheet A"},
		{&sheet.FileError{Code: sheet.FileEncoding, Args: []any{"utf-8"}}, "--encoding utf-8", strings.TrimSpace(typed)},
		{&mapping.DatesError{Header: "H", Example: "1/2/1990"}, "", typed + "--dates dmy\nTry: " + typed + "--dates mdy"},
		{&mapping.DatesError{Header: "H", Example: "1/20/1990", Other: "20/1/1990"}, "", "to refuse those with the month first: " + typed + "--dates dmy\nTry: to refuse those with the day first: " + typed + "--dates mdy"},
		{&imports.EncodingError{Candidates: []imports.Candidate{{Encoding: "windows-1252", Names: []string{"Èop", "Ivo"}}, {Encoding: "windows-1250", Names: []string{"Čop", "Ivo"}}}}, "",
			`if these names are right: "Èop", "Ivo": ` + typed + "--encoding windows-1252\nTry: " + `if these names are right: "Čop", "Ivo": ` + typed + "--encoding windows-1250\nTry: if none of these is right, save the list as .xlsx in the program it comes from, and import that"},
		{&mapping.ColumnsError{Code: mapping.ColumnsTwice, Field: "firstName", Headers: []string{"My Name", "First"}, Settled: mapping.Header{Header: "My Name", Field: "firstName"}}, "", typed + "--map " + cli.Quote("My Name=firstName")},
		{&mapping.ColumnsError{Code: mapping.ColumnsTwice, Field: "firstName", Headers: []string{"A", "B"}, Settled: mapping.Header{Header: "A", Field: "firstName"}}, "--map Handy=phoneNumber", typed + "--map Handy=phoneNumber,A=firstName"},
		{&mapping.ColumnsError{Code: mapping.ColumnsTwice, Field: mapping.FullName, Headers: []string{"A, B", "C"}, Settled: mapping.Header{Header: `"A", B`, Field: mapping.LastFirst}}, "", typed + "--map " + cli.Quote(`"""A"", B"=nameReversed`)},
		{&mapping.ColumnsError{Code: mapping.ColumnsUnknown, Headers: []string{"X"}}, "--map X=email", "correct --map: each header as it is written in the file"},
		{&mapping.ColumnsError{Code: mapping.ColumnsNoName, Headers: []string{"X", "Y"}}, "", "say which columns have the names, in place of A and B: " + typed + "--map A=firstName,B=lastName"},
		{&mapping.ColumnsError{Code: mapping.ColumnsNoName, Headers: []string{"X", "Y"}}, "--map Y=email", "say which columns have the names, in place of A and B: " + typed + "--map Y=email,A=firstName,B=lastName"},
		{&mapping.ColumnsError{Code: mapping.ColumnsNoName, Headers: []string{"X"}}, "", "if that column has the names, say so in place of A: " + typed + "--map A=name"},
	} {
		l := newList(cli.Env{Context: t.Context()})
		must(t, l.flags.Parse(append([]string{"my.csv", "--tenant", "A"}, strings.Fields(tt.line)...)))
		l.path, l.content = "my.csv", []byte("A,B\n1,2\n")
		var said strings.Builder
		if code := cli.PrintError(l.explain(tt.err), &said); code != 1 || !strings.HasPrefix(said.String(), `Error: "my.csv": `) ||
			!strings.HasSuffix(said.String(), "\nTry: "+tt.want+"\n") || strings.Count(said.String(), "\n") != 2+strings.Count(tt.want, "\n") {
			t.Errorf("code %d, and it says:\n%swant the hint:\n%s", code, &said, tt.want)
		}
	}
	stopped := newList(cli.Env{}).explain(fmt.Errorf("matching: %w", context.Canceled))
	if stopped == nil || stopped.Error() != "stopped; nothing was changed" {
		t.Errorf("stopped: %v", stopped)
	}
	l, other := newList(cli.Env{}), errors.New("it broke")
	if err := l.explain(other); err != other || l.explain(nil) != nil {
		t.Errorf("%v", err)
	}
}

// TestShown: what a file holds cannot control the terminal, and cannot fill it.
func TestShown(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"Ana\tČović\r\n":         "Ana Čović  ",
		"\x1b[31mred\u009b0m":    " [31mred 0m",
		strings.Repeat("č", 201): strings.Repeat("č", 200) + "…",
		strings.Repeat("č", 200): strings.Repeat("č", 200),
	} {
		if got := shown(cell); got != want {
			t.Errorf("%q is shown as %q", cell, got)
		}
	}
}
