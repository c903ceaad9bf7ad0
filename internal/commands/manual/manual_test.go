package manual_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/manual"
)

// nasty is a text that no shell and no roff may read as anything but a text.
const nasty = `it's "so" $(touch injected) ${HOME} \n [a:b] %d; # <x> ’ ` + "`touch injected`"

const help = "Usage: firefighters door lift FILE [flags]\n\nLifts: " + nasty + "\n.not a request\n'nor this\n\n" +
	"  firefighters door lift a.txt \\\n\nEach has more to say: lift --help\n\nFlags:\n"

func lift(env cli.Env, args []string) error {
	flags := env.Flags("door lift", help)
	flags.String("far", "read", "read, write or admin")
	flags.StringP("output", "o", "", "the `file` to write")
	flags.String("into", "", "a `folder`")
	flags.StringSlice("name", nil, nasty)
	flags.Bool("fast", false, nasty)
	return env.Parse(flags, args, 1)
}

func shut(env cli.Env, args []string) error {
	flags := env.Flags("shut", "Usage: firefighters shut up|down\n\nShuts.\n\n  firefighters shut up\n")
	return env.Parse(flags, args, 1)
}

// doors is a program with commands of all kinds.
func doors() cli.Program {
	return cli.Program{Default: "shut", Help: "Usage: firefighters [command]\n\nMoves doors. And more.\n\nCommands:\n  door  " + nasty + "\n\nEach has more to say: firefighters door --help\n",
		Commands: append(manual.Commands{Program: doors}.Table(),
			cli.Command{Name: "door", Summary: nasty, Help: "Usage: firefighters door lift\n\nMoves one.\n", Sub: []cli.Command{{Name: "lift", Run: lift}}},
			cli.Command{Name: "shut", Summary: "shuts all", Run: shut})}
}

// run runs one of the commands, which must succeed.
func run(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr strings.Builder
	err := doors().Run(cli.Env{Context: t.Context(), Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr}, args)
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%q: %v, stderr %q", args, err, &stderr)
	}
	return stdout.String()
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ args, want string }{
		{"completion", "completion: say for which shell: bash or zsh"},
		{"completion tcsh", `completion: the shell must be bash or zsh, not "tcsh"`},
		{"completion ../scripts/bash", `completion: the shell must be bash or zsh, not "../scripts/bash"`},
		{"completion .", `completion: the shell must be bash or zsh, not "."`},
		{"man stray", `man: it takes no argument, but there is "stray"`},
	} {
		var stdout strings.Builder
		err := doors().Run(cli.Env{Context: t.Context(), Stdout: &stdout}, strings.Fields(tt.args))
		if _, usage := errors.AsType[*cli.UsageError](err); !usage || err.Error() != tt.want || stdout.Len() > 0 {
			t.Errorf("%s: %v, stdout %q", tt.args, err, &stdout)
		}
	}
}

// TestPage: each command and each flag has its place, and no text does anything.
func TestPage(t *testing.T) {
	t.Parallel()
	page := run(t, "man")
	if again := run(t, "man"); again != page {
		t.Error("the page differs the second time")
	}
	for _, want := range []string{"\nfirefighters \\- moves doors\n", "\n.SS \"firefighters door lift\"\n", "\n.SS \"firefighters man\"\n",
		"\n\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIfile\\fR\nthe file to write\n", "\nread, write or admin (default read)\n",
		"\n.B FIREFIGHTERS_FAST\n\\-\\-fast of door lift.\n", "\n\\&.not a request\n\\(aqnor this\n", "\nfirefighters door lift a.txt \\e\n", "\\[u2019]"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "more to say") || strings.ContainsFunc(page, func(r rune) bool { return r > '~' }) {
		t.Errorf("the page:\n%s", page)
	}
	path := write(t, t.TempDir(), "firefighters.1", page)
	if out := shell(t, ".", "mandoc", "-Tlint", "-Wwarning", path); out != "" {
		t.Errorf("mandoc says:\n%s", out)
	}
	plain := strings.Join(strings.Fields(shell(t, ".", "mandoc", "-Tutf8", "-Owidth=200", path)), " ")
	if !strings.Contains(plain, strings.Join(strings.Fields(nasty), " ")) {
		t.Errorf("a text has changed:\n%s", plain)
	}
}

func write(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// shell runs a program in a folder and returns what it prints. Where it is not
// installed, it skips the test: .ci/run installs it.
func shell(t *testing.T, folder, program string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil || runtime.GOOS == "windows" {
		t.Skipf("there is no %s here", program)
	}
	locale := "C.UTF-8"
	if runtime.GOOS == "darwin" {
		locale = "en_US.UTF-8"
	}
	c := exec.CommandContext(t.Context(), program, args...)
	c.Dir = folder
	c.Env = append(os.Environ(), "HOME="+folder, "XDG_CONFIG_HOME="+folder, "XDG_DATA_HOME="+folder, "XDG_CACHE_HOME="+folder, "TERM=dumb", "LC_ALL="+locale)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
	return string(out)
}

// line is a command line, and what a shell must offer at its end. FILES stands
// for the files of the folder, and FOLDERS for its folders.
type line struct{ typed, offers string }

var lines = []line{
	{"firefighters ", "completion door man shut"},
	{"firefighters d", "door"},
	{"firefighters -", "--help --version"},
	{"firefighters door ", "lift"},
	{"firefighters help door ", "lift"},
	{"firefighters door lift ", "FILES"},
	{"firefighters door lift --f", "--far --fast"},
	{"firefighters door lift --fast --n", "--name"},
	{"firefighters door lift --far ", "admin read write"},
	{"firefighters door lift --far w", "write"},
	{"firefighters door lift --output ", "FILES"},
	{"firefighters door lift -o ", "FILES"},
	{"firefighters door lift --into ", "FOLDERS"},
	{"firefighters door lift --name ", ""},
	{"firefighters shut ", "down up"},
	{"firefighters completion z", "zsh"},
	{"firefighters man ", ""},
	{"firefighters unknown ", ""},
}

// folder has the script of a shell, and files with names that must be quoted.
func folder(t *testing.T, name string) (dir, script string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "in", "a folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "in"), "it's $(touch injected).txt", "")
	script = write(t, dir, name, run(t, "completion", name))
	t.Cleanup(func() {
		filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
			if filepath.Base(path) == "injected" {
				t.Errorf("a text was run: %s", path)
			}
			return nil
		})
	})
	return dir, script
}

// check compares what a shell offers with what it must.
func check(t *testing.T, l line, offers []string) {
	t.Helper()
	slices.Sort(offers)
	if got := strings.Join(slices.Compact(offers), " "); got != l.offers {
		t.Errorf("%q: %q is offered, want %q", l.typed, got, l.offers)
	}
}

// bashDriver calls the function for a line, and prints what bash would offer. Only
// compopt is another: it works in a terminal alone.
const bashDriver = `
set -u
compopt() { for option; do options+=" $option"; done; }
source "$1"
while IFS= read -r typed; do
	read -ra COMP_WORDS <<<"$typed"
	if [[ $typed == *' ' ]]; then COMP_WORDS+=(''); fi
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) options='' COMPREPLY=()
	_firefighters firefighters "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
	printf '%s\n' "$typed"
	for word in ${COMPREPLY[@]+"${COMPREPLY[@]}"}; do
		case $word in -?) ;; *) printf '\t%s\n' "$word" ;; esac
	done
	case $options in
	*dirnames*) printf '\tFOLDERS\n' ;;
	*+o\ default*) ;;
	*) if [[ ${#COMPREPLY[@]} == 0 ]]; then printf '\tFILES\n'; fi ;;
	esac
done <"$2"
`

// offered returns what a driver printed: each line and, indented, its offers.
func offered(printed string) map[string][]string {
	all, at := map[string][]string{}, ""
	for l := range strings.Lines(printed) {
		l = strings.TrimRight(l, "\r\n")
		if offer, ok := strings.CutPrefix(l, "\t"); ok {
			all[at] = append(all[at], offer)
		} else {
			at, all[l] = l, []string{}
		}
	}
	return all
}

func typedLines() string {
	var all strings.Builder
	for _, l := range lines {
		all.WriteString(l.typed + "\n")
	}
	return all.String()
}

func TestBash(t *testing.T) {
	t.Parallel()
	dir, script := folder(t, "bash")
	in := filepath.Join(dir, "in")
	all := offered(shell(t, in, "bash", "--norc", "-c", bashDriver, "-", script, write(t, dir, "lines", typedLines())))
	for _, l := range lines {
		check(t, l, all[l.typed])
	}
	const equals = `source "$1"; COMP_WORDS=(firefighters door lift --far = r) COMP_CWORD=5; _firefighters; printf '%s,' "${COMPREPLY[@]}"
		COMP_WORDS=(firefighters door lift --far =) COMP_CWORD=4; _firefighters; printf '%s,' "${COMPREPLY[@]}"`
	if got := shell(t, in, "bash", "--norc", "-c", equals, "-", script); got != "read,read,write,admin," {
		t.Errorf("after --far=r and --far=: %q", got)
	}
}
