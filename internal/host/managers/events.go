package managers

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// level is the severity of an event. Its value is also the event ID.
type level uint32

const (
	levelInfo level = 1 + iota
	levelWarning
	levelError
)

// events is an io.Writer that reports each line of the program's log as an event.
type events struct{ report func(level, string) }

const maxEvent = 30000 // bytes; the limit of Windows is 31,839 characters

func (e *events) Write(line []byte) (int, error) {
	e.send(readEntry(line))
	return len(line), nil
}

func (e *events) send(severity level, text string) {
	if text = strings.TrimSpace(text); text != "" {
		e.report(severity, strings.ReplaceAll(text[:min(len(text), maxEvent)], "\x00", ""))
	}
}

var slogLevels = map[string]level{"ERROR": levelError, "WARN": levelWarning}

// readEntry converts a JSON entry of slog to text without the time and the level, which an
// event has in separate fields. It returns any other line unchanged.
func readEntry(line []byte) (severity level, text string) {
	var entry map[string]any
	if json.Unmarshal(line, &entry) != nil || entry["level"] == nil || entry["msg"] == nil {
		return levelInfo, string(line)
	}
	name, _, _ := strings.Cut(fmt.Sprint(entry["level"]), "+") // such as ERROR+2
	text = fmt.Sprint(entry["msg"])
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		if !slices.Contains([]string{"time", "level", "msg"}, key) {
			text += fmt.Sprintf("\n%s: %v", key, entry[key])
		}
	}
	return max(levelInfo, slogLevels[name]), text
}
