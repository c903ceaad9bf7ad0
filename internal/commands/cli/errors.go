package cli

import (
	"errors"
	"io"
	"log/slog"
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

// unfinished is an outcome that is no error: the command did as it was told, but not
// everything that was asked for is done.
type unfinished struct{ text string }

func (u *unfinished) Error() string { return u.text }

// Unfinished returns an outcome that PrintError prints without "Error:", and for which the
// exit code is 1: people pressed Ctrl-C, or rows of an import were refused and skipped as
// they asked.
func Unfinished(text, hint string) error { return WithHint(&unfinished{text}, hint) }

// PrintError prints an error and its hint. It returns the exit code: 0 without an error, 2
// for a UsageError, 1 for any other. In the log of a server it is one entry with the exit
// code.
func (env Env) PrintError(err error) (exitCode int) {
	if err == nil {
		return 0
	}
	exitCode = 1
	if _, wrong := errors.AsType[*UsageError](err); wrong {
		exitCode = 2
	}
	label := "Error: "
	if _, ok := errors.AsType[*unfinished](err); ok {
		label = ""
	}
	if env.logs {
		level := slog.LevelError
		if label == "" {
			level = slog.LevelInfo
		}
		NewLog(env.Stderr, false).Log(env.Context, level, err.Error(), append(hinting(HintOf(err)), "exitCode", exitCode)...)
	} else {
		io.WriteString(env.Stderr, label+err.Error()+"\n"+tries(HintOf(err)))
	}
	return exitCode
}
