package sheet

import (
	"encoding/json"
	"html"
	"mime"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/lists/internal/charset"
	"github.com/firefighter-records/firefighters/internal/text/fold"
	"github.com/firefighter-records/firefighters/internal/text/regex"
)

// wrappings are what Unwrap removes, in this order.
var wrappings = []struct {
	code string
	cut  func(text string) string
}{
	{NoteFormulaText, cutFormula}, {NoteEncodedTwice, decodeTwice}, {NoteHTML, cutHTML}, {NoteEscapes, unescape},
}

// Unwrap returns the text of a cell without what another program has certainly added. It calls
// removed, unless that is nil, with the code and the texts for each removal.
func Unwrap(text string, removed func(code, before, after string)) string {
	if IsPlain(text) {
		return text
	}
	for _, w := range wrappings {
		if plain := w.cut(text); plain != text {
			if removed != nil {
				removed(w.code, text, plain)
			}
			text = plain
		}
	}
	return text
}

// isWrapped reports whether an import would change a text that is not literal.
func isWrapped(text string) bool {
	return strings.ContainsAny(text, "\u0085\u2028\u2029") || Unwrap(text, nil) != text
}

// IsPlain reports whether a text has neither line breaks nor a character that any of wrappings looks
// for. Most cells are plain.
func IsPlain(text string) bool {
	before := false // the previous character is outside ASCII
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			if before = false; r < ' ' || isMark[r] {
				return false
			}
		case before, r == '\u0085', r == '\u2028', r == '\u2029':
			return false
		default:
			before = true
		}
	}
	return true
}

// isMark has the characters in ASCII that wrappings look for.
var isMark = [utf8.RuneSelf]bool{'#': true, '&': true, '<': true, '=': true, '\'': true, '%': true, '\\': true}

var lazy = regex.Lazy

// formulaText matches a formula that only protects a text or a long number.
var formulaText = lazy(`^(?i:=(?:(?:T|HYPERLINK)\()?"((?:[^"]|"")*)"(?:[,;] *"((?:[^"]|"")*)")?\)?|=(\+?\d{5,})|'([\d(][^']*)'?)$`)

func cutFormula(text string) string {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || trimmed[0] != '=' && trimmed[0] != '\'' {
		return text
	}
	found := formulaText().FindStringSubmatch(trimmed)
	if found == nil {
		return text
	}
	for i := len(found) - 1; i > 0; i-- {
		if found[i] != "" {
			return strings.ReplaceAll(found[i], `""`, `"`)
		}
	}
	return ""
}

// decodeTwice undoes the decoding of UTF-8 as a code page, up to three times. It returns text
// unchanged unless all its characters are bytes of a code page that form UTF-8 for Latin letters.
// Real names stay: PAWEÓŁ would contain a letter of another script, and MUREĂŞAN a small letter
// among capitals.
func decodeTwice(text string) string {
	for _, page := range []string{charset.Windows1252, charset.Windows1250, "macintosh", "cp850", "cp852"} {
		plain, ok := charset.Undo(text, page)
		for range 2 {
			if again, deeper := charset.Undo(plain, page); ok && deeper && plain != again {
				plain = again
			}
		}
		if ok && !strings.ContainsFunc(plain, isUnlikely) && (!isCapital(text) || isCapital(plain)) {
			return plain
		}
	}
	return text
}

// isUnlikely reports whether a character outside ASCII is neither a letter of a European language
// in Latin script nor a quotation mark, dash, space or byte order mark.
func isUnlikely(r rune) bool {
	letter := 'À' <= r && r <= 'ſ' && unicode.IsLetter(r) || 'Ș' <= r && r <= 'ț'
	return r >= utf8.RuneSelf && !letter && (r < '\u2010' || '\u2026' < r) && r != '\u00a0' && r != '\ufeff'
}

// isCapital reports whether text has capital letters only.
func isCapital(text string) bool {
	return text != strings.ToLower(text) && text == strings.ToUpper(text)
}

var (
	entity   = lazy(`&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});`)
	lineTag  = lazy(`(?i)</?(?:br|p|div|li|tr)(?:\s[^<>]*)?/?>`)
	otherTag = lazy(`(?i)</?(?:a|b|i|u|em|strong|span|font|small|td)(?:\s[^<>]*)?/?>`)
)

// endsInEntity reports whether text ends in a complete HTML code, such as &uuml; before a semicolon
// that is no delimiter.
func endsInEntity(text string) bool {
	at := strings.LastIndexByte(text, '&')
	return at >= 0 && entity().MatchString(text[at:]) && !strings.HasSuffix(html.UnescapeString(text[at:]), ";")
}

// cutHTML replaces HTML codes, which may be written twice (&amp;uuml;), and removes tags.
func cutHTML(text string) string {
	for range 2 {
		if strings.Contains(text, "&") {
			text = strings.ReplaceAll(entity().ReplaceAllStringFunc(text, html.UnescapeString), "\u00a0", " ")
		}
		if strings.Contains(text, "<") {
			text = lineTag().ReplaceAllString(text, "\n")
		}
		if strings.Contains(text, "</") {
			text = otherTag().ReplaceAllString(text, "")
		}
	}
	return text
}

var (
	unicodeEscapes = lazy(`(?:\\u[0-9a-fA-F]{4})+`)
	lookup         = lazy(`^\d+;#(.+)$`)
	byteEscapes    = lazy(`(?:(?:\\x|%|=)[0-9a-fA-F]{2}){2,}`)
)

// unescape decodes escapes of programming languages, web addresses and e-mail headers. It removes the
// number of a value in SharePoint, such as 12;#Ana Kos.
func unescape(text string) string {
	if strings.Contains(text, "=?") {
		if plain, err := new(mime.WordDecoder).DecodeHeader(text); err == nil {
			text = plain
		}
	}
	if strings.Contains(text, ";#") {
		text = lookup().ReplaceAllString(text, "$1")
	}
	if strings.ContainsAny(text, `\%=`) {
		if plain := byteEscapes().ReplaceAllStringFunc(text, decodeBytes); plain != text {
			text = strings.NewReplacer("%20", " ", "=20", " ").Replace(plain)
		}
	}
	for range 3 { // O\\'Brien
		if !strings.Contains(text, `\`) {
			break
		}
		text = cutBackslashes(unicodeEscapes().ReplaceAllStringFunc(text, decodeUnicode))
	}
	return text
}

// decodeBytes decodes hexadecimal bytes if they are UTF-8 outside ASCII.
func decodeBytes(escapes string) string {
	plain, err := url.PathUnescape(strings.NewReplacer(`\x`, "%", "=", "%").Replace(escapes))
	if err != nil || !utf8.ValidString(plain) || fold.IsASCII(plain) {
		return escapes
	}
	return plain
}

func decodeUnicode(escapes string) (plain string) {
	json.Unmarshal([]byte(`"`+escapes+`"`), &plain) // the pattern permits only valid escapes
	return plain
}

// cutBackslashes removes backslashes before punctuation, and replaces \n, \r and \t unless a small
// letter follows. Other backslashes stay: they may be part of a name.
func cutBackslashes(text string) string {
	var plain strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			plain.WriteByte(text[i])
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[i+2:])
		switch c := text[i+1]; {
		case strings.IndexByte(`!"#$%&'()*+,-./:;<=>?@[]^_{|}~`+"`", c) >= 0:
			plain.WriteByte(c)
			i++
		case strings.IndexByte("nrt", c) >= 0 && !unicode.IsLower(next):
			plain.WriteByte(strings.NewReplacer("n", "\n", "r", "\n", "t", " ").Replace(text[i+1 : i+2])[0])
			i++
		default:
			plain.WriteByte('\\')
		}
	}
	return plain.String()
}
