package httpapi

import (
	"net/http"
	"regexp"
	"strings"
)

// StrictHandling is the preference of a client that wants to be refused where it asks for
// what the service does not know. The content of Preference-Applied is the same.
const StrictHandling = "handling=strict"

// PrefersStrict reports whether a request has StrictHandling (RFC 7240, section 4.4).
func PrefersStrict(r *http.Request) bool {
	return strings.EqualFold(preference(r.Header["Prefer"], "handling"), "strict")
}

// aPreference matches a name, and its value as a token or a quoted string. Parameters of
// it may follow.
var aPreference = func() *regexp.Regexp {
	const token = "([!#$%&'*+.^_`|~0-9A-Za-z-]+)"
	return regexp.MustCompile(`^[ \t]*` + token + `[ \t]*(?:=[ \t]*(?:` + token + `|"((?:[^"\\]|\\.)*)")?[ \t]*)?(?:;|$)`)
}()

// preference returns the value of a preference, empty for none. The first of its name counts.
// What is not well-formed counts as absent, because a service may ignore any preference.
func preference(headers []string, name string) string {
	for _, rest := range headers {
		for rest != "" {
			var element string
			element, rest = cutElement(rest)
			if match := aPreference.FindStringSubmatch(element); match != nil && strings.EqualFold(match[1], name) {
				return match[2] + unquote.ReplaceAllString(match[3], "$1")
			}
		}
	}
	return ""
}

// unquote matches an escaped character of a quoted string.
var unquote = regexp.MustCompile(`\\(.)`)

// cutElement returns the first element of a list with commas, which a quoted string may
// have, too, and what follows it.
func cutElement(list string) (element, rest string) {
	quoted := false
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			return list[:i], list[i+1:]
		}
	}
	return list, ""
}
