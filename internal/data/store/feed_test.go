package store_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func changes(t *testing.T, s *store.Store, tenant record.TenantID, after string, limit int) store.Feed {
	t.Helper()
	feed, err := s.Changes(tenant, after, limit)
	must(t, err)
	return feed
}

// feedText returns what the items of a feed say: action, id and last name.
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

// TestChanges: a record is as it is now, and only the department's own count.
func TestChanges(t *testing.T) {
	t.Parallel()
	now := noon
	s := newStoreAt(t, func() time.Time { now = now.Add(time.Second); return now })
	empty := changes(t, s, ours, "", 10)
	if empty.Items != nil || empty.More || empty.Next == "" {
		t.Errorf("of nothing: %+v", empty)
	}
	a := create(t, s, ours, eva)
	create(t, s, theirs, eva)
	a = replace(t, s, ours, a.ID, ana)
	b := createDeleted(t, s, ours, eva)
	must(t, s.Undelete(ours, 0, []string{b.ID}))
	must(t, s.Delete(ours, 0, b.ID, asIs))
	x, y := a.ID[32:], b.ID[32:]
	want := fmt.Sprintf("create %[1]s Čović, replace %[1]s Čović, create %[2]s -, delete %[2]s -, undelete %[2]s -, delete %[2]s -", x, y)
	for _, after := range []string{"", empty.Next} {
		feed := changes(t, s, ours, after, 10)
		if got := feedText(feed); got != want || feed.More {
			t.Errorf("after %q: %s, not %s", after, got, want)
		}
		if r := feed.Items[0].Record; r == nil || *r != a || feed.Items[0].At.Before(noon) || feed.Items[0].At.Location() != time.UTC {
			t.Errorf("%+v", feed.Items[0])
		}
	}
	two := changes(t, s, ours, "", 2)
	if got := feedText(two); got != fmt.Sprintf("create %[1]s Čović, replace %[1]s Čović", x) || !two.More || two.Next != two.Items[1].Position {
		t.Errorf("two: %s, %+v", got, two)
	}
	rest := changes(t, s, ours, two.Next, 4)
	if len(rest.Items) != 4 || rest.More {
		t.Errorf("the rest: %s", feedText(rest))
	}
	if end := changes(t, s, ours, rest.Next, 4); end.Items != nil || end.More || end.Next != rest.Next {
		t.Errorf("at the end: %+v", end)
	}
	if last := changes(t, s, ours, rest.Items[2].Position, 4); len(last.Items) != 1 || last.Items[0].Action != "delete" {
		t.Errorf("after one of the middle: %s", feedText(last))
	}
	exec(t, s, `UPDATE firefighters SET invitation_status = 'sent'`) // the version moves, and nothing else
	if end := changes(t, s, ours, rest.Next, 4); end.Items != nil || end.More || end.Next == rest.Next {
		t.Errorf("after a direct write: %+v", end)
	}
}

// TestChangesAfterPurge: a program that has read to the end gets the purge of the
// last record, and what is created then.
func TestChangesAfterPurge(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	a, b := createDeleted(t, s, ours, eva), createDeleted(t, s, ours, eva)
	end := changes(t, s, ours, "", 10)
	purge(t, s, ours, a.ID, b.ID)
	c := create(t, s, ours, ana)
	want := fmt.Sprintf("purge %s -, purge %s -, create %s Čović", a.ID[32:], b.ID[32:], c.ID[32:])
	for name, after := range map[string]string{"from the end": end.Next, "from the last": end.Items[3].Position, "from the beginning": ""} {
		if got := feedText(changes(t, s, ours, after, 10)); got != want {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
	}
}

// TestPosition: one of another history, another department or nobody is refused.
func TestPosition(t *testing.T) {
	t.Parallel()
	s, other := newStore(t), newStore(t)
	create(t, s, ours, ana)
	create(t, other, ours, ana)
	own, others := changes(t, s, ours, "", 1).Next, changes(t, other, ours, "", 1).Next
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{32}$`).MatchString(own) {
		t.Errorf("the position is %q", own)
	}
	bits, err := base64.RawURLEncoding.DecodeString(own)
	must(t, err)
	made := []string{others, changes(t, s, theirs, "", 1).Next, "0", "1", own + "A", own[:31], own + "=", " " + own, "\n" + own, own[:9] + "\r\n" + own[9:], "%", strings.Repeat("A", 32), strings.Repeat("A", 1<<16)}
	for i := range bits {
		bits[i] ^= 1
		made = append(made, base64.RawURLEncoding.EncodeToString(bits))
		bits[i] ^= 1
	}
	for _, position := range made {
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
		t.Errorf("of no department: %v", err)
	}
}

// TestDamagedChange: a damaged record stops a program until it is replaced or deleted.
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
