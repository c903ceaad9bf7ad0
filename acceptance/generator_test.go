package acceptance

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"
)

// A generator makes values of schemas by chance: those that fit, those that just do or
// just do not, and those that have broken programs.
type generator struct {
	*rand.Rand
	careless float64             // the share of values that need not fit
	met      map[string][]string // values that answers had, by the name of the member or the header
}

func pickOne[T any](g *generator, from []T) T { return from[g.IntN(len(from))] }

// oneOf reports true once in n times.
func (g *generator) oneOf(n int) bool { return g.IntN(n) == 0 }

// oddCharacters are those about which programs, languages and patterns disagree.
var oddCharacters = []rune("\ufeff\u00a0\u2028\u2029\u0085\u200b\u00ad\u3000\u202f\u205f\u1680\t\n\v\f\r\x00\x1b\x7f\u009f\ufffd\ufffe\uffff" +
	"\U0001F692\U0001F468\u200d\U0001F469\u0301\u05d0\u202eßſıİKΩ١９_%\\\"'<>@.,;:()[]{}#&+/?= ")

// oddTexts may be anywhere.
var oddTexts = []string{"", " ", "\ufeff", "\ufeffAna", "Ana\ufeff", "A\ufeffna", "\u00a0Ana\u2028", "\u200b", "Cˇovic\u0301", "null", "true", "0", "undefined",
	"a@b", "eva@example.org", "eva@example.org.", ".eva@example.org", "an..a@example.com", "ana@127.0.0.1", "a@[127.0.0.1]", "a@[IPv6:::1]", "a@[::1]",
	"a@[1.2.3.04]", "a@[x]", "a@[]", "a@[fe80::1%eth0]", "a@[::ffff:1.2.3.4]", "a@[1:2:3:4:5:6:7::]", "<a@b.hr>", "Ana <a@b.hr>", `"a b"@c.hr`, `"a"@c.hr`, `a\@b@c.hr`,
	"a@b@c", "@", "a@", "@b", "a@b,c@d", "a@b(x)", "(x)a@b", "ана@пример.рф", "a@b.c\u0301", "a\ufeff@b.hr", "a@b.hr\ufeff", "a b@c.hr", "a\u00a0b@c.hr", "a@-b.hr", "a@_b",
	"=?utf-8?q?a?=@b.hr", "mailto:a@b.hr", "a@b.hr>", "a@b..hr", "a'b@c", "a@b.hr;",
	"1990-05-15", "1900-01-01", "1899-12-31", "1899-12-31T23:59:59Z", "1900-01-01T00:00:00+23:59", "1900-01-01T00:00:00-23:59", "1900-01-01T00:00:00+24:00",
	"2000-02-29", "1900-02-29", "2001-02-29", "1990-02-30", "1990-04-31", "1990-13-01", "1990-00-10", "1990-1-1", "0000-01-01", "9999-12-31", "10000-01-01", "-1990-05-15",
	"1990-05-15T00:00:00z", "1990-05-15t00:00:00Z", "1990-05-15 00:00:00Z", "1990-05-15T24:00:00Z", "1990-05-15T23:59:60Z", "1990-06-30T23:59:60Z", "1990-05-15T00:00:00.Z",
	"1990-05-15T00:00:00.0Z", "1990-05-15T00:00:00,5Z", "1990-05-15T00:00:00.12345678901234567890123456789012Z", "1990-05-15T00:00:00.123456789012345678901234567890123Z",
	"1990-05-15T00:00:00", "1990-05-15T00:00", "1990-05-15T00:00:00+2:00", "1990-05-15T00:00:00+0200", "1990-05-15T00:00:00-00:00", "1990-05-15Z", "19900515", "15.05.1990",
	"١٩٩٠-٠٥-١٥", "+1990-05-15", "1990-W20-2", "1990-135",
	"{01a1f83c-64f7-795d-bc35-4c6516093415}", "urn:uuid:01a1f83c-64f7-795d-bc35-4c6516093415", "01a1f83c64f7795dbc354c6516093415", "01A1F83C-64F7-795D-BC35-4C6516093415",
	"00000000-0000-0000-0000-000000000000", "01a1f83c-64f7-795d-bc35-4c651609341g",
	"-1", "1", "01", "+1", "1.0", "1e2", "1.5", "100", "101", "1000", "1001", "999999999999", "2147483648", "9007199254740991", "9007199254740992", "9223372036854775807",
	"9223372036854775808", "18446744073709551616", "1000000000000000000000000000000", "0x10", "1_000", "NaN", "1 ", "TRUE", "t", "no", "yes", "asc,desc", "ASC", "DESC ",
	`"`, `"x"`, `W/"x"`, `"x", "y"`, `"x" "y"`, "*", "*, *", `"x", *`, `w/"x"`, `"a,b"`, `"é"`, "," + strings.Repeat(" ", 3), "x",
	"%", "%00", "%zz", "../..", "..", ".", "a/b", "a%2fb", "a;b", "a&b", "a=b", "a+b", "'; DROP TABLE firefighters; --", "<script>", "${jndi:x}", "\xff", "\xc3", "\xed\xa0\x80"}

// odd returns a text that some program would not expect.
func (g *generator) odd() string {
	switch n := g.IntN(20); n {
	case 0, 1, 2: // around the day of grace of a date of birth
		at := time.Now().Add(24*time.Hour + time.Duration(g.IntN(9)-4)*12*time.Hour)
		return at.In(time.FixedZone("", (g.IntN(2*1439+1)-1439)*60)).Format(pickOne(g, []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04:05", time.RFC3339Nano}))
	case 3:
		return strings.Repeat(string(pickOne(g, oddCharacters)), 1+g.IntN(3))
	}
	return pickOne(g, oddTexts)
}

// fitting returns a value that fits a schema, nil for a field that may be without one. It
// fits by more than the schema where words say more.
func (g *generator) fitting(name string, schema any) any {
	s := description().follow(schema)
	if hasType(s["type"], "null") && s["type"] != nil && g.oneOf(8) {
		return nil
	}
	for range 200 {
		value := g.try(s)
		v := &validation{document: description(), saw: func(string) {}}
		v.check(name, schema, value)
		text, isText := value.(string)
		if len(v.faults) == 0 && (!isText || saidInWords(name, strings.TrimSpace(text)) == "") {
			return value
		}
	}
	panic("nothing fits the schema of " + name)
}

// try returns a value that fits a schema, or nearly.
func (g *generator) try(s object) any {
	if s["const"] != nil {
		return s["const"]
	}
	if enum := listOf(s["enum"]); enum != nil {
		return pickOne(g, enum)
	}
	switch {
	case s["type"] == nil:
		return pickOne(g, []any{nil, true, json.Number("1"), "x", []any{}, object{"a": nil}})
	case hasType(s["type"], "integer"):
		return json.Number(g.number(s))
	case hasType(s["type"], "boolean"):
		return g.oneOf(2)
	case hasType(s["type"], "object"):
		return g.object(s)
	}
	switch s["format"] {
	case "uuid":
		return uuid.UUID(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, g.Uint64()), g.Uint64())).String()
	case "date-time":
		return time.UnixMilli(g.Int64N(2*time.Now().UnixMilli()) - time.Now().UnixMilli()/2).UTC().Format(time.RFC3339Nano)
	}
	text := ""
	if pattern, ok := s["pattern"].(string); ok {
		re, err := syntax.Parse(inGo(pattern), syntax.Perl)
		if err != nil {
			panic(err)
		}
		text = g.match(re)
	}
	if most, ok := s["maxLength"].(json.Number); ok && atoi(most) <= 512 && g.oneOf(5) {
		text = g.stretch(text, atoi(most)+g.IntN(3)-1)
	}
	return text
}

// number returns a whole number at a bound of a schema, or somewhere.
func (g *generator) number(s object) string {
	if least := number64(s["minimum"]); least != nil && g.Float64() < g.careless && g.oneOf(2) {
		return least.Sub(least, number64(1)).String()
	}
	at := []string{"1", "2", "7", fmt.Sprint(g.IntN(1200))}
	for _, bound := range []string{"minimum", "maximum", "default"} {
		if n := number64(s[bound]); n != nil {
			at = append(at, n.String(), n.Add(n, number64(1)).String(), n.Sub(n, number64(2)).String())
		}
	}
	return pickOne(g, at)
}

// stretch returns a text of so many characters: one of it is repeated, or its end left out.
func (g *generator) stretch(text string, length int) string {
	characters := []rune(text)
	if len(characters) == 0 {
		characters = []rune{'x'}
	}
	if len(characters) >= length {
		return string(characters[:length])
	}
	at := g.IntN(len(characters))
	return string(slices.Insert(characters, at, slices.Repeat(characters[at:at+1], length-len(characters))...))
}

// match returns a text that a regular expression matches.
func (g *generator) match(re *syntax.Regexp) string {
	repeat := func(least, most int) string {
		if most < 0 {
			most = least + pickOne(g, []int{1, 3, 12})
		}
		var b strings.Builder
		for range least + g.IntN(most-least+1) {
			b.WriteString(g.match(re.Sub[0]))
		}
		return b.String()
	}
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		return string(g.character(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return string(g.character([]rune{' ', '~', 0x80, unicode.MaxRune}))
	case syntax.OpStar:
		return repeat(0, -1)
	case syntax.OpPlus:
		return repeat(1, -1)
	case syntax.OpQuest:
		return repeat(0, 1)
	case syntax.OpRepeat:
		return repeat(re.Min, re.Max)
	case syntax.OpAlternate:
		return g.match(pickOne(g, re.Sub))
	}
	var b strings.Builder // a group, several after another, or a place
	for _, sub := range re.Sub {
		b.WriteString(g.match(sub))
	}
	return b.String()
}

// character returns one of a class, which is given as the ends of its ranges.
func (g *generator) character(class []rune) rune {
	in := func(r rune) bool {
		for i := 0; i < len(class); i += 2 {
			if class[i] <= r && r <= class[i+1] {
				return true
			}
		}
		return false
	}
	for range 100 {
		i := g.IntN(len(class)/2) * 2
		r := class[i] + g.Int32N(class[i+1]-class[i]+1)
		switch g.IntN(8) {
		case 0:
			r = pickOne(g, oddCharacters)
		case 1:
			r = g.Int32N(0x250)
		case 2, 3, 4, 5:
			r = ' ' + g.Int32N('~'-' ')
		}
		if in(r) && utf8.ValidRune(r) {
			return r
		}
	}
	return class[0]
}

// text returns a text in the place of a value of this schema.
func (g *generator) text(name string, schema any) string {
	if g.Float64() >= g.careless {
		if known := g.met[name]; len(known) > 0 && g.oneOf(2) {
			return pickOne(g, known)
		}
		return fmt.Sprint(g.fitting(name, schema))
	}
	if s := description().follow(schema); s["type"] == "integer" && g.oneOf(2) {
		return g.number(s)
	}
	text := g.odd()
	switch known := g.met[name]; {
	case g.oneOf(3):
		text = fmt.Sprint(g.fitting(name, schema))
	case g.oneOf(3) && len(known) > 0:
		text = pickOne(g, known)
	}
	if g.oneOf(2) {
		text = g.spoil(text)
	}
	if most, ok := description().follow(schema)["maxLength"].(json.Number); ok && atoi(most) <= 1000 && g.oneOf(6) {
		text = g.stretch(text, atoi(most)+g.IntN(3)-1)
	}
	return text
}

// spoil changes a text a little.
func (g *generator) spoil(text string) string {
	characters := []rune(text)
	at := g.IntN(len(characters) + 1)
	odd := pickOne(g, oddCharacters)
	switch g.IntN(12) {
	case 0:
		return string(odd) + text
	case 1:
		return text + string(odd)
	case 2, 3:
		return string(slices.Insert(characters, at, odd))
	case 4:
		return string(characters[:at])
	case 5:
		return norm.NFD.String(text)
	case 6:
		return strings.ToUpper(text)
	case 7:
		return strings.ToLower(text)
	case 8:
		return pickOne(g, []string{" ", "\t", "\u3000", "\u0085"}) + text + pickOne(g, []string{" ", "\r\n", "\u00a0"})
	case 9:
		around := pickOne(g, []string{"<>", "[]", "{}", `""`, "''", "().", "urn:uuid:.", "0."})
		return around[:len(around)-1] + text + around[len(around)-1:]
	case 10:
		return text + text
	}
	return text
}

// value returns a value in the place of one of this schema, for JSON.
func (g *generator) value(name string, schema any) any {
	if g.Float64() >= g.careless {
		return g.fitting(name, schema)
	}
	if g.oneOf(4) {
		return pickOne(g, []any{nil, true, json.Number("1"), json.Number("1e400"), []any{}, []any{"x"}, object{}, object{"$ref": "x"}, ""})
	}
	return g.text(name, schema)
}

// object returns one that a schema describes.
func (g *generator) object(s object) object {
	o := object{}
	properties, _ := s["properties"].(object)
	names := slices.Sorted(maps.Keys(properties))
	target := "" // the only member that need not fit
	if g.careless > 0 && g.oneOf(2) && len(names) > 0 {
		target = pickOne(g, names)
	}
	careless := g.careless
	for _, name := range names {
		if target != "" {
			g.careless = map[bool]float64{true: 1}[name == target]
		}
		if slices.Contains(listOf(s["required"]), any(name)) && g.Float64() >= g.careless/4 || name == target || g.oneOf(2) {
			o[name] = g.value(name, properties[name])
		}
	}
	g.careless = careless
	if target != "" {
		g.careless = 0
	}
	return o
}

// json returns an object as JSON. Careless ones may be no object.
func (g *generator) json(s object) string {
	o := g.object(s)
	careless := func(n int) bool { return g.Float64() < g.careless && g.oneOf(n) }
	if careless(5) {
		o[pickOne(g, append(slices.Sorted(maps.Keys(o)), "FIRSTNAME", "phone", "createdAt", "__proto__", "", "\ufefffirstName"))] = g.odd()
	}
	var members []string
	for _, name := range slices.Sorted(maps.Keys(o)) { // so that a seed says it all
		members = append(members, g.quoted(name)+":"+g.quoted(o[name]))
	}
	g.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	if careless(6) && len(members) > 0 {
		members = append(members, pickOne(g, members))
	}
	text := pickOne(g, []string{"", "", "", " ", "\n\t", "\ufeff"}) + "{" + strings.Join(members, ",") + "}" + pickOne(g, []string{"", "", "\r\n"})
	if careless(6) {
		at := g.IntN(len(text) + 1)
		text = text[:at] + pickOne(g, []string{"\xff", "\x00", ",", "}", "\"", "\\", "/*", "\ufeff", "\u00a0", "1", `\ud83d`, `\u0000`}) + text[at:]
	}
	if careless(12) {
		text = pickOne(g, []string{"", "null", "[]", `""`, "1", "{", text + "x", text + text, "\ufeff\ufeff" + text, "[" + text + "]", strings.Repeat("[", 20000), `{"a":` + text + "}",
			text + strings.Repeat(" ", max(0, maxBody-len(text))), text + strings.Repeat(" ", max(0, maxBody+1-len(text))), "\xff\xfe{\x00}\x00", "firstName=Ana"})
	}
	return text
}

// quoted returns a value as JSON, in one of its spellings.
func (g *generator) quoted(value any) string {
	if text, isText := value.(string); isText && g.oneOf(6) {
		var b strings.Builder
		for _, unit := range utf16.Encode([]rune(text)) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
		return `"` + b.String() + `"`
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}
