package cli_test

import (
	"testing"

	"github.com/spf13/pflag"

	"firefighters/internal/cli"
)

type settings struct {
	flags *pflag.FlagSet
	db    *string
	size  *int
}

func newFlags(env cli.Env, command string) settings {
	flags := env.Flags(command, "Usage: firefighters lift [flags]\n\nFlags:\n")
	return settings{flags, cli.DBFlag(flags), flags.Int("max-size", 3, "how large")}
}

const liftHelp = `Usage: firefighters lift [flags]

Flags:
      --db string      the database file (default "firefighters.db")
      --max-size int   how large (default 3)

Each flag may also stand in the environment:
      --db           FIREFIGHTERS_DB
      --max-size     FIREFIGHTERS_MAX_SIZE
`

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		most int
		err  string // "" for success
	}{
		{"lift", nil, 0, ""},
		{"lift", []string{"a"}, 1, ""},
		{"lift", []string{"a", "b", "--max-size=4"}, cli.AnyNumber, ""},
		{"lift", nil, cli.AnyNumber, ""},
		{"lift", []string{"--nope"}, 0, "lift: unknown flag: --nope"},
		{"lift", []string{"--max-size"}, 0, "lift: flag needs an argument: --max-size"},
		{"lift", []string{"--max-size", "big"}, 0, "lift: --max-size may not be \"big\""},
		{"lift", []string{"--db="}, 0, "lift: --db names no file"},
		{"lift", []string{"a"}, 0, `lift: unexpected argument "a"`},
		{"lift", nil, 1, ""},
		{"lift heavy", []string{"a", "b", "c"}, 1, `lift heavy: unexpected argument "b"`},
	} {
		env, stdout, stderr := newEnv(t)
		set := newFlags(env, tt.name)
		want := ""
		if tt.err != "" {
			want = "Error: " + tt.err + "\nTry: firefighters " + tt.name + " --help\n"
		}
		code := cli.Report(env.Parse(set.flags, tt.args, tt.most), env.Stderr)
		if stderr.String() != want || (code == 0) != (want == "") || stdout.Len() > 0 {
			t.Errorf("%s %q: code %d, stdout %q, stderr %q", tt.name, tt.args, code, stdout, stderr)
		}
	}
}

func TestParseOne(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args     []string
		argument string
		err      string // "" for success
	}{
		{[]string{"a", "--max-size=4"}, "a", ""},
		{nil, "", "Error: lift: say what\nTry: firefighters lift --help\n"},
		{[]string{"a", "b"}, "", "Error: lift: unexpected argument \"b\"\nTry: firefighters lift --help\n"},
	} {
		env, _, stderr := newEnv(t)
		argument, err := env.ParseOne(newFlags(env, "lift").flags, tt.args, "say what")
		if cli.Report(err, env.Stderr); argument != tt.argument || stderr.String() != tt.err {
			t.Errorf("%q: %q, stderr %q", tt.args, argument, stderr)
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
}

// TestEnvironment cannot run beside others.
func TestEnvironment(t *testing.T) {
	env, _, _ := newEnv(t)
	parse := func(args ...string) (settings, error) {
		set := newFlags(env, "lift")
		return set, env.Parse(set.flags, args, 0)
	}
	t.Setenv("FIREFIGHTERS_DB", "")
	t.Setenv("FIREFIGHTERS_MAX_SIZE", "5")
	if set, err := parse(); err != nil || *set.size != 5 || *set.db != "firefighters.db" || !set.flags.Changed("max-size") {
		t.Errorf("%v, %d, %q", err, *set.size, *set.db)
	}
	if set, err := parse("--max-size=6"); err != nil || *set.size != 6 {
		t.Errorf("the flag does not win: %v, %d", err, *set.size)
	}
	t.Setenv("FIREFIGHTERS_MAX_SIZE", "big")
	if _, err := parse(); err == nil || err.Error() != `lift: FIREFIGHTERS_MAX_SIZE may not be "big"` {
		t.Errorf("a value that is wrong: %v", err)
	}
}
