package cli_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// TestDescribe: a command is described by what it says in its help, and does
// nothing.
func TestDescribe(t *testing.T) {
	t.Parallel()
	lift := func(env cli.Env, args []string) error {
		flags := env.Flags("door lift", "Usage: firefighters door lift FILE up|down ID... [flags]\n\nLifts. Goes on\nand on.\n\nFlags:\n")
		cli.DBFlag(flags)
		flags.StringSlice("by", nil, "a `hand`; may be repeated")
		flags.Bool("yes", false, "do not ask: this, that")
		flags.StringP("scope", "s", "read", "how far: read, write or admin (default: as now)")
		flags.String("since", "", "30d or 12h ago, or a day")
		flags.Int("size", 0, "red or blue")
		flags.Bool("secret", false, "")
		flags.MarkHidden("secret")
		if err := env.Parse(flags, args, 3); err != nil {
			return err
		}
		t.Error("the command went on")
		return nil
	}
	careless := func(cli.Env, []string) error { return errors.New("no help") }
	all := cli.Program{Help: "DOORS\n", Commands: []cli.Command{
		{Name: "door", Summary: "is a door", Help: "DOOR\n", Sub: []cli.Command{{Name: "lift", Run: lift}}},
		{Name: "odd", Run: careless},
	}}.Describe()
	if len(all) != 4 || all[0].Name != "" || all[0].Help != "DOORS\n" || len(all[0].Sub) != 2 || all[1].Name != "door" || all[1].Summary != "is a door" || all[1].Help != "DOOR\n" ||
		len(all[1].Sub) != 1 || all[3].Name != "odd" || all[3].Help != "" {
		t.Fatalf("%+v", all)
	}
	d := all[2]
	if d.Name != "door lift" || d.Summary != "lifts" || d.Help != "Usage: firefighters door lift FILE up|down ID... [flags]\n\nLifts. Goes on\nand on.\n" {
		t.Errorf("%+v", d)
	}
	if got, want := fmt.Sprint(d.Arguments), "[{file []} { [up down]} {id []}]"; got != want {
		t.Errorf("arguments %s, not %s", got, want)
	}
	want := []cli.Flag{
		{Name: "by", Usage: "a hand; may be repeated", Variable: "FIREFIGHTERS_BY", Repeats: true, Value: cli.Value{Name: "hand"}},
		{Name: "db", Usage: "the database file", Default: "firefighters.db", Variable: "FIREFIGHTERS_DB", Value: cli.Value{Name: "file"}},
		{Name: "scope", Short: "s", Usage: "how far: read, write or admin (default: as now)", Default: "read", Variable: "FIREFIGHTERS_SCOPE",
			Value: cli.Value{Name: "string", Choices: []string{"read", "write", "admin"}}},
		{Name: "since", Usage: "30d or 12h ago, or a day", Variable: "FIREFIGHTERS_SINCE", Value: cli.Value{Name: "string"}},
		{Name: "size", Usage: "red or blue", Variable: "FIREFIGHTERS_SIZE", Value: cli.Value{Name: "int", Choices: []string{"red", "blue"}}},
		{Name: "yes", Usage: "do not ask: this, that"},
	}
	if !slices.EqualFunc(d.Flags, want, func(a, b cli.Flag) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		t.Errorf("flags %+v\nwant  %+v", d.Flags, want)
	}
}
