package cli

import (
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

// TestLicences checks that go.mod has every module in Licences. The test of .ci/licences also checks
// the reverse.
func TestLicences(t *testing.T) {
	t.Parallel()
	wanted, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?m)(\S+\.\S+/\S+ v\d\S*?)(,.*)?$`).FindAllStringSubmatch(Licences, -1)
	if len(named) < 10 {
		t.Errorf("found only %q", named)
	}
	for _, module := range named {
		if !strings.Contains(string(wanted), "\t"+module[1]) {
			t.Errorf("go.mod lacks %q. Regenerate the file: go run ./.ci/licences >internal/commands/cli/LICENCES.txt", module[1])
		}
	}
}

func TestReadBuild(t *testing.T) {
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
		if got := buildOf(known, tt.linked).String("3.54.1"); !strings.HasPrefix(got, tt.want) || !strings.Contains(got, "SQLite 3.54.1") {
			t.Errorf("%q with %q: %s, want %s…", tt.module, tt.linked, got, tt.want)
		}
	}
}
