package managers

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// level says how grave an event is. Its value is the number of the event, too.
type level uint32

const (
	levelInfo level = 1 + iota
	levelWarning
	levelError
)

// events is a writer for the log of a system that has no lines but events. An
// entry of the program's log becomes an event. So do other lines that are written
// within joinTime of each other, until one begins with a label as "Warning:".
type events struct {
	report func(level, string)

	mu      sync.Mutex
	waiting strings.Builder
	timer   *time.Timer
}

const (
	joinTime = 200 * time.Millisecond
	maxEvent = 30000 // characters; Windows takes 31,839 at most
)

// Write takes a line, or some lines that belong together.
func (e *events) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := string(p)
	if grave, entry, ok := logEntry(text); ok {
		e.flush()
		e.send(grave, entry)
		return len(p), nil
	}
	if label.MatchString(text) {
		e.flush()
	}
	e.waiting.WriteString(text)
	if e.timer == nil {
		e.timer = time.AfterFunc(joinTime, e.Flush)
	}
	return len(p), nil
}

// Flush reports what waits for further lines.
func (e *events) Flush() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.flush()
}

func (e *events) flush() {
	if e.timer != nil {
		e.timer.Stop()
		e.timer = nil
	}
	text := e.waiting.String()
	e.waiting.Reset()
	e.send(levelOf(text), text)
}

func (e *events) send(grave level, text string) {
	if text = strings.TrimSpace(text); text != "" {
		e.report(grave, strings.ReplaceAll(text[:min(len(text), maxEvent)], "\x00", ""))
	}
}

var (
	label    = regexp.MustCompile(`^(Warning|Note|Error):`)
	textLine = regexp.MustCompile(`^time=\S+ level=(\w+)\S* `)
)

// levelOf returns the level of lines that are no entry of the log.
func levelOf(text string) level {
	switch {
	case strings.HasPrefix(text, "Error"):
		return levelError
	case strings.HasPrefix(text, "Warning"):
		return levelWarning
	}
	return levelInfo
}

var slogLevels = map[string]level{"ERROR": levelError, "WARN": levelWarning}

// logEntry reads an entry of slog, as text or as JSON. It returns it for people:
// the event has its time and its level beside it.
func logEntry(line string) (grave level, text string, ok bool) {
	if match := textLine.FindStringSubmatch(line); match != nil {
		return max(levelInfo, slogLevels[match[1]]), strings.TrimPrefix(line, match[0]), true
	}
	var entry map[string]any
	if json.Unmarshal([]byte(line), &entry) != nil || entry["level"] == nil || entry["msg"] == nil {
		return 0, "", false
	}
	name, _, _ := strings.Cut(fmt.Sprint(entry["level"]), "+") // as ERROR+2
	text = fmt.Sprint(entry["msg"])
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		if !slices.Contains([]string{"time", "level", "msg"}, key) {
			text += fmt.Sprintf("\n%s: %v", key, entry[key])
		}
	}
	return max(levelInfo, slogLevels[name]), text, true
}
