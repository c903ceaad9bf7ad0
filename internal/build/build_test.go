package build

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	vcs := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.time", Value: "2026-11-20T09:30:00Z"}, {Key: "vcs.modified", Value: "true"}}
	for _, tt := range []struct {
		module, linked string
		settings       []debug.BuildSetting
		want           string
	}{
		{"v1.2.0", "", nil, "firefighters 1.2.0 (go"},
		{"(devel)", "", nil, "firefighters devel (go"},
		{"", "", nil, "firefighters devel (go"},
		{"v0.0.0-20261120093000-0123456789ab", "2.0.0", vcs, "firefighters 2.0.0 (commit 0123456789ab with changes, 2026-11-20T09:30:00Z, go"},
	} {
		known := &debug.BuildInfo{Main: debug.Module{Version: tt.module}, Settings: tt.settings}
		if got := read(known, tt.linked).String("3.54.1"); !strings.HasPrefix(got, tt.want) || !strings.Contains(got, "SQLite 3.54.1") {
			t.Errorf("%q with %q: %s, not %s…", tt.module, tt.linked, got, tt.want)
		}
	}
}
