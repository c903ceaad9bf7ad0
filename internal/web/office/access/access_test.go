package access

import (
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestRoutesOfAccess checks that all routes of access require the scope admin.
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
		t.Errorf("%d routes, want 4", found)
	}
}
