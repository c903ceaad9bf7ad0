// Package cli provides what commands of a terminal share.
//
// A Program runs the Command that a line names, and hands it an Env. The command gets
// its flags by Env.Flags and Env.Parse, which also reads those in the environment and
// prints the help. It prints its result by Env.Println, a List or Env.PrintJSON, and
// everything else by Env.Notef, Env.Note and Env.Warn; it may show a Progress, and ask by Env.Confirm. It
// returns an error, with a hint what to type. PrintError prints both, and knows the
// exit code.
package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"
)

// Env is the environment of a command. Results go to Stdout, and everything
// else to Stderr.
type Env struct {
	Context        context.Context // ends when the command must stop
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	// Environ has the environment variables, as os.Environ returns them. Some set flags.
	Environ []string

	// ServiceDB returns the database of the service that is installed on this PC,
	// empty if there is none. It may be nil.
	ServiceDB func() string

	commands   []Command    // of the program
	logs       bool         // Stderr is a log, and no terminal
	describing *description // notes what the command says of itself; see Describe
}

// Println writes a line of the result.
func (env Env) Println(line string) error {
	_, err := fmt.Fprintln(env.Stdout, line)
	return err
}

// Announce writes a line to Stdout that is no result: a command can go on
// without it, so Run does not fail if it is lost.
func (env Env) Announce(line string) error {
	line += "\n"
	if out, ok := env.Stdout.(*stream); ok {
		return out.print([]byte(line))
	}
	_, err := io.WriteString(env.Stdout, line)
	return err
}

// Data returns Stdout for a file, which goes to another program byte for byte. A
// terminal gets what can be read of it.
func (env Env) Data() io.Writer {
	if out, ok := env.Stdout.(*stream); ok && !IsTerminal(env.Stdout) {
		return data{out}
	}
	return env.Stdout
}

// IsTerminal reports whether a stream is a terminal: an *os.File, or what
// writes to one and has its descriptor.
func IsTerminal(stream any) bool {
	file, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(file.Fd()))
}

// Confirm asks a question on the terminal, and returns an error unless the
// answer is yes. Without a terminal that is a usage error, which hints at the
// flag --yes.
func (env Env) Confirm(question string) error {
	if !IsTerminal(env.Stdin) {
		return Usage("there is no terminal to ask on: "+question, "the same with --yes")
	}
	io.WriteString(env.Stderr, question+" Type yes: ")
	answer, err := bufio.NewReader(env.Stdin).ReadString('\n')
	if err != nil || strings.TrimSpace(answer) != "yes" {
		return errors.New("the answer was not yes; nothing was changed")
	}
	return nil
}
