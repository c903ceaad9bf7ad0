package main

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"firefighters/internal/fold"
	"firefighters/internal/record"
)

const (
	defaultPageSize = 20
	maxPageSize     = 100
	maxSearch       = 100 // characters
)

// sortFields are what sortBy may name, the default first. The row number,
// which is the order of creation, breaks all ties. Nulls are last in both
// directions; descending, that is SQLite's own way.
var sortFields = []sortField{
	{"createdAt", "row", "row DESC", nil},
	{"firstName", "first_key, last_key, row", "first_key DESC, last_key DESC, row DESC", firstNameKey},
	{"lastName", "last_key, first_key, row", "last_key DESC, first_key DESC, row DESC", lastNameKey},
	{"email", "email_key NULLS LAST, row", "email_key DESC, row DESC", emailKey},
	{"phoneNumber", "phone_key NULLS LAST, row", "phone_key DESC, row DESC", phoneKey},
	{"dateOfBirth", "born_at NULLS LAST, row", "born_at DESC, row DESC", birthKey},
}

// sortField is an order: in SQL, each way, and by a record's key in a roll,
// nil if the roll lies in it.
type sortField struct {
	name, ascending, descending string
	key                         func(*roll, int32) sortKey
}

// listQuery says which page of which list is asked for.
type listQuery struct {
	page, pageSize int64
	terms          []searchTerm
	sort           sortField
	descending     bool
}

// order is the SQL of the order that is asked for.
func (q listQuery) order() string {
	if q.descending {
		return q.sort.descending
	}
	return q.sort.ascending
}

// page is a page of a list, how long the whole list is, and which version of
// the department it is of.
type page struct {
	items      []record.Firefighter
	totalCount int64
	version    int64
}

// searchTerm is one word to search for.
type searchTerm struct {
	text   string // folded
	digits string // to find in the digits of a phone number, or noDigits
}

// noDigits stands in no phone number's digits.
const noDigits = "\n"

// parseListQuery reads the query of a list's URL. The error is record.FieldErrors,
// all there are.
func parseListQuery(rawQuery string) (listQuery, error) {
	// A bare semicolon is a character like any other (WHATWG URL); package
	// url would refuse it.
	values, err := url.ParseQuery(strings.ReplaceAll(rawQuery, ";", "%3B"))
	p := parameters{values: values}
	if err != nil {
		p.faults.Add("query", record.Invalid, "The query of the URL is not well-formed.")
	}
	q := listQuery{
		page:     p.wholeNumber("page", 1, math.MaxInt64),
		pageSize: min(p.wholeNumber("pageSize", defaultPageSize, maxPageSize), maxPageSize),
		terms:    p.search("search"),
	}
	q.sort, q.descending = p.order("sortBy", "sortDir")
	if len(p.faults) > 0 {
		return listQuery{}, p.faults
	}
	return q, nil
}

// parameters are those of a query, and what was found wrong with them.
type parameters struct {
	values url.Values
	faults record.FieldErrors
}

// get gives the value of a parameter; an empty one is as good as none.
func (p *parameters) get(name string) string {
	given := slices.DeleteFunc(slices.Clone(p.values[name]), func(v string) bool { return v == "" })
	if len(given) == 0 {
		return ""
	}
	if len(given) > 1 {
		p.faults.Add(name, record.Duplicate, "%s is given twice.", name)
	}
	return given[0]
}

// wholeNumber reads a number from 1. One that int64 cannot hold is more than
// any limit: it gives limit, or a fault where the limit is int64's own.
func (p *parameters) wholeNumber(name string, absent, limit int64) int64 {
	text := p.get(name)
	if text == "" {
		return absent
	}
	if strings.Trim(text, "0123456789") != "" {
		code := record.Invalid
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			code = record.OutOfRange
		}
		p.faults.Add(name, code, "%s must be a whole number from 1.", name)
		return absent
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil && limit == math.MaxInt64:
		p.faults.Add(name, record.OutOfRange, "%s may be at most %d.", name, limit)
	case err != nil:
		return limit
	case n == 0:
		p.faults.Add(name, record.OutOfRange, "%s must be a whole number from 1.", name)
	}
	return n
}

// search splits the text at white space. A term that is there twice, or folds
// to nothing, adds nothing.
func (p *parameters) search(name string) []searchTerm {
	text := strings.TrimSpace(p.get(name))
	switch {
	case !utf8.ValidString(text):
		p.faults.Add(name, record.Invalid, "%s is not valid UTF-8.", name)
	case utf8.RuneCountInString(text) > maxSearch:
		p.faults.Add(name, record.TooLong, "%s may have at most %d characters.", name, maxSearch)
	}
	var terms []searchTerm
	for _, word := range strings.Fields(text) {
		t := searchTerm{text: fold.String(word), digits: digits(word)}
		if t.digits == "" || strings.ContainsFunc(word, unicode.IsLetter) {
			t.digits = noDigits
		}
		if t.text != "" && !slices.Contains(terms, t) {
			terms = append(terms, t)
		}
	}
	return terms
}

// order reads which order is asked for.
func (p *parameters) order(sortBy, sortDir string) (field sortField, descending bool) {
	names := make([]string, len(sortFields))
	name := p.get(sortBy)
	known := name == ""
	field = sortFields[0]
	for i, f := range sortFields {
		names[i] = f.name
		if f.name == name {
			field, known = f, true
		}
	}
	if !known {
		p.faults.Add(sortBy, record.Invalid, "%s must be one of %s.", sortBy, strings.Join(names, ", "))
	}
	switch direction := strings.ToLower(p.get(sortDir)); direction {
	case "asc":
		return field, false
	case "", "desc":
	default:
		p.faults.Add(sortDir, record.Invalid, "%s must be asc or desc.", sortDir)
	}
	return field, true
}

// listFirefighters gives one page of a department's list. The page and the
// total are of one moment.
func (s *store) listFirefighters(tenant tenantID, q listQuery) (p page, err error) {
	err = s.read(func(c *conn) error {
		var ok bool
		if p, ok, err = s.rolls.list(c, tenant, q); ok || err != nil {
			return err
		}
		var live int64
		if p, live, err = readList(c, tenant, q); err == nil && p.version == 0 {
			p, live, err = readEmptyList(c, tenant, q)
		}
		if err == nil && q.wantsRoll() {
			s.rolls.saw(tenant, live)
		}
		return err
	})
	return p, err
}

// readList asks SQLite. It gives no version where it has met no record.
func readList(c *conn, tenant tenantID, q listQuery) (p page, live int64, err error) {
	if len(q.terms) > 0 {
		return search(c, tenant, q)
	}
	return list(c, tenant, q)
}

// readEmptyList reads a list that seems to be empty again, and the version, at
// one moment: with a later version it would be taken for what is there by then.
func readEmptyList(c *conn, tenant tenantID, q listQuery) (p page, live int64, err error) {
	err = c.atOnce(func() error {
		if p, live, err = readList(c, tenant, q); err != nil || p.version != 0 {
			return err
		}
		n, err := c.queryNumber(`SELECT `+departmentNow, int64(tenant))
		if live = p.setNow(n); len(q.terms) == 0 {
			p.totalCount = live
		}
		return err
	})
	return p, live, err
}

// departmentNow is its version and how many records it has, in one number.
const departmentNow = `(SELECT version << 32 | live_count FROM tenants WHERE id = ?1)`

// setNow takes departmentNow apart.
func (p *page) setNow(n int64) (live int64) {
	p.version = n >> 32
	return n & math.MaxUint32
}

// list reads the department as it lies in the table up to the page, or sorts
// it: it is small, or has a roll for that.
func list(c *conn, tenant tenantID, q listQuery) (p page, live int64, err error) {
	p.items = make([]record.Firefighter, 0, q.pageSize)
	scan := scan{tenant: tenant}
	err = c.query(`SELECT `+columnsWith+departmentNow+columnsEnd+inTable+` ORDER BY `+q.order()+` LIMIT ?2 OFFSET ?3`,
		values{int64(tenant), q.pageSize, q.offset()}, func(row values) {
			p.items = append(p.items, scan.record(row))
		})
	p.totalCount = p.setNow(scan.number)
	return p, p.totalCount, cmp.Or(err, scan.damaged)
}

// search reads all of the department as it lies in the table and sorts what it
// finds.
func search(c *conn, tenant tenantID, q listQuery) (p page, live int64, err error) {
	condition, args := matching(q.terms)
	scan := scan{tenant: tenant}
	first, end := q.offset(), q.offset()+q.pageSize
	err = c.query(`SELECT `+columnsWith+departmentNow+columnsEnd+inTable+condition+` ORDER BY `+q.order(),
		append(values{int64(tenant)}, args...), func(row values) {
			if first <= p.totalCount && p.totalCount < end || p.totalCount == 0 {
				p.items = append(p.items, scan.record(row))
			}
			p.totalCount++
		})
	if first > 0 && len(p.items) > 0 {
		p.items = p.items[1:] // the first told the department's version alone
	}
	live = p.setNow(scan.number)
	return p, live, cmp.Or(err, scan.damaged)
}

// version gives that of a department: it changes with each record of it.
func (s *store) version(tenant tenantID) (version int64, err error) {
	err = s.read(func(c *conn) error {
		version, err = c.queryNumber(`SELECT version FROM tenants WHERE id = ?`, int64(tenant))
		return err
	})
	return version, err
}

// offset is the number of records before the page, or more than there can be.
func (q listQuery) offset() int64 { return min(q.page-1, math.MaxUint32) * q.pageSize }

// matching gives the condition that every term is found, and its arguments,
// from ?2 on. So that few statements serve all searches, their number of
// terms is a power of two; the empty term, found everywhere, fills up.
func matching(terms []searchTerm) (condition string, args values) {
	if len(terms) == 0 {
		return "", nil
	}
	var b strings.Builder
	for n := 0; n < len(terms) || n&(n-1) != 0; n++ {
		t := searchTerm{digits: noDigits}
		if n < len(terms) {
			t = terms[n]
		}
		args = append(args, t.text, t.digits)
		fmt.Fprintf(&b, ` AND (instr(search_text, ?%d) OR instr(phone_digits, ?%d))`, 2*n+2, 2*n+3)
	}
	return b.String(), args
}
