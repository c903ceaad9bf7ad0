package mapping

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// TestZero checks that numbers without a 0 or + are counted if others in the column have one, and
// get a 0 if the option is set.
func TestZero(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		numbers     string
		want, zeros string // numbers with Zero; notes without and with Zero
	}{
		{"0664 1234567|6641234567|664 1234568", "0664 1234567|06641234567|0664 1234568", "noZero 2; zero 2"},
		{"+43 664 1234567|6641234567", "+43 664 1234567|06641234567", "noZero 1; zero 1"},
		{"(0664) 1234567|664/123-45.67", "(0664) 1234567|0664/123-45.67", "noZero 1; zero 1"},
		{"+385 91 555 0171|385915550172", "+385 91 555 0171|385915550172", "noZero 1; noZero 1"},
		{"00385 91 555 0171|385915550172|915550173", "00385 91 555 0171|385915550172|0915550173", "noZero 2; zero 1, noZero 1"},
		{"+1 555 010 2222|14440104444|555-010-3333", "+1 555 010 2222|14440104444|0555-010-3333", "noZero 2; zero 1, noZero 1"},
		{"5550100|(555) 010-0101|1-555-010-0102", "5550100|(555) 010-0101|1-555-010-0102", "; "},
		{"0664 1|112|144|4711|23456|x664123456|4.41E+11|(664) 123456|1234567890123456", "0664 1|112|144|4711|23456|x664123456|4.41E+11|(664) 123456|1234567890123456", "; "},
		{"0664 1|", "0664 1|", "; "},
		{"0 1|123456", "0 1|0123456", "noZero 1; zero 1"},
	} {
		lines := []string{"Vorname|Nachname|Telefon"}
		for number := range strings.SplitSeq(tt.numbers, "|") {
			lines = append(lines, "Ana|Čović|"+number)
		}
		same, notes := phonesOf(t, Options{}, lines...)
		repaired, notesOfZero := phonesOf(t, Options{Answers: sheet.Answers{AskZero: "true"}}, lines...)
		zeros := strings.ReplaceAll(notes+"; "+notesOfZero, "\n", ", ")
		if same != tt.numbers || repaired != tt.want || zeros != tt.zeros {
			t.Errorf("%s: %s, %s, %s; want %s, %s", tt.numbers, same, repaired, zeros, tt.want, tt.zeros)
		}
	}
	// Our own export is taken literally, and no zero is missing where no one dials one.
	ofOurs := tableOf("firstName|lastName|phoneNumber", "Ana|Čović|0664 1234567", "Eva|Babić|6641234568")
	ofOurs.Ours = true
	for country, table := range map[string]*sheet.Table{"AT": ofOurs, "ES": tableOf("Nombre|Apellidos|Teléfono", "Ana|Gil|+34 612 345 678", "Eva|Gil|612345679")} {
		if r, err := Map(t.Context(), table, Options{Now: now, Country: country}); err != nil || len(r.Questions)+len(r.Notes) > 0 {
			t.Errorf("%s: %v, %v, %v", country, r.Questions, r.Notes, err)
		}
	}
	// Columns are independent, and cells that do not count are ignored.
	lines := []string{"Vorname|Nachname|Handy|Telefon", "Ana|Čović|0664 1234567|2236123456", "Eva|Babić||2236123457", "Ivan|Horvat|6641234568|"}
	if got, notes := phonesOf(t, Options{Answers: sheet.Answers{AskZero: "true"}}, lines...); got != "0664 1234567|2236123457|06641234568" || !strings.HasSuffix(notes, "\nzero 1") {
		t.Errorf("two columns: %s, %s", got, notes)
	}
	r, err := Map(t.Context(), tableOf(lines...), Options{Now: now})
	if got := fmt.Sprint(r.Questions); err != nil || got != "[{zero [] [] map[] [] [{false [6641234568]} {true [06641234568]}] false}]" {
		t.Errorf("%s, %v", got, err)
	}
}
