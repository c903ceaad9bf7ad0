package cli

import (
	"slices"
	"strings"
)

// word is something that can be typed: a command, a flag or a variable.
type word struct {
	text string   // as it must be typed
	like []string // in lower case: its right spelling, and what else people type who mean it
}

// meant returns the words that somebody who typed this may have meant: the nearest
// ones, if they are near enough. At the same distance a right spelling comes before
// what else people type.
func meant(typed string, words []word) (nearest []string) {
	typed = strings.ToLower(typed)
	best := 0
	for _, w := range words {
		for i, like := range w.like {
			far := distance(typed, like)
			rank := 2*far + min(i, 1)
			if far > max(0, tolerated(like)-min(i, 1)) || len(nearest) > 0 && rank > best || slices.Contains(nearest, w.text) && rank == best {
				continue
			}
			if rank < best {
				nearest = nil
			}
			nearest, best = append(nearest, w.text), rank
		}
	}
	return nearest
}

// tolerated is the number of typing errors in a word that still show it.
func tolerated(like string) int {
	switch {
	case len(like) < 3:
		return 0
	case len(like) < 5:
		return 1
	}
	return 2
}

// distance returns the number of letters to add, drop, replace or swap with the
// next that lead from a to b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	d := make([][]int, len(x)+1)
	for i := range d {
		d[i] = make([]int, len(y)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			replaced := d[i-1][j-1]
			if x[i-1] != y[j-1] {
				replaced++
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, replaced)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(x)][len(y)]
}

// didYouMean is what is said after a word that does not exist, empty without a
// nearest one.
func didYouMean(nearest []string) string {
	if len(nearest) == 0 {
		return ""
	}
	return "; did you mean " + either(nearest) + "?"
}

// either is "create, list or revoke".
func either(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
