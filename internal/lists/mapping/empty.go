package mapping

import (
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// emptyWords are the letters of cells without a value, folded: what people write into a cell, the
// empty values of programs, and the masks of forms. refusals precede a heading: "no phone".
const (
	emptyWords = `null nil nan nat none n na tbd tba unk unlisted undefined unknown notknown nk
		notavailable notapplicable missing xxx
		kein keine keinen keiner keins ohne aucun aucune sans ninguno ninguna notiene nema bez nessun nessuno nessuna brak geen
		ka keineangabe keineangaben unbekannt unbek nichtbekannt nichtvorhanden entfallt fehlt offen nv
		inconnu inconnue neant nonrenseigne nonrenseignee noncommunique absent acompleter arenseigner nc nr so
		sindatos nodisponible noconsta desconocido desconocida vacio sd nd ns sc si pendiente
		nepoznato nepoznat nepoznata nijepoznato nemapodataka np
		sconosciuto sconosciuta nondisponibile nonnota nonnoto nonha assente neznano
		nipodatka brakdanych nieznany nieznana nieposiada niema niedotyczy onbekend nvt
		ddmmyyyy ddmmyy mmddyyyy mmddyy yyyymmdd ttmmjjjj ttmmjj jjjjmmtt jjmmaaaa jjmmaa ddmmaaaa ddmmaa ddmmgggg ddmmgg`
	refusals = `no without kein keine keinen ohne aucun aucune pasde pasd sans ninguno ninguna notiene sin nema bez
		nessun nessuna senza ni brak geen`
)

var emptyCell = sync.OnceValue(func() *regexp.Regexp {
	var headings string
	for _, f := range record.AllFields()[record.NameFields:] {
		headings += f.Headings + " " + f.Besides + " "
	}
	return whole(either(emptyWords) + "|" + either(refusals) + either(headings) + "+")
})

// hasNoValue reports whether a cell for anything but a name contains no value although it has text:
// only marks and zeros, or words for an empty cell. Christopher Null keeps his name.
func hasNoValue(cell sheet.Cell) bool {
	text := cell.Text
	if cell.Kind == sheet.Error {
		return text == "#N/A"
	}
	if len(text) > maxHeader || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsNumber(r) && r != '0' }) {
		return false
	}
	word := letters(text)
	return word == "" || !strings.Contains(text, "@") && emptyCell().MatchString(word)
}
