// Package lines searches many short texts at once.
package lines

import (
	"math/bits"
	"strings"
)

// Lines are texts in a single string, each followed by a line break. The zero
// value has none. It must not be copied.
type Lines struct {
	text strings.Builder
	ends []int32
}

// Grow makes room for lines more texts of size bytes in all.
func (l *Lines) Grow(lines, size int) {
	l.text.Grow(lines + size)
	l.ends = append(make([]int32, 0, len(l.ends)+lines), l.ends...)
}

// Add adds a text.
func (l *Lines) Add(text string) {
	l.text.WriteString(text)
	l.text.WriteByte('\n')
	l.ends = append(l.ends, int32(l.text.Len()))
}

// At gives a text by its position, from 0 on, without copying it.
func (l *Lines) At(position int) string {
	start := int32(0)
	if position > 0 {
		start = l.ends[position-1]
	}
	return l.text.String()[start : l.ends[position]-1]
}

// Size is the number of bytes of all texts.
func (l *Lines) Size() int { return l.text.Len() }

// Find adds to found the positions of the texts that contain term, in which
// there is no line break.
func (l *Lines) Find(term string, found Set) {
	text := l.text.String()
	for position, from := 0, 0; from < len(text); position++ {
		i := strings.Index(text[from:], term)
		if i < 0 {
			return
		}
		for int(l.ends[position]) <= from+i {
			position++
		}
		found[position/64] |= 1 << (position % 64)
		from = int(l.ends[position])
	}
}

// Set is a set of positions, a bit each.
type Set []uint64

// NewSet gives an empty set for positions below size.
func NewSet(size int) Set { return make(Set, (size+63)/64) }

// Has tells whether a position is in the set.
func (s Set) Has(position int32) bool { return s[position/64]>>(position%64)&1 == 1 }

// Intersect keeps what is in both sets.
func (s Set) Intersect(other Set) {
	for i := range s {
		s[i] &= other[i]
	}
}

// Count is the number of positions in the set.
func (s Set) Count() (n int64) {
	for _, word := range s {
		n += int64(bits.OnesCount64(word))
	}
	return n
}
