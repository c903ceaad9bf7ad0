package alike

import (
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// someone returns a person with up to five values: first name, last name, phone number, email
// address and date of birth.
func someone(values ...string) record.Fields {
	var f record.Fields
	for i, field := range record.AllFields()[:len(values)] {
		*field.Of(&f) = values[i]
	}
	return f
}

func TestWhy(t *testing.T) {
	t.Parallel()
	const born, other = "1990-05-15T00:00:00Z", "1960-01-01T00:00:00Z"
	for _, test := range []struct {
		a, b record.Fields
		want Reason
	}{
		{someone("Jürgen", "Müller"), someone("Juergen", "MULLER"), None}, // namesakes are not possible duplicates
		{someone("Đuro", "Gruß-Kos"), someone("Djuro", "Grüss Kos"), Spelling},
		{someone("Anna-Lena", "O’Neil"), someone("Anna Lena", "Oneil"), Spelling},
		{someone("Annalena", "Groß Kunz"), someone("Anna-Lena", "Gross-Kunz"), Spelling},
		{someone("Dr. Ana", "Horvat-Kos"), someone("Ana", "Horvat Kos, dipl.ing."), Spelling},
		{someone("John", "Smith Jr."), someone("John", "Smith Sr."), None},
		{someone("Hans", "Bauer"), someone("Hans", "Baur"), None},
		{someone("Michael", "Kos"), someone("Michal", "Kos"), None},
		{someone("Ana", "Čović"), someone("COVIC", "Ana"), Swapped},
		{someone("Jürgen", "Müller"), someone("Mueller", "Juergen"), Swapped},
		{someone("Ana", "Čović", "", "", born), someone("Čović", "Ana", "", "", other), None},
		{someone("Ana", "Čović", "091 234 567", "", born), someone("Čović", "Ana", "091/234567", "", other), Swapped},
		{someone("Ana", "Čović-Kos", "", "a@x.org", born), someone("Ana", "Čović Kos", "", "A@x.org", other), Spelling},
		{someone("Ana", "Čović"), someone("ana", "covic"), None},
		{someone("Jürgen", "Müller", "", "", born), someone("Juergen", "Mueller", "", "", other), None},
		{someone("Jürgen", "Müller", "", "", born), someone("Juergen", "Mueller", "", "", "1990-05-15T00:00:00+02:00"), BirthAndName},
		{someone("Jürgen", "Müller", "", "", born), someone("Juergen", "Mueller"), None},
		{someone("Ana", "Čović", "", "", born), someone("Ana", "Horvat", "", "", born), BirthAndName},
		{someone("Jürgen", "Čović", "", "", born), someone("Juergen", "Horvat", "", "", born), BirthAndName},
		{someone("Ana", "Čović", "", "", born), someone("Eva", "Čović", "", "", born), BirthAndName},
		{someone("Ana", "Čović", "", "", born), someone("Čović", "Eva", "", "", born), None},
		{someone("Ana", "Čović", "", "a@x.org", born), someone("Eva", "Kos", "", "A@X.org", born), EmailAndBirth},
		{someone("Ana", "Čović", "", "a@x.org", born), someone("Eva", "Kos", "", "a@x.org"), None},
		{someone("Ana", "Čović", "", "a@x.org"), someone("Eva", "Kos", "", "a@x.org"), None},
		{someone("Ana", "Čović", "092 354 3631", "", born), someone("Eva", "Kos", "+385 (0)92/354-3631", "", born), PhoneAndBirth},
		{someone("Ana", "Čović", "354 363", "", born), someone("Eva", "Kos", "354363", "", born), PhoneAndBirth},
		{someone("Ana", "Čović", "354 363", "", born), someone("Eva", "Kos", "092 354 363", "", born), None},
		{someone("", "", "", "", ""), someone("", "", "", "", ""), None},
		{someone("Ana", "", "", "", ""), someone("", "Ana", "", "", ""), None},
	} {
		a, b := Of(&test.a), Of(&test.b)
		if got, back := a.Why(&b), b.Why(&a); got != test.want || back != test.want {
			t.Errorf("%v and %v: %d, and %d the other way, want %d", test.a, test.b, got, back, test.want)
		}
		found := slices.ContainsFunc(b.Lookups(), func(k Key) bool { return slices.Contains(a.Keys(), k) })
		if test.want != None && !found {
			t.Errorf("keys do not find %v for %v", test.a, test.b)
		}
	}
}

func TestSameSpelling(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"Čović", "COVIC", true}, {"Müller", "Mueller", true}, {"Mu\u0308ller", "MUELLER", true}, {"Müller", "Muller", true},
		{"Weiß", "WEISS", true}, {"Ana  Marija", "ana marija", true}, {"Ana-Marija", "Ana Marija", false}, {"Bauer", "Baur", false},
		{"A\u200bna", "Ana", true}, {"O’Brien", "O'Brien", true}, {"Jean‑Luc", "Jean-Luc", true},
	} {
		if got := SameSpelling(test.a, test.b); got != test.want || SameSpelling(test.b, test.a) != test.want {
			t.Errorf("%s and %s: %t", test.a, test.b, got)
		}
	}
}

func TestWithoutTitles(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Dr. Ana": "Ana", "Horvat, dipl.ing.": "Horvat", "Horvat dipl. ing.": "Horvat", "Smith, Jr.": "Smith", "Smith III": "Smith",
		"Prof. Dr. med. Ana": "Ana", "Dr.Horvat": "Horvat", "Prof.Dr.Horvat": "Horvat", "Dipl.-Ing. (FH) Kos": "Kos", "mr.sc. Kos": "Kos",
		"univ. bacc. ing. Kos": "Kos", "Kos, Ph.D.": "Kos", "Müller sen.": "Müller", "Dr. h.c. Kos": "Kos",
		"Kos (Hansi)": "Kos", "Kos st.": "Kos", "Jr.": "", "dr.sc.": "", "": "",
		"Obi": "Obi", "Phil": "Phil", "Sen": "Sen", "Jun": "Jun", "J.R.": "J.R.", "Ana Marija": "Ana Marija", "St. Clair": "St. Clair", "Ing": "Ing", ".": ".",
	} {
		if got := WithoutTitles(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestWithoutRemarks(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Ana Kos (geb. Peric)": "Ana Kos", "Hans (Hansi) Maier": "Hans Maier", "Ivo Kos [passiv] (2)": "Ivo Kos", "Kos (passiv), Ivo": "Kos, Ivo",
		"(neu) Ivo Kos": "Ivo Kos", "Ivo Kos(passiv)": "Ivo Kos",
		"Eva Bilic geb. Cindric": "Eva Bilic", "Eva Bilic geb. von der Au": "Eva Bilic", "Bilic geb. Cindric, Eva": "Bilic, Eva",
		"Bilic, geb. Cindric, Eva": "Bilic, Eva",
		"Bilic, Eva, geb. Cindric": "Bilic, Eva", "Bilic rođ. Cindric Eva": "Bilic Eva", "Ana Kos rođena Perić": "Ana Kos",
		"Ana Kos roj. Novak":   "Ana Kos",
		"Anne PETIT née BLANC": "Anne PETIT", "ANNE PETIT NÉE BLANC": "ANNE PETIT", "Jean Petit né Blanc": "Jean Petit",
		"EVA BILIC GEB. CINDRIC": "EVA BILIC",
		"Eva Bilic geb.Cindric":  "Eva Bilic", "Eva Bilic geb: Cindric": "Eva Bilic", "Anna Nowak z d. Kos": "Anna Nowak",
		"Anna Nowak z domu Kos": "Anna Nowak",
		"Marko Perić (st.)":     "Marko Perić (st.)", "Juan Pérez (h)": "Juan Pérez (h)", "DI (FH) Ana Kos": "DI (FH) Ana Kos",
		"Kos (Ana)": "Kos (Ana)", "(Ana Kos)": "(Ana Kos)", "Ana Kos (": "Ana Kos (", "Ana Kos :)": "Ana Kos :)",
		"Ana Kos ((x))": "Ana Kos ((x))", "Ana Kos geb.": "Ana Kos geb.",
		"Dipl.-Ing. (FH) Ana Kos": "Dipl.-Ing. (FH) Ana Kos", "Ivo Kos (jun.)": "Ivo Kos (jun.)", "Ivo Kos (Jr.) (passiv)": "Ivo Kos (Jr.)",
		"Lim Nee Hong": "Lim Nee Hong", "Kim Ne Yong": "Kim Ne Yong", "Geb Hart Ana": "Geb Hart Ana",
		"Gebhard Kos": "Gebhard Kos", "": "", " Ana  Kos ": " Ana  Kos ",
		"1. Ana Kos": "Ana Kos", "12) Kos, Ana": "Kos, Ana", "3 Ana Kos": "Ana Kos", "Ana Kos *": "Ana Kos", "† Kos**, Ana¹": "Kos, Ana",
		"1.": "1.", "*": "*", "1990 Kos": "1990 Kos", "Ana Kos 2": "Ana Kos 2",
	} {
		if got := WithoutRemarks(name, 2); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"Kos (geb. Peric)": "Kos", "Bilic geb. von Berg": "Bilic", "Kos, geb. Peric": "Kos", "(Ana)": "(Ana)", "": "",
	} {
		if got := WithoutRemarks(name, 1); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if long := strings.Repeat("(a)", 100_000); WithoutRemarks(long, 1) != long {
		t.Error("a long text is changed")
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Dr. Ana Horvat":           "Dr.! Ana Horvat",
		"Prof.Dr.Ana Horvat":       "Prof.! Dr.! Ana Horvat",
		"Müller Dr. med. Hans":     "Müller Dr.! med.! Hans",
		"John Smith Jr., PhD":      "John Smith Jr.+ PhD!",
		"Smith III":                "Smith III+",
		"Naosuke Ii":               "Naosuke Ii",
		"Dr.in Eva Kos":            "Dr.in! Eva Kos",
		"Mag.a Eva Kos":            "Mag.a! Eva Kos",
		"Drin Gashi":               "Drin Gashi",
		"Jun Sato":                 "Jun Sato",
		"J.R. Smith jun.":          "J.R. Smith jun.+",
		"Perić Marko st.":          "Perić Marko st.+",
		"PERIĆ MARKO ST.":          "PERIĆ MARKO ST.+",
		"Perić st. Marko":          "Perić st.+ Marko",
		"Perić Marko ml.":          "Perić Marko ml.+",
		"Marko Perić st., dr.":     "Marko Perić st.+ dr.!",
		"Ann St. Clair":            "Ann St. Clair",
		"ann st. clair":            "ann st. clair",
		"st. Clair":                "st. Clair",
		"Kos (sen.)":               "Kos (sen.)+",
		"Marko Perić (st.)":        "Marko Perić (st.)+",
		"Juan Pérez (h)":           "Juan Pérez (h)+",
		"John Smith 3rd":           "John Smith 3rd+",
		"DI (FH) Ana Kos":          "DI (FH)! Ana Kos",
		"Dott.ssa Anna Verdi":      "Dott.ssa! Anna Verdi",
		"mgr inż. Jan Kos":         "mgr! inż.! Jan Kos",
		"Kos Ana univ. dipl. inž.": "Kos Ana univ.! dipl.! inž.!",
		"Kos (passiv) Jnr":         "Kos (passiv) Jnr+",
		"Obi\u00a0Hans,  Captain":  "Obi Hans Captain",
		" , ":                      "",
	} {
		var words []string
		for _, w := range Words(name) {
			words = append(words, w.Text+[]string{"", "!", "+"}[w.Title])
		}
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// FuzzFound checks that keys find every possible duplicate in both directions.
func FuzzFound(f *testing.F) {
	f.Add("Jürgen", "Müller", "092 354 3631", "a@x", true, "Mueller", "Juergen", "00385 92 354 3631", "b@x", false)
	f.Add("Dr.", "-", "", "", true, "-", "Dr.", "", "", true)
	f.Fuzz(func(t *testing.T, first, last, phone, email string, born bool, first2, last2, phone2, email2 string, born2 bool) {
		births := map[bool]string{true: "1990-05-15"}
		one, two := someone(first, last, phone, email, births[born]), someone(first2, last2, phone2, email2, births[born2])
		a, b := Of(&one), Of(&two)
		found := slices.ContainsFunc(b.Lookups(), func(k Key) bool { return slices.Contains(a.Keys(), k) })
		if why := a.Why(&b); why != b.Why(&a) || why != None && !found {
			t.Errorf("%v and %v: %d, %d the other way, found %t", one, two, why, b.Why(&a), found)
		}
	})
}
