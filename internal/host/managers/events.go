package managers

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// level says how grave an event is. Its value is the number of the event, too.
type level uint32

const (
	levelInfo level = 1 + iota
	levelWarning
	levelError
)

// events is a writer for the log of a system that has no lines but events. An entry of
// the program's log becomes an event, and so does any other line.
type events struct{ report func(level, string) }

const maxEvent = 30000 // characters; Windows takes 31,839 at most

// Write takes a line.
func (e *events) Write(line []byte) (int, error) {
	e.send(readEntry(line))
	return len(line), nil
}

func (e *events) send(grave level, text string) {
	if text = strings.TrimSpace(text); text != "" {
		e.report(grave, strings.ReplaceAll(text[:min(len(text), maxEvent)], "\x00", ""))
	}
}

var slogLevels = map[string]level{"ERROR": levelError, "WARN": levelWarning}

// readEntry reads an entry of slog in JSON. It returns it for people: the event has its
// time and its level beside it. A line that is none stays as it is.
func readEntry(line []byte) (grave level, text string) {
	var entry map[string]any
	if json.Unmarshal(line, &entry) != nil || entry["level"] == nil || entry["msg"] == nil {
		return levelInfo, string(line)
	}
	name, _, _ := strings.Cut(fmt.Sprint(entry["level"]), "+") // as ERROR+2
	text = fmt.Sprint(entry["msg"])
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		if !slices.Contains([]string{"time", "level", "msg"}, key) {
			text += fmt.Sprintf("\n%s: %v", key, entry[key])
		}
	}
	return max(levelInfo, slogLevels[name]), text
}
