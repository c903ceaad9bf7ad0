package lines

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	texts := []string{"ana\ncovic", "", "a", "aa", "covic\nana", "b\n\n", "xana"}
	var l Lines
	l.Grow(len(texts), 10)
	for _, text := range texts {
		l.Add(text)
	}
	for position, text := range texts {
		if got := l.At(position); got != text {
			t.Errorf("at %d: %q, not %q", position, got, text)
		}
	}
	for _, term := range []string{"", "a", "aa", "ana", "covic", "x", "c\na", "b", "zz"} {
		found := NewSet(len(texts))
		if !strings.Contains(term, "\n") {
			checkFound(t, &l, texts, term, found)
		}
	}
}

func checkFound(t *testing.T, l *Lines, texts []string, term string, found Set) {
	t.Helper()
	l.Find(term, found)
	count := int64(0)
	for position, text := range texts {
		want := strings.Contains(text, term)
		if want {
			count++
		}
		if found.Has(int32(position)) != want {
			t.Errorf("%q in %q: %t", term, text, !want)
		}
	}
	if found.Count() != count {
		t.Errorf("%q is found %d times, not %d", term, found.Count(), count)
	}
}

func TestIntersect(t *testing.T) {
	var l Lines
	for i := range 200 {
		l.Add(fmt.Sprint(i))
	}
	found, sevens := NewSet(200), NewSet(200)
	l.Find("1", found)
	l.Find("7", sevens)
	if found.Intersect(sevens); found.Count() != 21 || !found.Has(17) || !found.Has(171) || found.Has(7) || found.Has(100) {
		t.Errorf("%d numbers have both digits: %x", found.Count(), found)
	}
}

func BenchmarkFind(b *testing.B) {
	var l Lines
	for range 17_000 {
		l.Add(fmt.Sprintf("ana\ncovic%d\nana.covic%d@example.com\n091 234 5678", rand.IntN(1000), rand.IntN(1000)))
	}
	for _, term := range []string{"a", "zz", "covic77", "@"} {
		b.Run(term, func(b *testing.B) {
			for b.Loop() {
				l.Find(term, NewSet(17_000))
			}
		})
	}
}
