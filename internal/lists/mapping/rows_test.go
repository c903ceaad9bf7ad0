package mapping

import "testing"

func TestSplitName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		lastFirst   bool
		first, last string
		guessed     bool
	}{
		{"Ana Čović", false, "Ana", "Čović", false},
		{"  Ana \t Čović ", false, "Ana", "Čović", false},
		{"Horvat, Ivan", false, "Ivan", "Horvat", false},
		{"Horvat,Ivan", true, "Ivan", "Horvat", false},
		{"García López, Juan Carlos", false, "Juan Carlos", "García López", false},
		{"Smith, John, Jr.", false, "John, Jr.", "Smith", false},
		{"Horvat,", false, "", "Horvat", false},
		{"Cher", false, "Cher", "", false},
		{"Cher", true, "Cher", "", false},
		{"", false, "", "", false},
		{"", true, "", "", false},
		{"Juan Carlos García", false, "Juan Carlos", "García", true},
		{"Dr. Ana Horvat", false, "Dr. Ana", "Horvat", true},
		{"Jan van der Berg", false, "Jan", "van der Berg", true},
		{"María de la Cruz", false, "María", "de la Cruz", true},
		{"Ludwig VAN Beethoven", false, "Ludwig", "VAN Beethoven", true},
		{"von Trapp", false, "von", "Trapp", false},
		{"von der Heide", false, "von", "der Heide", true},
		{"John Smith Jr.", false, "John", "Smith Jr.", true},
		{"John van Smith III", false, "John", "van Smith III", true},
		{"Horvat Ivan", true, "Ivan", "Horvat", false},
		{"Horvat Ivan Marko", true, "Ivan Marko", "Horvat", true},
		{"van der Berg Jan", true, "Jan", "van der Berg", true},
		{"von Trapp", true, "Trapp", "von", false},
	} {
		first, last, guessed := splitName(tt.name, tt.lastFirst)
		if first != tt.first || last != tt.last || guessed != tt.guessed {
			t.Errorf("%q (%t): %q, %q, %t", tt.name, tt.lastFirst, first, last, guessed)
		}
	}
}

func TestSplitNotes(t *testing.T) {
	t.Parallel()
	check(t, tableOf("Name", "A B", "C D", "E F G", "H I J", "K, L"), Options{},
		"Name=name ", "2 A/B///", "3 C/D///", "4 E F/G///", "5 H I/J///", "6 L/K///",
		`splitNames "E F G" "E F" "G"`, `splitNames "H I J" "H I" "J"`, `splitNames "A B" "A" "B"`, "splitGuess 2")
}
