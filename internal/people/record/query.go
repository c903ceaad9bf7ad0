package record

import "math"

const (
	maxPageSize = 100
	maxSearch   = 100 // characters
)

// SortField is what a list may be sorted by, as the parameter sortBy has it.
type SortField string

// The orders of a list. Records without a value in the field come last in both
// directions; the order of creation breaks ties.
const (
	ByCreatedAt   SortField = "createdAt"
	ByFirstName   SortField = "firstName" // then by last name
	ByLastName    SortField = "lastName"  // then by first name
	ByEmail       SortField = "email"
	ByPhoneNumber SortField = "phoneNumber"
	ByDateOfBirth SortField = "dateOfBirth"
)

// SortFields are all orders, the default first.
var SortFields = []SortField{ByCreatedAt, ByFirstName, ByLastName, ByEmail, ByPhoneNumber, ByDateOfBirth}

// Query says which page of which list is asked for.
type Query struct {
	Page, PageSize int64
	Terms          []Term
	SortBy         SortField
	Descending     bool
}

// Offset returns the number of records before the page. It is bounded by a
// number that is larger than any department.
func (q Query) Offset() int64 { return min(q.Page-1, math.MaxUint32) * q.PageSize }

// Term is one word to search for.
type Term struct {
	Text   string // folded
	Digits string // to find in the digits of a phone number, too; empty: only Text counts
}

// apiDefaults are what a list of the API is where its URL does not say it.
var apiDefaults = Query{Page: 1, PageSize: 20, SortBy: ByCreatedAt, Descending: true}

// ParseQuery reads the query of a list's URL. The error is FieldErrors, all
// there are.
func ParseQuery(rawQuery string) (Query, error) { return apiDefaults.Parse(rawQuery) }

// Parse reads the query of a list's URL. What the URL does not say is as in q.
// The error is FieldErrors, all there are; what is wrong is then as in q, too.
func (q Query) Parse(rawQuery string) (Query, error) {
	p := ParseParameters(rawQuery)
	q.Page = p.WholeNumber("page", q.Page, math.MaxInt64)
	q.PageSize = min(p.WholeNumber("pageSize", q.PageSize, maxPageSize), maxPageSize)
	q = p.Selection(q)
	return q, p.Err()
}
