package mapping

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

func TestSplitName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		lastFirst   bool
		first, last string
		guessed     bool
		titles      string
	}{
		{"Ana Čović", false, "Ana", "Čović", false, ""},
		{"  Ana \t Čović ", false, "Ana", "Čović", false, ""},
		{"Horvat, Ivan", false, "Ivan", "Horvat", false, ""},
		{"Horvat,Ivan", true, "Ivan", "Horvat", false, ""},
		{"García López, Juan Carlos", false, "Juan Carlos", "García López", false, ""},
		{"van der Berg, Jan", false, "Jan", "van der Berg", false, ""},
		{"Berg, Jan van den", false, "Jan", "van den Berg", false, ""},
		{"Berg, van den, Jan", false, "Jan", "van den Berg", false, ""},
		{"Cruz, Ana María de la", false, "Ana María", "de la Cruz", false, ""},
		{"Nguyen, Thi Van", false, "Thi Van", "Nguyen", false, ""},
		{"Berg, van", false, "van", "Berg", false, ""},
		{"Horvat, Ivan, Vukovar", false, "Ivan, Vukovar", "Horvat", false, ""},
		{"Horvat,", false, "", "Horvat", false, ""},
		{"García López,", false, "", "García López", false, ""},
		{", Ivan", false, "Ivan", "", false, ""},
		{",", false, "", "", false, ""},
		{"Cher", false, "Cher", "", false, ""},
		{"Cher", true, "Cher", "", false, ""},
		{"", false, "", "", false, ""},
		{"", true, "", "", false, ""},
		{"Juan Carlos García", false, "Juan Carlos", "García", true, ""},
		{"A. B. Smith", false, "A. B.", "Smith", true, ""},
		{"J.R. Smith", false, "J.R.", "Smith", false, ""},
		{"Jan van der Berg", false, "Jan", "van der Berg", true, ""},
		{"María de la Cruz", false, "María", "de la Cruz", true, ""},
		{"Ludwig VAN Beethoven", false, "Ludwig", "VAN Beethoven", true, ""},
		{"von Trapp", false, "von", "Trapp", false, ""},
		{"von der Heide", false, "von", "der Heide", true, ""},
		{"Horvat Ivan", true, "Ivan", "Horvat", false, ""},
		{"Horvat Ivan Marko", true, "Ivan Marko", "Horvat", true, ""},
		{"van der Berg Jan", true, "Jan", "van der Berg", true, ""},
		{"von Trapp", true, "Trapp", "von", false, ""},

		{"John Smith Jr.", false, "John", "Smith Jr.", true, ""},
		{"John van Smith III", false, "John", "van Smith III", true, ""},
		{"Smith John Jr.", true, "John", "Smith Jr.", true, ""},
		{"Smith, John, Jr.", false, "John", "Smith Jr.", false, ""},
		{"Smith, John Jr.", false, "John", "Smith Jr.", false, ""},
		{"Smith Jr., John", false, "John", "Smith Jr.", false, ""},
		{"John Smith, Jr.", false, "John", "Smith Jr.", true, ""},
		{"Smith, Jr.", false, "", "Smith Jr.", false, ""},
		{"Smith Jr.", false, "", "Smith Jr.", false, ""},
		{"Jr.", false, "", "Jr.", false, ""},
		{"Neymar Junior", false, "Neymar", "Junior", false, ""},
		{"Junior Silva", false, "Junior", "Silva", false, ""},
		{"Jun Sato", false, "Jun", "Sato", false, ""},

		{"Dr. Ana Horvat", false, "Dr. Ana", "Horvat", false, ""},
		{"Dr.Ana Horvat", false, "Dr. Ana", "Horvat", false, ""},
		{"Prof. Dr. med. Ana Horvat", false, "Prof. Dr. med. Ana", "Horvat", false, ""},
		{"Horvat, dipl.ing.", false, "", "Horvat, dipl.ing.", false, ""},
		{"Ana Horvat, dipl. ing.", false, "Ana", "Horvat, dipl. ing.", false, ""},
		{"Horvat Ana dipl.ing.", true, "Ana", "Horvat dipl.ing.", false, ""},
		{"Horvat, Dr. Ana", false, "Dr. Ana", "Horvat", false, ""},
		{"Dr. Horvat, Ana", false, "Ana", "Dr. Horvat", false, ""},
		{"Horvat, Ana, Dr.", false, "Ana", "Horvat, Dr.", false, ""},
		{"van der Berg, Dr.", false, "", "van der Berg, Dr.", false, ""},
		{"Dr.", false, "", "Dr.", false, ""},
		{"Dr. Horvat", false, "", "Dr. Horvat", false, ""},
		{"Horvat Dr. Ana", false, "Horvat", "Dr. Ana", false, ""},
		{"John Smith, MBA", false, "John", "Smith, MBA", false, ""},
		{"John Smith, M.A., Ph.D.", false, "John", "Smith, M.A., Ph.D.", false, ""},
		{"John Smith, MD", false, "John", "Smith, MD", false, ""},
		{"Hans Huber M.A.", false, "Hans", "Huber M.A.", false, ""},
		{"Jean Pierre BA", false, "Jean Pierre", "BA", true, ""},
		{"Hans Huber, DI", false, "Hans", "Huber, DI", false, ""},
		{"Huber M.A.", false, "Huber", "M.A.", false, ""},
		{"DI (FH) Hans Huber", false, "DI (FH) Hans", "Huber", false, ""},
		{"Huber Hans, Mag. (FH)", true, "Hans", "Huber, Mag. (FH)", false, ""},
		{"Kos Ana, univ. dipl. inž.", true, "Ana", "Kos, univ. dipl. inž.", false, ""},
		{"DI Hans Huber", false, "DI Hans", "Huber", false, ""},
		{"DI MARIO Ana", true, "Ana", "DI MARIO", false, ""},
		{"Di Mario", false, "Di", "Mario", false, ""},
		{"Müller, M.A.", false, "M.A.", "Müller", false, ""},
		{"Li, Ma", false, "Ma", "Li", false, ""},
		{"Rossi Bianchi, Ma", false, "Ma", "Rossi Bianchi", false, ""},
		{"Md. Karim Rahman", false, "Md. Karim", "Rahman", true, ""},

		{"mr. sc. Ana Horvat", false, "mr. sc. Ana", "Horvat", false, ""},
		{"mr. Ana Horvat", false, "mr. Ana", "Horvat", false, ""},
		{"Herr Mag. Hans Huber, MSc", false, "Mag. Hans", "Huber, MSc", false, "Herr"},
		{"John Smith, Jr., Ph.D.", false, "John", "Smith Jr., Ph.D.", true, ""},

		{"Perić Marko ml.", true, "Marko", "Perić ml.", true, ""},
		{"Perić Marko st.", true, "Marko", "Perić st.", true, ""},
		{"Marko Perić st.", false, "Marko", "Perić st.", true, ""},
		{"Perić, Marko st.", false, "Marko", "Perić st.", false, ""},
		{"Perić st., Marko", false, "Marko", "Perić st.", false, ""},
		{"Perić st. Marko", true, "Marko", "Perić st.", true, ""},
		{"Perić st., dipl. ing.", false, "", "Perić st., dipl. ing.", false, ""},
		{"Ann St. Clair", false, "Ann St.", "Clair", true, ""},

		{"Hölzl Franz, OBI", true, "Franz", "Hölzl", false, "OBI"},
		{"Franz Hölzl, OBI", false, "Franz", "Hölzl", false, "OBI"},
		{"Adler, OBI", false, "", "Adler", false, "OBI"},
		{"FF Jones, Alan", false, "Alan", "Jones", false, "FF"},
		{"Lt. Alan Jones", false, "Alan", "Jones", false, "Lt."},
		{"Hölzl, Franz, OBM d.F.", false, "Franz", "Hölzl", false, "OBM d.F."},
		{"KOS, ANA", false, "ANA", "KOS", false, ""},
		{"Smith, AJ", false, "AJ", "Smith", false, ""},
		{"Kos, ANAMARIA", false, "ANAMARIA", "Kos", false, ""},
		{"Kos, Ana, DVD Kos", false, "Ana, DVD Kos", "Kos", false, ""},

		{"Ana Kos (geb. Peric)", false, "Ana", "Kos", false, ""},
		{"Eva Bilic geb. Cindric", false, "Eva", "Bilic", false, ""},
		{"Bilic rođ. Cindric Eva", true, "Eva", "Bilic", false, ""},
		{"Hans (Hansi) Maier", false, "Hans", "Maier", false, ""},
		{"Kos (Ana)", false, "Kos", "(Ana)", false, ""},

		{"DUPONT Jean", false, "Jean", "DUPONT", false, ""},
		{"DUPONT Jean-Luc Marie", false, "Jean-Luc Marie", "DUPONT", false, ""},
		{"Jean DUPONT", true, "Jean", "DUPONT", false, ""},
		{"DE LA TOUR Marie", false, "Marie", "DE LA TOUR", false, ""},
		{"de la TOURETTE Marie", false, "Marie", "de la TOURETTE", false, ""},
		{"Marie de la TOURETTE", true, "Marie", "de la TOURETTE", false, ""},
		{"Jan van den BERGEN", true, "Jan", "van den BERGEN", false, ""},
		{"J. DUPONT", true, "J.", "DUPONT", false, ""},
		{"Dr. Jean DUPONT Jr.", true, "Dr. Jean", "DUPONT Jr.", false, ""},
		{"MÜLLER Dr. Hans", false, "Dr. Hans", "MÜLLER", false, ""},
		{"McDONALD Pat", false, "Pat", "McDONALD", false, ""},
		{"GROßMANN Eva", false, "Eva", "GROßMANN", false, ""},
		{"Frau LE GALL Eva", false, "Eva", "LE GALL", false, "Frau"},
		{"KOS-PERIĆ Ana", false, "Ana", "KOS-PERIĆ", false, ""},
		{"JEAN DUPONT", false, "JEAN", "DUPONT", false, ""},
		{"AJ Smith", true, "Smith", "AJ", false, ""},
		{"KOS Ana", false, "KOS", "Ana", false, ""},
		{"John SMITH Kos", false, "John SMITH", "Kos", true, ""},
		{"DUPONT Jean PETIT", false, "DUPONT Jean", "PETIT", true, ""},

		{"Mr. John Smith", false, "John", "Smith", false, "Mr."},
		{"Frau Dr. Eva Kos", false, "Dr. Eva", "Kos", false, "Frau"},
		{"Herr Müller", false, "", "Müller", false, "Herr"},
		{"Michael Herr", false, "Michael", "Herr", false, ""},
		{"Müller, Frau", false, "", "Müller", false, "Frau"},
		{"Sr. Juan García", false, "Juan", "García", false, "Sr."},
		{"Mme Anne Petit", false, "Anne", "Petit", false, "Mme"},
		{"M. Night Shyamalan", false, "M. Night", "Shyamalan", true, ""},
		{"gđa Ana Horvat", false, "Ana", "Horvat", false, "gđa"},
		{"OBI Hans Huber", false, "OBI Hans", "Huber", true, ""},
		{"Obi Juan", false, "Obi", "Juan", false, ""},
		{"Major Tom", false, "Major", "Tom", false, ""},
		{"Captain Smith", false, "Captain", "Smith", false, ""},
	} {
		n := (&names{lastFirst: tt.lastFirst}).split(tt.name)
		if titles := strings.Join(n.removed, " "); n.name != (Name{tt.first, tt.last}) || n.guessed != tt.guessed || titles != tt.titles {
			t.Errorf("%q (%t): %q, %t, titles %q", tt.name, tt.lastFirst, n.name, n.guessed, titles)
		}
	}
	if n := (&names{mister: "m."}).split("M. Jean Petit"); n.name != (Name{"Jean", "Petit"}) {
		t.Errorf("M. Jean Petit is %+v", n)
	}
}

// TestCardNames checks that the name of each vCard comes from its structured name, its formatted
// name, or the only part it has.
func TestCardNames(t *testing.T) {
	t.Parallel()
	table := tableOf("firstName|lastName|FN", "Ana|Kos|Kos Ana Marija", "||Ivo Bilic", "Iva Dodig||Iva Dodig", "|Eva Car|",
		"|Kos|Jan van der Berg", "Pelé||Pelé", "||Kos, Mia",
		"|Kos|Kos Jan", "Eva||Kos Eva", "Eva||Eva Kos")
	want := "Ana/Kos Ivo/Bilic Iva/Dodig Eva/Car Jan/van der Berg Pelé/ Mia/Kos Jan/Kos Eva/Kos Eva/Kos"
	for _, format := range []string{sheet.VCard, sheet.CSV} {
		table.Format = format
		r, err := Map(t.Context(), table, Options{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range r.People {
			names = append(names, p.Fields.FirstName+"/"+p.Fields.LastName)
		}
		if got := strings.Join(names, " "); (got == want) != (format == sheet.VCard) {
			t.Errorf("%s: %s, want %s", format, got, want)
		}
	}
	titled := tableOf("firstName|lastName|N prefix|N suffix", "Ana|Kos|dr.|", "Ivo|Kos|Mr.|ml.", "Iva|Kos|Ms|zvana Iva",
		"Jo|Kos|Prof. Dr.|MSc")
	titled.Format = sheet.VCard
	check(t, titled, Options{}, "firstName=firstName lastName=lastName ",
		"2 dr. Ana/Kos///", "3 Ivo/Kos ml.///", "4 Iva/Kos///", "5 Prof. Dr. Jo/Kos MSc///")
	only := tableOf("firstName", "Iva Dodig")
	only.Format = sheet.VCard
	check(t, only, Options{}, "firstName=firstName ", "2 Iva/Dodig///", `splitNames "Iva Dodig" "Iva" "Dodig"`)
	only.Ours = true
	check(t, only, Options{}, "firstName=firstName ", "2 Iva Dodig//// lastName:required")
}

// TestReversed checks that the other reading of a name is known unless a comma, a header or an answer
// states the order.
func TestReversed(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{"Name|Weber Tim": "Tim/Weber", "Name|Weber, Tim": "/", "Prezime i ime|Weber Tim": "/", "Name|WEBER Tim": "/"} {
		header, name, _ := strings.Cut(line, "|")
		r, err := Map(t.Context(), tableOf(header, name), Options{Now: now})
		if got := r.People[0].Reversed; err != nil || got.First+"/"+got.Last != want {
			t.Errorf("%s: %+v, %v", line, got, err)
		}
	}
}

func TestSplitNotes(t *testing.T) {
	t.Parallel()
	check(t, tableOf("Name", "A B", "C D", "E F G", "H I J", "K L"), Options{},
		"Name=name ", "2 A/B///", "3 C/D///", "4 E F/G///", "5 H I/J///", "6 K/L///",
		`splitNames "E F G" "E F" "G"`, `splitNames "H I J" "H I" "J"`, `splitNames "A B" "A" "B"`, "splitGuess 2")
}

// TestMarks checks the names of a column that depend on each other, and the notes about them.
func TestMarks(t *testing.T) {
	t.Parallel()
	check(t, tableOf("Nom", "DUPONT Jean", "DE LA TOUR Marie", "Luc PETIT", "ROY Luc", "LI Wei", "JEAN DUMAS"), Options{},
		"Nom=name ", "2 Jean/DUPONT///", "3 Marie/DE LA TOUR///", "4 Luc/PETIT///", "5 Luc/ROY///", "6 Wei/LI///", "7 JEAN/DUMAS///",
		`splitNames "JEAN DUMAS" "JEAN" "DUMAS"`,
		`capitals 1 sheet.Places{First:[]sheet.Place{sheet.Place{Text:"JEAN DUMAS", Row:7}}, More:false}`,
		`byCapitals 5 "DUPONT Jean" "Jean" "DUPONT"`)
	check(t, tableOf("Name", "Ana Kos (geb. Peric)", "Eva Bilic geb. Cindric", "Hans Maier (Hansi)", "Ivo Kos (passiv)"), Options{},
		"Name=name ", "2 Ana/Kos///", "3 Eva/Bilic///", "4 Hans/Maier///", "5 Ivo/Kos///",
		`remarks 4 "Ana Kos (geb. Peric)" "Ana Kos"`)
	check(t, tableOf("Vorname|Nachname", "Hans (Hansi)|Maier, OBI", "Ana|Kos geb. Peric", "(Ivo)|Kos, Jr.",
		"Eva|Kos, AB", "Dr. Mia|Kos, MBA"), Options{},
		"Vorname=firstName Nachname=lastName ", "2 Hans/Maier///", "3 Ana/Kos///", "4 (Ivo)/Kos, Jr.///",
		"5 Eva/Kos, AB///", "6 Dr. Mia/Kos, MBA///",
		`titles 1 sheet.Places{First:[]sheet.Place{sheet.Place{Text:"OBI", Row:2}}, More:false}`,
		`remarks 2 "Hans (Hansi)" "Hans"`)
	check(t, tableOf("Voornaam|Naam", "Jan|Vries, de", "Piet|Berg, van den", "Kees|Bos,"), Options{},
		"Voornaam=firstName Naam=lastName ", "2 Jan/de Vries///", "3 Piet/van den Berg///", "4 Kees/Bos,///")
	check(t, tableOf("id|Vorname|Nachname", anID+"|Hans (Hansi)|Maier, OBI"), Options{},
		"id=id Vorname=firstName Nachname=lastName ", "2 Hans (Hansi)/Maier, OBI/// "+anID)
	if got := readings(t, Options{}, "Name, Vorname", "Hölzl Franz, BI", "Adler, FM"); got != "Franz/Hölzl; /Adler" {
		t.Errorf("ranks of two letters: %s", got)
	}
	got := readings(t, Options{}, "Name", "Smith, AJ", "Ana Marija Kos", "Eva Kos", "Ivo Bilic")
	if got != "AJ/Smith AJ+Smith Smith+AJ; Ana Marija/Kos; Eva/Kos; Ivo/Bilic" {
		t.Errorf("initials: %s", got)
	}
}

// readings returns the readings of unclear rows, and the names of the others.
func readings(t *testing.T, o Options, header string, cells ...string) string {
	t.Helper()
	o.Now = now
	r, err := Map(t.Context(), tableOf(append([]string{header}, cells...)...), o)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range r.People {
		text := p.Fields.FirstName + "/" + p.Fields.LastName
		for _, name := range p.Readings {
			text += fmt.Sprintf(" %s+%s", name.First, name.Last)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// TestSpanishNames checks that names below a Spanish header have two last names.
func TestSpanishNames(t *testing.T) {
	t.Parallel()
	cells := []string{"Juan García López", "Juan Carlos García López", "María del Carmen Ruiz de la Torre", "María de la Cruz",
		"Ana Ruiz", "Ana"}
	want := "Juan/García López; Juan Carlos/García López; María del Carmen/Ruiz de la Torre; María/de la Cruz; Ana/Ruiz; Ana/"
	if got := readings(t, Options{}, "Nombre", cells...); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := readings(t, Options{Country: "CL"}, "Bombero", "Juan Carlos García López", "María José Pérez"); got != "Juan Carlos/García López; María José/Pérez" {
		t.Errorf("in Chile: %s", got)
	}
	cells = []string{"García López Juan", "García López Juan Carlos", "Ruiz Ana", "de la Cruz García Ana", "Ruiz Pérez, Ana", "Pérez María José"}
	want = "Juan/García López; Juan Carlos/García López; Ana/Ruiz; Ana/de la Cruz García; Ana/Ruiz Pérez; María José/Pérez"
	if got := readings(t, Options{}, "Apellidos y nombre", cells...); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestMixedNames checks that, in a column with names with and without a comma, names in the rarer
// format are unclear until an option sets the order.
func TestMixedNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		o           Options
		cells, want string
	}{
		{Options{}, "Müller, Hans|Kos, Eva|Steiner Maria", "Hans/Müller; Eva/Kos; Steiner/Maria Steiner+Maria Maria+Steiner"},
		{Options{Answers: sheet.Answers{AskNames: LastFirstName}}, "Müller, Hans|Kos, Eva|Steiner Maria", "Hans/Müller; Eva/Kos; Maria/Steiner"},
		{Options{Answers: sheet.Answers{AskNames: FirstLast}}, "Müller, Hans|Kos, Eva|Steiner Maria", "Hans/Müller; Eva/Kos; Steiner/Maria"},
		{Options{}, "Müller, Hans|Steiner Maria", "Hans/Müller; Steiner/Maria Steiner+Maria Maria+Steiner"},
		{Options{}, "Smith, John|Eva Kos|Ana Horvat", "John/Smith John+Smith Smith+John; Eva/Kos; Ana/Horvat"},
		{Options{Answers: sheet.Answers{AskNames: FirstLast}}, "Smith, John|Eva Kos|Ana Horvat", "John/Smith; Eva/Kos; Ana/Horvat"},
		{Options{}, "Müller, Hans|Kos, Eva|van der Berg Jan|Pelé|", "Hans/Müller; Eva/Kos; van der Berg/Jan van der Berg+Jan Jan+van der Berg; Pelé/; /"},
		{Options{}, "John Smith, Jr.|Horvat, dipl.ing.|Dr. Eva Kos|Ana Kos, MBA|Cher|Kos,",
			"John/Smith Jr.; /Horvat, dipl.ing.; Dr. Eva/Kos; Ana/Kos, MBA; Cher/; /Kos"},
		{Options{}, "Müller Dr. Hans|Eva Kos", "Müller/Dr. Hans Müller+Dr. Hans Dr. Hans+Müller; Eva/Kos"},
		{Options{Answers: sheet.Answers{AskNames: LastFirstName}}, "Müller Dr. Hans|Kos Eva", "Dr. Hans/Müller; Eva/Kos"},
		{Options{}, "Ana Ana|Kos, Eva|Horvat, Mia", "Ana/Ana; Eva/Kos; Mia/Horvat"},
		{Options{}, "Eva Kos|A. B. Smith|Jan van der Berg|Pelé|Juan Carlos García López", "Eva/Kos; A. B./Smith; Jan/van der Berg; Pelé/; Juan Carlos García/López"},
	} {
		if got := readings(t, tt.o, "Name", strings.Split(tt.cells, "|")...); got != tt.want {
			t.Errorf("%s (%+v):\n%s\nwant\n%s", tt.cells, tt.o, got, tt.want)
		}
	}
	if got := readings(t, Options{}, "Name, Vorname", "Berger, Eva", "Gruber Max"); got != "Eva/Berger; Max/Gruber" {
		t.Errorf("header with an order: %s", got)
	}
	if got := readings(t, Options{}, "Name", "Mme Anne Petit", "M. Jean Petit", "Mlle Zoé Blanc"); got != "Anne/Petit; Jean/Petit; Zoé/Blanc" {
		t.Errorf("French salutations: %s", got)
	}
	got := readings(t, Options{}, "Nombre", "Dña. Ana Pérez", "D. Juan Pérez", "Sig.ra Anna Verdi")
	if got != "Ana/Pérez; Juan/Pérez; Anna/Verdi" {
		t.Errorf("Spanish salutations: %s", got)
	}
}

// TestStrangeNames checks that unusual names are accepted and invisible ones rejected.
func TestStrangeNames(t *testing.T) {
	t.Parallel()
	check(t, tableOf("Vorname|Nachname", "1234|Huber", "Eva|-", "HANS|MÜLLER", "Ana|KOS", "AJ|Kos", "\u200b|Kos", "Eva|\ufeff\u202e", "Dr.|Kos", "Dr. Hans|Bauer", "???|!", "👩|Kos"), Options{},
		"Vorname=firstName Nachname=lastName ",
		"2 1234/Huber///", "3 Eva/-///", "4 HANS/MÜLLER///", "5 Ana/KOS///", "6 AJ/Kos///",
		"7 /Kos/// firstName:invalid", "8 Eva//// lastName:invalid", "9 /Kos/// firstName:required", "10 Dr. Hans/Bauer///", "11 ???/!///", "12 👩/Kos///",
		`titles 1 sheet.Places{First:[]sheet.Place{sheet.Place{Text:"Dr.", Row:9}}, More:false}`,
		`capitals 2 sheet.Places{First:[]sheet.Place{sheet.Place{Text:"HANS MÜLLER", Row:4}, sheet.Place{Text:"Ana KOS", Row:5}}, More:false}`)
	check(t, tableOf("Name", "Frau Dr. Eva Kos", "\u200b", "Jr."), Options{},
		"Name=name ",
		"2 Dr. Eva/Kos///", "3 //// firstName:invalid lastName:required", "4 //// firstName:required lastName:required",
		`splitNames "Frau Dr. Eva Kos" "Dr. Eva" "Kos"`, "splitNames \"\\u200b\" \"\\u200b\" \"\"", `splitNames "Jr." "" "Jr."`,
		`titles 2 sheet.Places{First:[]sheet.Place{sheet.Place{Text:"Frau", Row:2}, sheet.Place{Text:"Jr.", Row:4}}, More:false}`)
}
