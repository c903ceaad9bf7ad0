package store_test

import (
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

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
