package store_test

import (
	"encoding/base64"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func changes(t *testing.T, s *store.Store, tenant record.TenantID, after string, limit int) store.Feed {
	t.Helper()
	feed, err := s.Changes(tenant, after, limit)
	must(t, err)
	return feed
}

// feedText returns the action, id and last name of each item.
func feedText(feed store.Feed) string {
	var lines []string
	for _, item := range feed.Items {
		name := "-"
		if item.Record != nil {
			name = item.Record.LastName
		}
		lines = append(lines, item.Action+" "+item.ID[32:]+" "+name)
	}
	return strings.Join(lines, ", ")
}

// TestPosition checks that Changes rejects positions of another history, another department, and
// invalid ones.
func TestPosition(t *testing.T) {
	t.Parallel()
	s, other := newStore(t), newStore(t)
	create(t, s, ours, ana)
	create(t, other, ours, ana)
	own, others := changes(t, s, ours, "", 1).Next, changes(t, other, ours, "", 1).Next
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{22}$`).MatchString(own) {
		t.Errorf("the position is %q", own)
	}
	bits, err := base64.RawURLEncoding.DecodeString(own)
	must(t, err)
	invalid := []string{others, changes(t, s, theirs, "", 1).Next, "0", "1", own + "A", own[:21], own + "=", " " + own, "\n" + own, own[:9] + "\r\n" + own[9:], "%", strings.Repeat("A", 22), strings.Repeat("A", 1<<16)}
	for i := range bits {
		bits[i] ^= 1
		invalid = append(invalid, base64.RawURLEncoding.EncodeToString(bits))
		bits[i] ^= 1
	}
	for _, position := range invalid {
		if feed, err := s.Changes(ours, position, 1); !errors.Is(err, store.ErrPosition) || feed.Next != "" || feed.Items != nil {
			t.Errorf("%.40q: %+v, %v", position, feed, err)
		}
	}
	changes(t, s, ours, own, 1)
	must(t, s.RenewHistory()) // as a restore does
	if _, err := s.Changes(ours, own, 1); !errors.Is(err, store.ErrPosition) {
		t.Errorf("after a restore: %v", err)
	}
	if _, err := s.Changes(99, "", 1); !errors.Is(err, store.ErrRemoved) {
		t.Errorf("an unknown department: %v", err)
	}
}

// TestDamagedChange checks that a damaged record blocks the feed until it is replaced or deleted.
func TestDamagedChange(t *testing.T) {
	t.Parallel()
	for what, repair := range map[string]func(s *store.Store, id string) error{
		"replace": func(s *store.Store, id string) error { _, err := s.Replace(ours, 0, id, eva, asIs); return err },
		"delete":  func(s *store.Store, id string) error { return s.Delete(ours, 0, id, asIs) },
	} {
		s := newStore(t)
		create(t, s, ours, ana)
		f := create(t, s, ours, ana)
		first := changes(t, s, ours, "", 1)
		exec(t, s, `UPDATE firefighters SET last_name = 'X' WHERE id = ?`, f.ID)
		_, err := s.Changes(ours, first.Next, 1)
		if damaged, ok := errors.AsType[*record.DamagedError](err); !ok || damaged.ID != f.ID {
			t.Errorf("%v", err)
		}
		must(t, repair(s, f.ID))
		if feed := changes(t, s, ours, first.Next, 10); len(feed.Items) != 2 || feed.Items[1].Action != what || (feed.Items[1].Record == nil) != (what == "delete") {
			t.Errorf("%s: %s", what, feedText(feed))
		}
	}
}
