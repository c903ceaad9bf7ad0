package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStartAsTyped checks that every relative spelling of a path names the same database, before and
// after it is created.
func TestStartAsTyped(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{
		"no flag":              nil,
		"name":                 {"--db", "x.db"},
		"dot":                  {"--db", "./x.db"},
		"two slashes":          {"--db", "sub//x.db"},
		"parent":               {"--db", "sub/../x.db"},
		"linked folder":        {"--db", "link/x.db"},
		"parent of the link":   {"--db", "link/../x.db"},
		"link to nothing yet":  {"--db", "later.db"},
		"linked folder, again": {"--db", "link/./later.db"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must(t, os.MkdirAll(filepath.Join(dir, "sub", "inner"), 0o700))
			link(t, filepath.Join("sub", "inner"), filepath.Join(dir, "link"))
			link(t, filepath.Join("sub", "later-real.db"), filepath.Join(dir, "later.db"))
			link(t, filepath.Join("..", "x.db"), filepath.Join(dir, "sub", "inner", "later.db"))
			for range 2 {
				cmd, output := process(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...)...)
				cmd.Dir = dir
				keepsServing(t, startedProcess(t, cmd))
				must(t, interrupt(cmd.Process))
				if err := cmd.Wait(); err != nil {
					t.Errorf("%v: %s", err, output)
				}
			}
			filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
				if strings.Contains(path, ".saved-") {
					t.Errorf("a copy was saved: %s", path)
				}
				return nil
			})
		})
	}
}

// TestDemoLinkedTemporary checks a demo with a temporary folder behind a link, like on macOS.
func TestDemoLinkedTemporary(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	temporary := filepath.Join(dir, "link")
	link(t, t.TempDir(), temporary)
	cmd, output := process(t, "demo", "--listen", "127.0.0.1:0")
	cmd.Env = append(cmd.Env, "TMPDIR="+temporary, "TMP="+temporary, "TEMP="+temporary)
	keepsServing(t, startedProcess(t, cmd))
	must(t, interrupt(cmd.Process))
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, output)
	}
}

// link creates a symbolic link. It skips the test if the system does not allow this.
func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("this user cannot create links: %v", err)
	}
}

// keepsServing checks that the service still answers after it has checked its files several times.
func keepsServing(t *testing.T, c client) {
	t.Helper()
	time.Sleep(time.Second)
	c.do(t, "GET", "/readyz", "").wants(t, 200)
}
