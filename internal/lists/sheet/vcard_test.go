package sheet

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// lines returns a table as text: the header, then the rows with their numbers.
func lines(t *Table) []string {
	all := []string{strings.Join(t.Header, "|")}
	for _, row := range t.Rows {
		cells := textsOf(row)
		all = append(all, string(rune('0'+row.Number))+" "+strings.Join(cells, "|"))
	}
	return all
}

func card(lines ...string) string {
	return "BEGIN:VCARD\r\nVERSION:3.0\r\n" + strings.Join(lines, "\r\n") + "\r\nEND:VCARD\r\n"
}

func TestWriteVCard(t *testing.T) {
	t.Parallel()
	want := strings.ReplaceAll(`BEGIN:VCARD
VERSION:3.0
PRODID:-//Firefighter Records//Export//EN
UID:0198c0de-0000-7000-8000-000000000001
N:Čović;Ana;;;
FN:Ana Čović
TEL;TYPE=VOICE:+385 91 234 5678
EMAIL;TYPE=INTERNET:ana@example.com
BDAY:1990-05-15
X-FIREFIGHTERS-INVITATION-STATUS:accepted
X-FIREFIGHTERS-USER-ID:0198c0de-0000-7000-8000-0000000000ff
END:VCARD
BEGIN:VCARD
VERSION:3.0
PRODID:-//Firefighter Records//Export//EN
UID:0198c0de-0000-7000-8000-000000000002
N:'t Hooft;Zoë "Z"\, Jr.\; \\n;;;
FN:Zoë "Z"\, Jr.\; \\n 't Hooft
TEL;TYPE=VOICE:'+1
BDAY;VALUE=date-time:1988-02-29T23:30:00.5+02:00
END:VCARD
`, "\n", "\r\n")
	if got := string(write(t, VCard, people[:2]...)); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestCardDay checks that the card for an address book has the day of birth that the page shows.
func TestCardDay(t *testing.T) {
	t.Parallel()
	if card := string(AppendCard(nil, &people[1], true)); !strings.Contains(card, "\r\nBDAY:1988-02-29\r\n") {
		t.Error(card)
	}
}

func TestReadVCards(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
	}{
		{"all fields", card("UID:1", "N:Horvat;Ivan;Marko;dr.;ml.", "FN:dr. Ivan Horvat", "TEL;TYPE=HOME:01", "TEL;TYPE=CELL:091", "TEL:02",
			"EMAIL:a@example.com", "EMAIL;TYPE=pref:b@example.com", "BDAY:19900515", "ORG:DVD;Vod", "PHOTO;ENCODING=b:AAAA"),
			[]string{"UID|firstName|lastName|FN|phoneNumber|email|dateOfBirth|N additional|N prefix|N suffix|TEL 2|TEL 3|EMAIL 2|ORG|PHOTO",
				"1 1|Ivan|Horvat|dr. Ivan Horvat|091|b@example.com|1990-05-15|Marko|dr.|ml.|01|02|a@example.com|DVD;Vod|…"}},
		{"phones by kind", card("N:A;B", "TEL;TYPE=WORK:1", "TEL;TYPE=HOME,FAX:2", "TEL;TYPE=HOME:3") + card("N:C;D", "TEL;TYPE=FAX:4"),
			[]string{"firstName|lastName|phoneNumber|TEL 2|TEL 3", "1 B|A|3|1|2", "2 D|C||4"}},
		{"no N", card("FN:Ivan Horvat") + card("FN:Ana Marić", "TEL:1"), []string{"name|phoneNumber", "1 Ivan Horvat", "2 Ana Marić|1"}},
		{"an empty N", card("N:;;;;", "FN:Ivan Horvat"), []string{"name", "1 Ivan Horvat"}},
		{"N in one card", card("FN:Ivan Horvat") + card("FN:Ana", "N:Marić;Ana"),
			[]string{"firstName|lastName|FN", "1 ||Ivan Horvat", "2 Ana|Marić|Ana"}},
		{"a name in base64", card("N;CHARSET=UTF-8;ENCODING=b:S8O2c2xlcjtSw7xkaWdlcjs7Ow==",
			"FN;CHARSET=UTF-8;ENCODING=b:UsO8ZGlnZXIgS8O2c2xlcg=="),
			[]string{"firstName|lastName|FN", "1 Rüdiger|Kösler|Rüdiger Kösler"}},
		{"nothing in a card", card("NOTE:") + card("FN:A"), []string{"name", "2 A"}},
		{"several of a kind", card("FN:A", "FN:B", "NOTE:1", "NOTE:2", "N:;;x"), []string{"name|N additional|FN 2|NOTE|NOTE 2", "1 A|x|B|1|2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read(t.Context(), []byte(tt.text), Options{})
			if err != nil || !slices.Equal(lines(got), tt.want) || got.Format != VCard || got.Ours {
				t.Errorf("got %q, %v; want %q", lines(got), err, tt.want)
			}
		})
	}
}

func TestOrganizations(t *testing.T) {
	t.Parallel()
	text := card("KIND:group", "FN:Engine 7", "MEMBER:urn:uuid:1") + card("FN:Pizzeria Roma", "ORG:Pizzeria Roma") + card("FN:Ana Kos")
	got, err := Read(t.Context(), []byte(text), Options{})
	if err != nil || !slices.Equal(got.Organizations, []int{1, 2}) || len(got.Rows) != 3 {
		t.Errorf("got %v of %q, %v", got.Organizations, lines(got), err)
	}
}

func TestOurVCards(t *testing.T) {
	t.Parallel()
	ours := string(write(t, VCard, people[0]))
	for text, want := range map[string]bool{ours: true, ours + card("FN:A"): false} {
		got, err := Read(t.Context(), []byte(text), Options{})
		if err != nil || got.Ours != want || slices.Contains(got.Header, "id") != want || slices.Contains(got.Header, "UID") == want {
			t.Errorf("ours is %v with the header %q, %v; want %v", got.Ours, got.Header, err, want)
		}
	}
}

// isFault reports whether err is a *FileError with the given code and first argument.
func isFault(err error, code, what string) bool {
	var fault *FileError
	return errors.As(err, &fault) && fault.Code == code && (what == "" || fault.Args[0] == what)
}

func TestBadVCards(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, code, what string }{
		{"no end", "BEGIN:VCARD\nFN:A\n", FileDamaged, "card 1 has no END:VCARD"},
		{"nothing", card("NOTE:"), FileCards, ""},
		{"empty cards", card("VERSION:3.0") + card("VERSION:3.0\nPRODID:a\nUID:b\nREV:2026-01-01T00:00:00Z\nN:;;;;\nFN:\nPHOTO;ENCODING=b:AA\nX-ABUID:1"), FileCards, ""},
		{"columns", card("FN:A" + strings.Repeat("\nTEL:1", maxColumns+1)), FileTooMany, "columns"},
	}
	for _, tt := range tests {
		if _, err := Read(t.Context(), []byte(tt.text), Options{}); !isFault(err, tt.code, tt.what) {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
}

// FuzzVCard reads arbitrary cards.
func FuzzVCard(f *testing.F) {
	f.Add("TEL;TYPE=CELL:1\nBDAY:--0515")
	f.Add("N;QUOTED-PRINTABLE:=C5=\n=A0;b\nPHOTO;ENCODING=b:AA")
	f.Fuzz(func(t *testing.T, more string) {
		if table, err := readVCards(t.Context(), "BEGIN:VCARD\n"+more+"\nEND:VCARD"); err == nil {
			for _, row := range table.Rows {
				if len(row.Cells) > len(table.Header) {
					t.Fatalf("%q has more cells than %q", row.Cells, table.Header)
				}
			}
		}
	})
}

// TestUnsureCards checks that, in a UTF-8 file, quoted-printable text without a charset is read as
// UTF-8, and invalid text is marked so that its row is refused.
func TestUnsureCards(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"=C8ovi=E6;Jan": "\ufffdovi\ufffd", "=C4=8Covi=C4=87;Jan": "Čović"} {
		content := "BEGIN:VCARD\nVERSION:3.0\nN:Müller;Eva\nEND:VCARD\nBEGIN:VCARD\nVERSION:2.1\nN;ENCODING=QUOTED-PRINTABLE:" + name + "\nEND:VCARD\n"
		table, err := Read(t.Context(), []byte(content), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := table.Rows[1].Cells[1].Text; got != want {
			t.Errorf("%s is read as %q, want %q", name, got, want)
		}
	}
}

// TestAppendCard checks that a card for phones has each number that can be dialled.
func TestAppendCard(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"091 111 2222 / 01 222 3333": "0911112222 012223333", "+49 (0)171 1234567": "+491711234567", "202-555-0123 ext. 45": `2025550123\,45`,
		"ask Marko": "", "": "",
	} {
		var got []string
		for line := range strings.Lines(string(AppendCard(nil, &record.Firefighter{Fields: record.Fields{PhoneNumber: text}}, false))) {
			if number, found := strings.CutPrefix(strings.TrimSpace(line), "TEL;TYPE=CELL:"); found {
				got = append(got, number)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
