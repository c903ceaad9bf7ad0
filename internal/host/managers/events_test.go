package managers

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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

func TestLogEntries(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]func(io.Writer) slog.Handler{
		"text": func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
		"json": func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
	} {
		var r recorder
		log := slog.New(handler(&events{report: r.report}))
		log.Info("one")
		log.Warn("the backup failed", "path", "/tmp", "cause", "no room")
		log.Error("three")
		log.Log(t.Context(), slog.LevelError+2, "four")
		if name == "text" {
			r.want(t, "1 msg=one", `2 msg="the backup failed" path=/tmp cause="no room"`, "3 msg=three", "3 msg=four")
		} else {
			r.want(t, "1 one", "2 the backup failed\ncause: no room\npath: /tmp", "3 three", "3 four")
		}
	}
}

// TestLines: lines that come together are one event, and a label begins the next.
func TestLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		e := &events{report: r.report}
		io.WriteString(e, "The database is being upgraded.\n")
		io.WriteString(e, "A copy of it is there.\n")
		io.WriteString(e, "Warning: no backups are made\n")
		io.WriteString(e, "Error: the file has gone\n")
		io.WriteString(e, "Try: firefighters restore\n")
		time.Sleep(time.Second)
		synctest.Wait()
		r.want(t, "1 The database is being upgraded.\nA copy of it is there.", "2 Warning: no backups are made",
			"3 Error: the file has gone\nTry: firefighters restore")
		io.WriteString(e, "later\n")
		time.Sleep(time.Second)
		io.WriteString(e, "{\"level\": torn\n")
		slog.New(slog.NewJSONHandler(e, nil)).Info("hello")
		io.WriteString(e, "\n")
		e.Flush()
		r.want(t, "1 later", `1 {"level": torn`, "1 hello")
	})
}

// TestLongEvents: Windows would refuse these.
func TestLongEvents(t *testing.T) {
	t.Parallel()
	var r recorder
	e := &events{report: r.report}
	e.Write(append([]byte("Error: a\x00b"), bytes.Repeat([]byte("x"), 100_000)...))
	e.Flush()
	if len(r.got) != 1 || !strings.HasPrefix(r.got[0], "3 Error: abx") || len(r.got[0]) > 31_000 {
		t.Errorf("%d events, of which one begins with %.20q", len(r.got), r.got)
	}
}
