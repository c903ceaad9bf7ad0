package imports_test

import (
	"errors"
	"fmt"
	"slices"
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

// stored returns text encoded in a code page.
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

// encodingOf returns the candidate encodings of a file, or the encoding in which it was read.
func encodingOf(f *imports.File) string {
	if f.Unsure == nil {
		return f.Table.Encoding
	}
	var all []string
	for _, c := range f.Unsure {
		all = append(all, c.Encoding)
	}
	return strings.Join(all, "? ") + "?"
}

var (
	german    = people("Jürgen Müller", "Anna Groß", "Björn Schäfer", "Hans Öztürk", "Eva Huber")
	french    = people("Hélène Dupont", "François Lefèvre", "Noël Benoît", "Zoé Aguíla")
	spanish   = people("José Núñez", "María Peña", "Ángel Gutiérrez", "Iñaki Muñoz")
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

// TestEncodingIsUncertain checks that, except for UTF-8 and UTF-16, the right encoding is among the
// candidates, that candidates are distinct and have sample names, that the language of the list
// puts the right one first, and that nothing is imported before the choice.
func TestEncodingIsUncertain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, list string
		in         encoding.Encoding
		language   string
		want       string // the candidate with the right names
	}{
		{"german", german, charmap.Windows1252, "de", "windows-1252"},
		{"german DOS", german, charmap.CodePage850, "", "cp850"},
		{"german Mac", german, charmap.Macintosh, "", "macintosh"},
		{"french", french, charmap.Windows1252, "fr", "windows-1252"},
		{"spanish Mac", spanish, charmap.Macintosh, "", "macintosh"},
		{"finnish", people("Šemper Žukov", "Kääriäinen Äijö"), charmap.ISO8859_15, "", "iso-8859-15"},
		{"croatian", croatian, charmap.Windows1250, "hr", "windows-1250"},
		{"croatian DOS", croatian, charmap.CodePage852, "", "cp852"},
		{"croatian Unix", croatian, charmap.ISO8859_2, "", "iso-8859-2"},
		{"polish", polish, charmap.Windows1250, "pl", "windows-1250"},
		{"czech", czech, charmap.Windows1250, "cs", "windows-1250"},
		{"hungarian DOS", hungarian, charmap.CodePage852, "", "cp852"},
		{"turkish", turkish, charmap.Windows1254, "tr", "windows-1254"},
		{"russian", russian, charmap.Windows1251, "ru", "windows-1251"},
		{"russian KOI8", russian, charmap.KOI8R, "", "koi8-r"},
		{"greek", grecian, charmap.Windows1253, "el", "windows-1253"},
		{"japanese", nipponese, japanese.ShiftJIS, "ja", "shift_jis"},
		{"chinese", chinese, simplifiedchinese.GB18030, "zh", "gb18030"},
	} {
		content := stored(t, test.list, test.in)
		f := read(t, content, imports.Options{Languages: []string{test.language}})
		if f.Unsure == nil {
			t.Errorf("%s: encoding certain, read in %s", test.name, f.Table.Encoding)
			continue
		}
		rows := strings.Split(strings.ReplaceAll(test.list, ";", " "), "\r\n")
		names, right := map[string]int{}, -1
		for i, c := range f.Unsure {
			names[strings.Join(c.Names, "\n")]++
			if c.Encoding == test.want {
				right = i
			}
		}
		if right < 0 || slices.ContainsFunc(f.Unsure[right].Names, func(name string) bool { return !slices.Contains(rows, name) }) || len(names) != len(f.Unsure) {
			t.Errorf("%s: %+v", test.name, f.Unsure)
		}
		if first := f.Unsure[0].Encoding; f.Table.Encoding != first || test.language != "" && first != test.want {
			t.Errorf("%s: first candidate %s, read in %s", test.name, first, f.Table.Encoding)
		}
		f.Options.SkipBad = true
		if o, err := f.Apply(t.Context(), newStore(t), ours, 0, nil); err != nil || o.Applied || !slices.Equal(o.Open(), []string{sheet.AskEncoding}) {
			t.Errorf("%s: imported: %v", test.name, err)
		}
		if f := read(t, content, imports.Options{Answers: sheet.Answers{sheet.AskEncoding: test.want}}); f.Unsure != nil || f.Table.Encoding != test.want || f.Mapped.People[0].Name() != rows[1] {
			t.Errorf("%s in %s: %+v", test.name, test.want, f.Mapped.People[0])
		}
	}
}

// TestEncodingIsCertain checks that the encoding is certain if all imported cells read alike.
func TestEncodingIsCertain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, content, want string }{
		{"UTF-8", german + spanish + croatian, "utf-8"},
		{"ASCII", people("Ana Horvat"), "utf-8"},
		{"a sign in a column that is left out", stored(t, "Vorname;Nachname;Beitrag;Logo\r\nAna;Horvat;€60;Čovi™\r\n", charmap.Windows1250), "windows-1252"},
	} {
		if got := encodingOf(read(t, test.content, imports.Options{})); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	for name, encoding := range map[string]string{"IBM850": "cp850", "Cp852": "cp852", "CP1250": "windows-1250", "Latin2": "iso-8859-2"} {
		if got := encodingOf(read(t, stored(t, hungarian, charmap.CodePage852), imports.Options{Answers: sheet.Answers{sheet.AskEncoding: name}})); got != encoding {
			t.Errorf("%s: %s", name, got)
		}
	}
	_, err := imports.Read(t.Context(), []byte(german), imports.Options{Answers: sheet.Answers{sheet.AskEncoding: "latin1"}}, now)
	if e, ok := errors.AsType[*sheet.FileError](err); !ok || e.Code != sheet.FileEncoding {
		t.Errorf("latin1: %v", err)
	}
}

// TestCandidates checks that encodings without all characters are excluded, equivalent encodings
// merged, and the others distinguished by sample names.
func TestCandidates(t *testing.T) {
	t.Parallel()
	f := read(t, stored(t, german, charmap.Windows1252), imports.Options{})
	if got := encodingOf(f); got != "windows-1252? cp850? cp852? macintosh? windows-1251? koi8-r? windows-1253?" {
		t.Errorf("german: %s", got)
	}
	// Only the fourth row distinguishes windows-1254 from windows-1252.
	f = read(t, stored(t, people("Çan Bey", "Öyse Bey", "Üse Bey", "Şadi Doğan"), charmap.Windows1254), imports.Options{})
	for _, c := range f.Unsure {
		if want := map[string]string{"windows-1252": "Þadi Doðan", "windows-1254": "Şadi Doğan"}[c.Encoding]; want != "" && c.Names[2] != want {
			t.Errorf("turkish: %+v", c)
		}
	}
	f = read(t, stored(t, people("Ana "+strings.Repeat("Č", 5000)+"ić"), charmap.Windows1250), imports.Options{})
	if got := f.Unsure[0].Names; len(got) != 1 || len([]rune(got[0])) != 201 {
		t.Errorf("a long name: %q", got)
	}
	f = read(t, "Vorname;Nachname;Telefon\r\nAna;Horvat;\xb9 091\r\n", imports.Options{})
	if got := f.Unsure[0]; !slices.Equal(got.Names, []string{"¹ 091"}) {
		t.Errorf("another cell: %+v", got)
	}
}

// TestEncodingOfHeaders checks that encodings that recognize fewer headers are excluded, and that
// an uncertain encoding takes precedence if no name column is recognized.
func TestEncodingOfHeaders(t *testing.T) {
	t.Parallel()
	f := read(t, stored(t, "Prénom;Nom\r\nJean;Dupont\r\nZoé;Noël\r\n", charmap.CodePage850), imports.Options{})
	if encodingOf(f) != "cp850" || f.Mapped.Columns[0].Field != "firstName" || f.Table.Header[0] != "Prénom" || f.Mapped.People[1].Name() != "Zoé Noël" {
		t.Errorf("%s: %v", encodingOf(f), f.Mapped.Columns)
	}
	content := []byte(stored(t, strings.Replace(hungarian, "Vorname;Nachname", "Elsőnév;Másiknév", 1), charmap.CodePage852))
	f, err := tryRead(t, content, imports.Options{})
	if err != nil || f.Unsure == nil || len(f.Mapped.People) > 0 {
		t.Errorf("%v, %v", err, f.Mapped.People)
	}
	if o := check(t, nil, 0, string(content), imports.Options{}); len(o.All) > 0 || len(o.Questions) != 1 {
		t.Errorf("%+v", o)
	}
	f, err = tryRead(t, content, imports.Options{Answers: sheet.Answers{sheet.AskEncoding: "cp852"}})
	if e, ok := errors.AsType[*mapping.ColumnsError](err); !ok || e.Headers[0] != "Elsőnév" {
		t.Errorf("%v in %s", err, f.Table.Encoding)
	}
	headers, err := mapping.ParseHeaders("Имя=firstName,Фамилия=lastName")
	must(t, err)
	f = read(t, stored(t, "Имя;Фамилия\r\nИван;Петров\r\nОльга;Смирнова\r\n", charmap.Windows1251), imports.Options{Headers: headers})
	if encodingOf(f) != "windows-1251" || f.Mapped.People[0].Fields.LastName != "Петров" {
		t.Errorf("%s: %v", encodingOf(f), f.Mapped.People)
	}
}

// TestEncodingOfCountry checks that the encoding is certain if all letters are usual in the country,
// or in any country and there is no other encoding with letters.
func TestEncodingOfCountry(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		list, country string
		in            encoding.Encoding
		want          string
	}{
		{german, "AT", charmap.Windows1252, "windows-1252"},
		{people("Jan Jäger", "Eva Schäfer"), "DE", charmap.Windows1252, "windows-1252"},
		{people("Jürgen Horváth"), "AT", charmap.Windows1252, "windows-1252"},
		{people("Hélène Petit", "François Lefèvre"), "FR", charmap.Windows1252, "windows-1252"},
		{spanish, "CL", charmap.Windows1252, "windows-1252"},
		{people("José Martínez"), "US", charmap.Windows1252, "windows-1252"},
		{croatian, "HR", charmap.Windows1250, "windows-1250"},
		{people("Ana Kovač", "Jürgen Šimić"), "HR", charmap.Windows1250, "windows-1250"},
		{polish, "PL", charmap.Windows1250, "windows-1250"},
		{people("Niccolò Cantù"), "IT", charmap.Windows1252, "windows-1252"},
		{russian, "RU", charmap.Windows1251, "windows-1251"},

		{german, "", charmap.Windows1252, ""},
		{german, "DE", charmap.CodePage850, "cp850"}, // other code pages lack a character
		{people("Mª Àngels Solà"), "ES", charmap.Windows1252, "windows-1252"},
		{people("Ana García", "Luis Muñoz"), "ES", charmap.Macintosh, ""},
		{people("Ana Fernández"), "ES", charmap.CodePage850, ""},
		{french, "FR", charmap.Windows1252, ""},
		{people("Jan Groß"), "DE", charmap.CodePage850, ""},
		{german, "DE", charmap.Macintosh, ""},
		{croatian, "AT", charmap.Windows1250, ""},
		{people("Ana Kovač", "Jürgen Bauer"), "AT", charmap.Windows1250, ""},
		{people("Ivan Horvatić"), "HR", charmap.CodePage852, ""},
		{croatian, "HR", charmap.CodePage852, ""},
		{turkish, "DE", charmap.Windows1254, ""},
		{people("Jan Horváth"), "AT", charmap.Windows1252, ""},
		{people("O„Brien Schmid"), "DE", charmap.Windows1252, ""},
	} {
		f := read(t, stored(t, tt.list, tt.in), imports.Options{Country: tt.country})
		if got := encodingOf(f); got != tt.want && !(tt.want == "" && strings.HasSuffix(got, "?")) {
			t.Errorf("%q in %s: %s, want %s", f.Mapped.People[0].Name(), tt.country, got, tt.want)
		}
	}
}

// TestManyBytes checks that the second byte of a character may equal a delimiter or backslash.
func TestManyBytes(t *testing.T) {
	t.Parallel()
	f := read(t, stored(t, "Vorname|Nachname\nポール|ソ田\n花子|ボー\n", japanese.ShiftJIS), imports.Options{Answers: sheet.Answers{sheet.AskEncoding: "Shift_JIS"}})
	if p := f.Mapped.People; p[0].Fields.FirstName != "ポール" || p[0].Fields.LastName != "ソ田" || p[1].Fields.LastName != "ボー" {
		t.Errorf("%v", p)
	}
}

// oldCard returns a vCard of an old phone, with the name in quoted-printable encoding.
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
	value := strings.Replace(text.String(), "=", "=\r\n=", 1) // a soft line break
	return "BEGIN:VCARD\r\nVERSION:2.1\r\nN;ENCODING=QUOTED-PRINTABLE" + params + ":" + value + "\r\nNOTE;QUOTED-PRINTABLE:a=3Db=0D=0Ac\r\nEND:VCARD\r\n"
}

// TestOldCards checks that vCard text without a charset is uncertain, as in a CSV.
func TestOldCards(t *testing.T) {
	t.Parallel()
	central := oldCard(t, "", "Ana", "Čović", charmap.Windows1250) + oldCard(t, "", "Željko", "Šimić", charmap.Windows1250)
	for _, test := range []struct{ name, content, encoding, want, first string }{
		{"central", central, "", "windows-1252?", "Ana Èoviæ"},
		{"central, chosen", central, "windows-1250", "windows-1250", "Ana Čović"},
		{"western", oldCard(t, "", "Jürgen", "Müller", charmap.Windows1252), "", "windows-1252?", "Jürgen Müller"},
		{"UTF-8", oldCard(t, "", "Jürgen", "Čović", encoding.Nop), "", "utf-8", "Jürgen Čović"},
		{"UTF-8, and another one chosen", oldCard(t, "", "Jürgen", "Čović", encoding.Nop), "windows-1250", "windows-1250", "Jürgen Čović"},
		{"a charset", oldCard(t, ";CHARSET=IBM852", "Jürgen", "Čović", charmap.CodePage852), "", "utf-8", "Jürgen Čović"},
		{"a charset, and another one chosen", oldCard(t, ";CHARSET=Windows-1250", "Ana", "Čović", charmap.Windows1250), "windows-1252", "windows-1252", "Ana Čović"},
		{"version 3.0", "BEGIN:VCARD\r\nVERSION:3.0\r\nN:" + stored(t, "Čović;Ana", charmap.Windows1250) + "\r\nEND:VCARD\r\n", "", "windows-1252?", "Ana Èoviæ"},
	} {
		f := read(t, test.content, imports.Options{Answers: sheet.Answers{sheet.AskEncoding: test.encoding}})
		if got := encodingOf(f); !strings.HasPrefix(got, test.want) || f.Mapped.People[0].Name() != test.first {
			t.Errorf("%s: %s, %q, want %s, %q", test.name, got, f.Mapped.People[0].Name(), test.want, test.first)
		}
	}
	if note := read(t, central, imports.Options{}).Table.Rows[0].Cells[2].Text; note != "a=b\r\nc" {
		t.Errorf("the note is %q", note)
	}
	_, err := imports.Read(t.Context(), []byte(central), imports.Options{Answers: sheet.Answers{sheet.AskEncoding: "utf-8"}}, now)
	if e, ok := errors.AsType[*sheet.FileError](err); !ok || e.Code != sheet.FileEncoding {
		t.Errorf("as UTF-8: %v", err)
	}
}

// FuzzEncodings reads arbitrary files and checks that every candidate encoding can be read.
func FuzzEncodings(f *testing.F) {
	f.Add([]byte("Vorname;Nachname\nJ\x81rgen;M\x81ller\n"))
	f.Add([]byte("Name\n\x93c\x92\x86\n\xe9\xd7\xc1\xce\n"))
	f.Add([]byte("\xc8\xec\xff,b\n\xc8,\x80\n"))
	f.Add([]byte("0\n\xff\xff\xff"))
	f.Add([]byte("BEGIN:VCARD\nN;QUOTED-PRINTABLE:=C8o=\n=E6;\x81\nEND:VCARD"))
	f.Fuzz(func(t *testing.T, content []byte) {
		read, err := tryRead(t, content, imports.Options{})
		if read == nil || read.Unsure == nil || err != nil {
			return
		}
		all := read.Unsure
		if len(all) < 2 || all[0].Encoding != read.Table.Encoding {
			t.Fatalf("%q: %+v in %s", content, read.Unsure, read.Table.Encoding)
		}
		if q := read.Questions[0]; q.Kind != sheet.AskEncoding || !q.Blocks() || q.Options[1].Value != all[1].Encoding {
			t.Fatalf("%q: %+v", content, q)
		}
		for i, c := range all {
			again, err := tryRead(t, content, imports.Options{Answers: sheet.Answers{sheet.AskEncoding: c.Encoding}})
			if i > 0 && errors.As(err, new(*sheet.FileError)) { // its rows are empty
				continue
			}
			if again == nil || again.Unsure != nil || len(c.Names) != len(all[0].Names) {
				t.Fatalf("%q in %s: %+v", content, c.Encoding, again)
			}
		}
	})
}
