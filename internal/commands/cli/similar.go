package cli

import "strings"

// Nearest returns the word of known that is most similar to typed, ignoring case. It is empty if all
// differ in more than two letters, or in more than one letter for words of up to five letters.
func Nearest(typed string, known []string) (nearest string) {
	least := 3
	for _, word := range known {
		d := distance(strings.ToLower(typed), strings.ToLower(word))
		if d < least && d < len(word) && (d < 2 || len(word) > 5) {
			nearest, least = word, d
		}
	}
	return nearest
}

// distance returns the number of letters to add, remove, replace or swap with the next letter to
// change a into b.
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
