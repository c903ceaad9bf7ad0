package index

import (
	"math"
	"math/bits"
	"slices"
	"strings"
)

// lines holds many short texts in a single string, each followed by a newline, so that one search
// finds a term in all of them. The zero value is empty. It must not be copied.
type lines struct {
	text strings.Builder
	ends []int32
}

// grow reserves space for count more texts of size bytes in total.
func (l *lines) grow(count, size int) {
	l.text.Grow(count + size)
	l.ends = slices.Grow(l.ends, count)
}

func (l *lines) add(text string) {
	l.text.WriteString(text)
	l.text.WriteByte('\n')
	l.ends = append(l.ends, int32(l.text.Len()))
}

// at returns the text at a position, counted from 0, without copying it.
func (l *lines) at(position int) string {
	start := int32(0)
	if position > 0 {
		start = l.ends[position-1]
	}
	return l.text.String()[start : l.ends[position]-1]
}

// size returns the number of bytes that the texts use in memory.
func (l *lines) size() int { return l.text.Cap() + 4*cap(l.ends) }

// find adds the positions of the texts that contain term to found. The term must not contain a
// newline.
func (l *lines) find(term string, found set) {
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

// set is a set of positions, with one bit for each.
type set []uint64

func newSet(size int) set { return make(set, (size+63)/64) }

// newFullSet returns a set of all positions below size.
func newFullSet(size int) set {
	s := newSet(size)
	for i := range s {
		s[i] = math.MaxUint64
	}
	if size%64 > 0 {
		s[len(s)-1] = 1<<(size%64) - 1
	}
	return s
}

func (s set) has(position int) bool { return s[position/64]>>(position%64)&1 == 1 }

// add adds the positions of another set of the same size.
func (s set) add(other set) {
	for i, word := range other {
		s[i] |= word
	}
}

// keep removes the positions that are not in another set of the same size.
func (s set) keep(other set) {
	for i, word := range other {
		s[i] &= word
	}
}

// filter removes the positions for which keep returns false.
func (s set) filter(keep func(position int) bool) {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			bit := bits.TrailingZeros64(word)
			if !keep(64*i + bit) {
				s[i] &^= 1 << bit
			}
		}
	}
}

func (s set) count() (n int64) {
	for _, word := range s {
		n += int64(bits.OnesCount64(word))
	}
	return n
}
