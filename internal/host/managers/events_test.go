package managers

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
)

// recorder keeps the events that it is told.
type recorder struct{ got []string }

func (r *recorder) report(grave level, text string) {
	r.got = append(r.got, fmt.Sprintf("%d %s", grave, text))
}

func (r *recorder) want(t *testing.T, want ...string) {
	t.Helper()
	if strings.Join(r.got, "|") != strings.Join(want, "|") {
		t.Errorf("got  %q\nwant %q", r.got, want)
	}
	r.got = nil
}

// TestEvents: an entry of the log is an event of its level, and any other line is one, too.
func TestEvents(t *testing.T) {
	t.Parallel()
	var r recorder
	e := &events{report: r.report}
	log := slog.New(slog.NewJSONHandler(e, nil))
	log.Info("one")
	log.Warn("the backup failed", "path", "/tmp", "cause", "no room")
	log.Error("the file has gone", "try", "firefighters restore", "exitCode", 1)
	log.Log(t.Context(), slog.LevelError+2, "four")
	r.want(t, "1 one", "2 the backup failed\ncause: no room\npath: /tmp", "3 the file has gone\nexitCode: 1\ntry: firefighters restore", "3 four")
	io.WriteString(e, "Listening on http://127.0.0.1:8080\n")
	io.WriteString(e, "{\"level\": torn\n")
	io.WriteString(e, "\n")
	r.want(t, "1 Listening on http://127.0.0.1:8080", `1 {"level": torn`)
}

// TestLongEvents: Windows would refuse these.
func TestLongEvents(t *testing.T) {
	t.Parallel()
	var r recorder
	e := &events{report: r.report}
	e.Write(append([]byte("a\x00b"), bytes.Repeat([]byte("x"), 100_000)...))
	if len(r.got) != 1 || !strings.HasPrefix(r.got[0], "1 abx") || len(r.got[0]) > 31_000 {
		t.Errorf("%d events, of which one begins with %.20q", len(r.got), r.got)
	}
}
