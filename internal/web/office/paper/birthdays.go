package paper

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/web/dav"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// usualAges are the suggested ages.
var usualAges = []int{16, 18, 60, 65, 70}

const (
	defaultAge = 18
	highestAge = 150

	soonDays = 30

	// shownMonths is how many months the page shows. The others have links and are printed.
	shownMonths = 3
)

// birthdaysPage is the Data of birthdays.html.
type birthdaysPage struct {
	Date    time.Time
	First   string     // the year of the first month
	Last    string     // the year of the last month
	Count   int        // number of people
	Unknown int        // number of people without a date of birth
	Soon    []birthday // today and in the next days
	Days    int        // number of next days
	Months  []month    // a year from the current month on
	All     bool       // all months are shown, not only printed

	// The form about people who reach an age.
	Age, Before view.Question
	Ages        []int
	Years       int // requested age

	Asked       bool // the form was sent and is valid
	Reaching    []birthday
	From, Until string // days, in the visitor's language
}

type month struct {
	Number  int
	Name    string
	Current bool
	Later   bool // only printed, unless all months are shown
	People  []birthday
}

// birthday is the day on which a person reaches an age.
type birthday struct {
	ID, FirstName, LastName string

	Day   string // such as "15 May", or with the year if the person reaches a requested age
	Born  string // only if the person reaches a requested age
	Turn  int    // age
	Today bool
	date  calendar.Date
}

func showBirthdays(v view.Visit) error {
	all, err := allPeople(v)
	if err != nil {
		return err
	}
	today := v.Today()
	last := time.Date(today.Year, today.Month+11, 1, 0, 0, 0, 0, time.UTC).Year()
	data := birthdaysPage{Date: v.Now(), Count: len(all.Items), Days: soonDays, Ages: usualAges,
		First: strconv.Itoa(today.Year), Last: strconv.Itoa(last), All: v.Query().Get("months") == "all"}
	data.Months, data.Unknown = months(v, all.Items, today)
	data.Soon = soon(v, all.Items, today)
	answerAge(v, &data, all.Items, today)
	p := site.Page{Title: v.Text("birthdays.title"), Section: "birthdays", Wrong: data.Age.Fault+data.Before.Fault != "", Data: data}
	return v.Render(http.StatusOK, "birthdays", p)
}

// birthdayOn returns the birthday of a person on a day.
func birthdayOn(v view.Visit, f *record.Firefighter, day calendar.Date, age int) birthday {
	return birthday{ID: f.ID, FirstName: f.FirstName, LastName: f.LastName, Day: v.Lang.DayMonth(day.Month, day.Day), Turn: age, date: day}
}

// soon returns the birthdays today and in the next days, in order.
func soon(v view.Visit, people []record.Firefighter, today calendar.Date) (list []birthday) {
	last := calendar.Of(time.Date(today.Year, today.Month, today.Day+soonDays, 0, 0, 0, 0, time.UTC))
	for _, f := range people {
		born, known := view.BornOn(f.Fields)
		if !known {
			continue
		}
		for year := max(today.Year, born.Year+1); year <= last.Year; year++ {
			if day := born.Birthday(year); !day.Before(today) && !last.Before(day) {
				b := birthdayOn(v, &f, day, year-born.Year)
				b.Today = day == today
				list = append(list, b)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b birthday) int { return cmp.Compare(a.date.String(), b.date.String()) })
	return list
}

// months returns the people by month of birth, from the current month on, and the number of people without
// a date of birth.
func months(v view.Visit, people []record.Firefighter, today calendar.Date) (months []month, unknown int) {
	byMonth := make([][]birthday, 13)
	for _, f := range people {
		born, known := view.BornOn(f.Fields)
		if !known {
			unknown++
			continue
		}
		year := today.Year
		if born.Month < today.Month {
			year++
		}
		byMonth[born.Month] = append(byMonth[born.Month], birthdayOn(v, &f, born, year-born.Year))
	}
	for later := range 12 {
		number := (int(today.Month)-1+later)%12 + 1
		of := byMonth[number]
		slices.SortStableFunc(of, func(a, b birthday) int { return cmp.Compare(a.date.Day, b.date.Day) })
		if len(of) > 0 {
			name := v.Lang.Month(time.Month(number)) // capitalized as a heading
			first, size := utf8.DecodeRuneInString(name)
			months = append(months, month{number, string(unicode.ToUpper(first)) + name[size:], later == 0, later >= shownMonths, of})
		}
	}
	return months, unknown
}

// answerAge adds the people who reach the age before the day in the address. The defaults of the
// form are an age and the end of this year.
func answerAge(v view.Visit, data *birthdaysPage, people []record.Firefighter, today calendar.Date) {
	query := v.Query()
	data.Asked = query.Has("age") || query.Has("before")
	data.Age.Value, data.Before.Value = strconv.Itoa(defaultAge), v.Lang.Day(calendar.Date{Year: today.Year + 1, Month: time.January, Day: 1})
	if text := query.Get("before"); strings.TrimSpace(text) != "" {
		data.Before.Value = text
	}
	if !data.Asked {
		return
	}
	data.Age.Value = strings.TrimSpace(query.Get("age"))
	age, err := strconv.Atoi(data.Age.Value)
	if err != nil || age < 1 || age > highestAge {
		data.Age.Fault = v.Text("birthdays.fault.age", highestAge)
	}
	before, err := v.Lang.ParseDay(data.Before.Value)
	if err != nil {
		data.Before.Fault = v.DayFault("before", err)
	}
	if data.Asked = data.Age.Fault+data.Before.Fault == ""; data.Asked {
		data.From, data.Until = v.Lang.Day(today), v.Lang.Day(before)
		data.Age.Value, data.Years = strconv.Itoa(age), age
		data.Reaching = reaching(v, people, age, today, before)
	}
}

// reaching returns the people who reach an age on or after today and before a day, in order.
func reaching(v view.Visit, people []record.Firefighter, age int, today, before calendar.Date) (list []birthday) {
	for _, f := range people {
		born, known := view.BornOn(f.Fields)
		if day := born.Reaches(age); known && !day.Before(today) && day.Before(before) {
			b := birthdayOn(v, &f, day, age)
			b.Day, b.Born = v.Lang.Day(day), v.Lang.Day(born)
			list = append(list, b)
		}
	}
	slices.SortStableFunc(list, func(a, b birthday) int { return cmp.Compare(a.date.String(), b.date.String()) })
	return list
}

// sendCalendar responds with the birthdays as an iCalendar file.
func sendCalendar(v view.Visit) error {
	all, err := allPeople(v)
	if err != nil {
		return err
	}
	department, err := v.Store.TenantName(v.Session.Tenant)
	if err != nil {
		return err
	}
	h := v.W.Header()
	upload.Attachment{Name: "birthdays.ics", ContentType: calendar.ContentType}.Describe(h)
	httpapi.VaryByEncoding(h)
	httpapi.Respond(v.W, http.StatusOK, httpapi.Compress(h, v.R, dav.Calendar(v.Lang, department, all.Items)))
	return nil
}
