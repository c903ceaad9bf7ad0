package mapping

import (
	"regexp"
	"strings"
	"sync"
)

// A header is a field if it consists of words of that field alone, and one of them
// names it: "Mobile phone number" and "Tel. privat" are phone numbers, but
// "Emergency phone" and "E-mail type" are nothing that we keep. Words stand here
// folded. Spaces, points and letters that are not there do not count, so that
// "first_name", "First Name *" and "firstName" are one.

// Words that say whose a value is, or how to fill in the column. They change
// nothing.
const fillers = `of the de du des del de la le el der die das
	member members mitglied mitglieds mitgliedes membre miembro clan clana
	employee volunteer firefighter feuerwehrmitglied vatrogasac vatrogasca person
	required optional mandatory pflichtfeld pflicht obligatoire facultatif
	obligatorio opcional obavezno neobavezno usuel legal`

const firstNames = `firstname firstnames first givenname givennames given forename forenames christianname fname
	vorname vornamen vorn rufname prenom prenoms primernombre nombredepila osobnoime`

const lastNames = `lastname lastnames last surname surnames familyname lname
	nachname nachnamen nachn familienname familiennamen zuname
	nomdefamille nomfamille nomdusage nomdenaissance nompatronymique patronyme
	apellido apellidos primerapellido prezime`

// Words that are a full name where they stand alone, and the first or last name
// beside a column for the other.
const plainNames = `name names namen nom noms nombre nombres ime`

const fullNames = `fullname displayname completename formattedname membername
	anzeigename vollername vollername vollstandigername gesamtname ganzername mitgliedsname mitgliedername
	nomcomplet nomaffiche nombrecompleto nombreparamostrar punoime cijeloime prikaznoime`

const (
	emails = `email emails mail mails courriel courriels mel correo correos eposta eposte epostu
		elektronickaposta elektronickeposte messagerie courrierelectronique adresseelectronique
		correoe correoelectronico direccionelectronica elektronickaadresa`
	emailMore = `address addresses adress adresse adressen addresse adresa adrese direccion electronique electronico`
)

const (
	phones = `phone phones telephone telephones telephonenumber tel telefon telefone telefono telefonos telefona telefoni
		telf tlf tfno tfn telno fon ph rufnummer rufnr fernsprecher contactnumber contactno kontaktnummer kontaktbroj
		mobile mobiles mobil mobiler mobilfunk mobilfon mobiltel mob cell cells cellphone cellular
		handy handys natel portable gsm smartphone movil moviles celular mobitel mobitela mobiteli mobilni mobilnog
		landline festnetz festnetzanschluss fixe fijo fiksni`
	phoneMore = `number numbers num no nr nb n nummer nummern numero numeros broj brojevi br
		car auto voiture coche day daytime evening tagsuber abends best sms whatsapp
		alarm alarmierung alerting alerts notification notifications fix fixed`
)

// Words that say which of somebody's addresses or numbers it is.
const which = `value private privat privater private privates prive privee privado privada privatni privatna
	home haus heim house domicile maison casa particular kucni kuca
	work arbeit business office buro buero bureau geschaftlich geschaeftlich geschaft dienst dienstlich dienstliche
	beruflich trabajo travail professionnel professionnelle pro laboral oficina poslovni poslovna posao poslu na sluzbeni sluzbena
	primary primare haupt main principal principale glavni primarna preferred bevorzugt
	other weitere weiteres weiterer andere anderes autre otro otra ostali drugi
	personal perso personnel personnelle personlich personliche osobni osobna contact kontakt contacto`

const (
	birthWords = `birthday birthdate birth dob born bday bdate geburtsdatum geburtstag geburtsdat geburt geb geboren gebtag
		naissance naiss nele neele neelee anniversaire ddn
		nacimiento nacim nac nacido nacida nacidoa cumpleanos cumple
		rodenja rodjenja rodendan rodjendan roden rodena rodjen rod`
	birthMore = `date dates day dat datum dana dan on am fecha fec f d el
		dd mm yy yyyy tt jj jjjj aa aaaa gg gggg iso`
)

// Words between a first and a last name.
const and = `and und et y e i or oder`

// weekdays may stand before a date.
const weekdays = `monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
	montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so
	lundi mardi mercredi jeudi vendredi samedi dimanche lun mar mer jeu ven sam dim
	lunes martes miercoles jueves viernes sabado domingo lun mar mie jue vie sab dom
	ponedjeljak utorak srijeda cetvrtak petak subota nedjelja pon uto sri cet pet sub ned`

// birthParts are the headers of programs that have day, month and year of birth in
// columns of their own. Then the column of the day, which may be called
// "Birthday", has no dates.
const birthParts = `birthmonth geburtsmonat moisdenaissance mesdenacimiento mjesecrodenja`

// pattern is how the headers of a field look.
type pattern struct {
	field  string
	header *regexp.Regexp
}

// patterns has the field of each header that is known, the most certain ones
// first.
var patterns = sync.OnceValue(func() []pattern {
	first, last := either(firstNames+" vor"), either(lastNames+" family")
	plain, between := either(plainNames), either(and)+"?"
	return []pattern{
		{"firstName", made(firstNames, fillers)},
		{"firstName", whole("namefirst")},
		{"lastName", made(lastNames, fillers)},
		{"lastName", whole("namelast")},
		{"phoneNumber", made(phones, phoneMore+" "+which+" "+fillers)},
		{"email", made(emails, emailMore+" "+which+" "+fillers)},
		{"dateOfBirth", made(birthWords, birthMore+" "+fillers)},
		{plainName, made(plainNames, fillers)},
		{FullName, made(fullNames, fillers)},
		{FullName, whole(plain + "?" + first + between + last)},
		{FullName, whole(first + between + plain + "|" + plain + between + last)},
		{LastFirst, whole(plain + "?" + last + between + first)},
		{LastFirst, whole(plain + between + first + "|" + last + between + plain)},
	}
})

var birthPart = sync.OnceValue(func() *regexp.Regexp { return whole(either(birthParts)) })

// made returns the pattern of what consists of names and more alone, with a name
// at least.
func made(names, more string) *regexp.Regexp {
	name, word := either(names), either(names+" "+more)
	return whole(word + "*" + name + word + "*")
}

func whole(pattern string) *regexp.Regexp { return regexp.MustCompile("^(?:" + pattern + ")$") }

func either(words string) string { return "(?:" + strings.Join(strings.Fields(words), "|") + ")" }
