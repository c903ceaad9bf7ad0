package httpapi

import "testing"

func TestBound(t *testing.T) {
	t.Parallel()
	b := NewBound(3, 2)
	add := func(owner int64, want bool) {
		t.Helper()
		if got := b.Add(owner); got != want {
			t.Errorf("Add(%d) = %t", owner, got)
		}
	}
	add(1, true)
	add(1, true)
	add(1, false)
	add(2, true)
	add(3, false)
	b.Remove(1)
	add(3, true)
	add(1, false)
	for _, owner := range []int64{1, 2, 3} {
		b.Remove(owner)
	}
	if b.total != 0 || len(b.of) != 0 {
		t.Errorf("total %d, by owner %v", b.total, b.of)
	}
}
