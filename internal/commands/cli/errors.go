package cli

import (
	"errors"
	"io"
	"log/slog"
	"strings"
)

// UsageError is the error for an invalid command line.
type UsageError struct {
	What string // the fault
	Hint string // a correct command or other advice
}

func (e *UsageError) Error() string { return e.What }

// Usage returns a UsageError. It drops a full stop at the end of what.
func Usage(what, hint string) error {
	return &UsageError{What: strings.TrimSuffix(what, "."), Hint: hint}
}

type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

// WithHint returns err with a hint that PrintError prints: a command or other advice. A hint with
// alternatives has one per line. The outermost hint of an error counts.
func WithHint(err error, hint string) error { return &hinted{err, hint} }

// HintOf returns the hint of an error, or "".
func HintOf(err error) string {
	if usage, ok := errors.AsType[*UsageError](err); ok {
		return usage.Hint
	}
	if h, ok := errors.AsType[*hinted](err); ok {
		return h.hint
	}
	return ""
}

// unfinished is the outcome of a command that did only part of its work, as the user requested.
type unfinished struct{ text string }

func (u *unfinished) Error() string { return u.text }

// Unfinished returns an outcome that PrintError prints without "Error:", with exit code 1. It is for
// commands that the user stopped or told to skip parts.
func Unfinished(text, hint string) error { return WithHint(&unfinished{text}, hint) }

// PrintError prints an error and its hint, in the log of a server as one entry. It returns the exit
// code: 0 without an error, 2 for a UsageError, 1 for other errors.
func (env Env) PrintError(err error) (exitCode int) {
	if err == nil {
		return 0
	}
	exitCode = 1
	if _, ok := errors.AsType[*UsageError](err); ok {
		exitCode = 2
	}
	label, level := "Error: ", slog.LevelError
	if _, ok := errors.AsType[*unfinished](err); ok {
		label, level = "", slog.LevelInfo
	}
	if env.logs {
		NewLog(env.Stderr, false).Log(env.Context, level, err.Error(), append(hintAttrs(HintOf(err)), "exitCode", exitCode)...)
	} else {
		io.WriteString(env.Stderr, label+err.Error()+"\n"+hintLines(HintOf(err)))
	}
	return exitCode
}
