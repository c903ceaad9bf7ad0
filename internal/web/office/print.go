package office

import (
	"cmp"
	"html/template"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// A print carries a code. With the code, the page /office/paper says what has changed
// since.

// printPage is the Data of print.html.
type printPage struct {
	printChoice
	PhoneList, FullList string // addresses of both lists, with the same columns and size
	NextYear            string // for an example
	Date                time.Time
	Count               int64
	Code                string        // of the department's version
	QR                  template.HTML // of the page that takes the code; empty: other machines do not reach it
	Fit                 int           // of the classes fit-1 to fit-6 for a print on one sheet; 0: in full size
	Width               int           // columns of the full list
	Even                bool          // some texts are so long that columns have set widths
	Long                bool          // a browser needs some time to lay it out
	People              []view.Person
	Blocks              [][]view.Person // of People, for the phone list
}

// printChoice is what a list to print has, by the address of the page.
type printChoice struct {
	Full      bool          // all fields; else names and numbers
	One       bool          // on one sheet
	SizeFault string        // message: why it is not on one sheet
	Columns   view.Question // headings of empty columns, as typed
	Headings  []string
}

const (
	mostHeadings   = 4
	longestHeading = 20   // characters
	mostOnOne      = 80   // people whom one sheet holds
	fullColumns    = 6    // of the full list, without empty ones
	longList       = 1000 // people with whom a print takes seconds

	// blockLength is the number of people in a table of the phone list. To print 17,000
	// people in columns Chromium takes 139 s with one table, and 14 s with tables of 500.
	blockLength = 500
)

func readChoice(v view.Visit) printChoice {
	query := v.Query()
	c := printChoice{Full: query.Get("list") == "full", One: query.Get("size") == "one"}
	c.Columns.Value = strings.ToValidUTF8(query.Get("columns"), "\uFFFD")
	for heading := range strings.SplitSeq(c.Columns.Value, ",") {
		heading = strings.TrimSpace(heading)
		switch {
		case heading == "":
		case len(c.Headings) == mostHeadings, utf8.RuneCountInString(heading) > longestHeading:
			c.Columns.Fault = v.Text("print.columns.fault", mostHeadings, longestHeading)
		default:
			c.Headings = append(c.Headings, heading)
		}
	}
	return c
}

// path returns the address of a list with the same columns and size.
func (c printChoice) path(list string) string {
	query := url.Values{"list": {list}}
	if c.One {
		query.Set("size", "one")
	}
	if len(c.Headings) > 0 {
		query.Set("columns", strings.Join(c.Headings, ","))
	}
	return "/office/print?" + query.Encode()
}

// everybody returns all people of the department, by name.
func everybody(v view.Visit) (store.Page, error) {
	return v.Store.List(v.Session.Tenant, record.Query{Page: 1, PageSize: math.MaxUint32, SortBy: record.ByLastName})
}

func showPrint(v view.Visit) error {
	found, err := everybody(v)
	if err != nil {
		return err
	}
	codes := codesOf(v)
	c := readChoice(v)
	data := printPage{printChoice: c, PhoneList: c.path("phone"), FullList: c.path("full"), NextYear: strconv.Itoa(v.Today().Year + 1), Date: v.Now(),
		Count: found.Total, Code: codes.of(found.Version), Width: fullColumns + len(c.Headings), Long: found.Total > longList, People: onPaper(v, v.People(found.Items))}
	data.Even = slices.ContainsFunc(data.People, hasLongTexts)
	data.Blocks = slices.Collect(slices.Chunk(data.People, blockLength))
	if data.One && data.Count > mostOnOne {
		data.SizeFault = v.Text("print.one.fault", mostOnOne)
	} else if data.One {
		data.Fit = fit(data.People, data.Headings, data.Full)
	}
	if data.QR, err = paperQR(v, data.Code); err != nil {
		return err
	}
	title := "print.phone"
	if data.Full {
		title = "print.full"
	}
	return v.Render(http.StatusOK, "print", site.Page{Title: v.Text(title), Section: "print", Wrong: data.SizeFault+data.Columns.Fault != "", Data: data})
}

// onPaper writes the phone numbers of people in one style.
func onPaper(v view.Visit, people []view.Person) []view.Person {
	for i := range people {
		people[i].Phone = v.Lang.Phone(people[i].Phone)
	}
	return people
}

// paperQR returns a QR code that opens the page of the prints with a code. It is empty
// where only this machine reaches the page.
func paperQR(v view.Visit, code string) (template.HTML, error) {
	at, err := v.Store.Address()
	if err != nil || at == "" || site.HereOnly(at) {
		return "", err
	}
	return view.QRCode(at+"/office/paper?code="+code, v.Text("print.qr")), nil
}

const (
	codeLength = 6
	codeCount  = 25 * 25 * 25 * 25 * 25 * 25

	// spread has no divisor in common with codeCount, so each version has its own code. unspread is
	// its inverse. Of millions of numbers this one keeps codes apart best: one wrong character, or
	// two neighbours swapped, never make the code of a version that is less than 3 million away.
	spread, unspread = 40_836_534, 227_138_739
)

// codes are the codes on the prints of a department. A code is the version of the
// department when it was printed, as a number in characters that nobody confuses.
// The numbers are spread, so that a mistyped code is none of this list. They are
// shifted by another amount for each department and each history of the database,
// so that a code of another list hardly ever is one of this list.
type codes struct{ shift uint64 }

func newCodes(tenant record.TenantID, history int64) codes {
	const odd = 0x9e3779b97f4a7c15 // spreads small differences over all bits
	return codes{((uint64(history) ^ uint64(tenant)*odd) * odd >> 32) % codeCount}
}

// codesOf returns the codes of the department.
func codesOf(v view.Visit) codes {
	return newCodes(v.Session.Tenant, v.Store.Mark().History)
}

// of returns the code of a version.
func (c codes) of(version int64) string {
	return store.CodeOf((uint64(version)%codeCount*spread+c.shift)%codeCount, codeLength)
}

// version returns the version that a code is of, however it was typed. ok is false
// for a text that is no code of the versions up to the newest.
func (c codes) version(text string, newest int64) (version int64, ok bool) {
	number, ok := store.ParseCode(text, codeLength)
	if !ok {
		return 0, false
	}
	version = int64((number + codeCount - c.shift) % codeCount * unspread % codeCount)
	return version, version <= newest
}

// paperPage is the Data of paper.html.
type paperPage struct {
	Code  string // as typed
	Fault string // message; empty: the code is one of this list, or none was typed

	Since, Now              string // the code that was typed, and that of a list printed now; empty: nothing was compared
	Added, Deleted, Changed []paperPerson
	QR                      template.HTML // of this page with the code Now, as paperQR returns it
	Erased                  int           // people erased for good since, of whom nothing is known
	Count                   int64
	Date                    time.Time
}

// paperPerson is somebody whose line on a paper is wrong.
type paperPerson struct {
	view.Person
	Fields []view.Difference // of somebody who has changed
}

// showPaper says what has changed since a list was printed.
func showPaper(v view.Visit) error {
	data := paperPage{Code: v.Query().Get("code"), Date: v.Now()}
	if strings.TrimSpace(data.Code) != "" {
		if err := comparePaper(v, &data); err != nil {
			return err
		}
	}
	return v.Render(http.StatusOK, "paper", site.Page{Title: v.Text("paper.title"), Section: "paper", Wrong: data.Fault != "", Data: data})
}

func comparePaper(v view.Visit, data *paperPage) error {
	now, err := v.Store.List(v.Session.Tenant, record.Query{Page: 1, PageSize: 1, SortBy: record.ByLastName})
	if err != nil {
		return err
	}
	codes := codesOf(v)
	version, known := codes.version(data.Code, now.Version)
	if !known {
		data.Fault = v.Text("paper.unknown")
		return nil
	}
	data.Since, data.Now, data.Count = codes.of(version), codes.of(now.Version), now.Total
	if data.QR, err = paperQR(v, data.Now); err != nil {
		return err
	}
	return addDifferences(v, data, version)
}

// addDifferences compares a list of a version with today's. Only what a paper
// shows counts.
func addDifferences(v view.Visit, data *paperPage, version int64) error {
	differences, erased, err := v.Store.ChangedSince(v.Session.Tenant, version)
	if err != nil {
		return err
	}
	today := v.Today()
	for _, d := range differences {
		for _, f := range []*record.Firefighter{d.Then, d.Now} {
			if f != nil {
				f.PhoneNumber = v.Lang.Phone(f.PhoneNumber)
			}
		}
		switch {
		case d.Then == nil:
			data.Added = append(data.Added, paperPerson{Person: v.Person(d.Now, today)})
		case d.Now == nil:
			data.Deleted = append(data.Deleted, paperPerson{Person: v.Person(d.Then, today)})
		default:
			if v.Birth(d.Then.Fields) == v.Birth(d.Now.Fields) {
				d.Then.DateOfBirth = d.Now.DateOfBirth // another time or offset
			}
			if fields := v.Differences(d.Then.Fields, d.Now.Fields); len(fields) > 0 {
				data.Changed = append(data.Changed, paperPerson{v.Person(d.Now, today), fields})
			}
		}
	}
	for _, people := range [][]paperPerson{data.Added, data.Deleted, data.Changed} {
		slices.SortStableFunc(people, byName)
	}
	data.Erased = erased
	return nil
}

func byName(a, b paperPerson) int {
	return cmp.Or(cmp.Compare(fold.String(a.LastName), fold.String(b.LastName)), cmp.Compare(fold.String(a.FirstName), fold.String(b.FirstName)))
}
