package mapping

import (
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// phonesOf returns the phone number of each row, and the notes.
func phonesOf(t *testing.T, o Options, lines ...string) (numbers, notes string) {
	t.Helper()
	o.Now = now
	r, err := Map(t.Context(), tableOf(lines...), o)
	if err != nil {
		t.Fatalf("%q: %v", lines, err)
	}
	var all []string
	for _, p := range r.People {
		all = append(all, p.Fields.PhoneNumber)
	}
	return strings.Join(all, "|"), strings.TrimSpace(summary(&Result{Notes: r.Notes}, nil))
}

// TestSeveralPhones checks that the first filled column counts in each row, by kind and then from
// the left.
func TestSeveralPhones(t *testing.T) {
	t.Parallel()
	const first = `firstFilled "phoneNumber" mapping.Headers`
	for _, tt := range []struct {
		headers, rows, want, note string
	}{
		{"Büro|Festnetz|Mobil", "1|2|3;1|2|;1||", "3|2|1", `{"Mobil", "Festnetz", "Büro"}`},
		{"Telefon geschäftlich|Telefon privat|Handy", "1|2|3;1|2|;1||;||", "3|2|1|", `{"Handy", "Telefon privat", "Telefon geschäftlich"}`},
		{"Tel. dienstlich|Tel.|Natel", "1|2|3;1|2|;1||", "3|2|1", `{"Natel", "Tel.", "Tel. dienstlich"}`},
		{"Tél. bureau|Domicile (tél.)|Portable", "1|2|3;1|2|;1||", "3|2|1", `{"Portable", "Domicile (tél.)", "Tél. bureau"}`},
		{"Teléfono trabajo|Fijo|Móvil", "1|2|3;1|2|;1||", "3|2|1", `{"Móvil", "Fijo", "Teléfono trabajo"}`},
		{"Telefon posao|Fiksni|Mobitel", "1|2|3;1|2|;1||", "3|2|1", `{"Mobitel", "Fiksni", "Telefon posao"}`},
		{"Business Phone|Other Phone|Home Phone|Mobile Phone", "1|2|3|4;1|2|3|;1||3|;1|||", "4|2|3|1", `{"Mobile Phone", "Other Phone", "Home Phone", "Business Phone"}`},
		{"Home Phone|Home Phone 2|Phone|Phone 2", "1|2|3|4;|2|3|4;||3|4;|||4", "1|2|3|4", `{"Home Phone", "Home Phone 2", "Phone", "Phone 2"}`},
		{"Diensthandy|Handy privat|Festnetz", "1|2|3;|2|3;||3", "1|2|3", `{"Diensthandy", "Handy privat", "Festnetz"}`},
		{"Telefon|Telefon", "1|2;|2", "1|2", `{"Telefon", "Telefon"}`},
		{"Tel. G|Tel. P|Natel", "1|2|3;1|2|;1||", "3|2|1", `{"Natel", "Tel. P", "Tel. G"}`},
		{"Tél. prof.|Tél. dom.|Tél. port.", "1|2|3;1|2|;1||", "3|2|1", `{"Tél. port.", "Tél. dom.", "Tél. prof."}`},
		{"Phone (W)|Phone (H)|Phone (M)", "1|2|3;1|2|;1||", "3|2|1", `{"Phone (M)", "Phone (H)", "Phone (W)"}`},
		{"Tel. gesch.|Tel. priv.|Handynummer", "1|2|3;1|2|;1||", "3|2|1", `{"Handynummer", "Tel. priv.", "Tel. gesch."}`},
		{"Tfno. trab.|Tfno. part.|Tel. móv.", "1|2|3;1|2|;1||", "3|2|1", `{"Tel. móv.", "Tfno. part.", "Tfno. trab."}`},
		{"Phone number (work)|Phone number|Number of mobile phone", "1|2|3;1|2|;1||", "3|2|1", `{"Number of mobile phone", "Phone number", "Phone number (work)"}`},
		{"Fax|Telefon|Telefax|Handy|Telefon (Notfall)", "1|2|3|4|5;1|2|3||5;1||3||5", "4|2|", `{"Handy", "Telefon"}`},
		{"Handy|Telefon", "keine|2;k. A.|;n/a|–;3|", "2|||3", `{"Handy", "Telefon"}`},
		{"Handy|Telefon", "-|2;-|;–|/;3|", "2|||3", `{"Handy", "Telefon"}`},
		{"Handy|Telefon", "4.41E+11|2", "4.41E+11", `{"Handy", "Telefon"}`},
		{"Tel 1|Tel 2|Tel 3|Tel 4|Tel 5|Tel 6|Tel 7|Tel 8|Tel 9|Tel 10|Tel 11", "1|2|3|4|5|6|7|8|9|10|11", "1", `{"Tel 1", "Tel 2", "Tel 3", "Tel 4", "Tel 5", "Tel 6", "Tel 7", "Tel 8", "Tel 9", "Tel 10", "…"}`},
	} {
		lines := []string{"Vorname|Nachname|" + tt.headers}
		for row := range strings.SplitSeq(tt.rows, ";") {
			lines = append(lines, "Ana|Čović|"+row)
		}
		if tt.headers == "Büro|Festnetz|Mobil" { // recognized only if the cells look like numbers
			for i, line := range lines[1:] {
				lines[i+1] = strings.Replace(line, "|1|", "|02236 1|", 1)
			}
			tt.want = "3|2|02236 1"
		}
		got, note := phonesOf(t, Options{}, lines...)
		note, _, _ = strings.Cut(note, "\n"+NoteNoValue)
		if got != tt.want || note != first+tt.note {
			t.Errorf("%q: %s with %s, want %s with %s", lines, got, note, tt.want, tt.note)
		}
	}
}

// TestAssignedSeveral checks that columns assigned by header count in the assigned order, and
// columns assigned by number by kind.
func TestAssignedSeveral(t *testing.T) {
	t.Parallel()
	lines := []string{"Vorname|Nachname|Festnetz|Mobil|Tel. 3", "Ana|Čović|1|2|3", "Eva|Babić|1||3", "Ivan|Horvat|||3"}
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{}, "2|1|3"},
		{Options{Headers: []Header{{"Festnetz", "phoneNumber"}, {"Mobil", "phoneNumber"}}}, "1|1|"},
		{Options{Headers: []Header{{"Tel. 3", "phoneNumber"}, {"Mobil", "phoneNumber"}, {"Festnetz", "phoneNumber"}}}, "3|3|3"},
		{Options{Headers: []Header{{"Mobil", LeftOut}}}, "1|1|3"},
		{Options{Columns: map[int]string{2: "phoneNumber", 3: "phoneNumber", 4: "phoneNumber"}}, "2|1|3"},
		{Options{Columns: map[int]string{3: "phoneNumber", 4: "phoneNumber"}}, "2|3|3"},
		{Options{Headers: []Header{{"Tel. 3", "phoneNumber"}}}, "3|3|3"},
	} {
		if got, _ := phonesOf(t, tt.o, lines...); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.o, got, tt.want)
		}
	}
}

func TestSeveralEmails(t *testing.T) {
	t.Parallel()
	check(t, tableOf("First name|Last name|E-mail Address|E-mail 2 Address|E-mail 3 Address", "Ana|Čović|a@example.com|b@example.com|", "Eva|Babić||b@example.com|c@example.com", "Ivan|Horvat|||c@example.com", "Mia|Kos|nobody|b@example.com|"), Options{},
		"First name=firstName Last name=lastName E-mail Address=email E-mail 2 Address=email E-mail 3 Address=email ",
		"2 Ana/Čović//a@example.com/", "3 Eva/Babić//b@example.com/", "4 Ivan/Horvat//c@example.com/", "5 Mia/Kos//nobody/ email:invalid",
		`firstFilled "email" mapping.Headers{"E-mail Address", "E-mail 2 Address", "E-mail 3 Address"}`)
}

// TestGoogleTypes checks that the type or label of each number determines its preference.
func TestGoogleTypes(t *testing.T) {
	t.Parallel()
	rows := []string{"Ana|Čović|Home|01 1|Mobile|091 1", "Eva|Babić|Home Fax|01 2|Work|01 3", "Ivan|Horvat|Work Fax|01 4||", "Mia|Kos|* Mobile|091 5|Mobile|091 6",
		"Leo|Novak|Work|01 7||01 8", "Jan|Kralj|Pager|1|Other|01 9", "Ida|Vuk|Fax (privat)|1|Festnetz|01 10", "Uwe|Wolf|Geschäftlich|1|Handy Chef|091 11",
		"Eli|Moor|Localizador|1|Main|01 12", "Jo|Horn|Home|01 16|C. Weber|01 17", "Ena|Paš|Mobitel|091 13 ::: 091 14|Mobile|091 15"}
	const want = "091 1|01 3||091 5|01 8|01 9|01 10|091 11|01 12|01 16|091 13"
	for _, label := range []string{"Type", "Label"} {
		lines := append([]string{strings.ReplaceAll("Given Name|Family Name|Phone 1 - Type|Phone 1 - Value|Phone 2 - Type|Phone 2 - Value", "Type", label)}, rows...)
		got, notes := phonesOf(t, Options{}, lines...)
		wantNotes := `firstByKind "phoneNumber" mapping.Headers{"Phone 1 - Value", "Phone 2 - Value"} mapping.Headers{"Phone 1 - ` + label + `", "Phone 2 - ` + label + `"}` + "\nnoFax 5\njoined 1"
		if got != want || notes != wantNotes {
			t.Errorf("%s: %s, want %s; %s", label, got, want, notes)
		}
		assigned := Options{Headers: []Header{{"Phone 2 - Value", "phoneNumber"}, {"Phone 1 - Value", "phoneNumber"}}}
		if got, _ := phonesOf(t, assigned, lines...); !strings.HasPrefix(got, "091 1|01 3||091 6|") {
			t.Errorf("%s, assigned: %s", label, got)
		}
	}
	got, notes := phonesOf(t, Options{}, "Name|Phone 1 - Type|Phone 1 - Value", "A B|Home Fax|1", "C D|Mobile|2")
	if got != "|2" || !strings.HasPrefix(notes, "noFax 1\n") {
		t.Errorf("one column: %s, %s", got, notes)
	}
	got, notes = phonesOf(t, Options{}, "Name|phoneNumber|E-mail 1 - Value", "A B|1 ::: 2|a@example.com ::: b@example.com")
	if got != "1 ::: 2" || !strings.HasPrefix(notes, "joined 1\n") {
		t.Errorf("joined: %s, %s", got, notes)
	}
}

// TestAlone checks that a header with only a kind, such as "Home", names a column of phone numbers
// and no other column.
func TestAlone(t *testing.T) {
	t.Parallel()
	for line, phones := range map[string]bool{
		"Domicile|01 42 68 53 00": true, "Travail|01.42.68.53.00;;+33 1 42 68 53 00": true, "Privat|(02236) 5550151": true, "Büro|02236/5550151": true, "Home|(555) 010-0101": true, "Work|555-010-0101": true, "Work|555-010-0101 x4": true, "Work|555-010-0101, ext. 45": true, "M|01 42 68 53 00": false,
		"Privat|02236/5550151;k. A.;-": true, "Home|" + strings.Repeat("(555) 010-0101;", 19) + "ask Ana": true, "Work|555-010-0101;ask Ana": false, "Work|555-010-0101;555-010-0102 / ana@example.org": true, "Work|ana@example.org": false,
		"Privat|Aus": false, "Home|Elm Street 012345": false, "Dienst|24": false, "Dienst|01.02.1990": false, "Work|123456": false,
		"Bureau|B 01 42 68": false, "Other|01 42 68 53 00": false, "Dienstnummer|0123456": false, "Spind|0123456": false, "Privat|": false,
	} {
		header, cells, _ := strings.Cut(line, "|")
		lines := []string{"Vorname|Nachname|" + header}
		for cell := range strings.SplitSeq(cells, ";") {
			lines = append(lines, "Ana|Čović|"+cell)
		}
		if got, _ := phonesOf(t, Options{Answers: sheet.Answers{AskColumns: Keep}}, lines...); (strings.Trim(got, "|") != "") != phones {
			t.Errorf("%q: %s", line, got)
		}
	}
}
