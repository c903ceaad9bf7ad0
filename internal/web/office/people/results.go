package people

import (
	"maps"
	"net/url"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
)

// sortColumn is a column that a list can be sorted by.
type sortColumn struct {
	Key   record.SortField
	Label string
	Href  string // address of the list sorted by it, or reversed
	Sort  string // value of aria-sort: ascending, descending or empty
}

// sortedBy are the fields that the list can be sorted by.
var sortedBy = []record.SortField{record.ByLastName, record.ByFirstName, record.ByPhoneNumber, record.ByEmail, record.ByDateOfBirth}

// sortColumns returns the columns of a list and the column it is sorted by. unsorted has the
// parameters of the list except its order and page.
func sortColumns(v view.Visit, q record.Query, unsorted url.Values) (columns []sortColumn, sorted sortColumn) {
	for _, field := range sortedBy {
		c, next := sortColumn{Key: field, Label: v.Text("field." + field)}, "asc"
		if field == q.SortBy {
			c.Sort = "descending"
			if !q.Descending {
				c.Sort, next = "ascending", "desc"
			}
		}
		query := maps.Clone(unsorted)
		query.Set("sortBy", field)
		query.Set("sortDir", next)
		c.Href = view.ListPath(query)
		if c.Sort != "" {
			sorted = c
		}
		columns = append(columns, c)
	}
	return columns, sorted
}

// maxLetters is the maximum number of letter links. More letters are no alphabet.
const maxLetters = 100

// letterLink is a letter and the address of the first last name that begins with it.
type letterLink struct{ Letter, Href string }

// letterLinks returns the links to the letters of a list, and sets the anchors of people.
func letterLinks(letters []store.Letter, q record.Query, parameters url.Values, people []view.Person) (links []letterLink) {
	if len(letters) > maxLetters {
		return nil
	}
	query := maps.Clone(parameters)
	for _, l := range letters {
		if l.Letter == "" { // a name without letters
			continue
		}
		anchor := "at-" + strconv.FormatInt(l.Before+1, 10)
		query.Set("page", strconv.FormatInt(l.Before/q.PageSize+1, 10))
		links = append(links, letterLink{strings.ToTitle(l.Letter), view.ListPath(query) + "#" + anchor})
		if i := l.Before - q.Offset(); 0 <= i && i < int64(len(people)) {
			people[i].Anchor = anchor
		}
	}
	return links
}

type pager struct {
	Page, Last     int64
	Previous, Next string // addresses; empty if there is none
	Numbers        []pageLink
}

// pageLink is a link to a page. Number 0 is a gap.
type pageLink struct {
	Number  int64
	Href    string
	Current bool
}

// newPager returns the links to the pages of a list with total people, or nil for a single page.
func newPager(v view.Visit, path string, q record.Query, total int64) *pager {
	p := &pager{Page: q.Page, Last: (total + q.PageSize - 1) / q.PageSize}
	if q.Page <= 1 && q.Page >= p.Last {
		return nil
	}
	query := v.ListQuery()
	address := func(number int64) string {
		query.Set("page", strconv.FormatInt(number, 10))
		return path + "?" + query.Encode()
	}
	if q.Page > 1 {
		p.Previous = address(max(1, min(q.Page-1, p.Last)))
	}
	if q.Page < p.Last {
		p.Next = address(q.Page + 1)
	}
	for _, number := range pageNumbers(q.Page, p.Last) {
		p.Numbers = append(p.Numbers, pageLink{number, address(number), number == q.Page})
	}
	return p
}

// pageNumbers returns the pages to link to: the first, the last, the current one and its
// neighbors. 0 is a gap.
func pageNumbers(page, last int64) (numbers []int64) {
	before := int64(0)
	for _, number := range []int64{1, page - 1, page, page + 1, last} {
		switch {
		case number <= before || number > last:
			continue
		case number == before+2:
			numbers = append(numbers, before+1)
		case number > before+2:
			numbers = append(numbers, 0)
		}
		numbers, before = append(numbers, number), number
	}
	return numbers
}
