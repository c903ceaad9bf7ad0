package paper

import (
	"html/template"
	"maps"
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
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// printPage is the Data of print.html.
type printPage struct {
	printChoice
	PhoneList, FullList string // addresses of both lists, with these columns and this size
	NextYear            string // for the example of a column
	Everyone            string // address with everyone; empty if Only is
	Only                string // see view.List, also for Faults
	Faults              []string
	Kept                url.Values // parameters of the list
	Date                time.Time
	Count               int64
	Code                string        // for the check whether the list is up to date
	QR                  template.HTML // see paperQR
	Fit                 int           // class fit-1 to fit-6 for one sheet, or 0
	Width               int           // number of columns of the full list
	Even                bool          // columns have fixed widths, because of long texts
	Long                bool          // browsers need seconds to prepare the printout
	People              []view.Person
	Blocks              [][]view.Person // of People, for the phone list
}

// printChoice has the options of a printed list.
type printChoice struct {
	Full      bool          // all fields instead of names and phone numbers
	One       bool          // on one sheet
	SizeFault string        // message if the list does not fit on one sheet
	Columns   view.Question // headings of empty columns, as typed
	Headings  []string
}

const (
	maxHeadings    = 4
	longestHeading = 20   // in characters
	maxOnOne       = 80   // people on one sheet
	fullColumns    = 6    // of the full list, without empty columns
	longList       = 1000 // people on a list that takes seconds to print

	// blockLength is the number of people in a table of the phone list. Chromium prints 17,000
	// people in columns in 139 s as one table, and in 14 s as tables of 500.
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
		case len(c.Headings) == maxHeadings, utf8.RuneCountInString(heading) > longestHeading:
			c.Columns.Fault = v.Text("print.columns.fault", maxHeadings, longestHeading)
		default:
			c.Headings = append(c.Headings, heading)
		}
	}
	return c
}

// path returns the address of a printed list with these columns and this size. kept are the
// parameters of the list.
func (c printChoice) path(list string, kept url.Values) string {
	query := maps.Clone(kept)
	query.Set("list", list)
	if c.One {
		query.Set("size", "one")
	}
	if len(c.Headings) > 0 {
		query.Set("columns", strings.Join(c.Headings, ","))
	}
	return "/office/print?" + query.Encode()
}

// allPeople returns all people of the department, by last name.
func allPeople(v view.Visit) (store.Page, error) {
	return v.Store.List(v.Session.Tenant, record.Query{Page: 1, PageSize: math.MaxUint32, SortBy: record.ByLastName})
}

func showPrint(v view.Visit) error {
	l, err := v.List(v.R.URL.RawQuery)
	if err != nil {
		return err
	}
	found, err := v.Store.List(v.Session.Tenant, l.All())
	if err != nil {
		return err
	}
	c, kept := readChoice(v), v.ListQuery()
	kept.Del("page")
	data := printPage{printChoice: c, PhoneList: c.path("phone", kept), FullList: c.path("full", kept), Kept: kept, Only: l.Only,
		Faults: l.Faults, NextYear: strconv.Itoa(v.Today().Year + 1), Date: v.Now(), Count: found.Total, Code: codesOf(v).of(found.Version),
		Width: fullColumns + len(c.Headings), Long: found.Total > longList, People: v.People(found.Items)}
	data.Even = slices.ContainsFunc(data.People, hasLongTexts)
	data.Blocks = slices.Collect(slices.Chunk(data.People, blockLength))
	if data.One && data.Count > maxOnOne {
		data.SizeFault = v.Text("print.one.fault", maxOnOne)
	} else if data.One {
		data.Fit = fit(data.People, data.Headings, data.Full)
	}
	if data.QR, err = paperQR(v, data.Code); err != nil {
		return err
	}
	title, list := "print.phone", "phone"
	if data.Full {
		title, list = "print.full", "full"
	}
	if data.Only != "" {
		data.Everyone = c.path(list, url.Values{})
	}
	p := site.Page{Title: v.Text(title), Section: "print", Wrong: data.SizeFault+data.Columns.Fault != "" || l.Faults != nil, Data: data}
	return v.Render(http.StatusOK, "print", p)
}

// paperQR returns a QR code that checks a printed list. It is empty if other machines cannot reach
// the page.
func paperQR(v view.Visit, code string) (template.HTML, error) {
	at, err := v.Store.Address()
	if err != nil || at == "" || site.HereOnly(at) {
		return "", err
	}
	return view.QRCode(at+"/office/paper?code="+code, v.Text("print.qr")), nil
}
