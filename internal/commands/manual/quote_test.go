package manual

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// texts returns texts of characters that have a meaning somewhere. It is the same
// in each run.
func texts() (all []string) {
	signs := []rune("'\"\\$`(){}[]<>;:&|*?!#~^=%@,.-+ \t‘’‚‛čß—aB0")
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var text []rune
		for range 1 + random.IntN(12) {
			text = append(text, signs[random.IntN(len(signs))])
		}
		all = append(all, string(text))
	}
	return all
}

// TestQuotes: a shell reads a text as it was before it was quoted.
func TestQuotes(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(shell)
			if err != nil || runtime.GOOS == "windows" {
				t.Skipf("there is no %s here", shell)
			}
			var script strings.Builder
			for _, text := range texts() {
				script.WriteString("printf '%s\\n' " + quoteShell(text) + "\n")
			}
			home := t.TempDir()
			file := filepath.Join(home, "script")
			if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			c := exec.Command(path, file)
			c.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home)
			out, err := c.Output()
			if want := strings.Join(texts(), "\n") + "\n"; err != nil || string(out) != want {
				t.Errorf("%v\n%s\nwant\n%s", err, out, want)
			}
		})
	}
}

// TestEscape: mandoc shows a text as it was before it was escaped.
func TestEscape(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("mandoc")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no mandoc here")
	}
	var page, want strings.Builder
	page.WriteString(".TH A 1 2026-11-22\n.SH NAME\na \\- b\n.SH B\n.nf\nSTART\n")
	for _, text := range texts() {
		text = "|" + strings.Join(strings.Fields(text), "")
		page.WriteString(protect(escape(text[1:]+text)) + "\n")
		want.WriteString(text[1:] + text + "\n")
	}
	show := exec.Command(path, "-Tutf8", "-Owidth=200")
	show.Stdin = strings.NewReader(page.String())
	out, err := show.Output()
	_, shown, _ := strings.Cut(string(out), "START\n")
	if got := strings.Join(strings.Fields(shown), "\n") + "\n"; err != nil || !strings.HasPrefix(got, want.String()) {
		for i, line := range strings.Split(want.String(), "\n") {
			if lines := strings.Split(got, "\n"); i >= len(lines) || lines[i] != line {
				t.Fatalf("%v: %s is shown as %s", err, line, lines[min(i, len(lines)-1)])
			}
		}
	}
}
