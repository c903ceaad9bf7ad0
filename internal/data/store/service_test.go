package store_test

import "testing"

// TestService: two databases have different histories. The address is what was
// set last.
func TestService(t *testing.T) {
	t.Parallel()
	s, other := newStore(t), newStore(t)
	a, err := s.HistoryID()
	must(t, err)
	b, err := other.HistoryID()
	must(t, err)
	if a == 0 || a == b {
		t.Errorf("the histories are %d and %d", a, b)
	}
	for i, want := range []string{"", "http://127.0.0.1:8080", ""} {
		if i > 0 {
			must(t, s.SetAddress(want))
		}
		if got, err := s.Address(); got != want || err != nil {
			t.Errorf("the address is %q, %v", got, err)
		}
	}
}
