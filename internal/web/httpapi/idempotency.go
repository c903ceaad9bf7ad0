package httpapi

import (
	"net/http"
	"strings"
)

// maxIdempotencyKey is the longest key, in characters.
const maxIdempotencyKey = 255

// IdempotencyKey returns the Idempotency-Key of the request, "" if it has none
// (draft-ietf-httpapi-idempotency-key-header). It takes a string in quotes, as
// in the draft, and one without, as many clients send it. The error is a
// *Problem.
func IdempotencyKey(r *http.Request) (string, error) {
	values := r.Header["Idempotency-Key"]
	if len(values) == 0 {
		return "", nil
	}
	key, ok := parseIdempotencyKey(strings.Trim(values[0], " \t"))
	if len(values) > 1 || !ok || key == "" || len(key) > maxIdempotencyKey {
		return "", InvalidFields(invalidHeader("Idempotency-Key",
			"Idempotency-Key must be one text of 1 to 255 visible ASCII characters."))
	}
	return key, nil
}

// parseIdempotencyKey reads an RFC 9651 string or bare visible characters.
func parseIdempotencyKey(text string) (key string, ok bool) {
	quoted, isQuoted := strings.CutPrefix(text, `"`)
	if isQuoted {
		return unquote(quoted)
	}
	invalid := func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' }
	return text, !strings.ContainsFunc(text, invalid)
}

// unquote reads the rest of an RFC 9651 string (section 4.2.5), from behind its
// opening quote.
func unquote(text string) (string, bool) {
	var key []byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return string(key), i == len(text)-1
		case c == '\\' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\'):
			i++
			key = append(key, text[i])
		case c < ' ' || c > '~' || c == '\\':
			return "", false
		default:
			key = append(key, c)
		}
	}
	return "", false
}
