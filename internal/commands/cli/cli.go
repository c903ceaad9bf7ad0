// Package cli contains what all commands share.
//
// Execute runs a tree of cobra commands. A command gets its Env by EnvOf. It prints its
// result with Env.Println, a List or Env.PrintJSON, and everything else with Env.Notef,
// Env.Note and Env.Warn. It can show a Progress and ask with Env.Confirm. It returns an
// error, which Execute prints once, with its hint.
package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"
)

// Env is the environment of a command. Results go to Stdout, everything else to Stderr.
type Env struct {
	Context        context.Context // ends when the command must stop
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	Environ []string // environment variables, as os.Environ returns them

	// ServiceDB returns the database of the service that is installed on this PC, or an
	// empty string. It may be nil.
	ServiceDB func() string

	args []string // of the command line
	logs bool     // Stderr is a log and not a terminal
}

// Println writes a line of the result.
func (env Env) Println(line string) error {
	_, err := fmt.Fprintln(env.Stdout, line)
	return err
}

// Print writes a text that is all that the command does. The error is not reported if the
// reader has closed the pipe.
func (env Env) Print(text string) error {
	_, err := io.WriteString(env.Stdout, text)
	return harmless(err)
}

// Announce writes a line to Stdout that is not a result: if it is lost, the command
// continues and does not fail.
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

// Confirm asks a question on the terminal, and returns an error unless the answer is yes.
// Without a terminal it is a usage error that hints at the flag --yes.
func (env Env) Confirm(question string) error {
	if !IsTerminal(env.Stdin) {
		return Usage("there is no terminal to ask: "+question, "add --yes")
	}
	io.WriteString(env.Stderr, question+" Type yes: ")
	answer := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(env.Stdin).ReadString('\n')
		if err != nil {
			line = ""
		}
		answer <- strings.TrimSpace(line)
	}()
	select {
	case text := <-answer:
		if text == "yes" {
			return nil
		}
	case <-env.Context.Done():
		io.WriteString(env.Stderr, "\n")
	}
	return Unfinished("Nothing was changed.", "")
}
