package mapping

import (
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// TestNoValue checks which texts count as empty in columns of phone numbers, email addresses and
// dates.
func TestNoValue(t *testing.T) {
	t.Parallel()
	for texts, want := range map[string]bool{
		"-|–|--|/|?|??|.|…|#|@|*|/  /|__/__/____|. .|0|00|0/0/00|00.00.0000|0000-00-00":                                                                               true,
		"NULL|null|(null)|<NULL>|nan|NaN|NaT|None|nil|#N/A|#NV|#N/D|\\N|n/a|n/k|N. A.|unknown|no phone|No e-mail|not known|TBD|xxx|mm/dd/yyyy":                        true,
		"k. A.|k.A.|K. A|keine Angabe|unbekannt|keine|kein Handy|keine E-Mail|ohne|n. v.|TT.MM.JJJJ":                                                                  true,
		"inconnu|néant|aucun|pas de mail|Pas d'adresse e-mail|sans téléphone|n.c.|JJ/MM/AAAA|à compléter|s/d|s/i|pendiente|s/c|sin datos|no tiene|ninguno|sin correo": true,
		"nepoznato|nema|nema mobitela|nema e-mail|bez telefona|nessuno|non disponibile|n.d.|non nota|nie posiada|unk|brak|geen|neznano":                               true,
		"091|112|1|see below|ask Ana|Nema Kos|none@example.com|n@a|nobody|no|keine Ahnung|soon|1/0/00|٠٩١|May|null 1|" + strings.Repeat("-", 101):                     false,
	} {
		for text := range strings.SplitSeq(texts, "|") {
			if got := hasNoValue(sheet.Cell{Text: text}); got != want {
				t.Errorf("%q: %v, want %v", text, got, want)
			}
		}
	}
	if hasNoValue(sheet.Cell{Text: "#REF!", Kind: sheet.Error}) || !hasNoValue(sheet.Cell{Text: "#N/A", Kind: sheet.Error}) {
		t.Error("only the error #N/A means no value")
	}
	check(t, tableOf("First name|Last name|Phone|E-mail|Birthday", "Christopher|Null|NULL|none|__/__/____", "No|None|ask Ana|a@example.com|/  /"), Options{},
		"First name=firstName Last name=lastName Phone=phoneNumber E-mail=email Birthday=dateOfBirth ",
		"2 Christopher/Null///", "3 No/None/ask Ana/a@example.com/", `noValue 4 "NULL"`)
	ours := tableOf("id|firstName|lastName|phoneNumber", "|Ana|Kos|n/a")
	ours.Ours = true
	check(t, ours, Options{}, "id=id firstName=firstName lastName=lastName phoneNumber=phoneNumber ", "2 Ana/Kos/n/a//")
}
