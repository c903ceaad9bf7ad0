package cli_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

type settings struct {
	flags *pflag.FlagSet
	db    *string
	size  *int
	yes   *bool // is never read from the environment
}

func newFlags(env cli.Env, command string) settings {
	flags := env.Flags(command, "Usage: firefighters lift [flags]\n\nFlags:\n")
	return settings{flags, cli.DBFlag(flags), flags.Int("max-size", 3, "how large"), flags.Bool("yes", false, "do not ask")}
}

const liftHelp = `Usage: firefighters lift [flags]

Flags:
      --db file        the database file (default "firefighters.db")
      --max-size int   how large (default 3)
      --yes            do not ask

These flags may also stand in the environment:
      --db           FIREFIGHTERS_DB
      --max-size     FIREFIGHTERS_MAX_SIZE
`

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		most int
		err  string // "" for success
		hint string // "" for the help
	}{
		{"lift", nil, 0, "", ""},
		{"lift", []string{"a", "b", "--max-size=4"}, cli.AnyNumber, "", ""},
		{"lift", []string{"--mxa-size=4"}, 0, "lift: unknown flag: --mxa-size; did you mean --max-size?", ""},
		{"lift", []string{"--databse", "x"}, 0, "lift: unknown flag: --databse; did you mean --db?", ""},
		{"lift", []string{"-db", "x"}, 0, "lift: unknown shorthand flag: 'd' in -db; did you mean --db?", ""},
		{"lift", []string{"--db", "--yes"}, 0, "lift: --db needs a value, and \"--yes\" looks like a flag", ""},
		{"lift", []string{"--db", "--help"}, 0, "lift: --db needs a value, and \"--help\" looks like a flag", ""},
		{"lift", []string{"--db", "--x"}, 0, "", ""},
		{"lift", []string{"-V"}, 0, "lift: unknown shorthand flag: 'V' in -V; did you mean the version?", "firefighters --version"},
		{"lift", []string{"--max-size"}, 0, "lift: flag needs an argument: --max-size", ""},
		{"lift", []string{"--max-size", "big"}, 0, "lift: --max-size may not be \"big\"", ""},
		{"lift", []string{"--db="}, 0, "lift: --db names no file", ""},
		{"lift", []string{"my x.db", "--max-size=4", "--yes"}, 0, `lift: it takes no argument, but there is "my x.db"`,
			"to name the database: firefighters lift --max-size 4 --yes --db " + cli.Quote("my x.db")},
		{"lift", []string{"x.db", "--db", "y.db"}, 0, `lift: it takes no argument, but there is "x.db"`, ""},
		{"lift", []string{"a\nb"}, 0, `lift: it takes no argument, but there is "a\nb"`, ""},
		{"lift heavy", []string{"a", "b"}, 1, `lift heavy: it takes one argument, but there is also "b"`,
			`put a name of several words in quotes, as "Engine 7": firefighters lift heavy --help`},
		{"lift heavy", []string{"a", "b", "c/d"}, 2, `lift heavy: it takes 2 arguments, but there is also "c/d"`,
			"to name the database: firefighters lift heavy a b --db c/d"},
	} {
		env, stdout, stderr := newEnv(t)
		set := newFlags(env, tt.name)
		want := ""
		if tt.err != "" {
			want = "Error: " + tt.err + "\nTry: " + cmp.Or(tt.hint, "firefighters "+tt.name+" --help") + "\n"
		}
		code := cli.PrintError(env.Parse(set.flags, tt.args, tt.most), env.Stderr)
		if stderr.String() != want || (code == 0) != (want == "") || stdout.Len() > 0 {
			t.Errorf("%s %q: code %d, stdout %q, stderr %q", tt.name, tt.args, code, stdout, stderr)
		}
	}
}

// TestExtraArgument: the hint names the flag that a command has for it.
func TestExtraArgument(t *testing.T) {
	t.Parallel()
	const several = `put a name of several words in quotes, as "Engine 7": firefighters open --help`
	for _, tt := range []struct{ line, hint string }{
		{"Engine", "to name the department: firefighters open --tenant Engine"},
		{"x.db", "to name the database: firefighters open --db x.db"},
		{"8080 --tenant Engine", "to name the port: firefighters open --tenant Engine --listen 127.0.0.1:8080"},
		{"8080 --tenant Engine --listen [::1]:1", several},
		{"x.sqlite --origin a,b --origin c", "to name the database: firefighters open --origin a,b,c --db x.sqlite"},
		{"x.db --new=false --origin a", "to name the database: firefighters open --origin a --db x.db"},
	} {
		env, _, stderr := newEnv(t)
		flags := env.Flags("open", "")
		flags.Bool("new", false, "")
		cli.DBFlag(flags)
		flags.String("tenant", "", "")
		flags.String("listen", "", "")
		flags.StringSlice("origin", nil, "")
		cli.PrintError(env.Parse(flags, strings.Fields(tt.line), 0), env.Stderr)
		if _, hint, _ := strings.Cut(stderr.String(), "\nTry: "); hint != tt.hint+"\n" {
			t.Errorf("%s: stderr %q", tt.line, stderr)
		}
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"-h", "--help"} {
		env, stdout, stderr := newEnv(t)
		err := env.Parse(newFlags(env, "lift").flags, []string{"stray", arg}, 0)
		if err != cli.ErrHelp || stdout.String() != liftHelp || stderr.Len() > 0 {
			t.Errorf("%s: %v, stderr %q, stdout:\n%s", arg, err, stderr, stdout)
		}
	}
	env, stdout, _ := newEnv(t)
	if err := env.Parse(env.Flags("version", "VERSION\n"), []string{"-h"}, 0); err != cli.ErrHelp || stdout.String() != "VERSION\n" {
		t.Errorf("without flags: %v, stdout:\n%s", err, stdout)
	}
}

// lift is a command with these flags.
func lift(env cli.Env, args []string) error { return env.Parse(newFlags(env, "lift").flags, args, 0) }

func TestVariables(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, value, want string }{
		{"FIREFIGHTERS_MAX_SIZE", "5", ""},
		{"FIREFIGHTERS_KEY", "x", ""},
		{"FIREFIGHTERS_NOPE", "1", "Warning: FIREFIGHTERS_NOPE does nothing: there is no flag --nope\n"},
		{"FIREFIGHTERS_DATABASE", "1", "Warning: FIREFIGHTERS_DATABASE does nothing: there is no flag --database; did you mean FIREFIGHTERS_DB?\n"},
		{"FIREFIGHTERS_YES", "1", "Warning: FIREFIGHTERS_YES does nothing: --yes counts only when it is typed\n"},
	} {
		env, stdout, stderr := newEnv(t)
		env.Environ = []string{tt.name + "=" + tt.value}
		err := cli.Program{Variables: []string{"key"}, Commands: []cli.Command{{Name: "lift", Run: lift}}}.Run(env, []string{"lift"})
		if err != nil || stdout.Len() > 0 || stderr.String() != tt.want {
			t.Errorf("%s: %v, stdout %q, stderr %q", tt.name, err, stdout, stderr)
		}
	}
}
