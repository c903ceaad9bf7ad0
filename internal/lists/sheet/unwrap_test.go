package sheet

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// unwrapped returns the text of a cell as it is read, and the kinds of what was removed.
func unwrapped(text string) (plain, kinds string) {
	plain = Unwrap(text, func(code, _, _ string) { kinds += " " + code })
	return plain, strings.TrimSpace(kinds)
}

func TestUnwrap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want, kinds string }{
		{`="0912345678"`, "0912345678", NoteFormulaText},
		{` ="A ""B"" C" `, `A "B" C`, NoteFormulaText},
		{`=""`, "", NoteFormulaText},
		{`=T("0171")`, "0171", NoteFormulaText},
		{`=HYPERLINK("mailto:ana@example.org";"ana@example.org")`, "ana@example.org", NoteFormulaText},
		{`=HYPERLINK("mailto:ana@example.org")`, "mailto:ana@example.org", NoteFormulaText},
		{"=+385911234567", "+385911234567", NoteFormulaText},
		{"'0912345678", "0912345678", NoteFormulaText},
		{"'0912345678'", "0912345678", NoteFormulaText},
		{"=A1+B1", "=A1+B1", ""},
		{"'=1+1", "'=1+1", ""}, // a guard
		{"'t Hooft", "'t Hooft", ""},

		{"JÃ¼rgen", "Jürgen", NoteEncodedTwice},
		{"MÃœLLER", "MÜLLER", NoteEncodedTwice},
		{"VitÃ\u00a0", "Vità", NoteEncodedTwice},
		{"MarÃ\u00ada", "María", NoteEncodedTwice},
		{"KovaÄ\u008d", "Kovač", NoteEncodedTwice},
		{"DÅ¾eko", "Džeko", NoteEncodedTwice},
		{"KovaÄŤiÄ‡", "Kovačić", NoteEncodedTwice}, // windows-1250
		{"ĂĽber", "über", NoteEncodedTwice},
		{"M√ºller", "Müller", NoteEncodedTwice}, // Mac Roman
		{"M├╝ller", "Müller", NoteEncodedTwice}, // DOS
		{"Oâ€™Brien", "O’Brien", NoteEncodedTwice},
		{"MÃƒÂ¼ller", "Müller", NoteEncodedTwice}, // twice
		{"ï»¿Vorname", "\ufeffVorname", NoteEncodedTwice},
		{"JOÃO CONCEIÇÃO", "JOÃO CONCEIÇÃO", ""},
		{"PAWEÓŁ", "PAWEÓŁ", ""},
		{"MUREĂŞAN", "MUREĂŞAN", ""},
		{"Čšž Ćžić", "Čšž Ćžić", ""},
		{"Ærø", "Ærø", ""},
		{"Ãœ and č", "Ãœ and č", ""}, // not UTF-8 as a whole

		{"J&uuml;rgen", "Jürgen", NoteHTML},
		{"O&#39;Brien", "O'Brien", NoteHTML},
		{"O&#x27;Brien", "O'Brien", NoteHTML},
		{"M&amp;uuml;ller", "Müller", NoteHTML},
		{"Ana&nbsp;Marija", "Ana Marija", NoteHTML},
		{"091 1<br/>092 2", "091 1\n092 2", NoteHTML},
		{`<a href="mailto:ana@example.org">ana@example.org</a>`, "ana@example.org", NoteHTML},
		{"Müller & Söhne; Wien", "Müller & Söhne; Wien", ""},
		{"A&B; C&nosuch;", "A&B; C&nosuch;", ""},
		{"<b>", "<b>", ""},
		{"Ana <ana@example.org>", "Ana <ana@example.org>", ""},

		{`O\'Brien`, "O'Brien", NoteEscapes},
		{`O\\\'Brien`, "O'Brien", NoteEscapes},
		{`M\u00fcller`, "Müller", NoteEscapes},
		{`M\xc3\xbcller`, "Müller", NoteEscapes},
		{"Ana%20Mar%C3%ADa", "Ana María", NoteEscapes},
		{"J=C3=BCrgen", "Jürgen", NoteEscapes},
		{"=?UTF-8?Q?J=C3=BCrgen_Kos?=", "Jürgen Kos", NoteEscapes},
		{`091\/234`, "091/234", NoteEscapes},
		{`ana\_kos@example.org`, "ana_kos@example.org", NoteEscapes},
		{`091 1\r\n092 2`, "091 1\n\n092 2", NoteEscapes},
		{`Ana\Nina`, `Ana\Nina`, ""},
		{`Kos\novak`, `Kos\novak`, ""},
		{`Ana\\Kos`, `Ana\\Kos`, ""},
		{`Ana \ Kos\`, `Ana \ Kos\`, ""},
		{"100%25", "100%25", ""},
		{"12;#Ana Kos", "Ana Kos", NoteEscapes},
		{"091 1 #2", "091 1 #2", ""},

		{"Christopher Null", "Christopher Null", ""},
	} {
		if got, kinds := unwrapped(tt.text); got != tt.want || kinds != tt.kinds {
			t.Errorf("%q becomes %q (%s), want %q (%s)", tt.text, got, kinds, tt.want, tt.kinds)
		}
	}
}

// FuzzUnwrap checks that unwrapping keeps text valid and reports each change.
func FuzzUnwrap(f *testing.F) {
	for _, text := range []string{`="a"`, "Ã¼", "&amp;", `\u00fc\'`, "%C3%BC", "=?utf-8?q?a?="} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plain, kinds := unwrapped(text)
		if utf8.ValidString(text) && !utf8.ValidString(plain) || text != plain && kinds == "" {
			t.Errorf("%q becomes %q (%s)", text, plain, kinds)
		}
	})
}
