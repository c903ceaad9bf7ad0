package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// told returns what a change says but for its time: action, id, key and label,
// and the record before.
func told(ch store.Entry) string {
	by := "a command"
	if ch.Key != nil {
		by = fmt.Sprintf("key %d", *ch.Key)
	}
	if ch.Label != nil {
		by += " " + *ch.Label
	}
	return strings.Join([]string{ch.Action, ch.ID, by, string(ch.Before)}, " | ")
}

func checkHistory(t *testing.T, changes []store.Entry, want ...string) {
	t.Helper()
	var got []string
	for _, ch := range changes {
		got = append(got, told(ch))
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got:\n%s\nwant:\n%s", g, w)
	}
}

// TestHistory: each action, by which key, and the record as the API had it
// before.
func TestHistory(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	desk, plain := newKey(t, s, "Engine 7", `front "desk" <2>`), newKey(t, s, "Engine 7", "")
	json := func(f record.Firefighter) string { return string(f.AppendJSON(nil)) }

	f, err := s.Create(ours, desk, record.Fields{FirstName: "Ana \"<&>\u2028", LastName: "Čović\\", DateOfBirth: "1990-05-15"}, nil)
	must(t, err)
	first := json(f)
	_, err = s.Replace(ours, plain, f.ID, ana, asIs)
	must(t, err)
	exec(t, s, `UPDATE firefighters SET invitation_status = 'sent', user_id = ?`, nobody)
	f, err = s.Get(ours, f.ID)
	must(t, err)
	second := json(f)
	must(t, s.Delete(ours, desk, f.ID, asIs))
	must(t, s.Undelete(ours, 0, []string{f.ID}))
	must(t, s.Delete(ours, plain, f.ID, asIs))
	other, err := s.Create(ours, plain, eva, nil)
	must(t, err)
	create(t, s, theirs, ana)

	want := []string{
		"create | " + f.ID + ` | key 1 front "desk" <2> | `,
		"replace | " + f.ID + " | key 2  | " + first,
		"delete | " + f.ID + ` | key 1 front "desk" <2> | ` + second,
		"undelete | " + f.ID + " | a command | ",
		"delete | " + f.ID + " | key 2  | " + second,
		"create | " + other.ID + " | key 2  | ",
	}
	checkHistory(t, history(t, s, ours, ""), want...)
	checkHistory(t, history(t, s, ours, f.ID), want[:5]...)
	checkHistory(t, history(t, s, ours, nobody))
	checkHistory(t, history(t, s, theirs, f.ID))
	exec(t, s, `DELETE FROM keys WHERE id = 2`)
	checkHistory(t, history(t, s, ours, other.ID), "create | "+other.ID+" | key 2 | ")
}

func TestHistorySince(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(2e12)
	s := newStoreAt(t, func() time.Time { return now })
	for range 5 {
		create(t, s, ours, ana)
		now = now.Add(time.Hour)
	}
	began := time.UnixMilli(2e12)
	for since, want := range map[time.Time]int{
		time.UnixMilli(0):           5,
		began:                       5,
		began.Add(time.Millisecond): 4,
		began.Add(3 * time.Hour):    2,
		began.Add(4*time.Hour + time.Millisecond):             0,
		began.In(time.FixedZone("", 3600)).Add(2 * time.Hour): 3,
	} {
		n := 0
		must(t, s.History(ours, "", since, func(ch store.Entry) { n++ }))
		if n != want {
			t.Errorf("since %v: %d changes, not %d", since, n, want)
		}
	}
	if at := history(t, s, ours, "")[1].At; at != "2033-05-18T04:33:20.000Z" {
		t.Errorf("the time is %s", at)
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f := create(t, s, ours, ana)
	_, err := s.Replace(ours, 0, f.ID, eva, asIs)
	must(t, err)
	exec(t, s, `UPDATE firefighters SET email = 'x@x.hr', email_key = 'x@x.hr'`)
	must(t, s.Delete(ours, 0, f.ID, asIs))
	check := func(want ...string) {
		t.Helper()
		for i, ch := range history(t, s, ours, "") {
			if got := ch.Summary(); got != want[i] {
				t.Errorf("change %d: %q, not %q", i, got, want[i])
			}
		}
	}
	check("-", "Ana Čović, 091 234 5678, ana@example.com, 1990-05-15T00:00:00Z", "Eva B, x@x.hr, (damaged)")
	exec(t, s, `UPDATE changes SET before = '{"id' WHERE action = 'delete'`) // as a damaged disk does
	check("-", "Ana Čović, 091 234 5678, ana@example.com, 1990-05-15T00:00:00Z", "(damaged)")
	if before := string(history(t, s, ours, "")[2].Before); before != `"{\"id"` {
		t.Errorf("the damaged text is %s", before)
	}
}
