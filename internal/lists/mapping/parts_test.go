package mapping

import (
	"strings"
	"testing"
)

// TestParts checks that the parts of a field in several columns are joined, with a note, and that
// similar columns are not.
func TestParts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ headers, rows, want, note string }{
		{"Birth Year|Birth Month|Birth Day", "1990|5|15;1985|12|1;||;2000||", "1990-05-15|1985-12-01||invalid", `"dateOfBirth" {"Birth Day", "Birth Month", "Birth Year"} {"15", "5", "1990"} "1990-05-15"`},
		{"Tag|Monat|Jahr", "5|6.|1990;05.|Mai|1990;5|6|90;1990-05-15||" + strings.Repeat(";2|3|1990", 16), "1990-06-05|1990-05-05|1990-06-05|1990-05-15" + strings.Repeat("|1990-03-02", 16), `"dateOfBirth" {"Tag", "Monat", "Jahr"} {"5", "6.", "1990"} "1990-06-05"`},
		{"Geburtstag|Geburtsmonat|Geburtsjahr", "15|13|1990;31|4|1990;15|5|", "invalid|invalid|no_year", `"dateOfBirth" {"Geburtstag", "Geburtsmonat", "Geburtsjahr"} {"15", "13", "1990"} "1990-13-15"`},
		{"Jour de naissance|Mois de naissance|Année de naissance", "1|août|1990", "1990-08-01", `"dateOfBirth" {"Jour de naissance", "Mois de naissance", "Année de naissance"} {"1", "août", "1990"} "1 août 1990"`},
		{"Año de nacimiento|Mes|Rango|Día", "1990|mayo|x|15", "1990-05-15", `"dateOfBirth" {"Día", "Mes", "Año de nacimiento"} {"15", "mayo", "1990"} "15 mayo 1990"`},
		{"Dan rođenja|Mjesec rođenja|Godina rođenja", "15|5|1990", "1990-05-15", `"dateOfBirth" {"Dan rođenja", "Mjesec rođenja", "Godina rođenja"} {"15", "5", "1990"} "1990-05-15"`},
		{"DOB (day)|DOB (month)|DOB (year)", "15|5|1990", "1990-05-15", `"dateOfBirth" {"DOB (day)", "DOB (month)", "DOB (year)"} {"15", "5", "1990"} "1990-05-15"`},
		{"Jahrgang|Geburtstag", "1990|15.05.;1990|15. Mai;1990|26.06.1990;|15.5.;1985|", "1990-05-15|1990-05-15|1990-06-26|no_year|", `"dateOfBirth" {"Geburtstag", "Jahrgang"} {"15.05.", "1990"} "15.05.1990"`},
		{"Birthday|Birth year", "5/15|1990;5/6|1991", "1990-05-15|1991-05-06", `"dateOfBirth" {"Birthday", "Birth year"} {"5/15", "1990"} "5/15/1990"`},

		{"Vorwahl|Rufnummer", "0664|1234567;01|7654321;0664|;|0664 1", "0664 1234567|01 7654321||0664 1", `"phoneNumber" {"Vorwahl", "Rufnummer"} {"0664", "1234567"} "0664 1234567"`},
		{"Area Code|Phone|Ext.", "555|010-0101|45;(555)|010-0102|;555|+1 555 010 0103|", "555 010-0101 ext. 45|(555) 010-0102|+1 555 010 0103", `"phoneNumber" {"Area Code", "Phone", "Ext."} {"555", "010-0101", "45"} "555 010-0101 ext. 45"`},
		{"Indicatif|Numéro", "+33|6 12 34 56 78;+33|06 12 34 56 78", "+33 6 12 34 56 78|+33 (0)6 12 34 56 78", `"phoneNumber" {"Indicatif", "Numéro"} {"+33", "6 12 34 56 78"} "+33 6 12 34 56 78"`},
		{"Prefijo|Teléfono", "+34|612 345 678;34|612 345 678", "+34 612 345 678|34 612 345 678", `"phoneNumber" {"Prefijo", "Teléfono"} {"+34", "612 345 678"} "+34 612 345 678"`},
		{"Landesvorwahl|Vorwahl|Nummer", "43|0664|1234567;0043|01/|7654321", "+43 (0)664 1234567|+43 (0)1 7654321", `"phoneNumber" {"Landesvorwahl", "Vorwahl", "Nummer"} {"43", "0664", "1234567"} "+43 (0)664 1234567"`},
		{"Prefisso|Tel.", "+39|06 1234567", "+39 06 1234567", `"phoneNumber" {"Prefisso", "Tel."} {"+39", "06 1234567"} "+39 06 1234567"`},
		{"Pozivni broj|Telefon|Mobitel", "01|2223334|;091|1112222|098 1", "01 2223334|098 1", `"phoneNumber" {"Pozivni broj", "Telefon"} {"01", "2223334"} "01 2223334"`},

		{"Prefix|Phone", "Mr.|091 1", "091 1", ""},
		{"Vorwahl|Nummer", "privat|17", "", ""},
		{"Nummer|Vorwahl", "17|0664", "", ""},
		{"Year|Rank|Month|Locker|Day", "1990|x|5|x|15", "", ""},
		{"Jahrgang|Geburtsdatum", "1990|15.05.1990", "1990-05-15", ""},
		{"Monat|Jahr", "5|1990", "", ""},
		{"Geburtsdatum|Monat|Jahr", "15.05.1990|5|1990;|1|1900", "1990-05-15|", ""},
	} {
		lines := []string{"Vorname|Nachname|" + tt.headers}
		for row := range strings.SplitSeq(tt.rows, ";") {
			lines = append(lines, "Ana|Kos|"+row)
		}
		for _, assigned := range []bool{false, true} { // as the page submits the columns again
			o := Options{Now: now}
			if assigned {
				o.Columns = map[int]string{}
				r, _ := Map(t.Context(), tableOf(lines...), Options{Now: now})
				for i, c := range r.Columns {
					o.Columns[i] = c.Field
				}
			}
			r, err := Map(t.Context(), tableOf(lines...), o)
			if err != nil {
				t.Errorf("%q: %v", lines, err)
			}
			var got []string
			for _, p := range r.People {
				value := p.Fields.PhoneNumber + strings.TrimSuffix(p.Fields.DateOfBirth, "T00:00:00Z")
				if len(p.Errors) > 0 {
					value = p.Errors[0].Code
				}
				got = append(got, value)
			}
			note, _, _ := strings.Cut(strings.ReplaceAll(summary(&Result{Notes: r.Notes}, nil), "mapping.Headers", ""), "\n"+NoteNoValue)
			if strings.Join(got, "|") != tt.want || !strings.Contains(note, tt.note) || tt.note == "" && strings.Contains(note, NoteParts) {
				t.Errorf("%q: %q, want %s; %s, want %s", lines, got, tt.want, note, tt.note)
			}
		}
	}
	check(t, tableOf("First|Last|Suffix", "John|Smith|Jr.", "John|Smith|", "Eva|Kos|-"), Options{},
		"First=firstName Last=lastName Suffix=lastName ", "2 John/Smith Jr.///", "3 John/Smith///", "4 Eva/Kos///",
		`parts "lastName" mapping.Headers{"Last", "Suffix"} mapping.Headers{"Smith", "Jr."} "Smith Jr."`)
	check(t, tableOf("Vorname|Name|Namenszusatz", "Eva|Berg|von", "Uwe|Kos|"), Options{},
		"Vorname=firstName Name=lastName Namenszusatz=lastName ", "2 Eva/von Berg///", "3 Uwe/Kos///",
		`parts "lastName" mapping.Headers{"Namenszusatz", "Name"} mapping.Headers{"von", "Berg"} "von Berg"`)
	check(t, tableOf("Vorname|Nachname|Namenszusatz", "Eva|Berg|MdB"), Options{}, "Vorname=firstName Nachname=lastName ", "2 Eva/Berg///")
	for text, want := range map[string]bool{"Jr.": true, "jr": true, "SR": true, "III": true, "iv": true, "2nd": true, "Junior": true, "ml": true, "st.": true,
		"sen.": true, "": false, "PhD": false, "von": false, "Jr. III": false} {
		if isSuffix(text) != want {
			t.Errorf("%q is a suffix: %t", text, !want)
		}
	}
	check(t, tableOf("First|Last|Suffix", "John|Smith|Ph.D"), Options{}, "First=firstName Last=lastName ", "2 John/Smith///")
	check(t, tableOf("Voornaam|Tussenvoegsel|Achternaam", "Jan|van der|Berg", "Eva||Kos"), Options{},
		"Voornaam=firstName Tussenvoegsel=lastName Achternaam=lastName ", "2 Jan/van der Berg///", "3 Eva/Kos///",
		`parts "lastName" mapping.Headers{"Tussenvoegsel", "Achternaam"} mapping.Headers{"van der", "Berg"} "van der Berg"`)
	check(t, tableOf("Nombre|Apellido 1|Apellido 2|Tel.|DOB day|DOB month|DOB year", "Ana|García|López|091 1|15|5|1990", "Eva|Ruiz|-"), Options{Columns: map[int]string{6: LeftOut}},
		"Nombre=firstName Apellido 1=lastName Apellido 2=lastName Tel.=phoneNumber DOB day=dateOfBirth ",
		"2 Ana/García López/091 1// dateOfBirth:invalid", "3 Eva/Ruiz///",
		`parts "lastName" mapping.Headers{"Apellido 1", "Apellido 2"} mapping.Headers{"García", "López"} "García López"`)
}

// TestTitleColumns checks that academic titles in their own column are joined with the name, and that
// salutations and ranks there are left out, with a note.
func TestTitleColumns(t *testing.T) {
	t.Parallel()
	check(t, tableOf("Anrede|Titel|Vorname|Nachname", "Herr|Dr.|Hans|Kos", "Frau||Eva|Kos", "Herr|Herr Dipl.-Ing.|Ivo|Kos", "Frau|OBI|Mia|Kos"), Options{},
		"Titel=firstName Vorname=firstName Nachname=lastName ", "2 Dr. Hans/Kos///", "3 Eva/Kos///", "4 Dipl.-Ing. Ivo/Kos///", "5 Mia/Kos///",
		`parts "firstName" mapping.Headers{"Titel", "Vorname"} mapping.Headers{"Dr.", "Hans"} "Dr. Hans"`, `noTitles 2 "Herr Dipl.-Ing."`)
	check(t, tableOf("Titula|Prezime|Ime", "mr. sc.|Kos|Ana", "|Bilić|Ivo"), Options{},
		"Titula=firstName Prezime=lastName Ime=firstName ", "2 mr. sc. Ana/Kos///", "3 Ivo/Bilić///",
		`parts "firstName" mapping.Headers{"Titula", "Ime"} mapping.Headers{"mr. sc.", "Ana"} "mr. sc. Ana"`)
	check(t, tableOf("Title|Name", "Dr|Jane Doe", "Mr|John Roe"), Options{},
		"Title=name Name=name ", "2 Dr Jane/Doe///", "3 John/Roe///",
		`parts "name" mapping.Headers{"Title", "Name"} mapping.Headers{"Dr", "Jane Doe"} "Dr Jane Doe"`, `noTitles 1 "Mr"`,
		`splitNames "Dr Jane Doe" "Dr Jane" "Doe"`, `splitNames "John Roe" "John" "Roe"`)
	check(t, tableOf("Titel|Name, Vorname", "DI|Kos, Hans"), Options{},
		"Titel=lastName firstName Name, Vorname=lastName firstName ", "2 DI Hans/Kos///",
		`parts "name" mapping.Headers{"Titel", "Name, Vorname"} mapping.Headers{"DI", "Kos, Hans"} "Kos, DI Hans"`,
		`splitNames "Kos, DI Hans" "DI Hans" "Kos"`)
	check(t, tableOf("Title|First name|Last name", "Chief|Jane|Doe", "Mr|John|Roe"), Options{},
		"First name=firstName Last name=lastName ", "2 Jane/Doe///", "3 John/Roe///")
	for _, lines := range [][]string{{"Title|Name", "Dr|Jane Doe"}, {"Titel|Name, Vorname", "Dr.|Doe, Jane"}, {"Titel|Ime|Prezime", "dr.|Jane|Doe"}} {
		r, _ := Map(t.Context(), tableOf(lines...), Options{Now: now})
		o := Options{Now: now, Columns: map[int]string{}} // as the page submits the columns again
		for i, c := range r.Columns {
			o.Columns[i] = c.Field
		}
		if again, err := Map(t.Context(), tableOf(lines...), o); err != nil || !strings.HasPrefix(strings.ToLower(again.People[0].Fields.FirstName), "dr") {
			t.Errorf("%q: %+v, %v", lines, again.People, err)
		}
	}
	for title := range strings.SplitSeq("Dr.|prof.|Prof. Dr. med.|Mag. (FH)|mr. sc.|univ. spec.|MSc|Ing.", "|") {
		if got := academic(title); got != title {
			t.Errorf("%q: %q", title, got)
		}
	}
	for _, text := range []string{"Mr.", "Herr", "OBI", "Chief", "", "Dr. Kos", strings.Repeat("Dr. ", 100)} {
		if got := academic(text); got != "" {
			t.Errorf("%q: %q", text, got)
		}
	}
}
