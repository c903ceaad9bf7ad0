package sheet

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"

	"github.com/firefighter-records/firefighters/internal/lists/internal/charset"
)

// show returns a table on one line: its format, the header, then each row with its number.
func show(t *Table) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s%s%s%s %q", t.Format, t.Encoding, t.Delimiter, t.Sheet, t.Header)
	for _, row := range t.Rows {
		fmt.Fprintf(&s, " %d%q", row.Number, textsOf(row))
	}
	return s.String()
}

func textsOf(row Row) []string {
	all := make([]string, len(row.Cells))
	for i, cell := range row.Cells {
		all[i] = cell.Text
	}
	return all
}

func checkCode(t *testing.T, name string, err error, code string) {
	t.Helper()
	var file *FileError
	if !errors.As(err, &file) || file.Code != code {
		t.Errorf("%s: got the error %+v, want %s", name, err, code)
	}
}

func TestCSV(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, want string }{
		{"comma", "a,b\n1,2\n", `csvutf-8, ["a" "b"] 2["1" "2"]`},
		{"semicolon", "a;b\r\n1,5;2,5\r\n", `csvutf-8; ["a" "b"] 2["1,5" "2,5"]`},
		{"tab", "a\tb c\n1\t2; 3, 4\n", "csvutf-8\t [\"a\" \"b c\"] 2[\"1\" \"2; 3, 4\"]"},
		{"bar", "a|b\n1|2\n", `csvutf-8| ["a" "b"] 2["1" "2"]`},
		{"old Mac line ends", "a,b\r1,2\r3,4", `csvutf-8, ["a" "b"] 2["1" "2"] 3["3" "4"]`},
		{"mixed line ends", "a,b\r\n1,2\r3,4\n5,6", `csvutf-8, ["a" "b"] 2["1" "2"] 3["3" "4"] 4["5" "6"]`},
		{"empty lines", "\n\na,b\n\n1,2\n , \n3,4\n\n", `csvutf-8, ["a" "b"] 5["1" "2"] 7["3" "4"]`},
		{"line breaks in quotes", "a,b\n\"x\ny\r\nz\",2\n3,4\n", `csvutf-8, ["a" "b"] 2["x\ny\r\nz" "2"] 3["3" "4"]`},
		{"doubled quotes", `a,b` + "\n" + `"Ivo ""Ivica"" A",""` + "\n" + `"""",1`, `csvutf-8, ["a" "b"] 2["Ivo \"Ivica\" A"] 3["\"" "1"]`},
		{"quotes inside", `a,b` + "\n" + `Ivo "Ivica" A,6"`, `csvutf-8, ["a" "b"] 2["Ivo \"Ivica\" A" "6\""]`},
		{"text after quotes", `a,b` + "\n" + `"Ivo" A,1`, `csvutf-8, ["a" "b"] 2["Ivo A" "1"]`},
		{"spaces around quotes", `"a", "b"` + "\n" + `"1, 2" , "3"`, `csvutf-8, ["a" "b"] 2["1, 2" "3"]`},
		{"quotes in a text after a space", "a,b\n" + `1, "Ivo" A`, `csvutf-8, ["a" "b"] 2["1" "\"Ivo\" A"]`},
		{"delimiter in the quotes", "a;\"b;c\"\n1;\"2;3\"\n", `csvutf-8; ["a" "b;c"] 2["1" "2;3"]`},
		{"short and long rows", "a,b,c\n1\n1,2,3,4\n1,2\n1,2,3\n", `csvutf-8, ["a" "b" "c"] 2["1"] 3["1" "2" "3" "4"] 4["1" "2"] 5["1" "2" "3"]`},
		{"trailing columns", "a,b,,\n1,2,,\n", `csvutf-8, ["a" "b"] 2["1" "2"]`},
		{"duplicate headers", "a,a\n1,2\n", `csvutf-8, ["a" "a"] 2["1" "2"]`},
		{"sep", "sep=;\r\na,x;b\r\n1;2", `csvutf-8; ["a,x" "b"] 2["1" "2"]`},
		{"quoted sep", "\"SEP=\t\"\na,b\tc\n1\t2", "csvutf-8\t [\"a,b\" \"c\"] 2[\"1\" \"2\"]"},
		{"sep of one column", "sep=;\nName\nHorvat, Ivan\n", `csvutf-8; ["Name"] 2["Horvat, Ivan"]`},
		{"one column", "Name\nIvan Horvat\n", `csvutf-8 ["Name"] 2["Ivan Horvat"]`},
		{"one column with commas", "Name\nHorvat, Ivan\nBabić, Ana\n", `csvutf-8 ["Name"] 2["Horvat, Ivan"] 3["Babić, Ana"]`},
		{"one column with a delimiter in its header", "Namen, alphabetisch\nIvan Horvat\nAna Babić\nEva Anić\n", `csvutf-8 ["Namen, alphabetisch"] 2["Ivan Horvat"] 3["Ana Babić"] 4["Eva Anić"]`},
		{"one quoted column", "\"Name\"\n\"Horvat, Ivan\"\n", `csvutf-8 ["Name"] 2["Horvat, Ivan"]`},
		{"quotes around lines", "\"a;b;c\"\r\n\"1;2;3\"\r\n\"1;\"\"2;3\"\"\"\r\n\"1;2\"\r\n", `csvutf-8; ["a" "b" "c"] 2["1" "2" "3"] 3["1" "2;3"] 4["1" "2"]`},
		{"quotes around some lines", "a;b;c\n1;2;3\n\"1;2,5;3\"\n", `csvutf-8; ["a" "b" "c"] 2["1" "2" "3"] 3["1" "2,5" "3"]`},
		{"quotes around the only cell of a row", "a;b\n\"1;2\";\n\"3;4\";\n", `csvutf-8; ["a" "b"] 2["1;2"] 3["3;4"]`},
		{"quotes around a title", "\"x; y\"\na;b;c\n1;2;3\n", `csvutf-8; ["a" "b" "c"] 3["1" "2" "3"]`},
		{"quotes around a note", "a,b,c\n1,2,3\n\"call Ana, please\"\n", `csvutf-8, ["a" "b" "c"] 2["1" "2" "3"] 3["call Ana, please"]`},
		{"HTML codes before delimiters", "a;b\nM&uuml;ller;x &;y\n", `csvutf-8; ["a" "b"] 2["M&uuml;ller" "x &" "y"]`},
		{"guards before texts that would be unwrapped", "a,b,c\n'M&uuml;ller,'0,'=Ã¼\n", `csvutf-8, ["a" "b" "c"] 2["M&uuml;ller" "'0" "=Ã¼"]`},
		{"UTF-8 decoded twice", "VornÃ¤me\u200b,b\nMarÃ\u00ada,VitÃ\u00a0\n", `csvutf-8, ["Vornäme" "b"] 2["MarÃ\u00ada" "VitÃ\u00a0"]`},
		{"header and rows of two words", "Name, Vorname\nHorvat, Ivan\n", `csvutf-8, ["Name" "Vorname"] 2["Horvat" "Ivan"]`},
		{"a comma in a heading", "Name;Adresse (Straße, Ort);Tel\nA;Weg 1, Wien;1\nB;Weg 2, Graz\n", `csvutf-8; ["Name" "Adresse (Straße, Ort)" "Tel"] 2["A" "Weg 1, Wien" "1"] 3["B" "Weg 2, Graz"]`},
		{"short rows, and a comma in each", "Name;Adresse, Ort;Tel;Mail\nA;Weg 1, Wien\nB;Weg 2, Graz\n", `csvutf-8; ["Name" "Adresse, Ort" "Tel" "Mail"] 2["A" "Weg 1, Wien"] 3["B" "Weg 2, Graz"]`},
		{"a title", "Mitglieder 2025;;\n;;\nName;Tel;Mail\nA;1;a@b.hr\n", `csvutf-8; ["Name" "Tel" "Mail"] 4["A" "1" "a@b.hr"]`},
		{"a title without delimiters", "Mitglieder\n\nVorname,Name,Tel\nA,B,1\n", `csvutf-8, ["Vorname" "Name" "Tel"] 4["A" "B" "1"]`},
		{"no title: data is no header", "Name;\nHorvat;0911234567\n", `csvutf-8; ["Name"] 2["Horvat" "0911234567"]`},
		{"no title: an address is no header", "Name;\nHorvat;a@b.hr\nAnić;c@d.hr\n", `csvutf-8; ["Name"] 2["Horvat" "a@b.hr"] 3["Anić" "c@d.hr"]`},
		{"no title: nothing below it", "a b;c d\nx\ty\n", `csvutf-8 ["a b;c d"] 2["x\ty"]`},
		{"guards", "a,b,c\n'=1,'+385,'-x\n'@a,''O,'O\n\"'\tx\",'',x'=\n", `csvutf-8, ["a" "b" "c"] 2["=1" "+385" "-x"] 3["@a" "'O" "'O"] 4["\tx" "'" "x'="]`},
		{"white space", "a ,\u00a0b\n \u00a0x\t, y z \n", `csvutf-8, ["a" "b"] 2["x" "y z"]`},
		{"byte order marks", "\ufeff\ufeff\"a\",b\n1,2\n", `csvutf-8, ["a" "b"] 2["1" "2"]`},
		{"byte order mark in quotes", "\"\ufeffa\",b\n1,2\n", `csvutf-8, ["a" "b"] 2["1" "2"]`},
		{"invisible characters", "\u200ba,b\u2060\n\u202a1\u202c,\u200b\nعلی\u200cرضا\u200b ,\u200b 2\n", `csvutf-8, ["a" "b"] 2["1"] 3["علی\u200cرضا" "2"]`},
		{"end of file of DOS", "a,b\n1,2\n\x1a", `csvutf-8, ["a" "b"] 2["1" "2"]`},
		{"looks like SYLK", "ID;Prezime\n1;Anić\n", `csvutf-8; ["ID" "Prezime"] 2["1" "Anić"]`},
		{"looks like XML", "<Name>;b\n1;2\n", `csvutf-8; ["<Name>" "b"] 2["1" "2"]`},
		{"looks like JSON", "{a};b\n1;2\n", `csvutf-8; ["{a}" "b"] 2["1" "2"]`},
	} {
		got, err := Read(t.Context(), []byte(test.file), Options{})
		if err != nil || show(got) != test.want {
			t.Errorf("%s: %v\n got %s\nwant %s", test.name, err, show(cmpTable(got)), test.want)
		}
	}
}

// cmpTable returns a table that can be shown.
func cmpTable(t *Table) *Table {
	if t == nil {
		return &Table{}
	}
	return t
}

func TestHeaderRow(t *testing.T) {
	t.Parallel()
	got, err := Read(t.Context(), []byte("\nTitel;\nStand 2025;\nVorname;Name\nA;B\n"), Options{})
	if err != nil || got.HeaderRow != 4 || got.Rows[0].Number != 5 || !reflect.DeepEqual(got.Notes, []Note{{NoteTitle, []any{2, Quoted("Titel")}}}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	const text = "Vorname;Name\r\nÄnne;Müller\r\n"
	const croatian = "Ime;Prezime\r\nŽeljko;Ćosić\r\n"
	units := utf16.Encode([]rune(croatian))
	little, big := make([]byte, 0), make([]byte, 0)
	for _, u := range units {
		little, big = append(little, byte(u), byte(u>>8)), append(big, byte(u>>8), byte(u))
	}
	western, err := charmap.Windows1252.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	eastern, err := charmap.Windows1250.NewEncoder().String(croatian)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, file, forced   string
		want, encoding, last string
		other                string // last name read as windows-1250, if the encoding was guessed
	}{
		{"UTF-8", text, "", "Änne", UTF8, "Müller", ""},
		{"UTF-8 with mark", "\ufeff" + text, "", "Änne", UTF8, "Müller", ""},
		{"ASCII", "a;b\nx;y", "", "x", UTF8, "y", ""},
		{"little endian", string(little), "", "Željko", UTF16, "Ćosić", ""},
		{"little endian with mark", "\xFF\xFE" + string(little), "", "Željko", UTF16, "Ćosić", ""},
		{"big endian", string(big), "", "Željko", UTF16, "Ćosić", ""},
		{"big endian with mark", "\xFE\xFF" + string(big), UTF16, "Željko", UTF16, "Ćosić", ""},
		{"western, the same in both", western, "", "Änne", Windows1252, "Müller", "Müller"},
		{"eastern", eastern, "", "Željko", Windows1252, "Æosiæ", "Ćosić"},
		{"eastern, asked for", eastern, Windows1250, "Željko", Windows1250, "Ćosić", ""},
		{"western, asked for", eastern, Windows1252, "Željko", Windows1252, "Æosiæ", ""},
		{"not assigned", "a;b\nx;\x8d", "", "x", Windows1252, "\ufffd", "Ť"},
		{"not assigned in 1250", "a;b\nx;\x83", "", "x", Windows1252, "ƒ", "\ufffd"},
		{"mark and another one asked for", "\ufeffa;b\nx;\u00e4", Windows1252, "x", Windows1252, "Ã¤", ""},
	} {
		got, err := Read(t.Context(), []byte(test.file), Options{Encoding: test.forced})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if cells := textsOf(got.Rows[0]); !slices.Equal(cells, []string{test.want, test.last}) || got.Encoding != test.encoding || strings.Contains(got.Header[0], "ï") {
			t.Errorf("%s: got %q in %s", test.name, cells, got.Encoding)
		}
		other := ""
		if got.Guess != nil {
			other = charset.Decode(got.Guess.Rows[0].Cells[1].Text, Windows1250)
		}
		if other != test.other {
			t.Errorf("%s: other reading is %q, want %q", test.name, other, test.other)
		}
	}
}

func TestWrongEncoding(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, forced string }{
		{"not UTF-8", "a;b\n\xe4;x", UTF8},
		{"mark, not UTF-8", "\ufeffa;b\n\xe4;x", ""},
		{"odd length", "\xFF\xFEa\x00;\x00b", ""},
		{"UTF-16 as UTF-8", "a\x00;\x00b\x00\n\x00", UTF8},
		{"UTF-16 as a code page", "a\x00;\x00b\x00\n\x00", Windows1252},
		{"unknown", "a;b\n1;2", "latin-7"},
	} {
		_, err := Read(t.Context(), []byte(test.file), Options{Encoding: test.forced})
		checkCode(t, test.name, err, FileEncoding)
	}
}

func TestSurrogates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"\x3D\xD8\x92\xDE": "🚒", "\x3D\xD8a\x00": "\ufffda", "\x3D\xD8": "\ufffd"} {
		got, err := Read(t.Context(), []byte("\xFF\xFEa\x00\n\x00"+text), Options{})
		if err != nil || got.Rows[0].Cells[0].Text != want {
			t.Errorf("%q is read as %+v, %v", text, got, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	utf16Name := func(s string) string { return strings.Join(strings.Split(s, ""), "\x00") + "\x00" }
	const compound = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\x00\x00"
	for _, test := range []struct{ code, file string }{
		{FileNothing, ""},
		{FileNothing, "\ufeff \r\n\t\n"},
		{FileEmpty, "Vorname;Name\n\n;;\n"},
		{FileEmpty, ",,,\n,,\n"},
		{FileOldExcel, compound + utf16Name("Root Entry") + utf16Name("Workbook")},
		{FileOldExcel, compound + utf16Name("Book")},
		{FileOldExcel, "\x09\x08\x10\x00\x00\x06\x05\x00"},
		{FileEncrypted, compound + utf16Name("EncryptionInfo") + utf16Name("EncryptedPackage")},
		{FileWord, compound + utf16Name("WordDocument")},
		{FilePDF, "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"},
		{FilePDF, "\r\n%PDF-1.4"},
		{FileHTML, "<html><body><table><tr><td>Vorname</td></tr></table>"},
		{FileHTML, "\ufeff\n<!DOCTYPE HTML>\n<title>x</title>"},
		{FileHTML, "<?xml version='1.0'?><html xmlns:x='urn:schemas-microsoft-com:office:excel'>"},
		{FileHTML, "MIME-Version: 1.0\nContent-Type: multipart/related\n"},
		{FileXML, `<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet">`},
		{FileXML, `<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet ss:Name="A"><Table>`},
		{FileBinary, "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00"},
		{FileBinary, "\xff\xd8\xff\xe0\x00\x10JFIF\x00"},
		{FileBinary, "\x1f\x8b\x08\x08abc"},
		{FileBinary, "SQLite format 3\x00\x10\x00\x01\x01"},
		{FileWord, `{\rtf1\ansi Vorname}`},
		{FileBinary, "a,b\n\x01\x02\x03\x04\x05"},
		{FileBinary, "a,b\nx,\x00\x00\x00\x00\ny,z"},
		{FileBinary, strings.Repeat("\x00", 5000)},
		{FileQuote, "a,b\n1,2\n\"x,3\n4,5\n"},
		{FileQuote, "a,b\n1,2\n\"x,3\n4,\"5\"\n"},
		{FileTooMany, "a" + strings.Repeat(",b", maxColumns) + "\n1,2\n"},
		{FileTooMany, "a\n" + strings.Repeat("b\n", maxRows+1)},
		{FileTooMany, "a,b\n" + strings.Repeat(strings.Repeat(",", maxColumns-1)+"b\n", maxCells/maxColumns+1)},
		{FileTooLarge, strings.Repeat("a", MaxFile+1)},
		{FileZip, "PK\x05\x06" + strings.Repeat("\x00", 18)},
		{FileDamaged, "PK\x03\x04" + strings.Repeat("x", 100)},
	} {
		_, err := Read(t.Context(), []byte(test.file), Options{})
		checkCode(t, fmt.Sprintf("%.40q", test.file), err, test.code)
	}
	_, err := Read(t.Context(), []byte("hello\n"), Options{Name: "List.XLSX"})
	checkCode(t, "a text with the name of a workbook", err, FileText)
}

func TestQuoteSaysItsRow(t *testing.T) {
	t.Parallel()
	_, err := Read(t.Context(), []byte("a,b\n\n1,\"x\ny\"\n\"z,3\n4,5\n"), Options{})
	var file *FileError
	if !errors.As(err, &file) || !reflect.DeepEqual(file, &FileError{Code: FileQuote, Args: []any{4}}) {
		t.Errorf("got %+v", err)
	}
}

func TestFullTable(t *testing.T) {
	t.Parallel()
	got, err := Read(t.Context(), []byte("a\n"+strings.Repeat("b\n", maxRows)), Options{})
	if err != nil || len(got.Rows) != maxRows {
		t.Errorf("%d rows are refused: %v", maxRows, err)
	}
	wide := "a" + strings.Repeat(",b", maxColumns-1) + ",,,\n"
	if got, err = Read(t.Context(), []byte(wide+wide), Options{}); err != nil || len(got.Header) != maxColumns {
		t.Errorf("%d columns are refused: %v", maxColumns, err)
	}
}

// FuzzReadCSV reads arbitrary text. Reading must not panic, and tables must survive a round trip.
func FuzzReadCSV(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2", "sep=;\na;b\n1;\"x\ny\"", "\xff\xfea\x00", "Name\nHorvat, Ivan", "a;b\n\xe8;\x8d", "'=a\t'\n\"\"\"\t ' = \"", "\"a", "Titel;\nb;c\n1;2"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		got, err := Read(t.Context(), content, Options{})
		if err != nil {
			var file *FileError
			if !errors.As(err, &file) {
				t.Fatalf("the error is %v", err)
			}
			return
		}
		number := got.HeaderRow
		for _, row := range got.Rows {
			if row.Number <= number || len(row.Cells) == 0 || len(row.Cells) > maxColumns {
				t.Fatalf("row %d after row %d has %d cells", row.Number, number, len(row.Cells))
			}
			number = row.Number
		}
		if got.Format == CSV {
			checkAgain(t, got)
		}
	})
}

// checkAgain writes the rows as CSV, reads them back and compares.
func checkAgain(t *testing.T, want *Table) {
	t.Helper()
	width := max(2, want.width())
	var file bytes.Buffer
	w := startCSV(&file, ';', textCells(slices.Repeat([]string{"heading"}, width)))
	for _, row := range want.Rows {
		w.row(wider(row.Cells, width, nil))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if isBinary(file.String()) {
		return // the share of control characters is too high now
	}
	got, err := Read(t.Context(), file.Bytes(), Options{})
	if err != nil || len(got.Rows) != len(want.Rows) {
		t.Fatalf("%q cannot be read again: %v", file.Bytes(), err)
	}
	for i, row := range want.Rows {
		if !slices.Equal(textsOf(got.Rows[i]), textsOf(row)) {
			t.Fatalf("%q is read again as %q", textsOf(row), textsOf(got.Rows[i]))
		}
	}
}

// FuzzDecode checks that decoded text is valid and complete.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("\xff\xfea\x00"), 1)
	f.Add([]byte("\xe8\x8d"), 2)
	f.Fuzz(func(t *testing.T, content []byte, n int) {
		encoding := Encodings[uint(n)%uint(len(Encodings))]
		text, ok := decode(content, encoding)
		if !ok {
			return
		}
		if strings.ToValidUTF8(text, "") != text {
			t.Fatalf("%q in %s is decoded as %q", content, encoding, text)
		}
		if page := encoding != UTF8 && encoding != UTF16 && encoding != "shift_jis" && encoding != "gb18030"; page && len([]rune(text)) < len(content)-len(bomUTF8) {
			t.Fatalf("%q in %s is decoded as %q", content, encoding, text)
		}
	})
}
