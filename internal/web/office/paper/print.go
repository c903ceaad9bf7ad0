package paper

import (
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
	c := readChoice(v)
	data := printPage{printChoice: c, PhoneList: c.path("phone"), FullList: c.path("full"),
		NextYear: strconv.Itoa(v.Today().Year + 1), Date: v.Now(), Count: found.Total, Code: codesOf(v).of(found.Version),
		Width: fullColumns + len(c.Headings), Long: found.Total > longList, People: v.People(found.Items)}
	for i := range data.People { // phone numbers in one style
		data.People[i].Phone = v.Lang.Phone(data.People[i].Phone)
	}
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
	p := site.Page{Title: v.Text(title), Section: "print", Wrong: data.SizeFault+data.Columns.Fault != "", Data: data}
	return v.Render(http.StatusOK, "print", p)
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
