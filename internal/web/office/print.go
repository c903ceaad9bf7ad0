package office

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/apikey"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// A print carries a code. With the code, the page /office/paper says what has changed
// since.

// printPage is the Data of print.html.
type printPage struct {
	Full   bool // all fields; else names and numbers
	Date   time.Time
	Count  int64
	Code   string // of the department's version
	People []person
}

func showPrint(v visit) error {
	found, err := v.everybody()
	if err != nil {
		return err
	}
	codes, err := v.codes()
	if err != nil {
		return err
	}
	data := printPage{Full: v.R.URL.Query().Get("list") == "full", Date: v.now(),
		Count: found.Total, Code: codes.of(found.Version), People: v.people(found.Items)}
	title := "print.phone"
	if data.Full {
		title = "print.full"
	}
	return v.Render(http.StatusOK, "print", site.Page{Title: v.Text(title), Section: "print", Data: data})
}

const (
	codeLength = 6
	codeCount  = 25 * 25 * 25 * 25 * 25 * 25

	// spread has no divisor in common with codeCount, so each version has a code
	// of its own. unspread is its inverse. Of millions of numbers this one keeps
	// codes apart best: one wrong character, or two neighbours swapped, never
	// make the code of a version that is less than 3 million away, nor do two
	// wrong characters that of one less than 140,000 away.
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

// codes returns the codes of the department.
func (v visit) codes() (codes, error) {
	history, err := v.Store.HistoryID()
	return newCodes(v.Session.Tenant, history), err
}

// of returns the code of a version.
func (c codes) of(version int64) string {
	return apikey.CodeOf((uint64(version)%codeCount*spread+c.shift)%codeCount, codeLength)
}

// version returns the version that a code is of, however it was typed. ok is false
// for a text that is no code of the versions up to the newest.
func (c codes) version(text string, newest int64) (version int64, ok bool) {
	number, ok := apikey.ParseCode(text)
	if !ok || len(apikey.NormalizeCode(text)) != codeLength {
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
	Erased                  int // people erased for good since, of whom nothing is known
	Count                   int64
	Date                    time.Time
}

// paperPerson is somebody whose line on a paper is wrong.
type paperPerson struct {
	person
	Fields []difference // of somebody who has changed
}

// showPaper says what has changed since a list was printed.
func showPaper(v visit) error {
	data := paperPage{Code: v.R.URL.Query().Get("code"), Date: v.now()}
	if strings.TrimSpace(data.Code) != "" {
		if err := v.comparePaper(&data); err != nil {
			return err
		}
	}
	return v.Render(http.StatusOK, "paper", site.Page{Title: v.Text("paper.title"), Section: "paper", Wrong: data.Fault != "", Data: data})
}

func (v visit) comparePaper(data *paperPage) error {
	q := listDefaults
	q.PageSize = 1
	now, err := v.Store.List(v.Session.Tenant, q)
	if err != nil {
		return err
	}
	codes, err := v.codes()
	if err != nil {
		return err
	}
	version, known := codes.version(data.Code, now.Version)
	if !known {
		data.Fault = v.Text("paper.unknown")
		return nil
	}
	data.Since, data.Now, data.Count = codes.of(version), codes.of(now.Version), now.Total
	return v.addDifferences(data, version)
}

// addDifferences compares a list of a version with today's. Only what a paper
// shows counts.
func (v visit) addDifferences(data *paperPage, version int64) error {
	differences, erased, err := v.Store.ChangedSince(v.Session.Tenant, version)
	if err != nil {
		return err
	}
	today := v.today()
	for _, d := range differences {
		switch {
		case d.Then == nil:
			data.Added = append(data.Added, paperPerson{person: v.person(d.Now, today)})
		case d.Now == nil:
			data.Deleted = append(data.Deleted, paperPerson{person: v.person(d.Then, today)})
		default:
			if v.birth(d.Then.Fields) == v.birth(d.Now.Fields) {
				d.Then.DateOfBirth = d.Now.DateOfBirth // another time or offset
			}
			if fields := v.differences(d.Then.Fields, d.Now.Fields); len(fields) > 0 {
				data.Changed = append(data.Changed, paperPerson{v.person(d.Now, today), fields})
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
