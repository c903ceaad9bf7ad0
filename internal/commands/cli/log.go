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
