package charset

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// alphabet is what names are written with beside ASCII.
type alphabet struct {
	script *unicode.RangeTable
	latin  bool                  // names have letters of ASCII, too
	usual  string                // letters that many names have
	rare   string                // letters that some names have
	vowels string                // of words that need one; empty: nothing is known
	bytes  encoding.Encoding     // instead of usual and rare: what counts is where a letter stands there
	levels func(char []byte) int // in bytes: 2 for usual letters, 1 for rare ones
}

var (
	western = &alphabet{script: unicode.Latin, latin: true, usual: "äöüßéèëêçñáíóúåøæÄÖÜÉÈÇÑÁÍÓÚÅØÆ", rare: "àâãìîïòôõùûýÿðþœšžÀÂÃÊËÎÏÔÕÛÝÐÞŒŠŽªº"}
	central = &alphabet{script: unicode.Latin, latin: true, usual: "čćšžđáéíóúýěřůňöüäőłńśżąęČĆŠŽĐÁÉÍÓÚÝŘÖÜÄŁŚŻ", rare: "ďťľĺŕűźăâîşţôßëçĎŤĽĹŔŇŮĚŐŰŃŹĄĘĂÂÎŞŢÔËÇ"}
	turkish = &alphabet{script: unicode.Latin, latin: true, usual: "çğıöşüÇĞİÖŞÜ", rare: "âîûÂÎÛ"}

	cyrillic = &alphabet{script: unicode.Cyrillic, usual: "абвгдежзийклмнопрстуфхцчшщыьэюяАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЭЮЯ", rare: "ёъіїєґјљњћџђЁІЇЄҐЈЉЊЋЏЂЪЬЫ", vowels: "аеёиоуыэюяіїєАЕЁИОУЫЭЮЯІЇЄ"}
	greek    = &alphabet{script: unicode.Greek, usual: "αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ", rare: "ΆΈΉΊΌΎΏϊϋ", vowels: "αεηιουωάέήίόύώϊϋΐΰΑΕΗΙΟΥΩΆΈΉΊΌΎΏ"}

	kanji = &alphabet{script: unicode.Han, bytes: japanese.ShiftJIS, levels: func(char []byte) int {
		if char[0] < 0x98 { // kana, and the first level of JIS
			return 2
		}
		return 1
	}}
	hanzi = &alphabet{script: unicode.Han, bytes: simplifiedchinese.GBK, levels: func(char []byte) int {
		switch {
		case len(char) < 2 || char[0] < 0xB0 || char[0] > 0xF7 || char[1] < 0xA1: // not in GB 2312
			return 0
		case char[0] <= 0xD7: // its first level
			return 2
		}
		return 1
	}}
)

// Reading gathers how names read in a code page.
type Reading struct {
	alphabet *alphabet
	page     string

	impossible string // the first name that has what no name has
	doubtful   bool   // a name has what hardly any name has

	words, foreign, silent, small int           // words with more than ASCII; those without ASCII, without a vowel, and with a small letter first
	letters, weight               int           // letters beside ASCII, and how usual they are
	strange                       int           // letters that are neither usual nor rare
	telling                       map[rune]bool // those that Turkish alone has
	first                         string
}

// NewReading returns a Reading in a code page.
func NewReading(name string) *Reading {
	return &Reading{alphabet: pageOf(name).names, page: name, telling: map[rune]bool{}}
}

// weighed is how many letters say how usual they are.
const weighed = 2000

// Add reads a name. Those in ASCII say nothing.
func (r *Reading) Add(name string) {
	if IsASCII(name) || r.impossible != "" {
		return
	}
	text := Decode(name, r.page)
	if r.first == "" {
		r.first = text
	}
	letters := []rune(text)
	quoted := isQuoted(letters)
	for i, c := range letters {
		if c >= utf8.RuneSelf {
			r.look(text, c, at(letters, i-1), at(letters, i+1), quoted)
		}
	}
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsMark(c) }) {
		r.word(text, word)
	}
}

func at(letters []rune, i int) rune {
	if i < 0 || i >= len(letters) {
		return 0
	}
	return letters[i]
}

// wrong takes over that a name has what no name has.
func (r *Reading) wrong(name string) { r.impossible = cmp.Or(r.impossible, name) }

// look looks at a character of a name that is not ASCII, and at those around it.
func (r *Reading) look(name string, c, before, after rune, quoted bool) {
	inside := unicode.IsLetter(before) && unicode.IsLetter(after)
	beside := unicode.IsLetter(before) || unicode.IsLetter(after)
	switch {
	case c == utf8.RuneError, unicode.IsControl(c), unicode.Is(unicode.Co, c), c >= 0x2500 && c < 0x2600: // boxes
		r.wrong(name)
	case c == 'ª' || c == 'º': // Mª José
		if unicode.IsLetter(after) {
			r.wrong(name)
		}
	case strings.ContainsRune("ƒˆˇµ", c):
		if beside {
			r.wrong(name)
		}
	case unicode.IsLetter(c):
		r.letter(name, c, before, after)
	case c == '\u00A0':
		if unicode.IsLetter(before) && unicode.IsLower(after) {
			r.doubtful = true
		}
	case c == '‘' && inside: // Ka‘ahumanu
		r.doubtful = true
	case c == '’', c == '\u00AD', (c == '´' || c == '·') && inside, c == '・', quoted && strings.ContainsRune(quotes, c):
	case c == '–' || c == '—':
		if inside && unicode.IsLower(after) {
			r.wrong(name)
		} else if beside && !inside {
			r.doubtful = true
		}
	case unicode.IsSpace(c), unicode.IsMark(c):
	case beside && !inside && strings.ContainsRune(signs, c):
		r.doubtful = true
	case beside:
		r.wrong(name)
	}
}

// signs are what people write before or behind a name.
const signs = "†‡™®°¹²³¼½¾•…§"

// quotes are the marks around a nickname.
const quotes = "“”„«»‹›‘’"

// isQuoted reports whether quotation marks stand around words of a name, and in no word.
func isQuoted(name []rune) bool {
	opened, closed := false, false
	for i, c := range name {
		if strings.ContainsRune(quotes, c) {
			before, after := unicode.IsLetter(at(name, i-1)), unicode.IsLetter(at(name, i+1))
			if before && after && c != '’' {
				return false
			}
			opened, closed = opened || !before && after, closed || before && !after
		}
	}
	return opened && closed
}

// letter looks at a letter that is not ASCII.
func (r *Reading) letter(name string, c, before, after rune) {
	a := r.alphabet
	switch {
	case a.bytes != nil:
		if !isCJK(c) || isASCIILetter(before) || isASCIILetter(after) && !unicode.IsUpper(after) || isCJK(before) && isHalfWidth(c) != isHalfWidth(before) {
			r.wrong(name)
		}
	case !unicode.Is(a.script, c):
		r.wrong(name)
	case !a.latin && (isASCIILetter(before) || isASCIILetter(after)):
		r.wrong(name)
	case unicode.IsUpper(c) && unicode.IsLetter(before) && (unicode.IsLower(before) || unicode.IsLower(after)):
		if !a.latin || !hasPrefix(name, c) {
			r.wrong(name)
		}
	case c == 'ς' && unicode.IsLetter(after), c == 'σ' && unicode.IsLetter(before) && !unicode.IsLetter(after):
		r.wrong(name)
	case (c == 'ğ' || c == 'Ğ') && !strings.ContainsRune("aeıioöuüâîûAEIİOÖUÜ", before):
		r.wrong(name)
	}
	if strings.ContainsRune("ğışİĞŞ", c) {
		r.telling[c] = true
	}
	if r.letters < weighed {
		w := a.weigh(c)
		r.letters++
		r.weight += w
		if w == 0 {
			r.strange++
		}
	}
}

func isCJK(c rune) bool {
	return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana) || strings.ContainsRune("ー々ｰﾞﾟ", c)
}

func isHalfWidth(c rune) bool   { return c >= 0xFF61 && c <= 0xFF9F }
func isASCIILetter(c rune) bool { return c < utf8.RuneSelf && unicode.IsLetter(c) }

// prefixes stand before a capital in the middle of a word, as in McÉvoy.
var prefixes = []string{"Mc", "Mac", "Fitz", "De", "Di", "Da", "Du", "Del", "Des", "La", "Le", "Lo", "Van", "Von", "Ní", "Nic", "Ui"}

// hasPrefix reports whether a capital of a name stands behind a prefix.
func hasPrefix(name string, capital rune) bool {
	for word := range strings.FieldsSeq(name) {
		head, _, _ := strings.Cut(word, string(capital))
		for _, prefix := range prefixes {
			if head == prefix {
				return true
			}
		}
	}
	return false
}

// weigh returns 2 for a usual letter, 1 for a rare one, and 0 for any other.
func (a *alphabet) weigh(c rune) int {
	switch {
	case a.bytes != nil:
		content, err := a.bytes.NewEncoder().Bytes([]byte(string(c)))
		if err != nil || len(content) == 0 {
			return 0
		}
		return a.levels(content)
	case strings.ContainsRune(a.usual, c):
		return 2
	case strings.ContainsRune(a.rare, c):
		return 1
	}
	return 0
}

// word looks at a word of a name.
func (r *Reading) word(name, word string) {
	capitals, smalls, foreign, all := 0, 0, 0, 0 // the first two of ASCII
	odd, inside := false, false
	for _, c := range word {
		all++
		inside = inside || all > 1 && c >= utf8.RuneSelf && unicode.IsUpper(c) && !hasPrefix(name, c)
		switch {
		case c >= utf8.RuneSelf:
			foreign++
			odd = odd || unicode.IsLower(c) && c != 'ß' && c != 'ı'
		case unicode.IsUpper(c):
			capitals++
		default:
			smalls++
		}
	}
	if foreign == 0 {
		return
	}
	r.words++
	a := r.alphabet
	if first, _ := utf8.DecodeRuneInString(word); unicode.IsLower(first) {
		r.small++
	}
	switch {
	case a.latin && inside && smalls > 0: // OÕBrien
		r.wrong(name)
	case a.latin && foreign == all && all > 2:
		r.foreign++
	case a.latin && capitals > 2 && smalls == 0 && odd: // MšLLER
		r.doubtful = true
	case a.vowels != "" && all > 2 && !strings.ContainsAny(word, a.vowels):
		r.silent++
	}
}

// Impossible returns a name that is no name in this reading. It is empty where all names
// can be names.
func (r *Reading) Impossible() string {
	if 2*r.foreign > r.words || 3*r.silent > r.words || !r.alphabet.latin && r.alphabet.bytes == nil && 2*r.small > r.words {
		return cmp.Or(r.impossible, r.first)
	}
	return r.impossible
}

// Doubtful reports whether a name has what hardly any name has.
func (r *Reading) Doubtful() bool { return r.doubtful }

// Turkish returns how many of the letters that Turkish alone has are in the names, 0 if
// these have a letter that it has not.
func (r *Reading) Turkish() int {
	if r.strange > 0 {
		return 0
	}
	return len(r.telling)
}

// Usual returns how usual the letters of the names are: 200 for those that many names
// have, 100 for rare ones.
func (r *Reading) Usual() int {
	if r.letters == 0 {
		return 200
	}
	return 100 * r.weight / r.letters
}
