package site

import "strings"

// turning are the characters that change the direction of what follows.
const turning = "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

// Isolate returns a text for a sentence. Where it has characters that turn the
// direction of text, it stands between U+2068 and U+2069, so that it turns nothing
// but itself.
func Isolate(text string) string {
	if strings.ContainsAny(text, turning) {
		return "\u2068" + text + "\u2069"
	}
	return text
}
