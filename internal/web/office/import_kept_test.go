package office

import (
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/web/upload"
)

func TestKeptLists(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	u := newKeptLists()
	u.now = func() time.Time { return now }
	first := u.add(&keptList{tenant: 1, name: "people.csv", file: upload.FromText(1, "a")})
	if got := u.find(1, first.token); got != first || got.name != "people.csv" || len(got.token) < 20 {
		t.Errorf("the list is %+v", got)
	}
	if u.find(2, first.token) != nil || u.find(1, "") != nil || u.find(1, first.token+"x") != nil {
		t.Error("another department or token finds a list")
	}
	now = now.Add(keptFor - 1)
	second := u.add(&keptList{tenant: 1, file: upload.FromText(1, "")})
	if u.find(1, first.token) == nil {
		t.Error("a list goes too early")
	}
	now = now.Add(1)
	if u.find(1, first.token) != nil || u.find(1, second.token) == nil || len(u.all) != 1 {
		t.Error("an old list stays, or a new one goes")
	}
}

func TestKeptListsAreBounded(t *testing.T) {
	t.Parallel()
	large, many := newKeptLists(), newKeptLists()
	first, small := large.add(&keptList{tenant: 1, file: upload.FromText(1, strings.Repeat("x", 10<<20))}), many.add(&keptList{tenant: 1, file: upload.FromText(1, "")})
	for range 3 {
		large.add(&keptList{tenant: 1, file: upload.FromText(1, strings.Repeat("x", 10<<20))})
	}
	for range mostKept - 1 {
		many.add(&keptList{tenant: 1, file: upload.FromText(1, "")})
	}
	if large.find(1, first.token) == nil || many.find(1, small.token) == nil {
		t.Error("a list goes that has room")
	}
	large.add(&keptList{tenant: 1, file: upload.FromText(1, "x")})
	many.add(&keptList{tenant: 1, file: upload.FromText(1, "")})
	if large.find(1, first.token) != nil || len(large.all) != 4 || many.find(1, small.token) != nil || len(many.all) != mostKept {
		t.Errorf("%d and %d lists are kept", len(large.all), len(many.all))
	}
}

// TestKeptListsAreFair: the lists of a department make room for those of another that
// has fewer.
func TestKeptListsAreFair(t *testing.T) {
	t.Parallel()
	large, many := newKeptLists(), newKeptLists()
	first, small := large.add(&keptList{tenant: 1, file: upload.FromText(1, "a")}), many.add(&keptList{tenant: 1, file: upload.FromText(1, "")})
	for range 9 {
		large.add(&keptList{tenant: 2, file: upload.FromText(2, strings.Repeat("x", 10<<20))})
	}
	for range 2 * mostKept {
		many.add(&keptList{tenant: 2, file: upload.FromText(2, "")})
	}
	if large.find(1, first.token) == nil || many.find(1, small.token) == nil {
		t.Error("the list of another department goes")
	}
}
