package acceptance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// born returns the JSON of a person with a date of birth.
func born(name, day string) string {
	return fmt.Sprintf(`{"firstName":%q,"lastName":"Test","dateOfBirth":%q}`, name, day)
}

// TestOfficeBirthdays checks that people are listed in the month of their birthday, by day, with the age
// that they reach next in that month.
func TestOfficeBirthdays(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	b.get(t, "/office/birthdays").wants(t, 200).says(t, "No one is on the list yet")
	s.create(t, born("Late", "1990-05-31"))
	s.create(t, born("Leap", "1992-02-29"))
	s.create(t, born("Early", "1980-05-01T23:30:00-05:00"))
	s.create(t, `{"firstName":"No","lastName":"Day"}`)
	p := b.get(t, "/office/birthdays").wants(t, 200).says(t, "Today and the next 30 days", "1 person has no date of birth on the list.", "· 4 people")
	now := time.Now()
	year := now.Year()
	in := func(month time.Month) int { // the year of the next such month
		if month < now.Month() {
			return year + 1
		}
		return year
	}
	want := []string{
		fmt.Sprintf("February Date of birth Name Age 29 February Leap Test turns %d", in(2)-1992),
		fmt.Sprintf("May Date of birth Name Age 1 May Early Test turns %d 31 May Late Test turns %d", in(5)-1980, in(5)-1990),
	}
	if in(2) > in(5) {
		slices.Reverse(want)
	}
	heading := fmt.Sprintf("Birthdays %d–%d", year, year+1)
	if now.Month() == time.January {
		heading = fmt.Sprintf("Birthdays %d", year)
	}
	p.says(t, heading)
	var got []string
	for _, section := range p.one(t, "div", "class", "months").all("section") {
		got = append(got, strings.Replace(section.text(), " this month", "", 1))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the months are %q, want %q", got, want)
	}
	if p.labelled(t, "Age").attributes["value"] != "18" || p.labelled(t, "Before").attributes["value"] != fmt.Sprintf("1 January %d", year+1) {
		t.Errorf("form: %s", p.body)
	}
	if len(p.all("div", "class", "paper")) != 1 {
		t.Error("the page has an answer without a question")
	}
}

// TestOfficeBirthdaysNow checks that the page shows the current month, which is marked, and the next two.
// The others have a link, and are printed.
func TestOfficeBirthdaysNow(t *testing.T) {
	t.Parallel()
	s := start(t)
	for month := range 12 {
		s.create(t, born("Month", fmt.Sprintf("1990-%02d-10", month+1)))
	}
	b := s.signIn(t, s.key, "en")
	p := b.get(t, "/office/birthdays").wants(t, 200)
	links := p.one(t, "nav", "aria-label", "Months").all("a")
	current := p.all("a", "aria-current", "date")
	if len(links) != 12 || len(current) != 1 {
		t.Fatalf("%d links, %d current", len(links), len(current))
	}
	month := p.one(t, "h3", "id", strings.TrimPrefix(current[0].attributes["href"], "#"))
	if now := time.Now().Month().String(); current[0].text() != now || month.text() != now+" this month" {
		t.Errorf("the month is %s, the page has %q and %q", now, current[0].text(), month.text())
	}
	if shown, printed := len(p.all("section", "class", "month now"))+len(p.all("section", "class", "month")), len(p.all("section", "class", "month print")); shown != 3 || printed != 9 {
		t.Errorf("%d months are shown, %d are only printed", shown, printed)
	}
	p.one(t, "a", "class", "button", "href", "/office/birthdays?months=all")
	for i, link := range links {
		to, id, _ := strings.Cut(link.attributes["href"], "#")
		if (to == "") != (i < 3) {
			t.Errorf("month %d has the link %s", i+1, to)
		}
		at := b.get(t, "/office/birthdays?months=all").one(t, "h3", "id", id).parent
		if class := at.attributes["class"]; class == "month print" {
			t.Errorf("%s: %s", link.text(), at.text())
		}
	}
}

// reaching requests who reaches an age, and returns the rows of the answer.
func (b *browser) reaching(t *testing.T, age, before string) (rows []string) {
	t.Helper()
	p := b.get(t, "/office/birthdays").form(t, "/office/birthdays").set(t, "Age", age).set(t, "Before", before).send(t, "Show").wants(t, 200)
	paper := p.one(t, "div", "class", "paper")
	for _, row := range paper.all("tbody") {
		for _, person := range row.all("tr") {
			rows = append(rows, person.text())
		}
	}
	if len(rows) == 0 && !strings.Contains(paper.text(), "No one reaches the age of") {
		t.Errorf("no answer: %s", paper.text())
	}
	return rows
}

// TestOfficeReaching requests ages that people reach in the future.
func TestOfficeReaching(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	s.create(t, born("Second", "1990-05-16"))
	s.create(t, born("First", "1990-05-15"))
	s.create(t, born("Leap", "1992-02-29"))
	s.create(t, `{"firstName":"No","lastName":"Day"}`)
	for _, tt := range []struct {
		age, before string
		want        []string
	}{
		{"140", "17 May 2130", []string{"Test First 15 May 1990 15 May 2130", "Test Second 16 May 1990 16 May 2130"}},
		{" 140 ", "2130-05-16", []string{"Test First 15 May 1990 15 May 2130"}},
		{"140", "15.5.2130", nil},
		{"148", "1 March 2140", []string{"Test First 15 May 1990 15 May 2138", "Test Second 16 May 1990 16 May 2138", "Test Leap 29 February 1992 29 February 2140"}},
		{"18", "1 January 2010", nil}, // they reached 18 in the past
	} {
		if got := b.reaching(t, tt.age, tt.before); !slices.Equal(got, tt.want) {
			t.Errorf("%s before %s: got %q, want %q", tt.age, tt.before, got, tt.want)
		}
	}
	p := b.get(t, "/office/birthdays?age=140&before=2130-05-16").says(t, "Who reaches the age of 140 before 16 May 2130", "1 person has no date of birth")
	if value := p.labelled(t, "Before").attributes["value"]; value != "2130-05-16" {
		t.Errorf("the typed date became %q", value)
	}
	if len(p.all("div", "class", "paper")) != 1 || len(p.all("div", "class", "months")) > 0 {
		t.Error("the page shows more than the answer")
	}
	links := 0
	for _, age := range []string{"16", "18", "60", "65", "70"} {
		links += len(p.all("a", "href", "/office/birthdays?age="+age+"&before=2130-05-16"))
	}
	if links != 5 {
		t.Errorf("%d links for the usual ages: %s", links, p.body)
	}
}

// TestOfficeReachingFaults checks that the form shows a fault at its field and keeps the typed
// text.
func TestOfficeReachingFaults(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create(t, ana)
	b := s.signIn(t, s.key, "en")
	const wrongAge = "An age is a whole number from 1 to 150."
	for _, tt := range []struct {
		age, before, ageFault, dayFault string
	}{
		{"", "1 May 2090", wrongAge, ""},
		{"151", "1 May 2090", wrongAge, ""},
		{"18.5", "1 May 2090", wrongAge, ""},
		{"99999999999999999999", "soon", wrongAge, "This date cannot be read. Please enter it with a four-digit year: "},
		{"18", "30 February 2090", "", "There is no such day."},
		{"18", "5/6/2090", "", "This could be 5 June 2090 or 6 May 2090. Please write the month as a word."},
		{"18", "\x00", "", "This date cannot be read. "},
		{"18", "", "", ""},
	} {
		p := b.get(t, "/office/birthdays").form(t, "/office/birthdays").set(t, "Age", tt.age).set(t, "Before", tt.before).send(t, "Show").wants(t, 200)
		ageFault, dayFault := p.fault(t, "Age"), p.fault(t, "Before")
		if ageFault != tt.ageFault || !strings.HasPrefix(dayFault, tt.dayFault) || (dayFault == "") != (tt.dayFault == "") {
			t.Errorf("%q before %q: %q, %q", tt.age, tt.before, ageFault, dayFault)
		}
		if value := p.labelled(t, "Age").attributes["value"]; value != tt.age {
			t.Errorf("the age %q became %q", tt.age, value)
		}
		if months := len(p.all("div", "class", "months")) == 1; months != (ageFault+dayFault != "") {
			t.Errorf("%q before %q: shows months %t", tt.age, tt.before, months)
		}
	}
}

// TestOfficeCalendar checks that the page offers the calendar as a file. TestBirthdays checks its
// content.
func TestOfficeCalendar(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "hr")
	s.create(t, ana)
	link := b.get(t, "/office/birthdays").one(t, "a", "href", "/office/birthdays.ics")
	if link.text() != "Rođendani za Vaš kalendar" {
		t.Errorf("the link is %q", link.text())
	}
	p := b.get(t, "/office/birthdays.ics").wants(t, 200)
	if p.header.Get("Content-Type") != "text/calendar; charset=utf-8" || p.header.Get("Content-Disposition") != `attachment; filename="birthdays.ics"` ||
		!strings.Contains(p.body, "SUMMARY:Rođendan: Ana Čović (1990.)\r\n") {
		t.Errorf("%v %s", p.header, p.body)
	}
}
