package office

import (
	"regexp"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestRoutesOfLists: who may only read can export and compare, and changes nothing.
func TestRoutesOfLists(t *testing.T) {
	t.Parallel()
	lists := regexp.MustCompile(`^[A-Z]+ /office/(import|imports|export|compare)(/|$)`)
	reads := regexp.MustCompile(`^(GET /office/(imports|export|export/file|compare)|POST /office/compare(/report)?)$`)
	found := 0
	for pattern, route := range routes(true) {
		if !lists.MatchString(pattern) {
			continue
		}
		found++
		want := store.ScopeWrite
		if reads.MatchString(pattern) {
			want = store.ScopeRead
		}
		if route.Scope != want || route.Handle == nil {
			t.Errorf("%s: %+v", pattern, route)
		}
	}
	if found != 11 {
		t.Errorf("there are %d routes", found)
	}
}

// TestRoutesOfAccess: the page is for those who manage access, and only they may post
// to it.
func TestRoutesOfAccess(t *testing.T) {
	t.Parallel()
	found := 0
	for pattern, route := range routes(true) {
		method, address, _ := strings.Cut(pattern, " ")
		if !strings.HasPrefix(address, accessPath) {
			continue
		}
		found++
		if route.Scope != store.ScopeAdmin || route.Handle == nil || (method == "GET") != (address == "/office/access") {
			t.Errorf("%s: %+v", pattern, route)
		}
	}
	if found != 4 {
		t.Errorf("there are %d routes", found)
	}
}
