package charset

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPage(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"windows-1250": Windows1250, "CP1250": Windows1250, "Windows-1254": "windows-1254", "cp850": "cp850", "IBM850": "cp850", "ibm852": "cp852",
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

// TestPages checks that pages of a language come first and no page is lost.
func TestPages(t *testing.T) {
	t.Parallel()
	for languages, want := range map[string]string{
		"": "windows-1252 windows-1250 cp850", "de en": "windows-1252 windows-1250 cp850", "hr": "windows-1250 cp852 iso-8859-2 windows-1252 cp850",
		"el hr": "windows-1253 windows-1250 cp852 iso-8859-2 windows-1252", "de PL": "windows-1250 cp852", "nl BE": "windows-1252", "sr": "windows-1250 cp852 iso-8859-2 windows-1251 windows-1252",
	} {
		got := Pages(strings.Fields(languages)...)
		if !strings.HasPrefix(strings.Join(got, " "), want) || len(got) != len(pages) || len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(pages) {
			t.Errorf("%q: %q", languages, got)
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

// TestRaw checks that Raw and Bytes round-trip all bytes, keep ASCII and use letters for other
// bytes.
func TestRaw(t *testing.T) {
	t.Parallel()
	var all []byte
	for b := range 256 {
		all = append(all, byte(b))
	}
	text := Raw(all)
	if Bytes(text) != string(all) || !utf8.ValidString(text) || text[:utf8.RuneSelf] != string(all[:utf8.RuneSelf]) {
		t.Errorf("%q", text)
	}
	for _, r := range text[utf8.RuneSelf:] {
		if !unicode.IsLetter(r) || unicode.IsSpace(r) {
			t.Errorf("%q is not a letter", r)
		}
	}
}

func TestIsText(t *testing.T) {
	t.Parallel()
	all := Letters("")
	for text, want := range map[string]bool{
		"Jürgen Groß": true, "ÉMILE ÇELIK": true, "O’Brien – Łęcki": true, "Иван Петров": true, "田中 太郎": true, "": true, "İsmail": true,
		"J³rgen": false, "JŘrgen": false, "RenÚ": false, "Gro▀mann": false, "GroЯmann": false, "Яgro": false, "Jόrgen": false,
		"Sch„fer": false, "J\u0081rgen": false, "иВАН": false, "Kovaǯ": false, "J\ufffdrgen": false,
	} {
		if got := IsText(text, all); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
	if hr := Letters("HR"); IsText("Niccolò", hr) || !IsText("Đuro Šimić", hr) || Letters("XX") != "" {
		t.Errorf("letters of HR: %q", hr)
	}
}
