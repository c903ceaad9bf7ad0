package index

import (
	"fmt"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	t.Parallel()
	texts := []string{"ana\ncovic", "", "a", "aa", "covic\nana", "b\n\n", "xana"}
	var l lines
	for _, text := range texts {
		l.add(text)
	}
	for position, text := range texts {
		if got := l.at(position); got != text {
			t.Errorf("at %d: %q, not %q", position, got, text)
		}
	}
	for _, term := range []string{"", "a", "aa", "ana", "covic", "x", "b", "zz"} {
		checkFound(t, &l, texts, term)
	}
}

func checkFound(t *testing.T, l *lines, texts []string, term string) {
	t.Helper()
	found := newSet(len(texts))
	l.find(term, found)
	count := int64(0)
	for position, text := range texts {
		want := strings.Contains(text, term)
		if want {
			count++
		}
		if found.has(position) != want {
			t.Errorf("%q in %q: %t", term, text, !want)
		}
	}
	if found.count() != count {
		t.Errorf("%q is found %d times, not %d", term, found.count(), count)
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	var l lines
	for i := range 200 {
		l.add(fmt.Sprint(i))
	}
	found := newSet(200)
	l.find("1", found)
	found.filter(func(position int) bool { return strings.Contains(l.at(position), "7") })
	if found.count() != 21 || !found.has(17) || !found.has(171) || found.has(7) || found.has(100) {
		t.Errorf("%d numbers have both digits: %x", found.count(), found)
	}
}
