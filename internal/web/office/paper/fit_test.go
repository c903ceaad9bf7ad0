package paper

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/web/office/view"
)

// crew returns count people with names of name characters.
func crew(count, name int) (people []view.Person) {
	for i := range count {
		p := view.Person{LastName: strings.Repeat("n", name/2) + fmt.Sprint(i%10), FirstName: strings.Repeat("m", name/2)}
		p.Phone, p.Email, p.Born = "+385 91 234 5678", "first.last@example.com", "15 September 1990"
		people = append(people, p)
	}
	return people
}

// TestFit checks the chosen sizes. A test in a browser checks that lists fit on the sheet.
func TestFit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		people   []view.Person
		headings []string
		full     bool
		want     int
	}{
		{nil, nil, false, 1},
		{crew(1, 20), nil, true, 1},
		{crew(40, 14), nil, false, 1},
		{crew(60, 16), nil, false, 2},
		{crew(80, 16), nil, false, 3},
		{crew(80, 28), nil, false, 4},
		{crew(80, 200), nil, false, 6},
		{crew(80, 16), []string{"present"}, false, 3},
		{crew(40, 10), nil, true, 2},
		{crew(80, 16), nil, true, 6},
		{crew(80, 200), []string{"a", "b", "c", "d"}, true, 6},
	} {
		if got := fit(tt.people, tt.headings, tt.full); got != tt.want {
			t.Errorf("fit of %d people, %q, full %t = %d, want %d", len(tt.people), tt.headings, tt.full, got, tt.want)
		}
	}
}

// TestFitsAreStyled checks that office.css has the sizes of fit.go.
func TestFitsAreStyled(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("../assets/office.css")
	if err != nil {
		t.Fatal(err)
	}
	const line = .3 // border below a row, in mm
	var rules []string
	for i, p := range phoneFits {
		f := fullFits[i]
		rule := fmt.Sprintf(".fit-%d { --phones: %gpt; --phone-row: %.2gmm; --full: %gpt; --full-row: %.2gmm; }", i+1, p.points, (p.padding-line)/2, f.points, (f.padding-line)/2)
		rules = append(rules, strings.NewReplacer(" 0.", " .", " 0mm", " 0").Replace(rule))
	}
	if got := regexp.MustCompile(`\.fit-\d \{.*`).FindAllString(string(css), -1); !slices.Equal(got, rules) {
		t.Errorf("rules of office.css = %q, want %q", got, rules)
	}
}

func TestLongTexts(t *testing.T) {
	t.Parallel()
	for _, p := range crew(3, 40) {
		if hasLongTexts(p) {
			t.Errorf("hasLongTexts(%v) = true", p)
		}
		p.Email = strings.Repeat("a", 50)
		if !hasLongTexts(p) {
			t.Errorf("hasLongTexts(%v) = false", p)
		}
	}
}
