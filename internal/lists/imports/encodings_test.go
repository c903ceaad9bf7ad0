package imports_test

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
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
