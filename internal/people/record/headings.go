package record

// Words for Field.Headings and Field.Besides.
const (
	firstNames = `firstname firstnames first givenname givennames given forename forenames christianname fname
	vorname vornamen vorn rufname prenom prenoms primernombre nombredepila osobnoime imie imiona voornaam voornamen roepnaam
	keresztnev utonev jmeno krestnijmeno meno krstnemeno fornavn fornamn tilltalsnamn fornafn prenume`

	lastNames = `lastname lastnames last surname surnames familyname lname
	nachname nachnamen nachn familienname familiennamen zuname
	nomdefamille nomfamille nomdusage nomdenaissance nompatronymique patronyme
	apellido apellidos primerapellido apellidopaterno prezime
	cognome cognomi priimek priimki nazwisko nazwiska achternaam familienaam
	vezeteknev csaladnev prijmeni priezvisko etternavn efternavn efternamn slektsnavn sobrenome sobrenomes apelido apelidos`

	emails = `email emails mail mails courriel courriels mel correo correos eposta eposte epostu
		elektronickaposta elektronickeposte messagerie courrierelectronique adresseelectronique
		epost emailcim correoe correoelectronico direccionelectronica elektronickaadresa postaelettronica elektronskinaslov enaslov`
	besidesEmails = `address addresses adress adresse adressen addresse adresa adrese adres indirizzo direccion electronique electronico`

	phones = mobiles + ` phone phones telephone telephones telephonenumber tel telefon telefone telefono telefonos telefona telefoni
		telf tlf tfno tfn telno fon fono fonos ph rufnummer rufnr fernsprecher contactnumber contactno kontaktnummer kontaktbroj
		landline festnetz festnetzanschluss fixe fijo fiksni fiksna fisso fissa stacionarni stacionarna
		stacjonarny stacjonarnego vast vaste telefonico telefonska telefonu telefoon vastnummer
		telefonszam telefonni telefonne`
	mobiles = `mobile mobiles mobil mobiler mobilfunk mobilfon mobiltel mob cell cells cellphone cellular iphone
		handy handys natel portable gsm smartphone movil moviles celular mobitel mobitela mobiteli mobilni mobilnog mobilna
		telemovel mobiltelefon mobilszam cellulare cellulari komorka komorkowy komorkowego mobiel mobiele`
	texts         = ` sms whatsapp port mov kom m c`
	besidesPhones = `number numbers num no nr nb n nummer nummern numero numeros broj brojevi br numer stevilka recapito szam cislo
		car auto voiture coche day daytime evening tagsuber abends best
		alarm alarmierung alerting alerts notification notifications fix fixed` + texts

	births = `birthday birthdate birth dob born bday bdate geburtsdatum geburtstag geburtsdat geburt geb geboren gebtag
		naissance naiss nele neele neelee neelea nelea anniversaire ddn geborenamin gebamin
		nacimiento nacim nac nacido nacida nacidoa cumpleanos cumple
		rodenja rodjenja rodendan rodjendan roden rodena rodjen rod
		nascita nato nata natoa rojstva rojstni rojen rojena urodzenia urodzony dataur geboorte geboortedag roj
		szuletesi szuletes szuletett szulido szuldatum narozeni narodenia nascimento fodselsdato fodelsdato fodt fodselsdag
		fodelsedatum fodelsedag fodd nasterii`
	besidesBirths = `date dates day dat datum data dana dan on am fecha fec f d el il ido
		dd mm yy yyyy mdy dmy ymd tt jj jjjj aa aaaa gg gggg rrrr llll iso`

	// which are words that distinguish several addresses or numbers of a person.
	which = homes + works + ` value
		primary primare haupt main principal principale glavni primarna preferred bevorzugt
		secondary second zweite zweites zweiter secondaire secundario sekundarni sekundarna alternate alternative alternativ
		other weitere weiteres weiterer andere anderes autre otro otra ostali drugi drugo na`
	homes = ` private privat privater private privates prive privee privado privada privatni privatna
		priv p h dom part home haus heim house domicile domicilio maison casa particular kucni kuca domaci doma domowy domowa thuis
		personal perso personnel personnelle personlich personliche osobni osobna contact kontakt contacto`
	works = ` work arbeit business office buro buero bureau geschaftlich geschaeftlich geschaft dienst dienstlich dienstliche
		beruflich trabajo travail professionnel professionnelle pro laboral oficina poslovni poslovna posao poslu ured uredski
		sluzbeni sluzbena w g gesch dienstl berufl prof trav trab sluzbowy sluzbowa praca lavoro ufficio werk`
)
