package mapping

import (
	"regexp"
	"strings"
	"sync"

	"github.com/firefighter-records/firefighters/internal/people/record"
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

// Words that are a full name where they stand alone, and the first or last name
// beside a column for the other.
const plainNames = `name names namen nom noms nombre nombres ime`

const fullNames = `fullname displayname completename formattedname membername
	anzeigename vollername vollername vollstandigername gesamtname ganzername mitgliedsname mitgliedername
	nomcomplet nomaffiche nombrecompleto nombreparamostrar punoime cijeloime prikaznoime`

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
	var all []pattern
	headings := map[string]string{}
	for _, f := range record.AllFields() {
		headings[f.Name] = f.Headings
		all = append(all, pattern{f.Name, made(f.Headings, f.Besides+" "+fillers)})
	}
	first, last := either(headings["firstName"]+" vor"), either(headings["lastName"]+" family")
	plain, between := either(plainNames), either(and)+"?"
	return append(all, []pattern{
		{"firstName", whole("namefirst")},
		{"lastName", whole("namelast")},
		{plainName, made(plainNames, fillers)},
		{FullName, made(fullNames, fillers)},
		{FullName, whole(plain + "?" + first + between + last)},
		{FullName, whole(first + between + plain + "|" + plain + between + last)},
		{LastFirst, whole(plain + "?" + last + between + first)},
		{LastFirst, whole(plain + between + first + "|" + last + between + plain)},
	}...)
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
