package record

import (
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxPageSize = 100
	maxSearch   = 100 // characters
)

// SortField is what a list may be sorted by, as the parameter sortBy has it.
type SortField = string

// The orders of a list. Records without a value in the field come last in both
// directions; the order of creation breaks ties.
const (
	ByCreatedAt   = "createdAt"
	ByFirstName   = "firstName" // then by last name
	ByLastName    = "lastName"  // then by first name
	ByEmail       = "email"
	ByPhoneNumber = "phoneNumber"
	ByDateOfBirth = "dateOfBirth"
	ByUpdatedAt   = "updatedAt"
)

// SortFields are all orders, the default first.
var SortFields = []SortField{ByCreatedAt, ByFirstName, ByLastName, ByEmail, ByPhoneNumber, ByDateOfBirth, ByUpdatedAt}

// Query says which page of which list is asked for.
type Query struct {
	Page, PageSize int64
	Terms          []Term   // all of them must be found
	Number         Number   // or this
	IDs            []string // only these records; nil: all
	Filter         Filter
	SortBy         SortField
	Descending     bool
	// Letters asks for the letters of a whole list by last name that is longer than a
	// page. Other lists have none.
	Letters bool
	Times   bool // records are shown with their times
	// Cursor is that of the page before, and Page does not count. Empty: Page does.
	Cursor string
}

// HasLetters reports whether a list of so many records has the letters that q asks for.
func (q Query) HasLetters(total int64) bool {
	return q.Letters && q.IsWhole() && q.SortBy == ByLastName && total > q.PageSize
}

// IsWhole reports whether the list has everybody.
func (q Query) IsWhole() bool { return len(q.Terms) == 0 && q.IDs == nil && q.Filter == Filter{} }

// Offset returns the number of records before the page. It is bounded by a
// number that is larger than any department.
func (q Query) Offset() int64 { return min(q.Page-1, math.MaxUint32) * q.PageSize }

// apiDefaults are what a list of the API is where its URL does not say it.
var apiDefaults = Query{Page: 1, PageSize: 20, SortBy: ByCreatedAt, Descending: true}

// ParseQuery reads the query of the URL of a list of the API. The error is FieldErrors, all there are.
func ParseQuery(rawQuery string) (Query, error) {
	p, q := ParseParameters(rawQuery), apiDefaults
	p.readPage(&q)
	p.readOrder(&q)
	p.readFilter(&q)
	q.Cursor = p.cursor("cursor")
	q.Times = p.Times()
	return q, p.Err()
}

// Parse reads the query of the URL of a page. What the URL does not say is as in q, and other
// parameters are ignored. The error is FieldErrors, all there are. What is wrong is then as in q.
func (q Query) Parse(rawQuery string) (Query, error) {
	p := ParseParameters(rawQuery)
	p.readPage(&q)
	p.readOrder(&q)
	return q, p.errs.Err()
}

// Parameters are those of a URL's query, and what is wrong with them.
type Parameters struct {
	values url.Values
	errs   FieldErrors
	known  []string // the names that were read
}

// ParseParameters reads the query of a URL.
func ParseParameters(rawQuery string) *Parameters {
	// A semicolon is a character like any other (WHATWG URL). Package url
	// refuses it.
	values, err := url.ParseQuery(strings.ReplaceAll(rawQuery, ";", "%3B"))
	p := &Parameters{values: values}
	if err != nil {
		p.errs.Add("query", Invalid, "The query of the URL is not well-formed.")
	}
	return p
}

// maxUnknown is how many unknown parameters Err names. It bounds the size of the response.
const maxUnknown = 20

// Err returns everything that is wrong as FieldErrors, nil if nothing is. Parameters that no
// method has read are unknown.
func (p *Parameters) Err() error {
	errs, unknown := slices.Clip(p.errs), 0
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		if slices.Contains(p.known, name) || unknown == maxUnknown {
			continue
		}
		unknown++
		if len(p.known) == 0 {
			errs.Add(name, Unknown, "There is no parameter %q: this operation has none.", name)
		} else {
			errs.Add(name, Unknown, "There is no parameter %q. This operation has %s.", name, strings.Join(p.known, ", "))
		}
	}
	return errs.Err()
}

// given returns the values of a parameter.
func (p *Parameters) given(name string) []string {
	p.known = append(p.known, name)
	return p.values[name]
}

// Add adds an error of a parameter that the caller has found. The detail is
// formatted by fmt.Sprintf.
func (p *Parameters) Add(name, code, format string, args ...any) {
	p.errs.Add(name, code, format, args...)
}

// Export reads which records an export of the API has, in which order, and whether with their times.
func (p *Parameters) Export() Query {
	q := Query{SortBy: ByCreatedAt}
	p.readOrder(&q)
	p.readFilter(&q)
	q.Times = p.Times()
	return q
}

// Times reads whether records are asked for with their times.
func (p *Parameters) Times() bool { return p.OneOf("include", "", "times") != "" }

// readPage reads which page of a list is asked for: page and pageSize.
func (p *Parameters) readPage(q *Query) {
	q.Page = p.WholeNumber("page", q.Page, lastNumber)
	q.PageSize = min(p.WholeNumber("pageSize", q.PageSize, maxPageSize), maxPageSize)
}

// readOrder reads what is searched for, and the order: search, sortBy and sortDir.
func (p *Parameters) readOrder(q *Query) {
	q.Terms, q.Number = p.search("search")
	q.SortBy = p.OneOf("sortBy", q.SortBy, SortFields...)
	q.Descending = p.descending("sortDir", q.Descending)
}

// Bool reads true or false, or 1 or 0. An absent one is false.
func (p *Parameters) Bool(name string) bool {
	is := p.yesOrNo(name)
	return is != nil && *is
}

// yesOrNo reads the same as Bool, nil for an absent one.
func (p *Parameters) yesOrNo(name string) *bool {
	switch p.Get(name) {
	case "true", "1":
		return new(true)
	case "false", "0":
		return new(false)
	case "":
	default:
		p.errs.Add(name, Invalid, "%s must be true or false.", name)
	}
	return nil
}

// OneOf reads one of some texts. An absent one is absent.
func (p *Parameters) OneOf(name, absent string, texts ...string) string {
	text := p.Get(name)
	switch {
	case text == "":
		return absent
	case !slices.Contains(texts, text):
		p.errs.Add(name, Invalid, "%s must be one of %s.", name, strings.Join(texts, ", "))
		return absent
	}
	return text
}

// Get returns the value of a parameter. An empty one counts as absent.
func (p *Parameters) Get(name string) string {
	given := slices.DeleteFunc(slices.Clone(p.given(name)), func(v string) bool { return v == "" })
	if len(given) == 0 {
		return ""
	}
	if len(given) > 1 {
		p.errs.Add(name, Duplicate, "%s is given twice.", name)
	}
	return given[0]
}

// All returns the values of a parameter that may be given several times, each also as a
// list with commas. Empty ones do not count.
func (p *Parameters) All(name string) (all []string) {
	for _, values := range p.given(name) {
		for value := range strings.SplitSeq(values, ",") {
			if value = strings.TrimSpace(value); value != "" {
				all = append(all, value)
			}
		}
	}
	return all
}

// lastNumber is the largest whole number that JavaScript holds exactly.
const lastNumber = 1<<53 - 1

// WholeNumber reads a number from 1. A number that int64 cannot hold counts as
// limit. One beyond lastNumber is an error if that is the limit.
func (p *Parameters) WholeNumber(name string, absent, limit int64) int64 {
	return p.numberFrom(1, name, absent, limit)
}

// WholeNumberOrZero is WholeNumber for a number from 0.
func (p *Parameters) WholeNumberOrZero(name string, absent, limit int64) int64 {
	return p.numberFrom(0, name, absent, limit)
}

func (p *Parameters) numberFrom(least int64, name string, absent, limit int64) int64 {
	text := p.Get(name)
	if text == "" {
		return absent
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if strings.Trim(text, "0123456789") != "" {
		code := Invalid
		if err == nil {
			code = OutOfRange
		}
		p.errs.Add(name, code, "%s must be a whole number from %d.", name, least)
		return absent
	}
	switch {
	case limit == lastNumber && (err != nil || n > limit):
		p.errs.Add(name, OutOfRange, "%s may be at most %d.", name, limit)
		return absent
	case err != nil:
		return limit
	case n < least:
		p.errs.Add(name, OutOfRange, "%s must be a whole number from %d.", name, least)
		return absent
	}
	return n
}

// cursorForm is that of all cursors.
var cursorForm = regexp.MustCompile(`^[0-9A-Za-z_-]{0,500}$`)

// WrongCursor is what is said of a cursor that leads nowhere.
const WrongCursor = "The cursor is not of this list, or is older than 24 hours. Begin again with the first page, without a cursor."

// cursor reads a text that has the form of a cursor.
func (p *Parameters) cursor(name string) string {
	text := p.Get(name)
	if !cursorForm.MatchString(text) {
		p.errs.Add(name, Invalid, WrongCursor)
	}
	return text
}

// search reads a text to search for.
func (p *Parameters) search(name string) ([]Term, Number) {
	text := strings.TrimSpace(p.Get(name))
	switch {
	case !utf8.ValidString(text):
		p.errs.Add(name, Invalid, "%s is not valid UTF-8.", name)
		return nil, Number{}
	case utf8.RuneCountInString(text) > maxSearch:
		p.errs.Add(name, TooLong, "%s may have at most %d characters.", name, maxSearch)
		return nil, Number{}
	}
	return parseSearch(text)
}

func (p *Parameters) descending(name string, absent bool) bool {
	switch direction := strings.ToLower(p.Get(name)); direction {
	case "asc":
		return false
	case "desc":
		return true
	case "":
	default:
		p.errs.Add(name, Invalid, "%s must be asc or desc.", name)
	}
	return absent
}
