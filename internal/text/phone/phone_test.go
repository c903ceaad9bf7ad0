package phone

import (
	"slices"
	"strings"
	"testing"
)

func TestCallingCode(t *testing.T) {
	t.Parallel()
	for country, want := range map[string]string{
		"AD": "376", "HR": "385", "US": "1", "GB": "44", "ZW": "263", "UK": "", "EN": "", "hr": "", "H": "", "": "", "D4": "", "8 ": "",
	} {
		if got := CallingCode(country); got != want {
			t.Errorf("%q: %q, want %q", country, got, want)
		}
	}
}

// links returns the numbers of a text as links, separated by spaces.
func links(text string) string {
	var all []string
	for _, n := range Numbers(text) {
		all = append(all, n.Link())
	}
	return strings.Join(all, " ")
}

func TestParts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "098 1": "098 1", "+385 (0)91 820 / 8279": "+385 (0)91 820 / 8279", "091 234 5678": "091 234 5678",
		"091 234 5678, 01 234 5678":              "091 234 5678,|01 234 5678",
		"+49 (0)9401 123 456-78 / 0171 12345678": "+49 (0)9401 123 456-78|/|0171 12345678",
		"+385 (0)1 2345 / 678 ext. 12":           "+385 (0)1 2345 / 678|ext.|12",
		"Ana: 091 234 5678 (mob.)":               "Ana:|091 234 5678|(mob.)",
		"ask Ivo":                                "ask|Ivo",
		"112 Ana":                                "112 Ana",
	} {
		if got := strings.Join(Parts(text), "|"); got != want {
			t.Errorf("Parts(%q) = %q, want %q", text, got, want)
		}
	}
}

// FuzzParts checks that the parts are the text.
func FuzzParts(f *testing.F) {
	f.Add("091 234 5678, 01 234 5678")
	f.Fuzz(func(t *testing.T, text string) {
		if got := strings.Join(Parts(text), " "); got != text {
			t.Errorf("the parts of %q are %q", text, got)
		}
	})
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"091 111 2222 / 01 222 3333":   "0911112222 012223333",
		"202-555-0123 ext. 45":         "2025550123;ext=45",
		"091 234 5678 (2. broj)":       "0912345678",
		"912345678.0":                  "912345678",
		"\u202a+385 91 999 0000\u202c": "+385919990000",
		"+49 (0)171 1234567":           "+491711234567",

		// One number.
		"091 234 5678": "0912345678", "0912345678": "0912345678", "091/234-5678": "0912345678", " (091) 234-5678 ": "0912345678",
		"091.234.5678": "0912345678", "091/234/5678": "0912345678", "091 \u2013 234\u20115678": "0912345678", "091\u202f234\u00a05678": "0912345678",
		"00385 91 234 5678": "+385912345678", "00 385 (0)91 234 5678": "+385912345678", "+385 091 234 5678": "+385912345678",
		"(+385)92-354/3631": "+385923543631", "+ 385 92 354 3631": "+385923543631", "+385/91/234-5678": "+385912345678",
		"+49 37298/12345": "+493729812345", "037298/12345": "03729812345", "089 1234-0": "08912340", "+39 06 1234567": "+39061234567",
		"+39 (0)6 1234567": "+39061234567", "+385 (0)91 820 / 8279": "+385918208279", "(555) 123-4567": "5551234567", "555/123-4567": "5551234567", "1-800-555-0123": "18005550123",
		"+1 (555) 123-4567": "+15551234567", "8 (495) 123-45-67": "84951234567", "202 - 555 - 0123": "2025550123", "(2) 2345 6789": "223456789",
		"+56 9 1234 5678": "+56912345678", "+54 (9) 11 1234 5678": "+5491112345678", "06.12.34.56.78": "0612345678", "22/123 45 67": "221234567",
		"tel:0912345678": "0912345678", "Tel.091/2345-678, Ana": "0912345678", "091 234 5678 büro": "0912345678", "0912345678mob": "0912345678",
		"0471 123 456 H. Maier": "0471123456", "49 151 12345678": "4915112345678", "089 1234 0567": "08912340567", "44-5-12": "44512",

		// Extensions.
		"01 234 567, kl. 12": "01234567;ext=12", "+1 202 555 0123 x9": "+12025550123;ext=9", "01 234567 (DW 15)": "01234567;ext=15",
		"202-555-0123;ext=12345": "2025550123;ext=12345", "22 123 45 67 wew. 8": "221234567;ext=8", "(22) 123-45-67 w. 8": "221234567;ext=8", "600 123 456 extensión 7": "600123456;ext=7",
		"202-555-0123 Extra 45": "2025550123", "01 234567 #3 / 091 234 5678": "01234567;ext=3 0912345678",

		"(555) 123-4567 x12.": "5551234567;ext=12", "01 234567 int. 091 234 5678": "01234567 0912345678",

		// Several numbers.
		"06 12 34 56 08 01 23 45 67 89": "0612345608 0123456789", "348 1234567 0471 123456": "3481234567 0471123456",
		"0471/123456 - 333/1234567": "0471123456 3331234567", "(h) 555-123-4567 (c) 555-765-4321": "5551234567 5557654321",
		"+48(22)1234567|600-123-456": "+48221234567 600123456", "+43 (0) 664 / 123 45 67": "+436641234567", "+(385) 91 234 5678": "+385912345678",
		"091 234 5678, 01 234 5678": "0912345678 012345678", "2345678/2345679": "2345678 2345679", "0912345678 0912345679": "0912345678 0912345679",
		"2345678 2345679": "2345678 2345679", "091/234 5678; 01/222 333": "0912345678 01222333", "+385 91 111 2222 +385 92 333 4444": "+385911112222 +385923334444",
		"091 111 2222 ili 092 333 4444": "0911112222 0923334444", "091 111 2222\n092 333 4444": "0911112222 0923334444",
		"091 111 2222  01/222 3333": "0911112222 012223333", "091 111 2222 - 01 222 3333": "0911112222 012223333",
		"1. 091 111 2222 2. 092 333 4444": "0911112222 0923334444", "1) 091 111 2222, 2) 092 333 4444": "0911112222 0923334444",
		"01/2223333/091/1112222": "012223333 0911112222", "091 111 2222 (doma 01 222 3333)": "0911112222 012223333",
		"06 12 34 56 78 / 01 23 45 67 89": "0612345678 0123456789", "112 / 091 234 5678": "0912345678", "+385 91 111 2222 / 333 4444": "+385911112222 3334444",

		// What follows a number is not dialled.
		"091 2345678/12": "0912345678", "091 234 5678 (2)": "0912345678", "091 234 5678 8-16h": "0912345678", "091 234 5678 8 - 16 Uhr": "0912345678",
		"01 222 333 0-24": "01222333", "091 234 567 24/7": "091234567", "091 234 5678 od 1.1.2020": "0912345678", "091 234 5678 do 16 h": "0912345678",
		"091 234 5678 a1234567@x.hr": "0912345678", "091 234 5678 (iza 18h)": "0912345678",

		// Emergency numbers.
		"112": "112", " 193 ": "193", "18": "18", "kl. 112": "", "112 113": "112113", "091": "", "120/121": "120121",

		// No certain number.
		"": "", "1": "", "4711": "", "ask Marko": "", "1-800-FLOWERS": "", "4.41E+11": "", "9.12346E+08": "", "9,12346E8": "", "12.3.1990": "", "1990-03-12": "",
		"O91 234 5678": "", "09l 234 5678": "", "0471 123456 348 1234567": "", "+385+91 234 5678": "", "1+23456789": "", "+": "", "00": "", "+0123456789": "", "+385": "", "٠٩١٢٣٤٥٦٧٨": "", "091 234 5678 9012 34": "",
		strings.Repeat("1", 50): "",
	} {
		if got := links(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b, country string
		want          bool
	}{
		{"091 234 5678", "091/234-5678", "", true},
		{"+385 91 111 2222", "091 1112222", "HR", true},
		{"+385 91 111 2222", "091 1112222", "", true},
		{"+49 91 111 2222", "091 1112222", "", true},
		{"+49 91 111 2222", "091 1112222", "HR", false},
		{"+385 91 111 2222", "091 1112222", "US", true}, // no American number starts with 0
		{"00385911112222", "+385 (0)91 1112222", "", true},
		{"385911112222", "+385 91 1112222", "HR", true}, // a spreadsheet removed the plus
		{"911112222", "091 111 2222", "HR", true},       // or the zero
		{"+1 202 555 0123", "202-555-0123", "US", true},
		{"1-202-555-0123", "202-555-0123", "US", true},
		{"+39 06 1234567", "06 1234567", "IT", true},
		{"06 1 234 5678", "+36 1 234 5678", "HU", true},
		{"8 (495) 123-45-67", "+7 495 1234567", "RU", true},
		{"+34 612 345 678", "612345678", "ES", true},
		{"912345678.0", "0912345678", "", true},
		{"Ana (mama): 091 234 5678", "ANA, mama 0912345678", "", true},
		{"091 234 5678", "091 234 5678 (mama)", "", false},
		{"091 234 5678 ext. 1", "091 234 5678 x1", "", true},
		{"091 1 11 22 / 01 222 333", "091 11122, 01/222333", "", true},
		{"ask Marko", "Ask  marko", "", true},
		{"ask Marko", "ask Ana", "", false},
		{"091 234 5678", "091 234 5679", "", false},
		{"091 234 5678 ext. 1", "091 234 5678 ext. 2", "", false},
		{"091 234 5678/12", "091 234 5678/14", "", false},
		{"091 111 2222 / 01 222 3333", "091 111 2222", "", false},
		{"234 5678", "091 234 5678", "", false},
		{"4711", "4712", "", false},
		{"0911+234567", "0911+234568", "", false},
		{"", "091 234 5678", "", false},
		{"", "", "", true},
	} {
		if got, back := Same(tt.a, tt.b, tt.country), Same(tt.b, tt.a, tt.country); got != tt.want || back != tt.want {
			t.Errorf("%q and %q in %q: %t and %t, want %t", tt.a, tt.b, tt.country, got, back, tt.want)
		}
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"+385 (0)92 354 3631", "092/3543631", true},
		{"354 3631", "+385 92 354 3631", true},
		{"01 222 3333 / 092 354 3631", "092 354 3631 (mama)", true},
		{"202-555-0123 ext. 45", "+1 202 555 0123", true},
		{"354 363", "354363", true},
		{"354 363", "092 354 363", false},
		{"092 354 3631", "091 354 3631", false},
		{"ask Marko", "ask Marko", false},
		{"", "", false},
	} {
		a, b := Numbers(tt.a), Numbers(tt.b)
		if got, back := Share(a, b), Share(b, a); got != tt.want || back != tt.want {
			t.Errorf("%q and %q: %t and %t, want %t", tt.a, tt.b, got, back, tt.want)
		}
		key := func(n Number) string { return n.Key() }
		if tt.want && !slices.ContainsFunc(a, func(n Number) bool {
			return slices.ContainsFunc(b, func(other Number) bool { return key(n) == key(other) })
		}) {
			t.Errorf("%q and %q have no key in common", tt.a, tt.b)
		}
	}
}

// FuzzNumbers checks that a number has only digits of its text, and that a number written as it is
// dialled is the same number.
func FuzzNumbers(f *testing.F) {
	for _, text := range []string{"091 111 2222 / 01 222 3333", "202-555-0123 ext. 45", "+49 (0)171 1234567", "112", "9.12E+8", "(", "1. 2) 00 +"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all := Numbers(text)
		for _, n := range all {
			if dial := strings.TrimPrefix(n.Dial, "+"); dial == "" || strings.Trim(dial+n.Extension, "0123456789") != "" {
				t.Errorf("%q: the number %q", text, n)
			}
			if again := Numbers(n.Link()); !slices.Equal(again, []Number{n}) && len(n.Dial) <= mostNational {
				t.Errorf("%q: %q is read as %q", text, n, again)
			}
		}
		if !Same(text, text+" ", "HR") || len(all) > 0 && !Share(all, all) {
			t.Errorf("%q is not the same", text)
		}
	})
}

// TestMayHaveNoise checks that the texts that are not searched for noise have none.
func TestMayHaveNoise(t *testing.T) {
	t.Parallel()
	parts := []string{"", "0", "24", "1990", "617", "(0)", "(617)", "1)", "+385", "/", "-", " ", " / ", " - "}
	var try func(text string, more int)
	try = func(text string, more int) {
		if !mayHaveNoise(text) && noise().MatchString(text) {
			t.Errorf("%q has noise", text)
		}
		if more > 0 {
			for _, part := range parts[1:] {
				try(text+part, more-1)
			}
		}
	}
	try("", 4)
	for _, plain := range []string{"091 234 5678", "091/234567", "+385 (0)91 820 / 8279", "(617) 555-0123", "01 222 3333"} {
		if mayHaveNoise(plain) {
			t.Errorf("%q is searched", plain)
		}
	}
}
