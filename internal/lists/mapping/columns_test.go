package mapping

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// headers are real headers by field, separated by bars.
var headers = map[string]string{
	"firstName": `firstName|First Name|FIRST NAME|first_name|First name *|Given Name|Forename|First|Name (First)|Fname|Christian name|Member First Name|
		Vorname|Vorname(n)|Vorname*|Rufname|Vor-Name|VORNAME:|Vorname / First name|Prénom|Prenom|Prénom(s)|Prénoms|Primer nombre|Osobno ime|Keresztnév|Jméno|Meno|Förnamn|Fornavn|Prenume|Imię|Imiona|Voornaam|Roepnaam`,
	"lastName": `lastName|Last Name|last_name|Surname|Family Name|Last|Name - Last|Lname|Nachname|Familienname|Zuname|
		Nom de famille|Nom d'usage|Apellido|Apellidos|Apellido(s)|Primer apellido|Apellido 1|Apellido paterno|Prezime|PREZIME|Vezetéknév|Příjmení|Priezvisko|Efternamn|Etternavn|Sobrenome|Cognome|Priimek|Nazwisko|Achternaam`,
	plainName: `Name|Nom|Nombre|Nombre(s)|Ime|Nome|Naam|NAME|Name *|Name des Mitglieds|Member name`,
	FullName: `Full Name|Display Name|Vollständiger Name|Anzeigename|Nom complet|Nombre completo|Nombre y apellidos|Ime i prezime|Ime, prezime|
		Vorname Nachname|Vor- und Nachname|Vorname Name|Vor- und Zuname|First name/Last name|First and last name|Prénom Nom|Name Surname|Name and surname|Puno ime|Nome e cognome|Nominativo|Ime in priimek|Imię i nazwisko|Voornaam en achternaam`,
	LastFirst: `Name, Vorname|Name Vorname|Nachname, Vorname|Nachname und Vorname|Last Name, First Name|Last, First|Surname and forename|
		Nom Prénom|NOM ET PRENOM|Nom, prénom|Apellidos y nombre|Apellidos, nombre|Prezime i ime|Prezime, ime|Name (Last, First)|Név|Příjmení a jméno|Cognome e nome|Cognome Nome|Priimek in ime|Nazwisko i imię|Achternaam, voornaam`,
	"phoneNumber": `phoneNumber|Phone|Phone number|phone_number|Phone #|Phone No.|Telephone|Tel|Tel.|Tel.-Nr.|Tel. No|Telefon|Telefonnummer|Telefon-Nr.|TELEFON NR|
		Telefon privat|Tel. privat|Tel. dienstlich|Telefon geschäftlich|Telefon (privat)|Telefon mobil|Mobiltelefon|Mobil|Mobilnummer|Mobil-Nr.|Mobil-Tel.-Nr.|Mobilfunk|
		Handy|Handynummer|Handy-Nr.|Handy privat|Natel|Rufnummer|Festnetz|Weiteres Telefon|Haupttelefon|Autotelefon|Privattelefon|
		Mobile|Mobile Phone|Mobile Number|mobile_number|mobilePhone|Cell|Cell Phone|Cellphone|Cell #|Home Phone|Business Phone|Work Phone|Primary Phone|Contact Number|
		Phone 1 - Value|Phone 1|Phone1|Téléphone|Tél.|Tél. mobile|N° de téléphone|Numéro de téléphone|Téléphone (domicile)|Téléphone portable|Portable|GSM|Tél. fixe|Téléphone (bureau)|
		Teléfono|Teléfono móvil|Móvil|Celular|Tel. móvil|N.º de teléfono|Teléfono particular|Teléfono del trabajo|Mobitel|Mob.|Broj telefona|Broj mobitela|Telefon/mobitel|Kućni telefon|Mobilni telefon|Tel. br.|Kontakt broj|
		Phone 2 - Value|Phone 10 - Value|Telefon 2|Home Phone 2|Business Phone 2|Other Phone|Mobiltelefon 2|Tel2|Fiksni|Telefon (ured)|Telefon na poslu|Office phone|Portable pro|Diensthandy|Cellulare|Numero di telefono|Recapito telefonico|Telefonska številka|Mobilni telefon|Numer telefonu|Nr telefonu|Telefon komórkowy|Komórka|Telefoon|Telefoonnummer|Mobiel|Mobiele nummer|Vast nummer|Vast|Vaste telefoon|Telefoon thuis|Fisso|Tel. fisso|Stacionarni telefon|Tel. kom.|Tel. stacjonarny|Telefon domowy|Tel. służbowy|Domači telefon|Teléfono oficina|Fono|Téléphone travail`,
	"email": `email|Email|E-mail|E-Mail|e_mail|Mail|Email address|email_address|E-mail Address|E-Mail-Adresse|E-Mail Adresse|Mailadresse|Private E-Mail|E-Mail (privat)|eMail|
		Primary Email|Primäre E-Mail-Adresse|E-mail 1 - Value|E-Mail 1|Courriel|Adresse e-mail|Adresse électronique|Adresse de messagerie|Mél|Mail pro|
		Correo|Correo electrónico|Correo-e|Dirección de correo electrónico|E-pošta|Adresa e-pošte|e-mail adresa|Elektronička pošta|E-mail *|
		E-mail 2 Address|E-mail 2 - Value|E-Mail 2: Adresse|E-Mail 2|Email2|Secondary Email|E-Mail dienstlich|Weitere E-Mail|Posta elettronica|Indirizzo e-mail|Elektronski naslov|E-naslov|Adres e-mail|E-mailadres`,
	"dateOfBirth": `dateOfBirth|Date of birth|date_of_birth|Date Of Birth (DD/MM/YYYY)|Birth date|birth_date|Birthdate|Birthday|DOB|D.O.B.|D.O.B. (mm/dd/yyyy)|Born|
		Geburtsdatum|Geburtsdatum (TT.MM.JJJJ)|Geburtstag|geb.|geb. am|Geb.-Datum|Geb.Dat.|Geboren|geboren am|Date de naissance|Date de naissance (JJ/MM/AAAA)|Né(e) le|Né le|Née le|Anniversaire|Date naiss.|
		Fecha de nacimiento|Fecha nac.|F. Nacimiento|Nacimiento|Cumpleaños|Datum rođenja|DATUM ROĐENJA|Datum rodjenja|Datum rođenja (dd.mm.gggg.)|Rođendan|Rođ.|Rođen/a|Dat. rođ.|Datum roðenja|Data di nascita|Nato il|Nato/a|Datum rojstva|Rojstni datum|Rojen/a|Data urodzenia|Data ur.|Geboortedatum|Geboortedag|Roj. datum|Geb.datum`,
	ID: `id|ID|Id| id `,
	LeftOut: `|Date|Datum|Fecha|Spind|Locker|Spindnummer|invitationStatus|userId|User ID|Username|Result|Reason|Nr|Nr.|No|Pers.-Nr.|Personal-ID|Rb.|
		Phone 2 - Type|Phone 2 - Label|E-mail 2 Type|E-Mail 2: Typ|E-Mail 2: Angezeigter Name|Telefon 2024|Telefon 112|Phone 1 2|First Name 2|Name 2|Geburtstag 2|E-mail 1 - Label|Phone 1 - Type|Phone 1 - Label|E-mail Type|E-mail Display Name|E-Mail: Angezeigter Name|
		Middle Name|Weitere Vornamen|Nickname|Maiden Name|Geburtsname|Geburtsort|Place of birth|Lieu de naissance|Mjesto rođenja|Geburtsjahr|Year of birth|Jahrgang|Age|Alter|Anniversary|Jahrestag|Hire date|Eintrittsdatum|
		Emergency phone|Emergency contact|Telefon (Notfall)|Notfallkontakt|Fax|Home Fax|Pager|Company|Company Main Phone|Telefax|Fax privat|Home Fax Number|Telefon/Fax|Organization Name|Manager's Name|Name Assistent|Spouse|Name Prefix|File As|Yomi Name|Given Name Yomi|Phonetic First Name|
		Segundo apellido|Apellido 2|Adresse|Address|Home Address|Mailing address|Street|Straße|Ort|Notes|Privat|Home|Nummer|Number|First Aid|Lastschrift|N additional|FN|UID|Family|Née|Luogo di nascita|Data|Indirizzo|Kraj rojstva|Naslov|Miejsce urodzenia|Adres|Geboorteplaats|Woonplaats|Anniversaire de mariage ou fête`,
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	for want, list := range headers {
		for header := range strings.SplitSeq(list, "|") {
			header = strings.Trim(header, "\n\t")
			if got := fieldOf(header); got != want {
				t.Errorf("%q is %q, want %q", header, got, want)
			}
		}
	}
}

// FuzzHeader checks that the field of a header depends only on its letters and digits, ignoring
// case.
func FuzzHeader(f *testing.F) {
	for _, list := range headers {
		for header := range strings.SplitSeq(list, "|") {
			f.Add(strings.TrimSpace(header))
		}
	}
	f.Fuzz(func(t *testing.T, header string) {
		if field := fieldOf(header); field == ID || len(header) > maxHeader/2 {
			return
		} else if again := fieldOf(" *" + fold.String(header) + ": "); again != field && len(fold.String(header)) < maxHeader-4 {
			t.Errorf("%q is %q, and folded %q", header, field, again)
		} else if field != LeftOut && !strings.ContainsFunc(header, unicode.IsLetter) {
			t.Errorf("%q is %q", header, field)
		}
	})
}

func TestColumns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		table []string
		want  string
	}{
		{[]string{"Name|Vorname", "Čović|Ana"}, "Name=lastName Vorname=firstName"},
		{[]string{"Prénom|Nom", "Zoé|Lefèvre"}, "Prénom=firstName Nom=lastName"},
		{[]string{"Nombre|Apellidos", "José|García"}, "Nombre=firstName Apellidos=lastName"},
		{[]string{"Ime|Prezime", "Ana|Čović"}, "Ime=firstName Prezime=lastName"},
		{[]string{"Name|Surname", "Ana|Čović"}, "Name=firstName Surname=lastName"},
		{[]string{"Name|Given Name|Family Name", "Ana Čović|Ana|Čović"}, "Given Name=firstName Family Name=lastName"},
		{[]string{"Name|Given Name|Family Name", "Ana Čović||"}, "Name=name"},
		{[]string{"Name|Given Name|Family Name", "||"}, "Given Name=firstName Family Name=lastName"},
		{[]string{"Name|Vorname|Nachname", "Čović|Ana|"}, "Name=lastName Vorname=firstName"},
		{[]string{"Display Name|First Name|Last Name", "Ana Čović|Ana|Čović"}, "First Name=firstName Last Name=lastName"},
		{[]string{"Display Name|First Name|Last Name", "Ana Čović|Ana|"}, "Display Name=name"},
		{[]string{"Ime i prezime|Ime", "Ana Čović|Ana"}, "Ime i prezime=name"},
		{[]string{"Vorname|Mail", "Ana|a@example.com"}, "Vorname=firstName Mail=email"},
		{[]string{"Nom, prénom", "Lefèvre, Zoé"}, "Nom, prénom=lastName firstName"},
		{[]string{"Name|Phone 1 - Value|Phone 2 - Value", "A B|1|2"}, "Name=name Phone 1 - Value=phoneNumber Phone 2 - Value=phoneNumber"},
		{[]string{"Name|Home Phone|Mobile Phone", "A B||2"}, "Name=name Mobile Phone=phoneNumber"},
		{[]string{"Name|Home Phone|Mobile Phone", "A B||"}, "Name=name Home Phone=phoneNumber"},
		{[]string{"Name|Home Phone|Mobile Phone", "A B|1|", "C D||2"}, "Name=name Home Phone=phoneNumber Mobile Phone=phoneNumber"},
		{[]string{"Name|Home Phone|Mobile Phone|Phone 2", "A B|1||", "C D||2|"}, "Name=name Home Phone=phoneNumber Mobile Phone=phoneNumber"},
		{[]string{"Name|E-Mail|E-Mail", "A B|a@example.com|b@example.com"}, "Name=name E-Mail=email E-Mail=email"},
		{[]string{"Name|DOB|Birthday", "A B|1990-05-15|1990-05-15"}, `Name=name : twice dateOfBirth ["DOB" "Birthday"]`},
		{[]string{"Name|DOB|Birthday", "A B|-|1990-05-15", "C D||n/a"}, "Name=name Birthday=dateOfBirth"},
		{[]string{"Cognome|Nome|Nato a|Nato il", "Kos|Ana|Trento|15/05/1990"}, "Cognome=lastName Nome=firstName Nato il=dateOfBirth"},
		{[]string{"Cognome|Nome|Nato a|il", "Kos|Ana|Trento|15/05/1990"}, "Cognome=lastName Nome=firstName il=dateOfBirth"},
		{[]string{"Vorname|Rufname|Nachname", "A|B|C"}, `: twice firstName ["Vorname" "Rufname"]`},
		{[]string{"Name|Full name", "A|A B"}, "Full name=name"},
		{[]string{"Full name|Display name", "A B|A B"}, `: twice name ["Full name" "Display name"]`},
		{[]string{"First Name|Last Name|Birth Year|Birth Month|Birth Day", "A|B|1990|5|15"}, "First Name=firstName Last Name=lastName Birth Year=dateOfBirth Birth Month=dateOfBirth Birth Day=dateOfBirth"},
		{[]string{"Spind|Mail", "Chief|a@example.com"}, `Mail=email : noName  ["Spind" "Mail"]`},
		{[]string{"Ana|Čović|ana@example.com", "Eva|Babić|eva@example.com"}, `: noHeader  ["Ana" "Čović" "ana@example.com"]`},
		{[]string{"Ana|Čović|091 234 5678", "Eva|Babić|099"}, `: noHeader  ["Ana" "Čović" "091 234 5678"]`},
		{[]string{"Ana|Čović|15.05.1990", "Eva|Babić|1.1.1991"}, `: noHeader  ["Ana" "Čović" "15.05.1990"]`},
		{[]string{"Ana|Čović", "Eva|Babić"}, `: noName  ["Ana" "Čović"]`},
		{[]string{"Name|01.02.2026|08.02.2026", "A B|x|"}, "Name=name"},
	} {
		r, err := Map(t.Context(), tableOf(tt.table...), Options{Now: now})
		columns, _, _ := strings.Cut(summary(&Result{Columns: r.Columns}, nil), " \n")
		if err != nil {
			fault := summary(&Result{}, err)
			columns = strings.TrimSpace(strings.TrimSpace(columns) + " : " + strings.TrimSpace(fault))
		}
		if columns != tt.want {
			t.Errorf("%q: %s, want %s", tt.table, columns, tt.want)
		}
	}
}

func TestAssigned(t *testing.T) {
	t.Parallel()
	table := func() []string {
		return []string{"Vorname|Name|Home Phone|Mobile Phone|X, Y", "Ana|Čović|1|2|z"}
	}
	type headers = []Header
	type columns = map[int]string
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{Headers: headers{{" MÖBILE  phone", "phoneNumber"}}}, "Vorname=firstName Name=lastName Mobile Phone=phoneNumber"},
		{Options{Headers: headers{{"Home Phone", LeftOut}}}, "Vorname=firstName Name=lastName Mobile Phone=phoneNumber"},
		{Options{Columns: columns{2: "phoneNumber", 3: LeftOut}}, "Vorname=firstName Name=lastName Home Phone=phoneNumber"},
		{Options{Headers: headers{{"Home Phone", "phoneNumber"}}, Columns: columns{2: LeftOut}}, "Vorname=firstName Name=lastName Mobile Phone=phoneNumber"},
		{Options{Columns: columns{0: LeftOut, 2: LeftOut, 3: "phoneNumber"}}, "Name=name Mobile Phone=phoneNumber"},
		{Options{Columns: columns{2: LeftOut, 4: FullName}}, "Mobile Phone=phoneNumber X, Y=name"},
		{Options{Columns: columns{2: LeftOut, 4: LastFirst}}, "Mobile Phone=phoneNumber X, Y=lastName firstName"},
		{Options{Columns: columns{2: LeftOut, 4: "firstName"}}, "Name=lastName Mobile Phone=phoneNumber X, Y=firstName"},
		{Options{Columns: columns{0: LeftOut, 1: LeftOut, 2: LeftOut, 4: "lastName"}}, "Mobile Phone=phoneNumber X, Y=lastName"},
		{Options{Columns: columns{0: LeftOut, 1: LeftOut, 2: LeftOut}}, `Mobile Phone=phoneNumber : noName  ["Vorname" "Name" "Home Phone" "Mobile Phone" "X, Y"]`},
		{Options{Columns: columns{2: "phoneNumber", 3: "phoneNumber"}}, "Vorname=firstName Name=lastName Home Phone=phoneNumber Mobile Phone=phoneNumber"},
		{Options{Columns: columns{4: "email"}}, "Vorname=firstName Name=lastName Home Phone=phoneNumber Mobile Phone=phoneNumber X, Y=email"},
		{Options{Columns: columns{0: "firstName", 4: "firstName"}}, `: twice firstName ["Vorname" "X, Y"]`},
		{Options{Columns: columns{3: "dateOfBirth", 4: "dateOfBirth"}}, `: twice dateOfBirth ["Mobile Phone" "X, Y"]`},
		{Options{Columns: columns{1: FullName, 4: LastFirst}}, `: twice name ["Name" "X, Y"]`},
		{Options{Columns: columns{0: "firstName", 4: FullName}}, `: twice name ["X, Y" "Vorname"]`},
		{Options{Columns: columns{9: "email"}}, `: unknown  ["10"]`},
		{Options{Columns: columns{-1: "email"}}, `: unknown  ["0"]`},
		{Options{Columns: columns{1: "userId"}}, `: unknown  ["userId"]`},
		{Options{Headers: headers{{"Handy", "phoneNumber"}}}, `: unknown  ["Handy"]`},
	} {
		tt.o.Now = now
		r, err := Map(t.Context(), tableOf(table()...), tt.o)
		got, _, _ := strings.Cut(summary(&Result{Columns: r.Columns}, nil), " \n")
		if err != nil {
			got = strings.TrimSpace(strings.TrimSpace(got) + " : " + strings.TrimSpace(summary(&Result{}, err)))
		}
		if got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.o, got, tt.want)
		}
	}
}

// TestSettled checks that an error about candidate columns includes the option that resolves it,
// unless the options cause the error.
func TestSettled(t *testing.T) {
	t.Parallel()
	type headers = []Header
	for _, tt := range []struct {
		table []string
		o     Options
		want  Header
	}{
		{[]string{"Vorname|Rufname|Nachname", "A|B|C"}, Options{}, Header{"Vorname", "firstName"}},
		{[]string{"Vorname|Rufname|Nachname|Familienname|DOB|Birthday", "A|B|C|D|1990-05-15|1990-05-15"}, Options{}, Header{"Vorname", "firstName"}},
		{[]string{"Prezime i ime|Puno ime", "Čović Ana|Ana Čović"}, Options{}, Header{"Prezime i ime", LastFirst}},
		{[]string{"Name|Full name|Display name", "A B|A B|A B"}, Options{}, Header{"Full name", FullName}},
		{[]string{"Vorname|X|Nachname|DOB|Birthday", "A|B|C|1|1"}, Options{Headers: headers{{"Vorname", "firstName"}, {"X", "firstName"}, {"DOB", LeftOut}}},
			Header{}},
		{[]string{"A|B|C", "A|B|C"}, Options{Headers: headers{{"A", "firstName"}, {"B", "lastName"}, {"C", LastFirst}}}, Header{}},
		{[]string{"Vorname|Nachname|DOB|DOB", "A|B|1990-05-15|1990-05-16"}, Options{}, Header{}},
		{[]string{"Vorname|Nachname|DOB|dob|Birthday", "A|B|1|2|3"}, Options{}, Header{"Birthday", "dateOfBirth"}},
		{[]string{"Spind|Mail", "Chief|a@example.com"}, Options{}, Header{}},
	} {
		var e *ColumnsError
		_, err := Map(t.Context(), tableOf(tt.table...), tt.o)
		if !errors.As(err, &e) || e.Settled != tt.want {
			t.Errorf("%q: %+v, want %v", tt.table, err, tt.want)
		}
	}
}

// TestLooksLikeNames checks that a column is read as names by its cells if no header names such a
// column, and that the first row of a list without headers is not taken for one.
func TestLooksLikeNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ lines, want string }{
		{"Liste|Telefon;Hans Müller|1;Eva van der Kos|2", "Liste"},
		{"Member|Station;John Smith|Oak Hill;Jane Doe|Elm Street", "Member"},
		{"Kameraden;Müller, Hans;Kos, Eva", "Kameraden"},
		{"Roster|Station|Phone;John Smith|Oak Hill|1;Jane Doe|Oak Hill|2;Al Bo|Oak Hill|3", "Roster"},
		{"Roster|Station|Phone;John Smith|Oak Hill|1;Jane Doe|Elm Street|2", ""},
		{"Telefon|Adresse;1|Weg 1;2|Am Weg 2", ""},
		{"Telefon|Bemerkung;1|kommt nicht oft;2|Ist krank", ""},
		{"Hans Müller|Graz;Eva Kos|Wien", ""},
		{"Name|Kamerad;Kos|Eva Kos", "Name"},
	} {
		got := ""
		for _, c := range Columns(tableOf(strings.Split(tt.lines, ";")...), Options{Now: now}) {
			if c.IsName() {
				got += c.Header
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.lines, got, tt.want)
		}
	}
	check(t, tableOf("Kameraden|Telefon", "Hans Müller|0664 1"), Options{}, "Kameraden=name Telefon=phoneNumber ", "2 Hans/Müller/0664 1//",
		`looksNames "Kameraden"`, `splitNames "Hans Müller" "Hans" "Müller"`)
	for header, want := range map[string]string{"Prezime i ime člana": LastFirst, "Ime i prezime člana": FullName, "Vor- und Zuname Mitglied": FullName} {
		if got := fieldOf(header); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
}
