package managers

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
)

// recorder records events.
type recorder struct{ got []string }

func (r *recorder) report(severity level, text string) {
	r.got = append(r.got, fmt.Sprintf("%d %s", severity, text))
}

func (r *recorder) want(t *testing.T, want ...string) {
	t.Helper()
	if strings.Join(r.got, "|") != strings.Join(want, "|") {
		t.Errorf("got  %q\nwant %q", r.got, want)
	}
	r.got = nil
}

// TestEvents checks that a log entry becomes an event of the same level, and that any other line
// becomes an informational event.
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

// TestLongEvents checks events that Windows would reject: too long, or with a NUL.
func TestLongEvents(t *testing.T) {
	t.Parallel()
	var r recorder
	e := &events{report: r.report}
	e.Write(append([]byte("a\x00b"), bytes.Repeat([]byte("x"), 100_000)...))
	if len(r.got) != 1 || !strings.HasPrefix(r.got[0], "1 abx") || len(r.got[0]) > 31_000 {
		t.Errorf("%d events, beginning with %.20q", len(r.got), r.got)
	}
}
