package imports

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// constants returns the values of the constants of a file whose names begin with
// a prefix.
func constants(t *testing.T, file, prefix string) (values []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, prefix) && len(spec.Values) == 1 {
			if text, ok := spec.Values[0].(*ast.BasicLit); ok {
				values = append(values, strings.Trim(text.Value, `"`))
			}
		}
		return true
	})
	if len(values) == 0 {
		t.Fatalf("%s has no constants %s…", file, prefix)
	}
	return values
}

func TestEveryCodeHasWords(t *testing.T) {
	t.Parallel()
	for _, code := range constants(t, "../sheet/sheet.go", "File") {
		e := &sheet.FileError{Code: code}
		if code == sheet.FileTooMany {
			e.Args = []any{"rows", 1}
		}
		if what, _, ok := English.Explain(e); !ok || strings.HasPrefix(what, "file.") || !strings.HasSuffix(what, ".") {
			t.Errorf("the code %q of a file: %q", code, what)
		}
	}
	for _, code := range constants(t, "../mapping/mapping.go", "Columns") {
		if what := English.Say(&mapping.ColumnsError{Code: code, Headers: []string{"a", "b"}}); strings.HasPrefix(what, "columns.") || !strings.HasSuffix(what, ".") {
			t.Errorf("the code %q of columns: %q", code, what)
		}
	}
	for _, file := range []string{"../sheet/sheet.go", "../mapping/mapping.go", "outcome.go"} {
		for _, code := range constants(t, file, "Note") {
			if !slices.Contains(messages().Keys(), "note."+code) {
				t.Errorf("the note %q has no words", code)
			}
		}
	}
}

// whys are all reasons for which a row is Perhaps.
var whys = []string{EmailAndBirth, PhoneAndBirth, Spelling, Swapped, BirthAndName, MixedNames}

// TestNoEnglishWithin: what a program says of a damaged file is English, so that other
// languages leave it out. Each has words of its own for each reason.
func TestNoEnglishWithin(t *testing.T) {
	t.Parallel()
	said := map[string]string{}
	for _, l := range lang.All() {
		w := English
		w.Language = l
		what, _, _ := w.Explain(&sheet.FileError{Code: sheet.FileDamaged, Args: []any{"line 3: unexpected end"}})
		if strings.Contains(what, "unexpected") != (l.Tag == "en") {
			t.Errorf("%s: %s", l.Tag, what)
		}
		for _, why := range whys {
			text := w.Why(why)
			if strings.HasPrefix(text, "why.") || said[text] != "" {
				t.Errorf("%s: the reason %s is %q, as in %s", l.Tag, why, text, said[text])
			}
			said[text] = l.Tag
		}
	}
}

// TestMessagesAreUsed: each message of the catalogue is that of a code, or is asked for
// by its key.
func TestMessagesAreUsed(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for prefix, codes := range map[string][]string{
		"file.": constants(t, "../sheet/sheet.go", "File"),
		"note.": slices.Concat(constants(t, "../sheet/sheet.go", "Note"), constants(t, "../mapping/mapping.go", "Note"),
			constants(t, "outcome.go", "Note")),
		"columns.": constants(t, "../mapping/mapping.go", "Columns"),
		"rows.":    constants(t, "options.go", "Rows"),
		"why.":     whys,
	} {
		for _, code := range codes {
			used[prefix+code], used[prefix+code+".do"] = true, true
		}
	}
	for _, what := range []string{"rows", "columns", "cells"} {
		used["file."+sheet.FileTooMany+"."+what] = true
	}
	code, err := os.ReadFile("words.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range messages().Keys() {
		if !used[key] && !strings.Contains(string(code), `"`+key+`"`) {
			t.Errorf("the message %s is not used", key)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want string
	}{
		{&sheet.FileError{Code: sheet.FileOldExcel}, "This is an Excel 97–2003 workbook (.xls). Open it in Excel or LibreOffice and save it as .xlsx."},
		{fmt.Errorf("reading: %w", &sheet.FileError{Code: sheet.FileEmpty}), "The file has no row below a header. Save the list with a row of headers, and below it a row for each person."},
		{&sheet.FileError{Code: sheet.FileTooMany, Args: []any{"rows", 100_000}}, "The file has too many rows: the limit is 100000. Save the list of people alone."},
		{&sheet.FileError{Code: sheet.FileQuote, Args: []any{1200}}, "The quote that begins in row 1200 does not end. Correct that row, or save the list as .xlsx."},
		{&sheet.FileError{Code: sheet.FileSheets, Args: []any{"Members, Youth"}}, "The workbook has several sheets: Members, Youth."},
		{&mapping.ColumnsError{Code: mapping.ColumnsTwice, Field: "phoneNumber", Headers: []string{"Handy", "Mobil"}}, `Several columns could be phoneNumber: "Handy" and "Mobil".`},
		{&mapping.ColumnsError{Code: mapping.ColumnsNoName, Headers: []string{"a", "b", "c"}}, `No column has names. The columns are "a", "b" and "c". Say which of them are firstName and lastName, or which one is name.`},
		{&mapping.ColumnsError{Code: mapping.ColumnsNoName, Headers: []string{"a"}}, `The only column, "a", does not have names. If it does, say that it is name.`},
		{&mapping.ColumnsError{Code: mapping.ColumnsUnknown, Headers: []string{"x"}}, `The file has no column "x".`},
		{&mapping.DatesError{Header: "Birthday", Example: "05/06/1990"}, `The dates in the column "Birthday", such as "05/06/1990", could be day first or month first.`},
		{&mapping.DatesError{Header: "Birthday", Example: "26/06/1990", Other: "06/26/1990"}, `The dates in the column "Birthday" are written in different orders: "26/06/1990" and "06/26/1990".`},
		{&EncodingError{[]Candidate{{sheet.Windows1252, []string{"Ana Èoviæ", "Ivo"}}, {sheet.Windows1250, []string{"Ana Čović", "Ivo"}}}}, `The encoding is not certain. In windows-1252: "Ana Èoviæ", "Ivo". In windows-1250: "Ana Čović", "Ivo". If none of these is right, save the list as .xlsx in the program it comes from.`},
		{&RowsError{"same", RowsUnknown, 1200}, "The file has no row 1200."},
		{&RowsError{"same", RowsBoth, 12}, "Row 12 cannot be both somebody who is there and somebody new."},
		{errors.New("another"), ""},
	} {
		if got := English.Say(test.err); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

func TestWarning(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		note sheet.Note
		want string
	}{
		{sheet.Note{Code: mapping.NoteTwoDigits, Args: []any{1}}, "The year of 1 date has two digits. It was read as the latest that is not in the future."},
		{sheet.Note{Code: mapping.NoteTwoDigits, Args: []any{2}}, "The years of 2 dates have two digits. Each was read as the latest that is not in the future."},
		{sheet.Note{Code: mapping.NoteTwoDigits, Args: []any{1500}}, "The years of 1500 dates have two digits. Each was read as the latest that is not in the future."},
		{sheet.Note{Code: mapping.NoteNoDate, Args: []any{3, sheet.Quoted("0/0/00")}}, `3 cells with "0/0/00" were read as no date.`},
		{sheet.Note{Code: mapping.NoteCapitals, Args: []any{1, sheet.Places{First: []sheet.Place{{Text: "ANA KOS", Row: 7}}}}}, `1 name is in capitals throughout: "ANA KOS" in row 7.`},
		{sheet.Note{Code: mapping.NoteCapitals, Args: []any{3000, sheet.Places{First: []sheet.Place{{Text: "ANA KOS", Row: 2}, {Text: "EVA KOS", Row: 1300}}, More: true}}},
			`3000 names are in capitals throughout: "ANA KOS" in row 2, "EVA KOS" in row 1300 and others.`},
	} {
		if got := English.Note(test.note); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestPlaces: rows are listed in each language.
func TestPlaces(t *testing.T) {
	t.Parallel()
	note := sheet.Note{Code: mapping.NoteTitles, Args: []any{1, sheet.Places{First: []sheet.Place{{Text: "Dr.", Row: 1200}}}}}
	for tag, want := range map[string]string{
		"en": "1 name has a title, which was left out: Dr. in row 1200.", "de": "1 Name hat einen Titel, der ausgelassen wird: Dr. in Zeile 1200.",
		"fr": "1 nom a un titre, qui est laissé de côté\u00a0: Dr. à la ligne 1200.", "es": "1 nombre tiene un título, que se omite: Dr. en la fila 1200.",
		"hr": "1 ime ima titulu, koja se izostavlja: Dr. u retku 1200.",
	} {
		w := Words{Language: lang.ByTag(tag), Show: asIs, Quote: asIs, Field: asIs}
		if got := w.Note(note); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}

// TestManyRows: the rows that mean one person are a plural in each language, also where
// their number is 21.
func TestManyRows(t *testing.T) {
	t.Parallel()
	row := &Row{Others: make([]int, 21)}
	for tag, want := range map[string]string{"en": "rows", "de": "Zeilen", "fr": "lignes", "es": "filas", "hr": "retci"} {
		w := Words{Language: lang.ByTag(tag), Show: asIs, Quote: asIs, Field: asIs}
		if got, _ := w.Row(record.FieldError{Field: mapping.FullName, Code: record.Duplicate}, row); !strings.Contains(got, " "+want+" ") {
			t.Errorf("%s: %q", tag, got)
		}
	}
}
