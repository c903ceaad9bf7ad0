package sheet

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

const (
	bomUTF8    = "\xEF\xBB\xBF"
	bomUTF16LE = "\xFF\xFE"
	bomUTF16BE = "\xFE\xFF"
)

// guessEncoding returns the encoding of a text: by its byte order mark, else UTF-16
// by its zeros, else UTF-8 if it is valid, else windows-1252.
func guessEncoding(content []byte) string {
	switch {
	case bytes.HasPrefix(content, []byte(bomUTF8)):
		return UTF8
	case bytes.HasPrefix(content, []byte(bomUTF16LE)), bytes.HasPrefix(content, []byte(bomUTF16BE)), isUTF16(content):
		return UTF16
	case utf8.Valid(content):
		return UTF8
	}
	return Windows1252
}

// isUTF16 reports whether content without a byte order mark is a text in UTF-16.
func isUTF16(content []byte) bool {
	if byteOrder(content) == nil {
		return false
	}
	text, ok := decodeUTF16(content)
	return ok && !isBinary(text)
}

// byteOrder returns the order of bytes in a UTF-16 text: by its byte order mark,
// else by its zeros. In text for people one byte of line ends, delimiters and
// Latin letters is zero, and the other byte hardly ever is. For anything else it
// returns nil.
func byteOrder(content []byte) binary.ByteOrder {
	sample := content[:min(len(content), 1<<16)]
	var zeros [2]int
	for i, b := range sample {
		if b == 0 {
			zeros[i%2]++
		}
	}
	enough := 1 + len(sample)/10
	switch {
	case bytes.HasPrefix(content, []byte(bomUTF16LE)):
		return binary.LittleEndian
	case bytes.HasPrefix(content, []byte(bomUTF16BE)):
		return binary.BigEndian
	case zeros[1] >= enough && zeros[1] >= 10*zeros[0]:
		return binary.LittleEndian
	case zeros[0] >= enough && zeros[0] >= 10*zeros[1]:
		return binary.BigEndian
	}
	return nil
}

// decode returns the content as UTF-8, without byte order marks. It reports whether
// the content is valid in the encoding. A byte that a Windows code page does not
// assign becomes U+FFFD, so that a record refuses it.
func decode(content []byte, encoding string) (text string, ok bool) {
	switch encoding {
	case UTF8:
		text, ok = string(content), utf8.Valid(content)
	case UTF16:
		text, ok = decodeUTF16(content)
	case Windows1252:
		text, ok = decodePage(content, charmap.Windows1252), true
	case Windows1250:
		text, ok = decodePage(content, charmap.Windows1250), true
	}
	return strings.TrimLeft(text, "\uFEFF"), ok
}

func decodeUTF16(content []byte) (string, bool) {
	order := byteOrder(content)
	if order == nil {
		order = binary.LittleEndian
	}
	if len(content)%2 != 0 {
		return "", false
	}
	var text strings.Builder
	text.Grow(len(content) / 2)
	for i := 0; i < len(content); i += 2 {
		r := rune(order.Uint16(content[i:]))
		if utf16.IsSurrogate(r) {
			i += 2
			if i == len(content) {
				return "", false
			}
			if r = utf16.DecodeRune(r, rune(order.Uint16(content[i:]))); r == utf8.RuneError {
				return "", false
			}
		}
		text.WriteRune(r)
	}
	return text.String(), true
}

func decodePage(content []byte, page *charmap.Charmap) string {
	content = bytes.TrimPrefix(content, []byte(bomUTF8))
	var text strings.Builder
	text.Grow(len(content) + len(content)/8)
	for _, b := range content {
		text.WriteRune(page.DecodeByte(b))
	}
	return text.String()
}

// ambiguous reports whether windows-1252 and windows-1250 read the content
// differently.
func ambiguous(content []byte) bool {
	var differ [256]bool
	for b := range differ {
		differ[b] = charmap.Windows1252.DecodeByte(byte(b)) != charmap.Windows1250.DecodeByte(byte(b))
	}
	for _, b := range content {
		if differ[b] {
			return true
		}
	}
	return false
}
