package alike

import (
	"testing"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// identified returns the identity of a person whose name is split before its last word.
func identified(first, last string) Identity {
	return Identify(&record.Fields{FirstName: first, LastName: last})
}

func TestNamed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		first, last, otherFirst, otherLast string
		want                               bool
	}{
		{"Ana  Marija", "ČOVIĆ", "ana", "marija covic", true},
		{"Jürgen", "Müller", "Juergen", "Mueller", true},
		{"Jürgen", "Müller", "Jurgen", "Mueller", true},
		{"Jürgen", "Müller", "Juergen", "MULLER", true},
		{"Juergen", "Mueller", "Jurgen", "Muller", false},
		{"Đuro", "Gruß", "Djuro", "Grüss", true},
		{"Hans", "Bauer", "Hans", "Baur", false},
		{"Hans", "Maier", "Hans", "Mair", false},
		{"Dr. Ana", "Horvat", "Ana", "Horvat, dipl.ing.", true},
		{"Dr.-Ing. Ana", "Horvat", "Ana", "Horvat", true},
		{"John", "Smith Jr.", "John", "Smith", true},
		{"Anna", "Nowak z domu Kos", "Anna", "Nowak", true},
		{"1. Ana", "Kos*", "Ana", "Kos", true},
		{"Marko", "Perić ml.", "Marko", "Perić jun.", true},
		{"John", "Smith Jr.", "John", "Smith Sr.", false},
		{"John", "Smith III", "John", "Smith II", false},
		{"Ana-Marija", "Kos", "Ana Marija", "Kos", false},
		{"Hans", "Peter Kos", "Hans", "Kos", false},
		{"Ana", "", "Ana", "", true}, // neither has a name
		{"Ana", "Kos", "Ana", "", false},
	} {
		a, b := identified(test.first, test.last), identified(test.otherFirst, test.otherLast)
		if a.Named(&b) != test.want || b.Named(&a) != test.want {
			t.Errorf("%s %s and %s %s: %t", test.first, test.last, test.otherFirst, test.otherLast, a.Named(&b))
		}
		if test.want && a.Key() != b.Key() {
			t.Errorf("keys %q and %q of equal names", a.Key(), b.Key())
		}
	}
	doctor, plain := identified("Dr. Ana", "Kos"), identified("Ana", "Kos")
	if again := identified("DR. ANA", "Kos"); !doctor.NamedExactly(&again) || doctor.NamedExactly(&plain) {
		t.Error("NamedExactly ignores titles, or heeds letter case")
	}
	if none := identified("Ana", ""); none.HasName() || !plain.HasName() {
		t.Error("a first name only is a name")
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	base := someone("Ana", "Kos", "092 354 3631", "ana@example.com", "1990-05-15T00:00:00Z")
	for _, test := range []struct {
		other             record.Fields
		common, differing Values
	}{
		{someone("Ana", "Kos", "+385 (0)92/354-3631", "ANA@example.com", "1990-05-15T00:00:00+02:00"), Email | Phone | Birth, 0},
		{someone("Ana", "Kos", "092 354 3632", "", "1990-05-16T00:00:00Z"), 0, Phone | Birth},
		{someone("Ana", "Kos", "", "eva@example.com", ""), 0, Email},
		{someone("Ana", "Kos"), 0, 0},
	} {
		a, b := Identify(&base), Identify(&test.other)
		common, differing := a.Compare(&b)
		backCommon, backDiffering := b.Compare(&a)
		if common != test.common || differing != test.differing || backCommon != common || backDiffering != differing {
			t.Errorf("%v: %03b in common, %03b differ", test.other, common, differing)
		}
	}
}

// FuzzNamed checks that equal names have equal keys.
func FuzzNamed(f *testing.F) {
	f.Add("Jürgen", "Müüller", "Juergen", "Mueueller")
	f.Add("Dr. Đuro", "Grüße Jr.", "Djuro", "Gruesse")
	f.Fuzz(func(t *testing.T, first, last, otherFirst, otherLast string) {
		a, b := identified(first, last), identified(otherFirst, otherLast)
		if a.Named(&b) != b.Named(&a) || a.Named(&b) && a.Key() != b.Key() || !a.Named(&a) {
			t.Errorf("%+v and %+v: %t, %t the other way", a, b, a.Named(&b), b.Named(&a))
		}
	})
}
