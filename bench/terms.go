package main

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// texts are the folded texts by which a search finds a person.
type texts struct {
	first, last, email, phone, digits string
	expanded                          string // those texts with ae, oe and ue for ä, ö and ü, a line each
}

// expand writes ae, oe and ue for the umlauts.
var expand = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "Ä", "ae", "Ö", "oe", "Ü", "ue")

// readTexts reads the texts of all people of a department.
func readTexts(db *sql.DB, d *department) (all []texts, err error) {
	err = query(db, `SELECT first_name, last_name, ifnull(email, ''), ifnull(phone_number, '')
		FROM firefighters WHERE row > ?1 << 32 AND row < (?1 + 1) << 32`, func(rows *sql.Rows) error {
		var t texts
		err := rows.Scan(&t.first, &t.last, &t.email, &t.phone)
		t.expanded = fold.String(expand.Replace(strings.Join([]string{t.first, t.last, t.email, t.phone}, "\n")))
		t.digits = digits(t.phone)
		for _, text := range []*string{&t.first, &t.last, &t.email, &t.phone} {
			*text = fold.String(*text)
		}
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

// umlauts are written so where a keyboard does not have them.
var umlauts = regexp.MustCompile("[aou]e")

// ofCountry is what stands before the number of a person in the form that callers from
// abroad dial, in the digits of a phone number.
var ofCountry = regexp.MustCompile("^(00)?(1|7|[2-9][0-9]{1,2})0?$")

// match reports whether the folded term is in a name, the e-mail address or the
// phone number, also as people write umlauts, or its digits are in the digits of the
// phone number or in another form of it. It is the service's rule in its simplest form,
// to check totals. No term has a country.
func (t texts) match(term string) bool {
	if umlauts.MatchString(term) && strings.Contains(t.expanded, term) {
		return true
	}
	for _, text := range []string{t.first, t.last, t.email, t.phone} {
		if strings.Contains(text, term) {
			return true
		}
	}
	d := digits(term)
	if d == "" || strings.ContainsFunc(term, unicode.IsLetter) {
		return false
	}
	rest, national := strings.CutPrefix(d, "0")
	before, _, found := strings.Cut(t.digits, rest)
	isForm := national && len(rest) >= 7 && rest[0] != '0' && found && (before == "" || ofCountry.MatchString(before))
	return strings.Contains(t.digits, d) || isForm
}

// count returns the number of people that a term finds.
func (d *department) count(term string) (n int64) {
	for _, t := range d.texts {
		if t.match(term) {
			n++
		}
	}
	return n
}

// kind describes which terms to draw.
type kind struct {
	name     string
	from, to int   // length in characters
	phone    bool  // from the digits of phone numbers; otherwise from names and e-mail addresses
	share    int64 // the term finds at most people/share; 0 for any number
}

// The kinds of terms of the goals. fewFound is for comparing departments: its
// answers are of about the same size.
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

// mostDraws is the number of attempts to draw a term.
const mostDraws = 10_000

// draw draws a term from the texts of a department. It returns the term and the
// number of people that it finds there.
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

// fragment returns a random piece of a text with the given number of characters.
// It returns "" if the text is too short or the piece has a space: that would be
// two terms.
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
