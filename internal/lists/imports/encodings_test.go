package imports_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// stored returns a text as the bytes of a code page.
func stored(t *testing.T, text string, in encoding.Encoding) string {
	t.Helper()
	content, err := in.NewEncoder().String(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return content
}

// people returns a list of names.
func people(names ...string) string {
	return "Vorname;Nachname\r\n" + strings.ReplaceAll(strings.Join(names, "\r\n"), " ", ";") + "\r\n"
}

// asked returns the encodings that could be meant, or the one in which a file was read.
func asked(f *imports.File) string {
	if f.Unsure != nil {
		return strings.Join(f.Unsure.Encodings, "? ") + "?"
	}
	return f.Table.Encoding
}

var (
	german    = people("Jürgen Müller", "Anna Groß", "Björn Schäfer", "Hans Öztürk", "Eva Huber")
	french    = people("Hélène Dupont", "François Lefèvre", "Noël Benoît", "Zoé Aguíla")
	spanish   = people("José Núñez", "María Peña", "Ángel Gutiérrez", "Iñaki Muñoz")
	danish    = people("Søren Kjær", "Åse Ørsted", "Jens Pålsson")
	croatian  = people("Ana Čović", "Željko Šimić", "Đuro Kovač", "Ivan Horvat")
	polish    = people("Jan Żółkiewski", "Wałęsa Lech", "Józef Dąbrowski", "Ewa Święch")
	czech     = people("Jiří Novák", "Květa Růžičková", "Tomáš Dvořák")
	hungarian = people("György Szőke", "Ágnes Kővári", "Jenő Nagy")
	turkish   = people("Şükrü Yıldız", "Ayşe Doğan", "İsmail Çelik")
	russian   = people("Иван Петров", "Ольга Смирнова", "Юрий Жуков")
	grecian   = people("Γιώργος Παπαδόπουλος", "Ελένη Νικολάου", "Κώστας Βασιλείου")
	nipponese = people("太郎 田中", "花子 山田", "ポール 高橋")
	chinese   = people("伟 王", "秀英 李", "建国 张")
)

// TestEncodingIsFound: lists of names in each encoding are read in it, or it is among those
// that are asked about.
func TestEncodingIsFound(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, list string
		in         encoding.Encoding
		want       string
	}{
		{"german", german, charmap.Windows1252, "windows-1252"},
		{"german DOS", german, charmap.CodePage850, "cp850"},
		{"german Mac", german, charmap.Macintosh, "macintosh"},
		{"french", french, charmap.Windows1252, "windows-1252? windows-1250?"},
		{"french DOS", french, charmap.CodePage850, "cp850"},
		{"french Mac", french, charmap.Macintosh, "macintosh"},
		{"spanish", spanish, charmap.Windows1252, "windows-1252? windows-1250?"},
		{"spanish DOS", spanish, charmap.CodePage850, "cp850"},
		{"spanish Mac", spanish, charmap.Macintosh, "macintosh"},
		{"danish", danish, charmap.Windows1252, "windows-1252? windows-1250?"},
		{"danish DOS", danish, charmap.CodePage850, "cp850"},
		{"danish Mac", danish, charmap.Macintosh, "macintosh"},
		{"croatian", croatian, charmap.Windows1250, "windows-1252? windows-1250?"},
		{"croatian DOS", croatian, charmap.CodePage852, "cp852"},
		{"croatian Unix", croatian, charmap.ISO8859_2, "iso-8859-2"},
		{"polish", polish, charmap.Windows1250, "windows-1252? windows-1250?"},
		{"polish DOS", polish, charmap.CodePage852, "cp852"},
		{"polish Unix", polish, charmap.ISO8859_2, "iso-8859-2"},
		{"czech", czech, charmap.Windows1250, "windows-1252? windows-1250?"},
		{"czech DOS", czech, charmap.CodePage852, "cp852"},
		{"czech Unix", czech, charmap.ISO8859_2, "windows-1250? iso-8859-2?"},
		{"hungarian", hungarian, charmap.Windows1250, "windows-1252? windows-1250?"},
		{"hungarian DOS", hungarian, charmap.CodePage852, "cp852? cp850?"},
		{"turkish", turkish, charmap.Windows1254, "windows-1252? windows-1250? windows-1254?"},
		{"russian", russian, charmap.Windows1251, "windows-1251"},
		{"russian KOI8", russian, charmap.KOI8R, "koi8-r"},
		{"greek", grecian, charmap.Windows1253, "windows-1253"},
		{"japanese", nipponese, japanese.ShiftJIS, "shift_jis"},
		{"chinese", chinese, simplifiedchinese.GB18030, "gb18030"},
		{"finnish", people("Šemper Žukov", "Kääriäinen Äijö"), charmap.ISO8859_15, "iso-8859-15"},
	} {
		f := read(t, stored(t, test.list, test.in), imports.Options{})
		if got := asked(f); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestEncodingIsSure: nothing is asked where nothing that is kept differs, and signs that
// people write are no reason to think of other encodings.
func TestEncodingIsSure(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, content, want string }{
		{"UTF-8", german + spanish + croatian, "utf-8"},
		{"ASCII", people("Ana Horvat"), "utf-8"},
		{"a sign in a column that is left out", stored(t, "Vorname;Nachname;Beitrag;Logo\r\nAna;Horvat;€60;Čovi™\r\n", charmap.Windows1250), "windows-1252"},
		{"the same in both", stored(t, people("Jürgen Müller", "José Gößl", "Zoé Gruber"), charmap.Windows1252), "windows-1252"},
		{"a nickname", stored(t, people("Robert “Bob” Smith", "Ana d’Angelo"), charmap.Windows1252), "windows-1252"},
		{"a sign beside a name", stored(t, people("Müller (†) Jürgen", "Huber° Hans"), charmap.Windows1252), "windows-1252"},
		{"a name with a mistake", stored(t, people("JoséÁngel Müller", "Jürgen Groß"), charmap.Windows1252), "windows-1252"},
	} {
		if got := asked(read(t, test.content, imports.Options{})); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestEncodingIsAsked: each reading has the same rows of the file.
func TestEncodingIsAsked(t *testing.T) {
	t.Parallel()
	f := read(t, stored(t, hungarian, charmap.CodePage852), imports.Options{})
	want := []imports.Difference{{Row: 2, Texts: []string{"György Szőke", "György Szïke"}}, {Row: 3, Texts: []string{"Ágnes Kővári", "Ágnes Kïvári"}},
		{Row: 4, Texts: []string{"Jenő Nagy", "Jenï Nagy"}}}
	if f.Unsure == nil || !reflect.DeepEqual(f.Unsure.Differs, want) || f.Table.Encoding != "cp852" {
		t.Errorf("%+v in %s", f.Unsure, f.Table.Encoding)
	}
	for name, encoding := range map[string]string{"IBM850": "cp850", "Cp852": "cp852", "CP1250": "windows-1250", "Latin2": "iso-8859-2"} {
		f := read(t, stored(t, hungarian, charmap.CodePage852), imports.Options{Encoding: name})
		if f.Unsure != nil || f.Table.Encoding != encoding {
			t.Errorf("%s: %s, %v", name, f.Table.Encoding, f.Unsure)
		}
	}
	_, err := imports.Read(t.Context(), []byte(german), imports.Options{Encoding: "latin1"}, now)
	if e, ok := errors.AsType[*sheet.FileError](err); !ok || e.Code != sheet.FileEncoding {
		t.Errorf("latin1: %v", err)
	}
	// The fourth row alone tells the third reading from the second one.
	list := stored(t, people("Şan Bey", "Ayşe Bey", "Işe Bey", "Şadi Doğan"), charmap.Windows1254)
	f = read(t, list, imports.Options{})
	if asked(f) != "windows-1252? windows-1250? windows-1254?" || len(f.Unsure.Differs) != 3 {
		t.Errorf("%+v", f.Unsure)
	}
}

// TestLongNames: what is shown of a long cell is short.
func TestLongNames(t *testing.T) {
	t.Parallel()
	f := read(t, stored(t, people("Ana "+strings.Repeat("Č", 5000)+"ić"), charmap.Windows1250), imports.Options{})
	if f.Unsure == nil || len([]rune(f.Unsure.Differs[0].Texts[1])) != 201 {
		t.Errorf("%+v", f.Unsure)
	}
}

// TestEncodingOfHeaders: a header that is known in one encoding tells it, and where none
// is known the encoding is asked for first.
func TestEncodingOfHeaders(t *testing.T) {
	t.Parallel()
	f := read(t, stored(t, "Prénom;Nom\r\nJean;Dupont\r\n", charmap.CodePage850), imports.Options{})
	if asked(f) != "cp850" || f.Mapped.Columns[0].Field != "firstName" || f.Table.Header[0] != "Prénom" {
		t.Errorf("%s: %v", asked(f), f.Mapped.Columns)
	}
	content := []byte(stored(t, "Keresztnév;Vezetéknév\r\n"+hungarian, charmap.CodePage852))
	f, err := imports.Read(t.Context(), content, imports.Options{}, now)
	if !errors.As(err, new(*imports.EncodingError)) || f.Unsure == nil {
		t.Errorf("%v", err)
	}
	wrong, err := mapping.ParseHeaders("Keresztnev=firstName,E-Mail=email")
	must(t, err)
	f, err = imports.Read(t.Context(), content, imports.Options{Headers: wrong}, now)
	if e, ok := errors.AsType[*mapping.ColumnsError](err); !ok || e.Code != mapping.ColumnsUnknown || e.Headers[0] != "E-Mail" || f.Unsure != nil {
		t.Errorf("%v: no encoding has this column", err)
	}
	f, err = imports.Read(t.Context(), content, imports.Options{Encoding: "cp852"}, now)
	if e, ok := errors.AsType[*mapping.ColumnsError](err); !ok || e.Headers[0] != "Keresztnév" {
		t.Errorf("%v in %s", err, f.Table.Encoding)
	}
	headers, err := mapping.ParseHeaders("Имя=firstName,Фамилия=lastName")
	must(t, err)
	f = read(t, stored(t, "Имя;Фамилия\r\nИван;Петров\r\nОльга;Смирнова\r\n", charmap.Windows1251), imports.Options{Headers: headers})
	if asked(f) != "windows-1251" || f.Mapped.People[0].Fields.LastName != "Петров" {
		t.Errorf("%s: %v", asked(f), f.Mapped.People)
	}
}

// TestEncodingThatNobodyKnows: it is said.
func TestEncodingThatNobodyKnows(t *testing.T) {
	t.Parallel()
	f := read(t, stored(t, russian, charmap.CodePage866), imports.Options{})
	if len(f.Table.Notes) != 1 || f.Table.Notes[0].Code != sheet.NoteNoEncoding {
		t.Errorf("%s: %v", asked(f), f.Table.Notes)
	}
}

// TestManyBytes: the second byte of a character can be a delimiter or a backslash.
func TestManyBytes(t *testing.T) {
	t.Parallel()
	f := read(t, stored(t, "Vorname|Nachname\nポール|ソ田\n花子|ボー\n", japanese.ShiftJIS), imports.Options{Encoding: "Shift_JIS"})
	if p := f.Mapped.People; p[0].Fields.FirstName != "ポール" || p[0].Fields.LastName != "ソ田" || p[1].Fields.LastName != "ボー" {
		t.Errorf("%v", p)
	}
}

// oldCard returns a vCard as old phones write it, with its name in quoted-printable bytes.
func oldCard(t *testing.T, params, first, last string, in encoding.Encoding) string {
	t.Helper()
	var text strings.Builder
	for _, b := range []byte(stored(t, last+";"+first, in)) {
		if b < 0x80 {
			text.WriteByte(b)
		} else {
			fmt.Fprintf(&text, "=%02X", b)
		}
	}
	value := strings.Replace(text.String(), "=", "=\r\n=", 1) // a line that goes on
	return "BEGIN:VCARD\r\nVERSION:2.1\r\nN;ENCODING=QUOTED-PRINTABLE" + params + ":" + value + "\r\nNOTE;QUOTED-PRINTABLE:a=3Db=0D=0Ac\r\nEND:VCARD\r\n"
}

// TestOldCards: text of a vCard without a charset is asked about as that of a list.
func TestOldCards(t *testing.T) {
	t.Parallel()
	central := oldCard(t, "", "Ana", "Čović", charmap.Windows1250) + oldCard(t, "", "Željko", "Šimić", charmap.Windows1250)
	for _, test := range []struct{ name, content, encoding, want, first string }{
		{"central", central, "", "windows-1252? windows-1250?", "Ana Èoviæ"},
		{"asked for", central, "windows-1250", "windows-1250", "Ana Čović"},
		{"the same in both", oldCard(t, "", "Jürgen", "Müller", charmap.Windows1252), "", "windows-1252", "Jürgen Müller"},
		{"DOS", oldCard(t, "", "Jürgen", "Müller", charmap.CodePage850), "", "cp850", "Jürgen Müller"},
		{"UTF-8", oldCard(t, "", "Jürgen", "Čović", encoding.Nop), "", "utf-8", "Jürgen Čović"},
		{"UTF-8, and another one asked for", oldCard(t, "", "Jürgen", "Čović", encoding.Nop), "windows-1250", "windows-1250", "Jürgen Čović"},
		{"a charset", oldCard(t, ";CHARSET=IBM852", "Jürgen", "Čović", charmap.CodePage852), "", "utf-8", "Jürgen Čović"},
		{"a charset, and another one asked for", oldCard(t, ";CHARSET=Windows-1250", "Ana", "Čović", charmap.Windows1250), "windows-1252", "windows-1252", "Ana Čović"},
		{"version 3.0", "BEGIN:VCARD\r\nVERSION:3.0\r\nN:" + stored(t, "Čović;Ana", charmap.Windows1250) + "\r\nEND:VCARD\r\n", "", "windows-1252? windows-1250?", "Ana Èoviæ"},
	} {
		f := read(t, test.content, imports.Options{Encoding: test.encoding})
		if got := asked(f); got != test.want || f.Mapped.People[0].Name() != test.first {
			t.Errorf("%s: %s, %q, want %s, %q", test.name, got, f.Mapped.People[0].Name(), test.want, test.first)
		}
	}
	if note := read(t, central, imports.Options{}).Table.Rows[0].Cells[2].Text; note != "a=b\r\nc" {
		t.Errorf("the note is %q", note)
	}
	_, err := imports.Read(t.Context(), []byte(central), imports.Options{Encoding: "utf-8"}, now)
	if e, ok := errors.AsType[*sheet.FileError](err); !ok || e.Code != sheet.FileEncoding {
		t.Errorf("as UTF-8: %v", err)
	}
}

// FuzzEncodings reads any file. Where an encoding is asked about, each choice can be read.
func FuzzEncodings(f *testing.F) {
	f.Add([]byte("Vorname;Nachname\nJ\x81rgen;M\x81ller\n"))
	f.Add([]byte("Name\n\x93c\x92\x86\n\xe9\xd7\xc1\xce\n"))
	f.Add([]byte("\xc8\xec\xff,b\n\xc8,\x80\n"))
	f.Add([]byte("0\n\xff\xff\xff"))
	f.Add([]byte("BEGIN:VCARD\nN;QUOTED-PRINTABLE:=C8o=\n=E6;\x81\nEND:VCARD"))
	f.Fuzz(func(t *testing.T, content []byte) {
		read, err := imports.Read(t.Context(), content, imports.Options{}, now)
		if read == nil || read.Unsure == nil {
			if errors.As(err, new(*imports.EncodingError)) {
				t.Fatalf("%q: %v", content, err)
			}
			return
		}
		if n := len(read.Unsure.Encodings); n < 2 || n > 4 || len(read.Unsure.Differs) == 0 || read.Unsure.Encodings[0] != read.Table.Encoding {
			t.Fatalf("%q: %+v in %s", content, read.Unsure, read.Table.Encoding)
		}
		if what, _, ok := imports.English.Explain(read.Unsure); !ok || !strings.Contains(what, read.Unsure.Encodings[1]) {
			t.Fatalf("%q: %s", content, what)
		}
		for i, encoding := range read.Unsure.Encodings {
			again, err := imports.Read(t.Context(), content, imports.Options{Encoding: encoding}, now)
			if i > 0 && errors.As(err, new(*sheet.FileError)) { // its rows are empty
				continue
			}
			if again == nil || again.Unsure != nil || len(read.Unsure.Differs[0].Texts) <= i {
				t.Fatalf("%q in %s: %+v", content, encoding, again)
			}
		}
	})
}
