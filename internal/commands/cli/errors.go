package cli

import (
	"errors"
	"io"
	"strings"
)

// UsageError is a command line that is wrong.
type UsageError struct {
	What string // what is wrong with it
	Hint string // what to type instead
}

func (e *UsageError) Error() string { return e.What }

// Usage returns a UsageError. It drops a full stop at the end of what.
func Usage(what, hint string) error {
	return &UsageError{What: strings.TrimSuffix(what, "."), Hint: hint}
}

// hinted is an error with a hint: what to type next.
type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

// WithHint returns err with a hint, what to type next, which PrintError prints. One that
// leaves a choice has a line for each command. Of several hints the outermost counts.
func WithHint(err error, hint string) error { return &hinted{err, hint} }

// HintOf returns the hint that PrintError prints, empty if there is none.
func HintOf(err error) string {
	if usage, ok := errors.AsType[*UsageError](err); ok {
		return usage.Hint
	}
	if h, ok := errors.AsType[*hinted](err); ok {
		return h.hint
	}
	return ""
}

// PrintError prints an error, and below it its hint. It returns the exit code: 0 without
// an error, 2 for a UsageError, 1 for any other. In the log of a server that is one entry,
// which has the exit code, by which it can be told from others.
func PrintError(err error, stderr io.Writer) (exitCode int) {
	if err == nil || errors.Is(err, ErrHelp) {
		return 0
	}
	stderr, exitCode = &stream{to: Unwrap(stderr)}, 1
	if _, wrong := errors.AsType[*UsageError](err); wrong {
		exitCode = 2
	}
	if _, entry := errors.AsType[*logged](err); entry {
		NewLog(stderr, false).Error(err.Error(), append(hinting(HintOf(err)), "exitCode", exitCode)...)
	} else {
		io.WriteString(stderr, "Error: "+err.Error()+"\n"+tries(HintOf(err)))
	}
	return exitCode
}
