package cli

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// NewLog returns the log of a server on a stream: text for people, or else a line of JSON
// for each entry.
func NewLog(stream io.Writer, text bool) *slog.Logger {
	if text {
		return slog.New(slog.NewTextHandler(stream, nil))
	}
	return slog.New(slog.NewJSONHandler(stream, nil))
}

// logs reports whether a line runs a command that Logs.
func logs(commands []Command, args []string) bool {
	for _, c := range commands {
		if len(args) > 0 && c.Name == args[0] {
			return c.Logs || logs(c.Sub, args[1:])
		}
	}
	return false
}

// Notef writes a line that is no result.
func (env Env) Notef(format string, args ...any) {
	env.say(slog.LevelInfo, "", fmt.Sprintf(format, args...), "")
}

// Note writes what is good to know and, unless that is empty, what to type.
func (env Env) Note(what, hint string) { env.say(slog.LevelInfo, "Note: ", what, hint) }

// Warn writes a warning and, unless that is empty, what to type.
func (env Env) Warn(what, hint string) { env.say(slog.LevelWarn, "Warning: ", what, hint) }

// say writes to Stderr in words or, in a log, as an entry of a level. A line break in
// what is for a terminal alone.
func (env Env) say(level slog.Level, label, what, hint string) {
	if !env.logs {
		io.WriteString(env.Stderr, label+what+"\n"+tries(hint)) // at once, because others write beside
		return
	}
	NewLog(env.Stderr, false).Log(env.Context, level, strings.ReplaceAll(what, "\n", " "), hinting(hint)...)
}

// tries returns the lines that say what to type.
func tries(hint string) (lines string) {
	for line := range strings.Lines(hint) {
		lines += "Try: " + strings.TrimSuffix(line, "\n") + "\n"
	}
	return lines
}

// hinting returns a hint as the attributes of an entry.
func hinting(hint string) []any {
	if hint == "" {
		return nil
	}
	return []any{"try", hint}
}

// logged is an error of a command that Logs, where Stderr is no terminal.
type logged struct{ error }

func (l *logged) Unwrap() error { return l.error }

// asLogged returns an error so that PrintError prints it as the command prints all else.
func (env Env) asLogged(err error) error {
	if err == nil || !env.logs {
		return err
	}
	return &logged{err}
}
