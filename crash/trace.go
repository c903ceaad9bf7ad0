package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// event is a call of the traced service that changes or syncs a file of the
// database, or that sends an answer.
type event struct {
	kind   eventKind
	thread string
	file   string // suffix of the file: "" or "-wal"
	offset int
	data   []byte // of a write
	id     string // of the answered request
}

type eventKind int

const (
	writing eventKind = iota
	truncating
	syncBegins
	syncEnds
	answering
)

// tracedCalls are all calls that write to a file or a connection, or sync.
const tracedCalls = "pwrite64,write,writev,pwritev,pwritev2,fsync,fdatasync,sync_file_range,ftruncate"

var (
	callLine   = regexp.MustCompile(`^(\d+) +(\w+)\((\d+)<([^>]*)>(?:, )?(.*)$`)
	resumeLine = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>.* = (-?\d+)`)
	writeArgs  = regexp.MustCompile(`^"([^"]*)", \d+, (\d+)`)
	answerID   = regexp.MustCompile(`\r\nX-Request-Id: (w\d+)\r\n`)
	// longestLine is longer than the line of any write. A byte takes four characters.
	longestLine = 4 << 20
)

// readTrace reads the output of strace for the service on db.
func readTrace(path, db string) (events []event, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t := trace{db: db, syncing: map[string]string{}}
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 64<<10), longestLine)
	for lines.Scan() {
		if err := t.line(lines.Text()); err != nil {
			return nil, err
		}
	}
	return t.events, lines.Err()
}

// trace collects the events in the output of strace.
type trace struct {
	db      string
	events  []event
	syncing map[string]string // by thread, the file that it is syncing
}

// line reads one line.
func (t *trace) line(text string) error {
	if m := resumeLine.FindStringSubmatch(text); m != nil {
		if file, syncing := t.syncing[m[1]]; syncing && m[3] == "0" {
			t.events = append(t.events, event{kind: syncEnds, thread: m[1], file: file})
		}
		delete(t.syncing, m[1])
		return nil
	}
	m := callLine.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	thread, call, rest := m[1], m[2], m[5]
	path, err := unhex(m[4])
	if err != nil {
		return err
	}
	file, ours := strings.CutPrefix(string(path), t.db)
	switch {
	case strings.HasPrefix(string(path), "socket:") || strings.HasPrefix(string(path), "TCP"):
		return t.answer(call, rest)
	case !ours || file != "" && file != "-wal":
		return nil
	}
	return t.call(event{thread: thread, file: file}, call, rest)
}

// answer adds an event if a call sends the answer to a write.
func (t *trace) answer(call, rest string) error {
	quoted := strings.SplitN(rest, `"`, 3)
	if call != "write" || len(quoted) < 2 {
		return nil
	}
	data, err := unhex(quoted[1])
	if m := answerID.FindSubmatch(data); m != nil && strings.HasPrefix(string(data), "HTTP/1.1 2") {
		t.events = append(t.events, event{kind: answering, id: string(m[1])})
	}
	return err
}

// call adds the events of a call on a file. An unfinished write counts as
// pending, because it may or may not take effect.
func (t *trace) call(e event, call, rest string) (err error) {
	switch call {
	case "fsync", "fdatasync":
		e.kind = syncBegins
		t.events = append(t.events, e)
		if strings.Contains(rest, "unfinished") {
			t.syncing[e.thread] = e.file
			return nil
		}
		if strings.HasSuffix(rest, "= 0") {
			e.kind = syncEnds
			t.events = append(t.events, e)
		}
		return nil
	case "ftruncate":
		e.kind = truncating
		_, err = fmt.Sscan(rest, &e.offset)
	case "pwrite64":
		m := writeArgs.FindStringSubmatch(rest)
		if m == nil {
			return fmt.Errorf("strace printed %.100q", rest)
		}
		e.offset, _ = strconv.Atoi(m[2])
		e.data, err = unhex(m[1])
	default:
		return fmt.Errorf("the service calls %s, which this check does not know", call)
	}
	t.events = append(t.events, e)
	return err
}

// unhex decodes text such as \x2f\x74.
func unhex(text string) ([]byte, error) {
	return hex.DecodeString(strings.ReplaceAll(text, `\x`, ""))
}
