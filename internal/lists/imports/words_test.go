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

// constants returns the values of the constants in a file whose names start with a prefix.
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
			t.Errorf("file code %q: %q", code, what)
		}
	}
	for _, code := range constants(t, "../mapping/mapping.go", "Columns") {
		if what := English.Say(&mapping.ColumnsError{Code: code, Headers: []string{"a", "b"}}); strings.HasPrefix(what, "columns.") || !strings.HasSuffix(what, ".") {
			t.Errorf("column code %q: %q", code, what)
		}
	}
	for _, file := range []string{"../sheet/sheet.go", "../mapping/mapping.go", "outcome.go"} {
		for _, code := range constants(t, file, "Note") {
			if !slices.Contains(messages().Keys(), "note."+code) {
				t.Errorf("note %q has no message", code)
			}
		}
	}
}

// TestSkip checks that each reason to leave out a row has a message.
func TestSkip(t *testing.T) {
	t.Parallel()
	for _, why := range constants(t, "../mapping/skip.go", "Skip") {
		if text := English.Skip(why); strings.HasPrefix(text, "skip.") {
			t.Errorf("%s has no message", why)
		}
	}
}

// kinds returns the kinds of all questions.
func kinds(t *testing.T) []string {
	return slices.Concat(constants(t, "../sheet/question.go", "Ask"), constants(t, "../mapping/mapping.go", "Ask"))
}

// TestKinds checks that each kind of question can be answered, and has messages in each language for
// itself and its fixed options.
func TestKinds(t *testing.T) {
	t.Parallel()
	if all := kinds(t); len(all) != len(Kinds) {
		t.Errorf("%d kinds, %d with answers", len(all), len(Kinds))
	}
	for kind, values := range Kinds {
		for _, value := range values {
			if label, _ := English.Option(kind, sheet.Option{Value: value}); label == value {
				t.Errorf("the option %s of %s has no message", value, kind)
			}
		}
		if text := English.Question(sheet.Question{Kind: kind}); strings.HasPrefix(text, "ask.") {
			t.Errorf("the kind %s has no message", kind)
		}
	}
	for text, want := range map[string]string{"dates": record.Invalid, "dates:": record.Invalid, "dates:x": record.Invalid, "x:y": record.Unknown,
		"dates:dmy": "", "encoding:IBM852": "", "zero:true": ""} {
		o, code := Options{}, ""
		err := o.SetAnswer(text)
		if e, ok := errors.AsType[*record.TextError](err); ok {
			code = e.Code
		}
		if code != want || (err == nil) != (len(o.Answers) == 1) {
			t.Errorf("%s: %v, %v", text, err, o.Answers)
		}
	}
	o := Options{}
	if err := errors.Join(o.SetAnswer("encoding:ibm852"), o.SetAnswer("encoding:cp852")); err != nil || o.SetAnswer("encoding:cp850") == nil {
		t.Errorf("twice: %v, %v", err, o.Answers)
	}
}

// whys are all reasons for Perhaps.
var whys = []string{EmailAndBirth, PhoneAndBirth, Spelling, SameName, Born, Swapped, BirthAndName, MixedNames}

// TestNoEnglishWithin checks that other languages omit English error texts of libraries, and that
// each reason has its own text.
func TestNoEnglishWithin(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	for _, l := range lang.All() {
		w := English
		w.Language = l
		what, _, _ := w.Explain(&sheet.FileError{Code: sheet.FileDamaged, Args: []any{"line 3: unexpected end"}})
		if strings.Contains(what, "unexpected") != (l.Tag == "en") {
			t.Errorf("%s: %s", l.Tag, what)
		}
		for _, why := range whys {
			text := w.Why(&Row{}, Like{Why: why})
			if strings.HasPrefix(text, "why.") || texts[text] != "" {
				t.Errorf("%s: reason %s is %q, the same as %s", l.Tag, why, text, texts[text])
			}
			texts[text] = l.Tag
		}
	}
}

// TestContradiction checks that people of one name with different dates of birth are shown with them.
func TestContradiction(t *testing.T) {
	t.Parallel()
	born := func(day string) record.Fields { return record.Fields{DateOfBirth: day + "T00:00:00Z"} }
	for _, test := range []struct{ ours, theirs, want string }{
		{"1960-01-02", "1990-05-15", "same name, but born 1960, not 1990: father and son?"},
		{"1990-05-15", "1960-01-02", "same name, but born 1990, not 1960: father and son?"},
		{"1990-05-15", "1991-05-15", "same name, but born on 15 May 1990, not on 15 May 1991"},
	} {
		if got := English.Why(&Row{Fields: born(test.theirs)}, Like{Why: SameName, Person: born(test.ours)}); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestMessagesAreUsed checks that each message belongs to a code or is used by its key.
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
		"ask.":     kinds(t),
		"skip.":    constants(t, "../mapping/skip.go", "Skip"),
	} {
		for _, code := range codes {
			used[prefix+code], used[prefix+code+".do"] = true, true
			for _, option := range Kinds[code] {
				used[prefix+code+"."+option] = true
			}
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
			t.Errorf("message %s is unused", key)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want string
	}{
		{&sheet.FileError{Code: sheet.FileOldExcel}, "This is an old Excel workbook (.xls). Open it in LibreOffice or Excel, choose File, Save As and the type Excel (.xlsx), and import the new file."},
		{fmt.Errorf("reading: %w", &sheet.FileError{Code: sheet.FileEmpty}), "The file has no rows below the header row. Add a header row and one row for each person, then save the list again."},
		{&sheet.FileError{Code: sheet.FileTooMany, Args: []any{"rows", 100_000}}, "The file has too many rows. The limit is 100000. Save only the list of people."},
		{&sheet.FileError{Code: sheet.FileQuote, Args: []any{1200}}, "Row 1200 has an opening quotation mark without a closing one. Correct that row or save the list as .xlsx."},
		{&sheet.FileError{Code: sheet.FileSheets, Args: []any{"Members, Youth"}}, "The workbook has several sheets: Members, Youth."},
		{&mapping.ColumnsError{Code: mapping.ColumnsTwice, Field: "phoneNumber", Headers: []string{"Handy", "Mobil"}}, `Several columns could be phoneNumber: "Handy" and "Mobil".`},
		{&mapping.ColumnsError{Code: mapping.ColumnsNoName, Headers: []string{"a", "b", "c"}}, `No column contains names. The columns are "a", "b" and "c". Choose the columns for firstName and lastName, or the column for name.`},
		{&mapping.ColumnsError{Code: mapping.ColumnsNoName, Headers: []string{"a"}}, `The only column, "a", does not appear to contain names. If it does, choose name for it.`},
		{&mapping.ColumnsError{Code: mapping.ColumnsUnknown, Headers: []string{"x"}}, `The file has no column "x".`},
		{&RowsError{"same", RowsUnknown, 1200}, "The file has no row 1200."},
		{&RowsError{"same", RowsBoth, 12}, "Row 12 cannot be both an existing person and a new one."},
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
		{sheet.Note{Code: mapping.NoteTwoDigits, Args: []any{1, "84", "1984"}}, "84 was read as 1984."},
		{sheet.Note{Code: mapping.NoteTwoDigits, Args: []any{2, "84", "1984"}}, "2 dates have two-digit years: 84 was read as 1984."},
		{sheet.Note{Code: mapping.NoteTwoDigits, Args: []any{1500, "84", "1984"}}, "1500 dates have two-digit years: 84 was read as 1984."},
		{sheet.Note{Code: mapping.NoteNoValue, Args: []any{3, sheet.Quoted("n/a")}}, `3 cells count as empty, such as "n/a".`},
		{sheet.Note{Code: mapping.NoteCapitals, Args: []any{1, sheet.Places{First: []sheet.Place{{Text: "ANA KOS", Row: 7}}}}}, `1 name is in capital letters: "ANA KOS" in row 7.`},
		{sheet.Note{Code: mapping.NoteCapitals, Args: []any{3000, sheet.Places{First: []sheet.Place{{Text: "ANA KOS", Row: 2}, {Text: "EVA KOS", Row: 1300}}, More: true}}},
			`3000 names are in capital letters: "ANA KOS" in row 2, "EVA KOS" in row 1300 and others.`},
	} {
		if got := English.Note(test.note); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestPlaces checks the list of rows in each language.
func TestPlaces(t *testing.T) {
	t.Parallel()
	note := sheet.Note{Code: mapping.NoteTitles, Args: []any{1, sheet.Places{First: []sheet.Place{{Text: "OBI", Row: 1200}}}}}
	for tag, want := range map[string]string{
		"en": "A salutation or rank was left out of 1 name: OBI in row 1200.",
		"de": "Bei 1 Namen wird die Anrede oder der Dienstgrad weggelassen: OBI in Zeile 1200.",
		"fr": "La civilité ou le grade est retiré de 1 nom\u00a0: OBI à la ligne 1200.",
		"es": "Se quita el tratamiento o el grado de 1 nombre: OBI en la fila 1200.",
		"hr": "Iz 1 imena izostavlja se oslovljavanje ili čin: OBI u retku 1200.",
	} {
		w := Words{Language: lang.ByTag(tag), Show: asIs, Quote: asIs, Field: asIs}
		if got := w.Note(note); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}

// TestManyRows checks the plural of row lists in each language, including 21 rows.
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
