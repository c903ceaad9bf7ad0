package cli

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"golang.org/x/term"
)

// IsTerminal reports whether a stream is a terminal: an *os.File, or what
// writes to one and has its descriptor.
func IsTerminal(stream any) bool {
	file, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(file.Fd()))
}

// ToTerminal reports whether results go to a terminal.
func (env Env) ToTerminal() bool { return IsTerminal(env.Stdout) }

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
