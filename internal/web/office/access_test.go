package office

import (
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestRoutes: the page is for those who manage access, and only they may post to
// it.
func TestRoutes(t *testing.T) {
	t.Parallel()
	routes := Routes()
	if len(routes) != 4 {
		t.Errorf("there are %d routes", len(routes))
	}
	for pattern, route := range routes {
		method, address, _ := strings.Cut(pattern, " ")
		if route.Scope != store.ScopeAdmin || route.Handle == nil || (method == "GET") != (address == "/office/access") {
			t.Errorf("%s: %+v", pattern, route)
		}
	}
}
