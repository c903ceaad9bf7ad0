// Package charset decodes the text encodings found in lists.
package charset

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// Names of the code pages that other packages refer to.
const (
	Windows1250 = "windows-1250"
	Windows1252 = "windows-1252"
)

type page struct {
	name      string
	aliases   []string // in lower case
	bytes     encoding.Encoding
	languages []string // languages and countries that use it more often than windows-1252
}

var central = []string{"bs", "cs", "hr", "hu", "pl", "ro", "sk", "sl", "sq", "sr",
	"AL", "BA", "CZ", "HR", "HU", "ME", "PL", "RO", "RS", "SI", "SK"}

var pages = []page{
	{Windows1252, nil, charmap.Windows1252, nil},
	{Windows1250, nil, charmap.Windows1250, central},
	{"cp850", []string{"ibm850", "850"}, charmap.CodePage850, nil},
	{"cp852", []string{"ibm852", "852"}, charmap.CodePage852, central},
	{"iso-8859-2", []string{"iso_8859-2", "iso_8859-2:1987", "iso8859-2", "latin2", "l2"}, charmap.ISO8859_2, central},
	{"iso-8859-15", []string{"iso_8859-15", "iso8859-15", "latin-9", "latin9"}, charmap.ISO8859_15, nil},
	{"windows-1254", nil, charmap.Windows1254, []string{"tr", "TR"}},
	{"macintosh", []string{"mac", "macroman", "x-mac-roman"}, charmap.Macintosh, nil},
	{"windows-1251", nil, charmap.Windows1251, []string{"be", "bg", "mk", "ru", "sr", "uk", "BG", "BY", "MK", "RU", "UA"}},
	{"koi8-r", nil, charmap.KOI8R, []string{"ru"}},
	{"windows-1253", nil, charmap.Windows1253, []string{"el", "GR"}},
	{"shift_jis", []string{"shift-jis", "sjis", "ms_kanji", "windows-31j", "cp932"}, japanese.ShiftJIS, []string{"ja", "JP"}},
	{"gb18030", []string{"gbk", "gb2312", "cp936"}, simplifiedchinese.GB18030, []string{"zh", "CN"}},
}

// Pages returns the names of all code pages: first those common for the given languages
// (such as hr) and countries (HR), in their order, then the rest by how common they are.
func Pages(languages ...string) []string {
	rank := func(p page) int {
		at := slices.IndexFunc(languages, func(language string) bool { return slices.Contains(p.languages, language) })
		if at < 0 {
			return len(languages)
		}
		return at
	}
	var names []string
	for _, p := range slices.SortedStableFunc(slices.Values(pages), func(a, b page) int { return cmp.Compare(rank(a), rank(b)) }) {
		names = append(names, p.name)
	}
	return names
}

// alphabets are the letters outside ASCII in names, in lower case, by countries.
var alphabets = []struct{ countries, letters string }{
	{"AT CH DE LI LU", "äéöüß"},
	{"BE CA CH FR LU MC", "àâçèéêëîïôùûüÿœ"},
	{"AR AU BO CL CO CR CU DO EC ES GB GT HN IE MX NI NZ PA PE PR PY SV US UY VE", "áéíóúüñ"},
	{"AD ES", "àçèïòª"},
	{"CH IT SM", "àèéìòù"},
	{"BE NL", "èéëïóöü"},
	{"BR PT", "áàâãçéêíóôõú"},
	{"DK FI NO SE", "åäæéöøü"},
	{"IS", "áæðéíóöúýþ"},
	{"BA HR ME RS SI", "äčćđöšüž"},
	{"PL", "ąćęłńóśźż"},
	{"CZ SK", "áäčďéěíĺľňóôŕřšťúůýž"},
	{"HU", "áéíóöőúüű"},
	{"RO", "ăâîșşțţ"},
	{"TR", "âçğıİöşü"},
}

// Letters returns the letters outside ASCII in the names of a country, or in all known names if country
// is empty.
func Letters(country string) (letters string) {
	for _, a := range alphabets {
		if strings.Contains(a.countries, country) {
			letters += a.letters
		}
	}
	return letters
}

// IsText reports whether all words of a text could be right: they have Latin letters of these or none,
// no capital letter outside ASCII next to small letters unless it comes first, and no other characters
// than apostrophes and dashes, which are not between small letters: "Garc’a" is García.
func IsText(text, letters string) bool {
	earlier, before := ' ', ' '
	for _, r := range text {
		foreign, isLatin := r >= utf8.RuneSelf, unicode.Is(unicode.Latin, r)
		switch {
		case !unicode.IsLetter(r):
			if foreign && !strings.ContainsRune("’‘´–…\u00a0", r) {
				return false
			}
		case unicode.IsLetter(before) && isLatin != unicode.Is(unicode.Latin, before),
			foreign && unicode.IsUpper(r) && unicode.IsLower(before),
			before >= utf8.RuneSelf && !unicode.IsLetter(before) && unicode.IsLower(earlier) && unicode.IsLower(r),
			before >= utf8.RuneSelf && unicode.IsUpper(before) && unicode.IsLower(r) && unicode.IsLetter(earlier),
			foreign && isLatin && !strings.ContainsRune(letters, r) && !strings.ContainsRune(letters, unicode.ToLower(r)):
			return false
		}
		earlier, before = before, r
	}
	return true
}

// Page returns the canonical name of a code page. It accepts aliases in any case, such as cp1252
// for windows-1252.
func Page(name string) (canonical string, ok bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	if number, found := strings.CutPrefix(name, "cp12"); found {
		name = "windows-12" + number
	}
	at := slices.IndexFunc(pages, func(p page) bool { return p.name == name || slices.Contains(p.aliases, name) })
	if at < 0 {
		return "", false
	}
	return pages[at].name, true
}

func pageOf(name string) page {
	return pages[slices.IndexFunc(pages, func(p page) bool { return p.name == name })]
}

// Decode decodes content from a code page. Unassigned bytes become U+FFFD, which records reject.
func Decode[B []byte | string](content B, name string) string {
	p := pageOf(name)
	if single, ok := p.bytes.(*charmap.Charmap); ok {
		return decodeSingle(content, single.DecodeByte)
	}
	text, _ := p.bytes.NewDecoder().Bytes([]byte(content)) // invalid input is not an error
	return string(text)
}

// Undo returns the UTF-8 that Decode decodes to text in a code page with single bytes. It returns
// false if there is none. Control characters from U+0080 stand for unassigned bytes.
func Undo(text, name string) (content string, ok bool) {
	page := pageOf(name).bytes.(*charmap.Charmap)
	all := make([]byte, 0, len(text))
	for _, r := range text {
		b, ok := page.EncodeRune(r)
		if !ok && (r < utf8.RuneSelf || r >= 0xa0) {
			return "", false
		} else if !ok {
			b = byte(r)
		}
		all = append(all, b)
	}
	return string(all), utf8.Valid(all)
}

func decodeSingle[B []byte | string](content B, decode func(byte) rune) string {
	var text strings.Builder
	text.Grow(len(content) + len(content)/8)
	for i := range len(content) {
		text.WriteRune(decode(content[i]))
	}
	return text.String()
}

// rawBase is the rune for byte 0 in a text returned by Raw. The runes for all bytes above ASCII are
// letters, from U+0180.
const rawBase = 0x100

// Raw returns content as text with ASCII unchanged and each other byte represented by a letter. It
// allows a file to be parsed before its encoding is known.
func Raw(content []byte) string {
	return decodeSingle(content, func(b byte) rune {
		if b < utf8.RuneSelf {
			return rune(b)
		}
		return rawBase + rune(b)
	})
}

// Bytes returns the bytes of a text returned by Raw.
func Bytes(text string) string {
	content := make([]byte, 0, len(text))
	for _, r := range text {
		content = append(content, byte(r)) // the low byte of rawBase is zero
	}
	return string(content)
}
