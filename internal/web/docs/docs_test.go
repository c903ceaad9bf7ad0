package docs

import (
	"bytes"
	"compress/gzip"
	"io"
	"regexp"
	"strings"
	"testing"
)

// TestFiles: each file can be unpacked, the page names all others and nothing elsewhere, and
// has no script or style within it, which the policy forbids.
func TestFiles(t *testing.T) {
	t.Parallel()
	for _, f := range Files() {
		z, err := gzip.NewReader(bytes.NewReader(f.Packed))
		if err != nil {
			t.Fatalf("%s: %v", f.Path, err)
		}
		if text, err := io.ReadAll(z); err != nil || len(text) == 0 {
			t.Errorf("%s: %d bytes, %v", f.Path, len(text), err)
		}
		if f.Path != Path && !strings.Contains(string(page), `"`+strings.TrimPrefix(f.Path, "/")+`"`) {
			t.Errorf("the page does not name %s", f.Path)
		}
	}
	if bad := regexp.MustCompile(`//|<style|<script>|style=|\son\w+=`).Find(page); bad != nil {
		t.Errorf("the page has %q", bad)
	}
	if strings.Contains(Policy, "unsafe") {
		t.Error(Policy)
	}
}
