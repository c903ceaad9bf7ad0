package exchange

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// TestExplain checks that the hint of an error keeps the typed flags.
func TestExplain(t *testing.T) {
	t.Parallel()
	const typed = "firefighters import my.csv --department A "
	for _, tt := range []struct {
		err  error
		line string // of flags
		want string // of the hint
	}{
		{&sheet.FileError{Code: sheet.FileNothing}, "", ""},
		{&sheet.FileError{Code: sheet.FilePDF}, "", "use the spreadsheet that the PDF was made from, or copy the table into a spreadsheet and save it as .xlsx"},
		{&sheet.FileError{Code: sheet.FileSheets, Args: []any{"A B, C"}, Sheets: []string{"A B", "C"}}, "", typed + "--sheet " + cli.Quote("A B") + "\n" + typed + "--sheet C"},
		{&sheet.FileError{Code: sheet.FileSheet, Args: []any{"C", "A"}, Sheets: []string{"A"}}, "--sheet C", typed + "--sheet A"},
		{&sheet.FileError{Code: sheet.FileEncoding, Args: []any{"utf-8"}}, "--encoding utf-8", strings.TrimSpace(typed)},
		{&mapping.ColumnsError{Code: mapping.ColumnsTwice, Field: "firstName", Headers: []string{"My Name", "First"}, Settled: mapping.Header{Header: "My Name", Field: "firstName"}}, "", typed + "--map " + cli.Quote("My Name=firstName")},
		{&mapping.ColumnsError{Code: mapping.ColumnsTwice, Field: "firstName", Headers: []string{"A", "B"}, Settled: mapping.Header{Header: "A", Field: "firstName"}}, "--map Handy=phoneNumber", typed + "--map Handy=phoneNumber,A=firstName"},
		{&mapping.ColumnsError{Code: mapping.ColumnsTwice, Field: mapping.FullName, Headers: []string{"A, B", "C"}, Settled: mapping.Header{Header: `"A", B`, Field: mapping.LastFirst}}, "", typed + "--map " + cli.Quote(`"""A"", B"=nameReversed`)},
		{&mapping.ColumnsError{Code: mapping.ColumnsUnknown, Headers: []string{"X"}}, "--map X=email", ""},
		{&mapping.ColumnsError{Code: mapping.ColumnsNoName, Headers: []string{"X", "Y"}}, "", "with the headers of the names in place of A and B: " + typed + "--map A=firstName,B=lastName"},
		{&mapping.ColumnsError{Code: mapping.ColumnsNoName, Headers: []string{"X", "Y"}}, "--map Y=email", "with the headers of the names in place of A and B: " + typed + "--map Y=email,A=firstName,B=lastName"},
		{&mapping.ColumnsError{Code: mapping.ColumnsNoName, Headers: []string{"X"}}, "", "if it does: " + typed + "--map X=name"},
	} {
		cmd := Commands{}.importCommand()
		(&cobra.Command{Use: "firefighters"}).AddCommand(cmd)
		must(t, cmd.Flags().Parse(append([]string{"my.csv", "--department", "A"}, strings.Fields(tt.line)...)))
		i := &importing{cmd: cmd, path: "my.csv", columns: cmd.Flag("map").Value.String()}
		err := i.explain(tt.err)
		if hint := cli.HintOf(err); hint != tt.want || !strings.HasPrefix(err.Error(), `"my.csv": `) {
			t.Errorf("%v\nhint:\n%s\nwant:\n%s", err, hint, tt.want)
		}
	}
	i, other := &importing{}, errors.New("it broke")
	if err := i.explain(other); err != other || i.explain(nil) != nil {
		t.Errorf("%v", err)
	}
}

// TestShown checks that the content of a file cannot control or flood the terminal.
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
