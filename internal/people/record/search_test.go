package record

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestSearchTerms(t *testing.T) {
	t.Parallel()
	text := func(text string) Term { return Term{Text: text} }
	number := func(text, digits string) Term { return Term{Text: text, Number: Number{Digits: digits}} }
	tests := []struct {
		search string
		want   []Term
	}{
		{"  Čović\u00a0ANA\t", []Term{text("covic"), text("ana")}},
		{"ana ANA", []Term{text("ana")}},
		{"(091)-23", []Term{number("(091)-23", "09123")}},
		{"+385", []Term{number("+385", "385")}},
		{"Horvat,Ivan", []Term{text("horvat"), text("ivan")}},
		{"Horvat, dr. Ivan; ml.", []Term{text("horvat"), text("dr"), text("ivan"), text("ml")}},
		{"Smith Jr., J.R.", []Term{text("smith"), text("jr"), text("j.r")}},
		{"ivan.horvat@", []Term{text("ivan.horvat@")}},
		{"ivan. .horvat ivan..", []Term{text("ivan"), text(".horvat")}},
		{" , . ;.", nil},
		{"091.", []Term{number("091", "091")}},
		{"A-7/12", []Term{text("a-7/12")}}, // a letter, so not a number
		{"９１", []Term{text("91")}},         // not ASCII, so not digits
		{"91 ９１", []Term{number("91", "91"), text("91")}},
		{"\u0301 a", []Term{text("a")}}, // folds to nothing
		{"\u200b \u202aA\u00adna\u202c", []Term{text("ana")}},
		{"O’Brien Jean‑Luc", []Term{text("o'brien"), text("jean-luc")}},
		{"\" % * \x00", []Term{text("\""), text("%"), text("*"), text("\x00")}},
		{strings.Repeat("a", 100), []Term{text(strings.Repeat("a", 100))}},
		{"  " + strings.Repeat("č", 100) + "  ", []Term{text(strings.Repeat("c", 100))}},
		{"Müller", []Term{{Text: "muller", Expanded: "mueller"}}},
		{"MUELLER", []Term{{Text: "mueller", Expanded: "mueller"}}},
		{"Mu\u0308ller-Jaeger", []Term{{Text: "muller-jaeger", Expanded: "mueller-jaeger"}}},
		{"Muller Œ Straße Citroën", []Term{text("muller"), {Text: "oe", Expanded: "oe"}, text("strasse"), {Text: "citroen", Expanded: "citroen"}}},
	}
	for _, tt := range tests {
		t.Run(tt.search, func(t *testing.T) {
			q, err := ParseQuery("search=" + url.QueryEscape(tt.search))
			if err != nil || !slices.Equal(q.Terms, tt.want) || q.Number != (Number{}) {
				t.Errorf("got %q or %q, %v; want %q", q.Terms, q.Number, err, tt.want)
			}
		})
	}
}

// TestSearchNumbers checks which numbers have other forms: those that start with 00, + or 0,
// followed by at least seven digits.
func TestSearchNumbers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		search string
		terms  []Number
		whole  Number
	}{
		{"0923543631", []Number{{"0923543631", "", "923543631"}}, Number{}},
		{"+385923543631", []Number{{"385923543631", "385", "923543631"}}, Number{}},
		{"\u202a+385 92\u2011354\u200b3631\u202c", []Number{{"385", "", ""}, {"923543631", "", ""}}, Number{"385923543631", "385", "923543631"}},
		{"(+385)92-354/3631", []Number{{"385923543631", "385", "923543631"}}, Number{}},
		{"00385(0)92.354.3631", []Number{{"003850923543631", "385", "923543631"}}, Number{}},
		{" \u200bTel:+385923543631", []Number{{"385923543631", "385", "923543631"}}, Number{}},
		{"tel:112", []Number{{"112", "", ""}}, Number{}},
		{"tel:", []Number{{}}, Number{}},
		{"+15551234567", []Number{{"15551234567", "1", "5551234567"}}, Number{}},
		{"+4366412345", []Number{{"4366412345", "43", "66412345"}}, Number{}},
		{"1+23456789", []Number{{"123456789", "", ""}}, Number{}}, // plus not at the start
		{"923543631", []Number{{"923543631", "", ""}}, Number{}},
		{"0923543", []Number{{"0923543", "", ""}}, Number{}},                 // six digits
		{"+3859235", []Number{{"3859235", "", ""}}, Number{}},                // fewer digits
		{"+0123456789", []Number{{"0123456789", "", "123456789"}}, Number{}}, // no country
		{"00", []Number{{"00", "", ""}}, Number{}},
		{"092 354 3631", []Number{{"092", "", ""}, {"354", "", ""}, {"3631", "", ""}}, Number{"0923543631", "", "923543631"}},
		{"+385 (0)92 354 3631", []Number{{"385", "", ""}, {"092", "", ""}, {"354", "", ""}, {"3631", "", ""}}, Number{"3850923543631", "385", "923543631"}},
		{"91 234", []Number{{"91", "", ""}, {"234", "", ""}}, Number{}}, // the terms find all matches
		{"091 – 23", []Number{{"091", "", ""}, {}, {"23", "", ""}}, Number{"09123", "", ""}},
		{"091 % 23", []Number{{"091", "", ""}, {}, {"23", "", ""}}, Number{}}, // not a separator
		{"ana 092 3543631", []Number{{}, {"092", "", ""}, {"3543631", "", ""}}, Number{}},
		{"- /", []Number{{}, {}}, Number{}},
		{"092 354, 3631.", []Number{{"092", "", ""}, {"354", "", ""}, {"3631", "", ""}}, Number{"0923543631", "", "923543631"}},
	}
	for _, tt := range tests {
		t.Run(tt.search, func(t *testing.T) {
			q, err := ParseQuery("search=" + url.QueryEscape(tt.search))
			var terms []Number
			for _, term := range q.Terms {
				terms = append(terms, term.Number)
			}
			if err != nil || !slices.Equal(terms, tt.terms) || q.Number != tt.whole {
				t.Errorf("got %q or %q, %v; want %q or %q", terms, q.Number, err, tt.terms, tt.whole)
			}
		})
	}
}

// TestFormsOfNumbers checks that every form of a number finds all other forms, and no other number.
func TestFormsOfNumbers(t *testing.T) {
	t.Parallel()
	forms := []string{"092 354 3631", "0923543631", "(092) 354-3631", "00385 92 354 3631", "00385923543631", "+385 (0)92 354 3631",
		"+385 92 354 3631", "(+385) 92/354-3631", "+385-92-354-3631"}
	others := []string{"", "91", "092 354 3632", "091 354 3631", "+49 1923543631", "+386 92 354 36", "0192 354 3631", "+1 592 354 3631"}
	finds := func(typed, phone string) bool { return newNumber(typed).In(Digits(phone)) }
	for _, typed := range forms {
		for _, phone := range forms {
			if !finds(typed, phone) {
				t.Errorf("%s does not match %s", typed, phone)
			}
		}
		for _, phone := range others {
			if finds(typed, phone) {
				t.Errorf("%s matches %s", typed, phone)
			}
		}
	}
	for _, tt := range []struct {
		typed, phone string
		want         bool
	}{
		{"09235436", "+385 92 354 3631", true}, // while typing
		{"+3859235436", "092 354 3631", true},
		{"0923543", "+385 92 354 3631", false},
		{"+386 92 354 3631", "+385 92 354 3631", false}, // another country
		{"+386 92 354 3631", "092 354 3631", true},      // no country
		{"092 354 3631", "923543631", true},             // 0 dropped by a spreadsheet
		{"092 354 3631", "385923543631", true},          // plus dropped by a spreadsheet
		{"+39 06 1234 5678", "06 1234 5678", true},      // Italy keeps the 0 in international calls
		{"06 1234 5678", "+39 06 1234 5678", true},
		{"0664 123 4567", "+43 664 123 4567, +43 1 234 5678", true},
		{"+1 (555) 123-4567", "555-123-4567", true},
		{"", "", false},
	} {
		if got := finds(tt.typed, tt.phone); got != tt.want {
			t.Errorf("%q matches %q: %t", tt.typed, tt.phone, got)
		}
	}
}

func TestExpandedFields(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fields Fields
		want   string
	}{
		{Fields{FirstName: "Ana", LastName: "Čović"}, ""},
		{Fields{FirstName: "Juergen", LastName: "Mueller"}, ""},
		{Fields{FirstName: "Jürgen", LastName: "Mueller-Čović", Email: "JÖRG@x.de", PhoneNumber: "091 Büro"}, "juergen\nmueller-covic\njoerg@x.de\n091 buero"},
		{Fields{FirstName: "Ana", LastName: "Ba\u0308r"}, "ana\nbaer\n\n"},
	} {
		if got := tt.fields.Expanded(); got != tt.want {
			t.Errorf("%+v: %q, not %q", tt.fields, got, tt.want)
		}
	}
}

// checkNumber checks that a number has only digits, and no form beyond its digits.
func checkNumber(t *testing.T, query string, n Number) {
	t.Helper()
	if strings.Trim(n.Digits+n.Country+n.Rest, "0123456789") != "" || !strings.HasSuffix(n.Digits, n.Rest) ||
		!strings.Contains(n.Digits, n.Country) || n.Rest != "" && len(n.Rest) < leastRest || n.Digits != "" && !n.In(n.Digits) {
		t.Fatalf("%q: got number %+v", query, n)
	}
}
