package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// changeText returns a change without its time: action, id, key, label, and the record before it.
func changeText(ch store.Entry) string {
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
		got = append(got, changeText(ch))
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got:\n%s\nwant:\n%s", g, w)
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
				t.Errorf("change %d: %q, want %q", i, got, want[i])
			}
		}
	}
	check("-", "Ana Čović, 091 234 5678, ana@example.com, 1990-05-15", "Eva B, x@x.hr, (damaged)")
	exec(t, s, `UPDATE changes SET before = '{"id' WHERE action = 'delete'`) // damage by the disk
	check("-", "Ana Čović, 091 234 5678, ana@example.com, 1990-05-15", "(damaged)")
	if before := string(history(t, s, ours, "")[2].Before); before != `"{\"id"` {
		t.Errorf("the damaged text is %s", before)
	}
}
