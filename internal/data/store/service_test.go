package store_test

import (
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestTag checks that an entity tag differs for each content and database, and stays when the
// database is reopened.
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
		t.Errorf("the tag changed from %s to %s", tag, got)
	}
}
