package lists

import (
	"regexp"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestRoutesOfLists checks that read-only keys can export and compare, and that all other routes
// require the scope write.
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
			t.Errorf("%s: got %+v, want scope %s", pattern, route, want)
		}
	}
	if found != 12 {
		t.Errorf("got %d routes, want 12", found)
	}
}
