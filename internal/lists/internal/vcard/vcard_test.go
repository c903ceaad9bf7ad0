package vcard

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// property returns the first property of a card with the given lines.
func property(t *testing.T, lines ...string) (found Property) {
	t.Helper()
	text := "BEGIN:VCARD\r\n" + strings.Join(lines, "\r\n") + "\r\nEND:VCARD\r\n"
	err := Read(text, func(_ int, card Card) error {
		found = card[len(card)-1]
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		lines []string
		want  string
	}{
		{"plain", []string{"NOTE:Ana"}, "Ana"},
		{"white space", []string{"NOTE:  Ana \t"}, "Ana"},
		{"group and case", []string{"item1.note:Ana"}, "Ana"},
		{"escapes", []string{`NOTE:a\, b\; c\\n\nd\N\x\`}, "a, b; c\\n\nd\n\\x\\"},
		{"colons", []string{`NOTE;X="a:b;c":d:e`}, "d:e"},
		{"a quote alone", []string{`NOTE;X=5":d`}, "d"},
		{"folded", []string{"NOTE:Iva", " n", "\t  Horvat"}, "Ivan  Horvat"},
		{"folded in 2.1", []string{"VERSION:2.1", "NOTE:Ivan", " Horvat"}, "Ivan Horvat"},
		{"quoted-printable", []string{"NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:=C5=A0imi=C4=", "=87 =3D=3", "  =zz"}, "Šimić ==3 =zz"},
		{"quoted-printable, bare", []string{"NOTE;QUOTED-PRINTABLE:=8A=9Ai"}, "\ufffdi"},
		{"quoted-printable without a charset", []string{"NOTE;QUOTED-PRINTABLE:=C5=A0"}, "Š"},
		{"windows-1250", []string{"NOTE;CHARSET=windows-1250;ENCODING=quoted-printable:=E8=C8"}, "čČ"},
		{"a charset that nobody knows", []string{"NOTE;CHARSET=x;QUOTED-PRINTABLE:a=E8"}, "a\ufffd"},
		{"an equals sign at the end", []string{"NOTE:a=", " b"}, "a=b"},
		{"picture", []string{"PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQ", " SkZJ="}, "…"},
		{"picture of 2.1", []string{"PHOTO;JPEG;BASE64:", " /9j/4AAQ", "/9j/4AAQ", ""}, "…"},
		{"picture of 4.0", []string{"PHOTO:data:image/jpeg;base64,/9j/4AAQ"}, "…"},
		{"name in base64", []string{"FN;CHARSET=UTF-8;ENCODING=b:xaBpbWkgxIc="}, "Šimi ć"},
		{"folded base64", []string{"VERSION:2.1", "FN;BASE64:xaBpb", "  WkgxIc", ""}, "Šimi ć"},
		{"base64 with a charset", []string{"FN;CHARSET=windows-1250;ENCODING=BASE64:imltaeY="}, "Šimić"},
		{"base64 in an unknown charset", []string{"FN;BASE64:imltaeY="}, "\ufffdimi\ufffd"},
		{"broken base64", []string{"FN;ENCODING=b:Ana Kos!"}, "…"},
		{"picture elsewhere", []string{"PHOTO;VALUE=uri:https://example.com/a.jpg"}, "https://example.com/a.jpg"},
		{"lines that are not folded", []string{"NOTE:a", "b", "12:30 c"}, "a"},
		{"telephone", []string{"TEL;TYPE=CELL:+385 91 234"}, "+385 91 234"},
		{"telephone as URI", []string{`TEL;VALUE=uri;TYPE="cell,voice":TEL:+385-91-234;ext=5`}, "+385-91-234;ext=5"},
		{"birthday", []string{"BDAY;VALUE=date:1990-05-15"}, "1990-05-15"},
		{"basic", []string{"BDAY:19900515"}, "1990-05-15"},
		{"basic time", []string{"BDAY:19900515T102200Z"}, "1990-05-15T10:22:00Z"},
		{"basic zone", []string{"BDAY:19900515T102200-0830"}, "1990-05-15T10:22:00-08:30"},
		{"date and time", []string{"BDAY;VALUE=date-time:1988-02-29T23:30:00.5+02:00"}, "1988-02-29T23:30:00.5+02:00"},
		{"no year", []string{"BDAY:--0515"}, "--05-15"},
		{"no year, extended", []string{"BDAY:--05-15"}, "--05-15"},
		{"no year of Apple", []string{"BDAY;X-APPLE-OMIT-YEAR=1604:1604-05-15"}, "--05-15"},
		{"birthday as text", []string{"BDAY;VALUE=text:15. svibnja 1990."}, "15. svibnja 1990."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := property(t, tt.lines...).Text(); got != tt.want {
				t.Errorf("%q: got %q, want %q", tt.lines, got, tt.want)
			}
		})
	}
}

func TestComponents(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		`N:Horvat;Ivan`:                 {"Horvat", "Ivan", ""},
		`N:a\;b;c\\;d;e;f`:              {"a;b", `c\`, "d"},
		`N;QUOTED-PRINTABLE:=3B;=C4=8D`: {";", "č", ""},
		`N:`:                            {"", "", ""},
	} {
		if got := property(t, line).Components(3); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

func TestBest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		lines []string
		want  int
	}{
		{[]string{"NOTE:x"}, -1},
		{[]string{"TEL:"}, -1},
		{[]string{"TEL:1", "TEL:2"}, 0},
		{[]string{"TEL;HOME:1", "TEL;CELL:2"}, 1},
		{[]string{"TEL;TYPE=HOME,pref:1", "TEL;TYPE=voice;TYPE=cell:2"}, 1},
		{[]string{"TEL;CELL:1", "TEL;CELL;PREF:2"}, 1},
		{[]string{"TEL;TYPE=work,pref:1", "TEL;TYPE=home:2"}, 1},
		{[]string{"TEL;TYPE=work:1", "TEL:2", "TEL;TYPE=home,pref:3", "TEL;TYPE=home:4"}, 2},
		{[]string{"TEL;TYPE=work:1", "TEL;TYPE=work,cell:2", "TEL;TYPE=cell:3"}, 1},
		{[]string{"TEL;TYPE=home;TYPE=fax:1", "TEL;WORK;VOICE:2"}, 1},
		{[]string{"TEL;TYPE=pager:1", "TEL;WORK;FAX:2", "TEL;MODEM:3"}, -1},
		{[]string{"TEL;PREF=2:1", "TEL;PREF=1:2"}, 1},
		{[]string{"TEL;TYPE=fax;PREF=1:1", "TEL;TYPE=work:2"}, 1},
		{[]string{"TEL;TYPE=fax:1"}, -1},
		{[]string{`TEL;TYPE="voice,cell":1`, "TEL;PREF=1:2"}, 0},
		{[]string{"item1.TEL:1", "item1.X-ABLabel:_$!<HomeFAX>!$_", "item2.TEL;TYPE=work:2", "item2.X-ABLabel:Leitstelle"}, 2},
		{[]string{"item1.X-ABLabel:Télécopie", "item1.TEL:1"}, -1},
		{[]string{"item1.TEL:1", "item1.X-ABLabel:Notfallkontakt", "TEL;TYPE=X-Emergency:2", "TEL;WORK:3"}, 3},
		{[]string{"TEL;X-CUSTOM(CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE,=46=61=78):1", "TEL;X-Fax neu:2", "TEL;WORK:3"}, 2},
		{[]string{"TEL:1", "X-ABLabel:Fax", "item2.X-ABLabel:Fax"}, 0},
	}
	for _, tt := range tests {
		text := "BEGIN:VCARD\n" + strings.Join(tt.lines, "\n") + "\nEND:VCARD"
		err := Read(text, func(_ int, card Card) error {
			if got := card.Best("TEL"); got != tt.want {
				t.Errorf("%q: got %d, want %d", tt.lines, got, tt.want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	const card = "BEGIN:VCARD\nFN:A\nEND:VCARD\n"
	tests := []struct{ text, want string }{
		{card + "BEGIN:VCARD\nFN:A\n", "card 2 has no END:VCARD"},
		{"BEGIN:VCARD\nFN:A\n" + card, "card 1 does not end before the next card begins"},
		{"BEGIN:VCARD\nBEGIN:VEVENT\nEND:VEVENT\nEND:VCARD\n", "card 1 does not end before the next card begins"},
		{card + "FN:B\n", `unexpected line after card 1: "FN:B"`},
		{card + "END:VCARD\n", `unexpected line after card 1: "END:VCARD"`},
		{"BEGIN:VCALENDAR\nEND:VCALENDAR\n", "card 1 does not begin with BEGIN:VCARD"},
		{"BEGIN:VCARD\nEND:VEVENT\n", "card 1 does not end with END:VCARD"},
		{"BEGIN:VCARD\nIvan\nEND:VCARD\n", `card 1 has an invalid line: "Ivan"`},
		{"BEGIN:VCARD\nTEL:1\n2\nEND:VCARD\n", `card 1 has an invalid line: "2"`},
		{"BEGIN:VCARD\nTEL" + strings.Repeat(";A", maxParams+1) + ":1\nEND:VCARD\n", "card 1 has a property with more than 100 parameters"},
		{"BEGIN:VCARD\n" + strings.Repeat("TEL:1\n", maxProperties+1) + "END:VCARD\n", "card 1 has more than 2000 properties"},
	}
	for _, tt := range tests {
		err := Read(tt.text, func(int, Card) error { return nil })
		if err == nil || err.Error() != tt.want {
			t.Errorf("%.60q: got %v, want %s", tt.text, err, tt.want)
		}
	}
}

func TestCharset(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\r\nbegin:vcard\nN;CHARSET=Windows-1252:x\nFN;charset=\"iso-8859-1\";x=y:x": "windows-1252",
		"BEGIN:VCARD\nN;LANGUAGE=hr;CHARSET=Windows-1250:x":                          "windows-1250",
		"BEGIN:VCARD\nN;CHARSET=Windows-1250:x\nFN;CHARSET=Windows-1252:x":           "",
		"BEGIN:VCARD\nN;CHARSET=UTF-8:x":                                             "",
		"BEGIN:VCARD\nN;CHARSET=IBM850:x\nFN;CHARSET=UTF-8:x\nNOTE;CHARSET=cp850:x":  "cp850",
		"BEGIN:VCARD\nN;CHARSET=\"KOI8-R\":x":                                        "koi8-r",
		"BEGIN:VCARD\nN;CHARSET=x:x\nFN:;CHARSET=cp850":                              "",
		"": "",
	} {
		if got := Charset([]byte(text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestLineEnds(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"\n", "\r\n", "\r"} {
		var got []string
		text := strings.Join([]string{"", "begin:vcard", "FN:A", " b", "", "end:vcard", "BEGIN:VCARD", "FN:C", "END:VCARD"}, end)
		err := Read(text, func(number int, card Card) error {
			got = append(got, string(rune('0'+number))+card[0].Text())
			return nil
		})
		if err != nil || !slices.Equal(got, []string{"1Ab", "2C"}) {
			t.Errorf("%q: got %q, %v", end, got, err)
		}
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	var w Cards
	w.Begin("-//x//y//EN")
	w.Text("N", `O'Neill; \ "B"`, "Ana, Ivo", "")
	w.Text("TEL", "")
	w.Text("N", "", "")
	w.Text("NOTE", "a\nb\r\nc\rd")
	w.Text("X-LONG", strings.Repeat("č", 40)+strings.Repeat("🚒", 30))
	w.End()
	want := "BEGIN:VCARD\r\nVERSION:3.0\r\nPRODID:-//x//y//EN\r\n" + `N:O'Neill\; \\ "B";Ana\, Ivo;` + "\r\n" + `NOTE:a\nb\nc\nd` + "\r\n" +
		"X-LONG:" + strings.Repeat("č", 34) + "\r\n " + strings.Repeat("č", 6) + strings.Repeat("🚒", 15) + "\r\n " + strings.Repeat("🚒", 15) +
		"\r\nEND:VCARD\r\n"
	if got := w.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestUnquote checks that only quoted-printable text without a charset becomes raw bytes.
func TestUnquote(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"N;ENCODING=QUOTED-PRINTABLE:=C8ovi=E6;Ana\r\nFN:x\r\n":       "N;ENCODING=QUOTED-PRINTABLE:\xc8ovi\xe6;Ana\r\nFN:x\r\n",
		"N;quoted-printable:=C8ov=\r\ni=e6=3B=0D=0A=3D;Ana\r\nFN:=C8": "N;quoted-printable:\xc8ovi\xe6=3B=0D=0A=3D;Ana\r\nFN:=C8",
		"N;QUOTED-PRINTABLE:=C8=\n=\n":                                "N;QUOTED-PRINTABLE:\xc8",
		"N;QUOTED-PRINTABLE:=C8=\r=E6\rFN:a=":                         "N;QUOTED-PRINTABLE:\xc8\xe6\rFN:a=",
		"N;QUOTED-PRINTABLE:=C5=\r\n=A0;a":                            "", // UTF-8
		"N;QUOTED-PRINTABLE;CHARSET=x:=C8":                            "",
		"N:=C8\r\nPHOTO;BASE64:\r\n =C8=\r\n":                         "",
		"NOTE:č\nN;QUOTED-PRINTABLE:=C8":                              "", // the file is UTF-8
	} {
		if got := string(Unquote([]byte(content))); got != cmp.Or(want, content) {
			t.Errorf("%q becomes %q, want %q", content, got, cmp.Or(want, content))
		}
	}
}

func TestIsPerson(t *testing.T) {
	t.Parallel()
	for lines, want := range map[string]bool{
		"FN:Ana Kos": true, "N:Kos;Ana\nKIND:individual\nORG:DVD": true, "KIND:\nFN:Ana Kos": true, "FN:Ana Kos\nORG:DVD;Vod": true,
		"KIND:group\nFN:Engine 7": false, "kind:Org\nN:Roma;Pizzeria": false, "KIND:location\nFN:Station": false,
		"X-ADDRESSBOOKSERVER-KIND:group\nFN:Engine 7":  false,
		"N:;;;;\nFN:Pizzeria Roma\nORG:Pizzeria Roma;": false, "ORG:Roma\nFN:Roma\nN:;Roma;;;": false, "N:Kos;Ana\nFN:Ana Kos\nORG:Ana Kos": true,
		"N:;;;;\nFN:Roma\nORG:Pizzeria\nX-ABShowAs:COMPANY": false, "N:Kos;Ana\nX-ABShowAs:COMPANY": true, "TEL:112": true, "ORG:": true,
		"N:;;;;\nFN:\nORG:DVD Kos;Vod 1": false, "ORG:DVD Kos\nN:;Ana;;;": true, "N:GmbH;Huber\nFN:Huber GmbH": false, "N:Inc;Ana\nFN:Ana Inc": true,
	} {
		Read("BEGIN:VCARD\n"+lines+"\nEND:VCARD", func(_ int, card Card) error {
			if card.IsPerson() != want {
				t.Errorf("%q: %t", lines, !want)
			}
			return nil
		})
	}
}

// FuzzRead reads arbitrary text and checks that cards survive a round trip.
func FuzzRead(f *testing.F) {
	f.Add("BEGIN:VCARD\r\nVERSION:2.1\r\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=C5=\r\n=A0;a\r\nEND:VCARD\r\n")
	f.Add("BEGIN:VCARD\nitem1.TEL;TYPE=\"cell,voice\";PREF=1:tel:+1\n 2\nPHOTO;ENCODING=b:AAAA\nBDAY:19900515\nEND:VCARD\n")
	f.Add("BEGIN:VCARD\nFN;ENCODING=b:xaBpbWkgxIc=\nEND:VCARD")
	f.Add("BEGIN:VCARD\nNOTE:a\\, b\\n\nc\nEND:VCARD\nBEGIN:VCARD\nEND:VCARD")
	f.Fuzz(func(t *testing.T, text string) {
		var w Cards
		var found []string
		Read(text, func(_ int, card Card) error {
			w.Begin("x")
			card.IsPerson()
			for _, p := range card {
				value := strings.Map(func(r rune) rune {
					if unicode.IsControl(r) && r != '\n' {
						return -1
					}
					return r
				}, strings.ToValidUTF8(p.Text(), ""))
				if value = strings.TrimSpace(value); value != "" {
					found = append(found, value)
					w.Text("NOTE", value)
				}
			}
			w.End()
			return nil
		})
		text = w.String()
		checkLines(t, text)
		var again []string
		err := Read(text, func(_ int, card Card) error {
			for _, p := range card {
				if p.Name == "NOTE" {
					again = append(again, p.Text())
				}
			}
			return nil
		})
		if err != nil || !slices.Equal(again, found) {
			t.Fatalf("%q came back as %q, %v", found, again, err)
		}
	})
}

// checkLines checks that lines are short enough and valid UTF-8.
func checkLines(t *testing.T, text string) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\r\n") {
		if len(line) > 75 || !utf8.ValidString(line) {
			t.Fatalf("invalid line %q", line)
		}
	}
}
