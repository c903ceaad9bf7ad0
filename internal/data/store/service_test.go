package store_test

import (
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestService: two databases have different histories. The address is what was
// set last.
func TestService(t *testing.T) {
	t.Parallel()
	s, other := newStore(t), newStore(t)
	a, b := s.Mark().History, other.Mark().History
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

// TestTag: the tag of a record is another one for each content and each database, and
// stays when the database is opened again.
func TestTag(t *testing.T) {
	t.Parallel()
	s, other := newStore(t), newStore(t)
	content := []byte(`{"dateOfBirth":"1990-05-15T00:00:00Z"}`)
	tag := s.Tag(content)
	if tag == s.Tag([]byte(`{"dateOfBirth":"1990-05-16T00:00:00Z"}`)) || tag == other.Tag(content) || len(tag) != 18 {
		t.Errorf("the tags are %s and %s", tag, other.Tag(content))
	}
	again, err := store.Open(s.DB().Path(), time.Now)
	must(t, err)
	defer again.Close()
	if got := again.Tag(content); got != tag {
		t.Errorf("the tag was %s, and is %s", tag, got)
	}
}
