package imports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/people/alike"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func outcome(v verdict) string {
	switch {
	case len(v.like) > 0:
		return fmt.Sprint("like ", v.like)
	case v.fault != "":
		return "refused"
	case v.namesake:
		return "another"
	case v.person < 0:
		return "new"
	}
	return fmt.Sprint(v.person)
}

func TestMatch(t *testing.T) {
	t.Parallel()
	person := func(id, name, email, birth string) member {
		return member{whois(name, "", email, birth), id, record.Fields{}}
	}
	father, son := person("f", "ivan horvat", "", "1960-01-01"), person("s", "ivan horvat", "", "1990-01-01")
	plain := person("p", "ivan horvat", "", "")
	full := func(id, name, phone, email, birth string) member {
		return member{whois(name, phone, email, birth), id, record.Fields{}}
	}
	rowOf := func(name, phone, email, birth string) matchRow {
		return matchRow{Identity: whois(name, phone, email, birth)}
	}
	row := func(name, email, birth string) matchRow { return matchRow{Identity: whois(name, "", email, birth)} }
	ivan := func(email, birth string) matchRow { return row("ivan horvat", email, birth) }
	id := func(id string, r matchRow) matchRow { r.id = id; return r }
	same := func(id string, r matchRow) matchRow { r.same = id; return r }
	add := func(r matchRow) matchRow { r.add = true; return r }
	for _, test := range []struct {
		name   string
		people []member
		rows   []matchRow
		want   string
	}{
		{"nobody is there", nil, []matchRow{ivan("", "")}, "[new]"},
		{"the name alone", []member{plain}, []matchRow{ivan("i@x", "1990")}, "[0]"},
		{"the date of birth says otherwise", []member{father}, []matchRow{ivan("", "1990-01-01")}, "[another]"},
		{"the e-mail says otherwise", []member{person("1", "ivan horvat", "a@x", "")}, []matchRow{ivan("b@x", "")}, "[like [0]]"},
		{"a shared e-mail is not enough", []member{person("1", "ana horvat", "h@x", "")}, []matchRow{ivan("h@x", "")}, "[new]"},
		{"father and son are there", []member{father, son}, []matchRow{ivan("", "1990-01-01"), ivan("", "1960-01-01")}, "[1 0]"},
		{"father and son are new", nil, []matchRow{ivan("", "1990-01-01"), ivan("", "1960-01-01")}, "[another another]"},
		{"father and son with one phone", nil, []matchRow{rowOf("ivan horvat", "091 234 5678", "", "1990-01-01"), rowOf("ivan horvat", "091 234 5678", "", "1960-01-01")},
			"[another another]"},
		{"the son is new", []member{father}, []matchRow{ivan("", "1990-01-01"), ivan("", "1960-01-01")}, "[another 0]"},
		{"either of two", []member{father, son}, []matchRow{ivan("i@x", "")}, "[refused]"},
		{"a third", []member{father, son}, []matchRow{ivan("", "1975-01-01")}, "[another]"},
		{"e-mail and birth point to two", []member{person("1", "ivan horvat", "a@x", ""), son}, []matchRow{ivan("a@x", "1990-01-01")}, "[refused]"},
		{"the same row twice, and new", nil, []matchRow{ivan("", ""), ivan("", "")}, "[refused refused]"},
		{"the same row twice, and there", []member{father}, []matchRow{ivan("", "1960-01-01"), ivan("", "1960-01-01")}, "[refused refused]"},
		{"one row more than people", []member{father}, []matchRow{ivan("", "1960-01-01"), ivan("", "")}, "[0 refused]"},
		{"the id wins over the name", []member{father}, []matchRow{id("f", row("mato babić", "", ""))}, "[0]"},
		{"id and name mean one", []member{father}, []matchRow{id("f", row("mato babić", "", "")), ivan("", "1960-01-01")}, "[refused refused]"},
		{"ids tell people apart who are the same", []member{plain, person("q", "ivan horvat", "", "")},
			[]matchRow{id("p", ivan("a@x", "")), id("q", ivan("a@x", ""))}, "[0 1]"},
		{"an unknown id", []member{plain}, []matchRow{id("?", ivan("", ""))}, "[refused]"},
		{"said to be one of two", []member{father, son}, []matchRow{same("s", ivan("i@x", ""))}, "[1]"},
		{"said to be somebody of another name", []member{father}, []matchRow{same("f", row("mato babić", "", ""))}, "[0]"},
		{"said to be somebody else than the rules say", []member{father, son}, []matchRow{same("s", ivan("", "1960-01-01"))}, "[refused]"},
		{"said to be nobody's id", []member{father}, []matchRow{same("?", ivan("", ""))}, "[refused]"},
		{"both said to be one", []member{father}, []matchRow{same("f", ivan("", "")), same("f", row("mato babić", "", ""))}, "[refused refused]"},
		{"said to be new, and either of two", []member{father, son}, []matchRow{add(ivan("i@x", ""))}, "[new]"},
		{"said to be new, and there", []member{father}, []matchRow{add(ivan("", "1960-01-01"))}, "[refused]"},
		{"one of two said to be new", nil, []matchRow{add(ivan("", "1960-01-01")), ivan("", "1960-01-01")}, "[new refused]"},
		{"two said to be new", nil, []matchRow{add(ivan("", "1960-01-01")), add(ivan("", "1960-01-01"))}, "[new new]"},
		{"an unknown id, said to be new", []member{father}, []matchRow{add(id("?", ivan("", "")))}, "[new]"},
		{"an unknown id and a row that is sure", []member{father}, []matchRow{id("?", ivan("", "")), ivan("", "1960-01-01")}, "[refused 0]"},
		{"the phone is enough", []member{full("1", "ana kos", "091 234 5678", "ana@old.hr", "")},
			[]matchRow{rowOf("ana kos", "+385 91/234-5678", "ana@new.hr", "")}, "[0]"},
		{"the e-mail is enough", []member{full("1", "ana kos", "091 234 5678", "ana@x.hr", "")},
			[]matchRow{rowOf("ana kos", "092 999 9999", "ANA@X.HR", "")}, "[0]"},
		{"the date of birth is enough", []member{full("1", "ana kos", "091 234 5678", "a@x.hr", "1990-05-15")},
			[]matchRow{rowOf("ana kos", "092 999 9999", "b@x.hr", "1990-05-15")}, "[0]"},
		{"a phone number only, and another one", []member{full("1", "ana kos", "091 234 5678", "", "")},
			[]matchRow{rowOf("ana kos", "092 999 9999", "", "")}, "[like [0]]"},
		{"nothing to compare", []member{full("1", "ana kos", "091 234 5678", "", "")}, []matchRow{rowOf("ana kos", "", "a@x.hr", "1990-05-15")}, "[0]"},
		{"the phone, but another date of birth", []member{full("1", "ingrid schäfer", "091 234 5678", "", "1960-01-01")},
			[]matchRow{rowOf("ingrid schaefer", "0912345678", "", "1961-01-01")}, "[like [0]]"},
		{"another phone and date of birth", []member{full("1", "ana kos", "091 234 5678", "", "1960-01-01")},
			[]matchRow{rowOf("ana kos", "092 999 9999", "", "1990-01-01")}, "[another]"},
		{"father and son with one phone", []member{full("1", "ivan horvat", "091 234 5678", "", "1960-01-01")},
			[]matchRow{rowOf("ivan horvat", "091 234 5678", "", "1960-01-01"), rowOf("ivan horvat", "091 234 5678", "", "1990-01-01")}, "[0 another]"},
		{"the phone of two, the e-mail of one", []member{full("1", "ivan horvat", "091 234 5678", "f@x", ""), full("2", "ivan horvat", "091 234 5678", "s@x", "")},
			[]matchRow{rowOf("ivan horvat", "091 234 5678", "s@x", "")}, "[1]"},
		{"two like a row", []member{full("1", "ivan horvat", "091 234 5678", "", ""), full("2", "ivan horvat", "092 234 5679", "", "")},
			[]matchRow{rowOf("ivan horvat", "093 333 3333", "", "")}, "[like [0 1]]"},
		{"one of two like a row has another row", []member{full("1", "ivan horvat", "091 234 5678", "", ""), full("2", "ivan horvat", "092 234 5679", "", "")},
			[]matchRow{rowOf("ivan horvat", "093 333 3333", "", ""), rowOf("ivan horvat", "091 234 5678", "", "")}, "[like [1] 0]"},
		{"two rows like one person", []member{full("1", "ana kos", "", "a@x", "")},
			[]matchRow{row("ana kos", "b@x", ""), row("ana kos", "c@x", "")}, "[like [0] like [0]]"},
		{"titles", []member{full("1", "Dr. ana kos", "", "", "")}, []matchRow{rowOf("ana kos", "1", "", "")}, "[0]"},
		{"exactly the title", []member{full("1", "Dr. ana kos", "", "", ""), full("2", "ana kos", "", "", "")},
			[]matchRow{rowOf("ana kos", "", "", ""), rowOf("Dr. ana kos", "", "", "")}, "[1 0]"},
		{"either spelling", []member{full("1", "hans müller", "", "", ""), full("2", "hans mueller", "", "", "")},
			[]matchRow{rowOf("hans mueller", "", "", "")}, "[1]"},
		{"father and son of one address are new", nil, []matchRow{ivan("h@x", "1960-01-01"), ivan("h@x", "1990-01-01")}, "[refused refused]"},
		{"said to be new, and like somebody", []member{father}, []matchRow{add(ivan("", "1990-01-01"))}, "[new]"},
		{"said to be somebody like the row", []member{father}, []matchRow{same("f", ivan("", "1990-01-01"))}, "[0]"},
	} {
		var got []string
		for _, v := range matched(t, test.rows, test.people) {
			got = append(got, outcome(v))
		}
		if fmt.Sprint(got) != test.want {
			t.Errorf("%s: %v, want %s", test.name, got, test.want)
		}
	}
}

func TestMatchNamesOthers(t *testing.T) {
	t.Parallel()
	var rows []matchRow
	for i := range 8 {
		rows = append(rows, matchRow{Identity: whois("ana kos", "", "", ""), number: i + 2})
	}
	v := matched(t, rows, nil)[1]
	if want := []int{2, 4, 5, 6, 7}; v.fault != record.Duplicate || !slices.Equal(v.others, want) {
		t.Errorf("%+v, want the others %v", v, want)
	}
	v = matched(t, rows, []member{{whois("ana kos", "", "", ""), "id", record.Fields{}}})[0]
	if v.fault != record.Duplicate || len(v.people) != 1 {
		t.Errorf("%+v, want a duplicate that could be one person", v)
	}
}

// whois returns an identity. Empty values are missing.
func whois(name, phone, email, birth string) alike.Identity {
	first, last, _ := strings.Cut(name, " ")
	return alike.Identify(&record.Fields{FirstName: first, LastName: last, PhoneNumber: phone, Email: email, DateOfBirth: birth})
}

func matched(t *testing.T, rows []matchRow, members []member) []verdict {
	t.Helper()
	verdicts, err := match(t.Context(), rows, members)
	if err != nil {
		t.Fatal(err)
	}
	return verdicts
}

// TestNamesakes checks that matching many rows with many people of the same name stays fast, even
// if all rows have the same number.
func TestNamesakes(t *testing.T) {
	t.Parallel()
	const many = 50_000
	rows, members := make([]matchRow, many), make([]member, many)
	for i := range many {
		rows[i] = matchRow{Identity: whois("ivan horvat", "", "", ""), number: 7}
		members[i] = member{Identity: whois("ivan horvat", "", "", ""), id: fmt.Sprint(i)}
	}
	roster, list := make(people, many), make([]mapping.Person, many)
	for i := range many {
		roster[i], list[i] = stored(fmt.Sprint(i), ivan), someone("Ivan", "Horvat", fmt.Sprint(i))
	}
	f := fileOf(Options{}, list...)
	f.comparing = true
	d, err := f.decide(t.Context(), append(roster, stored("x", ana)))
	if err != nil || len(d.onlyOurs) != 1 || d.unclear != many {
		t.Errorf("%d people only in the department, %d unclear, %v", len(d.onlyOurs), d.unclear, err)
	}
	most := append(slices.Clone(rows[:mostNamesakes]), matchRow{Identity: whois("ivan horvat", "", "", "1990"), number: 9})
	for i, v := range matched(t, most, members[:mostNamesakes]) {
		if v.fault != Ambiguous {
			t.Fatalf("row %d of a few: %+v", i, v)
		}
	}
	for i, v := range matched(t, rows, nil) {
		if v.fault != record.Duplicate || len(v.others) > few {
			t.Fatalf("row %d: %+v", i, v)
		}
	}
}
