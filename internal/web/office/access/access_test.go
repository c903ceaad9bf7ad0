package access

import (
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestRoutesOfAccess: the page is for those who manage access, and only they may post
// to it.
func TestRoutesOfAccess(t *testing.T) {
	t.Parallel()
	found := 0
	for pattern, route := range Room(true).Routes {
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
