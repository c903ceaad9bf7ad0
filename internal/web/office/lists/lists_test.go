package lists

import (
	"regexp"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestRoutesOfLists: who may only read can export and compare, and changes nothing.
func TestRoutesOfLists(t *testing.T) {
	t.Parallel()
	lists := regexp.MustCompile(`^[A-Z]+ /office/(import|imports|export|compare)(/|$)`)
	reads := regexp.MustCompile(`^(GET /office/(imports|export|export/file|compare)|POST /office/compare(/report)?)$`)
	found := 0
	for pattern, route := range Room().Routes {
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
