package cli

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// NewLog returns a log on a stream, with entries as text or as lines of JSON.
func NewLog(stream io.Writer, text bool) *slog.Logger {
	if text {
		return slog.New(slog.NewTextHandler(stream, nil))
	}
	return slog.New(slog.NewJSONHandler(stream, nil))
}

// Notef writes a line to Stderr.
func (env Env) Notef(format string, args ...any) {
	env.print(slog.LevelInfo, "", fmt.Sprintf(format, args...), "")
}

// Note writes a note, with a hint unless hint is empty.
func (env Env) Note(text, hint string) { env.print(slog.LevelInfo, "Note: ", text, hint) }

// Warn writes a warning, with a hint unless hint is empty.
func (env Env) Warn(text, hint string) {
	if env.Warnings != nil {
		*env.Warnings = append(*env.Warnings, text)
	}
	env.print(slog.LevelWarn, "Warning: ", text, hint)
}

// print writes to Stderr, in a log as one entry. A log entry has no line breaks.
func (env Env) print(level slog.Level, label, text, hint string) {
	if !env.logs {
		io.WriteString(env.Stderr, label+text+"\n"+hintLines(hint)) // one write, because of concurrent writers
		return
	}
	NewLog(env.Stderr, false).Log(env.Context, level, strings.ReplaceAll(text, "\n", " "), hintAttrs(hint)...)
}

func hintLines(hint string) (lines string) {
	for line := range strings.Lines(hint) {
		lines += "Try: " + strings.TrimSuffix(line, "\n") + "\n"
	}
	return lines
}

func hintAttrs(hint string) []any {
	if hint == "" {
		return nil
	}
	return []any{"try", hint}
}
