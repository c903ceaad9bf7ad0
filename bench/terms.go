package main

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"unicode"
)

// Search terms have the lengths that people type, in characters.
const (
	shortestTerm = 3
	longestTerm  = 8
)

// mostDraws is the number of attempts to draw a term.
const mostDraws = 10_000

// terms draws n search terms, escaped for a query. Each is a part of a last name in the
// department.
func (d *department) terms(r *rand.Rand, n int) (terms []string, err error) {
	for range mostDraws {
		if len(terms) == n {
			return terms, nil
		}
		name := d.names[r.IntN(len(d.names))]
		if term := fragment(r, name, shortestTerm+r.IntN(longestTerm-shortestTerm+1)); term != "" {
			terms = append(terms, url.QueryEscape(term))
		}
	}
	return nil, fmt.Errorf("department %d has too few long last names", d.id)
}

// fragment returns a random piece of a text with the given number of characters. It
// returns "" if the text is too short or the piece contains a space, which would make two
// terms.
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
