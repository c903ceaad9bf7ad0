package charset

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPage(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"windows-1250": Windows1250, "CP1250": Windows1250, "Windows-1254": Windows1254, "cp850": "cp850", "IBM850": "cp850", "ibm852": "cp852",
		"ISO-8859-2": "iso-8859-2", "latin2": "iso-8859-2", "iso-8859-15": "iso-8859-15", "Macintosh": "macintosh", "KOI8-R": "koi8-r", "Shift_JIS": "shift_jis", "GB18030": "gb18030", "gbk": "gb18030",
		"latin1": "", "iso-8859-1": "", "windows-1255": "", "cp12": "", "": "", "utf-8": "",
	} {
		if got, ok := Page(name); got != want || ok != (want != "") {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	for _, name := range Pages() {
		if got, _ := Page(strings.ToUpper(name)); got != name {
			t.Errorf("%s is %q", name, got)
		}
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ bytes, page, want string }{
		{"M\x81ller", "cp850", "Müller"}, {"\xacovi\x86", "cp852", "Čović"}, {"M\x9fller", "macintosh", "Müller"}, {"\xe9\xd7\xc1\xce", "koi8-r", "Иван"},
		{"\x93c\x92\x86", "shift_jis", "田中"}, {"\x83\x5c\x83\x7c", "shift_jis", "ソポ"}, {"\xcd\xf5\xce\xb0", "gb18030", "王伟"}, {"\x81", Windows1252, "\ufffd"}, {"\x81", "shift_jis", "\ufffd"},
	} {
		if got := Decode(test.bytes, test.page); got != test.want {
			t.Errorf("%q in %s is %q, want %q", test.bytes, test.page, got, test.want)
		}
	}
}

// TestAsItIs: of any bytes a text can be made and taken back, with the same ASCII and a
// letter for anything else.
func TestAsItIs(t *testing.T) {
	t.Parallel()
	var all []byte
	for b := range 256 {
		all = append(all, byte(b))
	}
	text := AsItIs(all)
	if Bytes(text) != string(all) || !utf8.ValidString(text) || text[:utf8.RuneSelf] != string(all[:utf8.RuneSelf]) {
		t.Errorf("%q", text)
	}
	for _, r := range text[utf8.RuneSelf:] {
		if !unicode.IsLetter(r) || unicode.IsSpace(r) {
			t.Errorf("%q is no letter", r)
		}
	}
}

// TestNames: what a name can have, and what none has. Each is written in UTF-8 here, and
// read in a page that has its letters.
func TestNames(t *testing.T) {
	t.Parallel()
	const possible, doubtful, impossible = "possible", "doubtful", "impossible"
	for page, names := range map[string]map[string]string{
		Windows1252: {
			"José Núñez": possible, "Groß": possible, "GROßMANN": possible, "JÜRGEN MÜLLER": possible, "Mª José": possible, "Gal·la": possible,
			"D’Angelo": possible, "O´Brien": possible, "Mary Élan–Öz": possible, "McÉvoy": possible, "Robert “Bob” Smith": possible, "Ivan „Ivo“ Horvat": possible,
			"Müller (†)": possible, "Müller ½": possible, "Æðalsteinn Þórðarson": possible, "Jõeäär": possible, "Ana\u00a0Anić": "",
			"Huber†": doubtful, "Huber²": doubtful, "Ka‘ahumanu": doubtful, "MüLLER": doubtful, "Nov\u00a0kova": doubtful,
			"Jos‚": impossible, "J„ger": impossible, "M\ufffdller": impossible, "BŠcker": impossible, "©imiæ": impossible, "Wa³êsa": impossible, "¬oviæ": impossible,
			"N–ez": impossible, "Mƒller": impossible, "ð×ÁÎ": impossible, "Èâàí Ïåòðîâ": impossible, "Š‰x": impossible, "5€x": impossible, "Sean OÕBrien": impossible,
		},
		Windows1250:    {"Čović": possible, "Žďár": possible, "Šťáva": possible, "Đuro": possible, "Mźller": possible, "©imić": impossible, "Čâŕí": impossible},
		"macintosh":    {"πo": impossible, "Müller": possible, "Mar≠": impossible},
		"cp850":        {"M³ller": impossible, "╚âÓÝ": impossible, "Sørensen": possible},
		"windows-1251": {"Иван Петров": possible, "ИВАН": possible, "Jоhn": impossible, "иВАН": impossible, "Рбрбдьрпхлпт": impossible, "азшд": impossible},
		"windows-1253": {"Γιώργος Παπαδόπουλος": possible, "Θβΰν Πεςρξβ": impossible},
		Windows1254:    {"Şükrü Yıldız": possible, "Doğan": possible, "Ğuro": impossible, "Anğa": impossible},
		"shift_jis":    {"田中 太郎": possible, "ポール": possible, "ﾀﾅｶ": possible, "田中A": possible, "M乗ler": impossible, "ﾍ伟": "", "ﾍ田": impossible},
		"gb18030":      {"王伟": possible, "张 Li": possible},
	} {
		for name, want := range names {
			bytes, err := pageOf(page).bytes.NewEncoder().String(strings.ReplaceAll(name, "\ufffd", "\x81"))
			if name == "M\ufffdller" {
				bytes, err = "M\x81ller", nil
			}
			if err != nil || want == "" {
				if want != "" {
					t.Errorf("%q is not in %s", name, page)
				}
				continue
			}
			r := NewReading(page)
			r.Add(bytes)
			got := possible
			switch {
			case r.Impossible() != "":
				got = impossible
			case r.Doubtful():
				got = doubtful
			}
			if got != want {
				t.Errorf("%q in %s is %s, want %s", name, page, got, want)
			}
		}
	}
}

// FuzzReading reads any names in all pages.
func FuzzReading(f *testing.F) {
	f.Add("M\x81ller")
	f.Add("\x93c\x92\x86 \xe9\xd7\xc1\xce")
	f.Fuzz(func(t *testing.T, name string) {
		for _, page := range Pages() {
			r := NewReading(page)
			r.Add(name)
			r.Add(name)
			if !utf8.ValidString(r.Impossible()) || r.Usual() < 0 || r.Usual() > 200 {
				t.Errorf("%q in %s: %q, %d", name, page, r.Impossible(), r.Usual())
			}
		}
	})
}
