package main

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"

	"firefighters/internal/fold"
)

// texts are what a person is found by.
type texts struct{ first, last, email, phone, digits string }

func readTexts(db *sql.DB, d *department) (all []texts, err error) {
	err = query(db, `SELECT first_name, last_name, ifnull(email, ''), ifnull(phone_number, '')
		FROM firefighters WHERE row > ?1 << 32 AND row < (?1 + 1) << 32`, func(rows *sql.Rows) error {
		var t texts
		err := rows.Scan(&t.first, &t.last, &t.email, &t.phone)
		t.first, t.last, t.email = fold.String(t.first), fold.String(t.last), fold.String(t.email)
		t.digits = digits(t.phone)
		all = append(all, t)
		return err
	}, d.id)
	return all, err
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// match is the service's own rule in its plainest form, to tell whether a
// total is right: the term, folded, is in a name, the e-mail address or the
// phone number, or its digits are in the phone number's.
func (t texts) match(term string) bool {
	for _, text := range []string{t.first, t.last, t.email, t.phone} {
		if strings.Contains(text, term) {
			return true
		}
	}
	d := digits(term)
	return d != "" && !strings.ContainsFunc(term, unicode.IsLetter) && strings.Contains(t.digits, d)
}

// count is the number of people that a term finds.
func (d *department) count(term string) (n int64) {
	for _, t := range d.texts {
		if t.match(term) {
			n++
		}
	}
	return n
}

// kind says which terms to draw.
type kind struct {
	name     string
	from, to int   // characters
	phone    bool  // of the digits of phone numbers, else of names and e-mail addresses
	share    int64 // finds at most one in so many of the department; 0 for any number
}

// The terms of the goals. Those that find few are for comparing two
// departments, whose answers are then of about the same size.
var (
	longTerms = []kind{
		{"3 characters", 3, 3, false, 100},
		{"4 to 8 characters", 4, 8, false, 100},
		{"4 to 8 digits of a phone number", 4, 8, true, 100},
	}
	shortTerms = []kind{
		{"1 character", 1, 1, false, 0},
		{"2 characters", 2, 2, false, 0},
		{"2 digits of a phone number", 2, 2, true, 0},
	}
	anyTerm  = kind{"1 to 8 characters", 1, 8, false, 0}
	fewFound = kind{"3 to 8 characters", 3, 8, false, 10}
)

// mostDraws is how often a term may be drawn in vain.
const mostDraws = 10_000

// draw draws a term of that kind from the texts of a department, and says how
// many people it finds there.
func (k kind) draw(r *rand.Rand, d *department) (term string, found int64, err error) {
	for range mostDraws {
		t := d.texts[r.IntN(len(d.texts))]
		text := []string{t.first, t.last, t.email}[r.IntN(3)]
		if k.phone {
			text = t.digits
		}
		term = fragment(r, text, k.from+r.IntN(k.to-k.from+1))
		if term == "" {
			continue
		}
		if found = d.count(term); found*k.share <= d.people {
			return term, found, nil
		}
	}
	return "", 0, fmt.Errorf("department %d has no term of %s", d.id, k.name)
}

// fragment cuts a piece of that many characters out of a text, empty if it
// cannot. A piece with a space would be two terms.
func fragment(r *rand.Rand, text string, length int) string {
	characters := []rune(text)
	if len(characters) < length {
		return ""
	}
	at := r.IntN(len(characters) - length + 1)
	piece := string(characters[at : at+length])
	if strings.ContainsFunc(piece, unicode.IsSpace) {
		return ""
	}
	return piece
}
