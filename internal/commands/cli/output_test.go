package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// hostile sets the title of a terminal, erases a line and reverses the direction of text. Its last
// byte is a control character in Latin-1.
const hostile = "A\x1b]0;x\x07\rB\x7f\u009b2K\u202eC\u2028\x9b"

const harmless = `A\u001b]0;x\u0007\u000dB\u007f\u009b2K\u202eC\u2028\x9b`

func TestPrintsOneLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		hostile:                  harmless,
		"a\tb\nc":                `a\u0009b\u000ac`,
		`Žåé €🚒 \ "x" � 一`:       `Žåé €🚒 \ "x" � 一`,
		"👩\u200d🚒 می\u200cخواهم": "👩\u200d🚒 می\u200cخواهم",
	} {
		env, stdout, _ := newEnv(t)
		list := cli.NewList(false, "TEXT")
		list.Add(nil, text)
		if err := list.Print(env); err != nil || stdout.String() != want+"\n" {
			t.Errorf("%q is %q: %v", text, stdout, err)
		}
	}
}

// TestPrintsText checks that all output for people is escaped, that JSON keeps its value, and that
// binary output is unchanged.
func TestPrintsText(t *testing.T) {
	t.Parallel()
	env, stdout, stderr := newEnv(t)
	code := runOne(env, func(env cli.Env) error {
		env.Notef("%s", hostile)
		fmt.Fprintln(env.Stderr, hostile)
		env.Announce(hostile)
		table := cli.NewList(false, "HEADING", "NEXT")
		table.Add(nil, hostile+"\n\t", "x")
		table.Print(env)
		list := cli.NewList(true)
		list.Add("\x1b\u009b\u202e\n")
		list.Print(env)
		io.WriteString(env.Data(), hostile+"\r\n")
		return env.Println(hostile)
	})
	if code != 0 || !strings.HasPrefix(stderr.String(), harmless+"\n"+harmless+"\nHEADING") {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
	lines := strings.SplitAfter(stdout.String(), "\n")
	if len(lines) != 6 || lines[0] != harmless+"\n" || lines[1] != harmless+"\\u000a\\u0009  x\n" || lines[3] != hostile+"\r\n" || lines[4] != harmless+"\n" {
		t.Fatalf("stdout %q", lines)
	}
	var value string
	if err := json.Unmarshal([]byte(lines[2]), &value); err != nil || value != "\x1b\u009b\u202e\n" || strings.ContainsAny(lines[2], "\x1b\u009b\u202e") {
		t.Errorf("%q is %q: %v", lines[2], value, err)
	}
	stderr.Reset()
	runOne(env, func(cli.Env) error { return cli.WithHint(errors.New(hostile), hostile) })
	if stderr.String() != "Error: "+harmless+"\nTry: "+harmless+"\n" {
		t.Errorf("stderr %q", stderr.String())
	}
	env.Stdout = broken{io.ErrClosedPipe}
	careless := func(env cli.Env) error { io.WriteString(env.Data(), "x"); return nil }
	if code := runOne(env, careless); code != 1 {
		t.Errorf("lost data: code %d", code)
	}
}
