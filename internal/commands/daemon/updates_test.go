package daemon

import "testing"

func TestIsNewer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		released, own string
		want          bool
	}{
		{"1.2.0", "1.1.9", true}, {"1.2.0", "1.2.0", false}, {"1.2.0", "1.10.0", false}, {"1.10.0", "1.9.9", true}, {"2.0.0", "10.0.0", false},
		{"1.2.0", "1.2.0-rc.1", true}, {"1.2.0", "1.2.1-0.20261120093000-0123456789ab", false}, {"1.2.0", "1.2.0+dirty", false},
		{"1.2.0", "devel", true}, {"0.1.0", "0.0.0-20261120093000-0123456789ab+dirty", true},
		{"latest", "1.0.0", false}, {"", "devel", false}, {"1.2.0-rc.1", "1.0.0", false}, {"1.2.0\nx", "1.0.0", false},
	} {
		if got := isNewer(tt.released, tt.own); got != tt.want {
			t.Errorf("%q newer than %q: %v", tt.released, tt.own, got)
		}
	}
}

// TestReleases: the flag is a switch, or names another page.
func TestReleases(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"true": "true", "1": "true", "false": "false", "http://127.0.0.1:8/latest": "http://127.0.0.1:8/latest", latestRelease: "true",
		"": "refused", "yes": "refused", "ftp://example.org/": "refused", "https://": "refused", "https://me:secret@example.org/": "refused"} {
		r := releases("")
		got := "refused"
		if r.Set(text) == nil {
			got = r.String()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
