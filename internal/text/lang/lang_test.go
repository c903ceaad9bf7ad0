package lang

import (
	"strings"
	"testing"
)

func TestLanguages(t *testing.T) {
	t.Parallel()
	names := ""
	for _, l := range All() {
		names += l.Tag + " " + l.Name + "\n"
		if ByTag(l.Tag) != l {
			t.Errorf("ByTag does not find %s", l.Name)
		}
	}
	if want := "en English\nde Deutsch\nfr Français\nes Español\nhr Hrvatski\n"; !strings.HasPrefix(names, want) {
		t.Errorf("got %s", names)
	}
	for _, tag := range []string{"", "EN", "en-GB", "tlh"} {
		if l := ByTag(tag); l != nil {
			t.Errorf("%q is %s", tag, l.Name)
		}
	}
	All()[0] = nil
	if All()[0] == nil {
		t.Error("modifying the result of All modifies the languages")
	}
}

func TestNegotiate(t *testing.T) {
	t.Parallel()
	tests := []struct{ header, want string }{
		{"", "en"},
		{"*", "en"},
		{"en", "en"},
		{"hr", "hr"},
		{"HR-hr", "hr"},
		{"hr-HR,hr;q=0.9,en-US;q=0.8,en;q=0.7", "hr"},
		{"de-AT", "de"},
		{"gsw", "de"},
		{"gsw, en;q=0.5", "en"},
		{"fr-CA, en;q=0.9", "fr"},
		{"es-419", "es"},
		{"bs", "hr"},
		{"en;q=0.3, fr;q=0.8, de;q=0.5", "fr"},
		{"en; q=0.3 , fr ;q=0.8", "fr"},
		{"fr;q=0, de;q=0.1", "de"},
		{"fr;q=0", "en"},
		{"ja, de;q=0.2", "de"},
		{"ja, ko", "en"},
		{"tlh, fr;q=0.8", "fr"},
		{"qqq, de;q=0.2", "de"},
		{"???, fr;q=nonsense, de;q=0.2", "en"},
		{",,hr,", "hr"},
		{strings.Repeat("ja,", 200) + "hr", "en"}, // too long
		{strings.Repeat("de-", 1000), "en"},
	}
	for _, tt := range tests {
		if got := Negotiate(tt.header).Tag; got != tt.want {
			t.Errorf("%.60q: got %s, want %s", tt.header, got, tt.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		n                  int
		en, de, fr, es, hr string
	}{
		{0, "0", "0", "0", "0", "0"},
		{999, "999", "999", "999", "999", "999"},
		{1000, "1,000", "1.000", "1 000", "1000", "1.000"},
		{9999, "9,999", "9.999", "9 999", "9999", "9.999"},
		{17000, "17,000", "17.000", "17 000", "17.000", "17.000"},
		{123456, "123,456", "123.456", "123 456", "123.456", "123.456"},
		{1234567, "1,234,567", "1.234.567", "1 234 567", "1.234.567", "1.234.567"},
		{-999, "-999", "-999", "-999", "-999", "-999"},
		{-1000, "-1,000", "-1.000", "-1 000", "-1000", "-1.000"},
		{-123456, "-123,456", "-123.456", "-123 456", "-123.456", "-123.456"},
	}
	for _, tt := range tests {
		wants := map[string]string{"en": tt.en, "de": tt.de, "fr": strings.ReplaceAll(tt.fr, " ", "\u202f"), "es": tt.es, "hr": tt.hr}
		for tag, want := range wants {
			if got := speak(t, tag).grouping.format(tt.n); got != want {
				t.Errorf("%s, %d: got %q, want %q", tag, tt.n, got, want)
			}
		}
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "Ana": "Ana", "Čović": "Čović", "Čovićx": "Čović…", "Čović\u202e": "Čović…"} {
		if got := Short(text, 5); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
