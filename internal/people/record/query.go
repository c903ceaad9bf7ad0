package record

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/text/fold"
)

const (
	maxPageSize = 100
	maxSearch   = 100 // characters
)

// SortField is a value of the parameter sortBy.
type SortField = string

// Sort orders of a list. Records without a value in the sort field come last in both directions;
// creation order breaks ties.
const (
	ByCreatedAt   = "createdAt"
	ByFirstName   = "firstName" // then by last name
	ByLastName    = "lastName"  // then by first name
	ByEmail       = "email"
	ByPhoneNumber = "phoneNumber"
	ByDateOfBirth = "dateOfBirth"
	ByUpdatedAt   = "updatedAt"
)

// SortFields are all sort orders, the default first.
var SortFields = []SortField{ByCreatedAt, ByFirstName, ByLastName, ByEmail, ByPhoneNumber, ByDateOfBirth, ByUpdatedAt}

// Query selects a page of a list.
type Query struct {
	Page, PageSize int64
	Terms          []Term   // all must match
	Number         Number   // or this one
	IDs            []string // only these records; nil: all
	Filter         Filter
	SortBy         SortField
	Descending     bool
	// Letters requests the initial letters of a full list that is sorted by last name and longer
	// than a page. Other lists have none.
	Letters bool
	Times   bool // include the times of records
	// Cursor comes from the previous page and replaces Page unless it is empty.
	Cursor string
}

// HasLetters reports whether a list of total records includes initial letters.
func (q Query) HasLetters(total int64) bool {
	return q.Letters && q.IsWhole() && q.SortBy == ByLastName && total > q.PageSize
}

// IsWhole reports whether the list is unfiltered.
func (q Query) IsWhole() bool { return len(q.Terms) == 0 && q.IDs == nil && q.Filter == Filter{} }

// Offset returns the number of records before the page, capped well above the size of any
// department.
func (q Query) Offset() int64 { return min(q.Page-1, math.MaxUint32) * q.PageSize }

// apiDefaults are the defaults of API lists.
var apiDefaults = Query{Page: 1, PageSize: 20, SortBy: ByCreatedAt, Descending: true}

// ParseQuery parses the URL query of an API list. The error is FieldErrors with all errors.
func ParseQuery(rawQuery string) (Query, error) {
	p, q := ParseParameters(rawQuery), apiDefaults
	p.readPage(&q)
	p.readOrder(&q)
	p.readFilter(&q)
	q.Cursor = p.cursor("cursor")
	q.Times = p.Times()
	return q, p.Err()
}

// Parse parses the URL query of an office page, whose only filters are those on the presence of a
// value. Absent and invalid parameters keep the values of q, and unknown parameters are ignored. The
// error is FieldErrors with all errors.
func (q Query) Parse(rawQuery string) (Query, error) {
	p := ParseParameters(rawQuery)
	p.readPage(&q)
	p.readOrder(&q)
	p.readPresence(&q.Filter)
	return q, p.errs.Err()
}

// Parameters are the parameters of a URL query and the errors found in them.
type Parameters struct {
	values url.Values
	errs   FieldErrors
	known  []string // names read so far
}

// ParseParameters parses a URL query.
func ParseParameters(rawQuery string) *Parameters {
	// A semicolon is an ordinary character (WHATWG URL), but package url rejects it.
	values, err := url.ParseQuery(strings.ReplaceAll(rawQuery, ";", "%3B"))
	p := &Parameters{values: values, known: make([]string, 0, 12)}
	if err != nil {
		p.errs.Add("query", Invalid, "The query of the URL is not well-formed.")
	}
	return p
}

// maxUnknown limits the unknown parameters that Err reports, and so the size of the response.
const maxUnknown = 20

// Err returns all errors as FieldErrors, or nil. Parameters not read by any method are unknown.
func (p *Parameters) Err() error {
	errs := slices.Clip(p.errs)
	var unknown []string
	for name := range p.values {
		if !slices.Contains(p.known, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown[:min(len(unknown), maxUnknown)] {
		if len(p.known) == 0 {
			errs.Add(name, Unknown, "There is no parameter %q: this operation has none.", name)
		} else {
			errs.Add(name, Unknown, "There is no parameter %q. This operation has %s.", name, strings.Join(p.known, ", "))
		}
	}
	return errs.Err()
}

// read returns the values of a parameter and marks it as known.
func (p *Parameters) read(name string) []string {
	p.known = append(p.known, name)
	return p.values[name]
}

// Add adds an error found by the caller. The detail is formatted with fmt.Sprintf.
func (p *Parameters) Add(name, code, format string, args ...any) {
	p.errs.Add(name, code, format, args...)
}

// Export reads the parameters that select the records of an API export and their order.
func (p *Parameters) Export() Query {
	q := Query{SortBy: ByCreatedAt}
	p.readOrder(&q)
	p.readFilter(&q)
	q.Times = p.Times()
	return q
}

// Times reports whether records should include their times.
func (p *Parameters) Times() bool { return p.OneOf("include", "", "times") != "" }

func (p *Parameters) readPage(q *Query) {
	q.Page = p.WholeNumber("page", 1, q.Page, lastNumber)
	q.PageSize = min(p.WholeNumber("pageSize", 1, q.PageSize, maxPageSize), maxPageSize)
}

func (p *Parameters) readOrder(q *Query) {
	q.Terms, q.Number = p.search("search")
	q.SortBy = p.OneOf("sortBy", q.SortBy, SortFields...)
	q.Descending = p.descending("sortDir", q.Descending)
}

// Bool reads true, false, 1 or 0. An absent parameter is false.
func (p *Parameters) Bool(name string) bool {
	value := p.yesOrNo(name)
	return value != nil && *value
}

// yesOrNo is like Bool but returns nil if the parameter is absent.
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

// OneOf reads a parameter whose value must be in texts. It returns absent if the parameter is
// missing or invalid.
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

// Get returns the value of a parameter. An empty value counts as absent.
func (p *Parameters) Get(name string) string {
	values := slices.DeleteFunc(slices.Clone(p.read(name)), func(v string) bool { return v == "" })
	if len(values) == 0 {
		return ""
	}
	if len(values) > 1 {
		p.errs.Add(name, Duplicate, "%s is given twice.", name)
	}
	return values[0]
}

// All returns all values of a parameter that can be repeated or have several values separated by
// commas. It skips empty values.
func (p *Parameters) All(name string) (all []string) {
	for _, values := range p.read(name) {
		for value := range strings.SplitSeq(values, ",") {
			if value = strings.TrimSpace(value); value != "" {
				all = append(all, value)
			}
		}
	}
	return all
}

// lastNumber is the largest integer that JavaScript represents exactly.
const lastNumber = 1<<53 - 1

// WholeNumber reads an integer from least. A number beyond int64 is read as limit; with limit
// lastNumber, larger numbers are an error.
func (p *Parameters) WholeNumber(name string, least, absent, limit int64) int64 {
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

// WrongCursor is the error detail for an invalid cursor.
const WrongCursor = "The cursor is not of this list, or is older than 24 hours. Begin again with the first page, without a cursor."

// cursor reads a cursor and checks its form.
func (p *Parameters) cursor(name string) string {
	text := p.Get(name)
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"
	if len(text) > 500 || strings.Trim(text, alphabet) != "" {
		p.errs.Add(name, Invalid, WrongCursor)
	}
	return text
}

// search reads the search text.
func (p *Parameters) search(name string) ([]Term, Number) {
	text := p.Get(name)
	isValid := utf8.ValidString(text)
	text = cutScheme(fold.Clean(text))
	switch {
	case !isValid:
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
