// Package cli runs the commands of the program and provides their input and output.
//
// Execute runs a tree of cobra commands. A command calls EnvOf for its Env. It prints results with
// Env.Println, Env.PrintJSON or a List, and all other text with Env.Notef, Env.Note and Env.Warn.
// Execute prints the error that a command returns, with its hint.
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

	// Warnings receives the text of each warning. It may be nil.
	Warnings *[]string

	// ServiceDB returns the database of the installed service, or "". It may be nil.
	ServiceDB func() string

	logs bool // Stderr is a log
}

// Println writes a line of the result.
func (env Env) Println(line string) error {
	_, err := fmt.Fprintln(env.Stdout, line)
	return err
}

// Print writes text for a command that only prints. Execute ignores its error if the reader has
// closed the pipe.
func (env Env) Print(text string) error {
	_, err := io.WriteString(env.Stdout, text)
	return harmless(err)
}

// Announce writes a line to Stdout that is not a result: Execute ignores the error.
func (env Env) Announce(line string) error {
	line += "\n"
	if out, ok := env.Stdout.(*stream); ok {
		return out.print([]byte(line))
	}
	_, err := io.WriteString(env.Stdout, line)
	return err
}

// Data returns Stdout for binary output. On a terminal, unprintable characters are escaped.
func (env Env) Data() io.Writer {
	if out, ok := env.Stdout.(*stream); ok && !IsTerminal(env.Stdout) {
		return data{out}
	}
	return env.Stdout
}

// IsTerminal reports whether a stream is a terminal: an *os.File, or a wrapper with its Fd method.
func IsTerminal(stream any) bool {
	file, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(file.Fd()))
}

// Confirm asks a question on the terminal, and returns an error unless the answer is yes. Without a
// terminal it returns a usage error that suggests --yes.
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
