package vcard

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/lists/internal/charset"
)

// param returns the values of a parameter in upper case. Version 2.1 permits parameters without a
// name; they count as both TYPE and ENCODING.
func (p Property) param(name string) (values []string) {
	for _, param := range p.params {
		param = strings.ToUpper(param)
		key, value, named := strings.Cut(param, "=")
		switch {
		case !named && (name == "TYPE" || name == "ENCODING"):
			value = key
		case strings.TrimSpace(key) != name:
			continue
		}
		for one := range strings.SplitSeq(strings.ReplaceAll(value, `"`, ""), ",") {
			values = append(values, strings.TrimSpace(one))
		}
	}
	return values
}

// Is reports whether the property has one of the types.
func (p Property) Is(types ...string) bool {
	return slices.ContainsFunc(p.param("TYPE"), func(t string) bool { return slices.Contains(types, t) })
}

func (p Property) encoded(as ...string) bool {
	return slices.ContainsFunc(p.param("ENCODING"), func(e string) bool { return slices.Contains(as, e) })
}

// Text returns the value as text: a phone number without tel:, a birthday in ISO 8601, and "…" for
// a binary value.
func (p Property) Text() string {
	switch text := p.decode(p.value); {
	case p.binary:
		return "…"
	case p.Name == "TEL" && len(text) > 4 && strings.EqualFold(text[:4], "tel:"):
		return text[4:]
	case p.Name == "BDAY":
		return p.birthday(text)
	default:
		return text
	}
}

// Components returns the first n components of a structured value, such as a name.
func (p Property) Components(n int) []string {
	var parts []string
	start, escaped := 0, false
	for i := range len(p.value) {
		switch c := p.value[i]; {
		case c == ';' && !escaped:
			if parts = append(parts, p.decode(p.value[start:i])); len(parts) == n {
				return parts
			}
			start = i + 1
		default:
			escaped = c == '\\' && !escaped
		}
	}
	parts = append(parts, p.decode(p.value[start:]))
	return append(parts, make([]string, max(n-len(parts), 0))...)
}

// decode returns text without quoted-printable encoding and escapes.
func (p Property) decode(text string) string {
	if p.encoded("QUOTED-PRINTABLE") {
		text = p.charset(unquote(text))
	}
	return strings.TrimSpace(unescape(text))
}

// unquote decodes quoted-printable text. It keeps invalid sequences.
func unquote(text string) string {
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '=' && i+2 < len(text) {
			if code, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(code))
				i += 2
				continue
			}
		}
		b = append(b, text[i])
	}
	return string(b)
}

var charsetParam = regexp.MustCompile(`(?i);CHARSET="?([^":;]+)"?[:;]`)

// pageOf returns the code page of a charset, or an empty string for UTF-8 and unknown charsets.
func pageOf(charsetName string) string {
	if strings.EqualFold(charsetName, "ISO-8859-1") { // programs that declare it write windows-1252
		return charset.Windows1252
	}
	page, _ := charset.Page(charsetName)
	return page
}

// Charset returns the code page charsetParam by the cards of a file. It is empty if they declare
// none or several.
func Charset(content []byte) (page string) {
	for _, found := range charsetParam.FindAllSubmatch(content, -1) {
		one := pageOf(string(found[1]))
		if page != "" && one != "" && one != page {
			return ""
		}
		page = cmp.Or(page, one)
	}
	return page
}

// charset decodes text by the charset of the property, by default UTF-8. Invalid bytes become
// U+FFFD, which records reject.
func (p Property) charset(text string) string {
	page := ""
	if named := p.param("CHARSET"); len(named) > 0 {
		page = pageOf(named[0])
	}
	if page == "" {
		return strings.ToValidUTF8(text, string(utf8.RuneError))
	}
	return charset.Decode(text, page)
}

func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte(`\,;:nN`, text[i+1]) >= 0 {
			if i++; text[i] == 'n' || text[i] == 'N' {
				b.WriteByte('\n')
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// preference returns a sort key that is lowest for the most preferred property: mobile phones, then
// others, then work phones, each ordered by PREF. It returns never for faxes, pagers and
// emergency contacts.
func (p Property) preference() int {
	level := 101
	if values := p.param("PREF"); len(values) > 0 {
		if n, err := strconv.Atoi(values[0]); err == nil {
			level = min(max(n, 1), 101)
		}
	}
	if p.Is("PREF") {
		level = min(level, 1)
	}
	types := strings.Join(p.params, ";")
	switch phone := p.Name == "TEL"; {
	case p.Is("CELL", "MOBILE", "IPHONE"):
		return level - 1000
	case phone && notOwn.MatchString(types+unquote(types)): // Android writes X-Fax, or the word in quoted-printable
		return never
	case phone && p.Is("WORK"), p.Is("X400", "X.400"):
		return level + 1000
	}
	return level
}

const never = 1 << 30

// Best returns the index of the most preferred property with the given name, or -1 if there is
// none. Ties go to the first.
func (c Card) Best(name string) int {
	best, least := -1, never
	for i, p := range c {
		if p.Name != name || p.value == "" {
			continue
		}
		if preference := p.preference(); preference < least && !(name == "TEL" && c.isLabeledNotOwn(p)) {
			best, least = i, preference
		}
	}
	return best
}

// companyForm matches the name of a company.
var companyForm = regexp.MustCompile(`(?:^| )(?:GmbH|mbH|KG|OHG|e\. ?V\.|d\. ?o\. ?o\.|Ltd\.?|LLC|Inc\.|SARL|S\.r\.l\.|S\.p\.A\.|B\.V\.|s\.r\.o\.|o\.o\.)$`)

// IsPerson reports whether the card is of a person, and not of a group or an organization. Programs
// that do not declare an organization give it no first or last name, and put its name in FN or only in
// ORG.
func (c Card) IsPerson() bool {
	var kind, name, organization string
	var hasNames, isNamed, isCompany bool
	for _, p := range c {
		switch p.Name {
		case "KIND", "X-ADDRESSBOOKSERVER-KIND":
			kind = p.word()
		case "N":
			parts := p.Components(2)
			hasNames, isNamed = hasNames || !slices.Contains(parts, ""), isNamed || parts[0]+parts[1] != ""
		case "FN":
			name = p.Text()
		case "ORG":
			organization = p.Components(1)[0]
		case "X-ABSHOWAS":
			isCompany = p.word() == "COMPANY"
		}
	}
	isCompany = isCompany || name == organization && name != "" || name == "" && organization != "" && !isNamed
	return (kind == "" || kind == "INDIVIDUAL") && (hasNames || !isCompany) && !companyForm.MatchString(name)
}

// isLabeledNotOwn reports whether the Apple label in the group of a phone number marks it as a fax, a
// pager or an emergency contact.
func (c Card) isLabeledNotOwn(phone Property) bool {
	return phone.group != "" && slices.ContainsFunc(c, func(p Property) bool {
		return p.Name == "X-ABLABEL" && p.group == phone.group && notOwn.MatchString(p.Text())
	})
}

var notOwn = regexp.MustCompile(`(?i)fax|faks|t[ée]l[ée]copi|pager|modem|emerg|notf[aä]l|urgen[cz]|hitn|\bice\b`)

var (
	basicDate = regexp.MustCompile(`^(\d{4}|--)(\d{2})(\d{2})($|T)`)
	basicTime = regexp.MustCompile(`T(\d{2})(\d{2})(\d{2})`)
	basicZone = regexp.MustCompile(`(T.*[+-]\d{2})(\d{2})$`)
)

// birthday returns a date in extended ISO 8601 format, such as 1990-05-15, or --05-15 without a
// year. It returns any other text unchanged.
func (p Property) birthday(text string) string {
	for _, year := range p.param("X-APPLE-OMIT-YEAR") {
		if rest, ok := strings.CutPrefix(text, year+"-"); ok {
			text = "--" + rest
		}
	}
	text = basicDate.ReplaceAllString(text, "$1-$2-$3$4")
	text = basicTime.ReplaceAllString(strings.Replace(text, "---", "--", 1), "T$1:$2:$3")
	return basicZone.ReplaceAllString(text, "$1:$2")
}
