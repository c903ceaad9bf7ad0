package upload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// TestPlaces checks that a request waits for a place until its client disconnects. A disconnected
// client still gets a free place.
func TestPlaces(t *testing.T) {
	t.Parallel()
	places := make(Places, 1)
	disconnected, cancel := context.WithCancel(t.Context())
	cancel()
	leave, err := places.enter(disconnected)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := places.enter(disconnected); !errors.Is(err, context.Canceled) {
		t.Errorf("disconnected client: %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		places := make(Places, 1)
		if _, err := places.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := places.enter(t.Context()); err != errBusy {
			t.Errorf("after a minute: %v", err)
		}
	})
	second := make(chan error)
	go func() {
		leave, err := places.enter(t.Context())
		if err == nil {
			leave()
		}
		second <- err
	}()
	leave()
	if err := <-second; err != nil {
		t.Error(err)
	}
}

// TestWork checks that a response is sent after its place is free, and that nothing is sent after an
// error.
func TestWork(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, maxInMemory + 1} {
		text := strings.Repeat("x", size)
		w := httptest.NewRecorder()
		err := Work(w, httptest.NewRequest("GET", "/", nil), 7, Writing, func(buffered http.ResponseWriter) error {
			buffered.Header().Set("X", "y")
			buffered.WriteHeader(http.StatusAccepted)
			io.WriteString(buffered, text)
			if w.Body.Len() > 0 {
				t.Error("the response was sent before the place was free")
			}
			return nil
		})
		if err != nil || w.Code != http.StatusAccepted || w.Body.String() != text || w.Header().Get("X") != "y" {
			t.Errorf("%d bytes: %d with %d, %v", size, w.Code, w.Body.Len(), err)
		}
		if length := w.Header().Get("Content-Length"); size > 0 && length != fmt.Sprint(size) {
			t.Errorf("%d bytes: Content-Length %q", size, length)
		}
	}
	w := httptest.NewRecorder()
	err := Work(w, httptest.NewRequest("GET", "/", nil), 7, Writing, func(buffered http.ResponseWriter) error {
		buffered.Header().Set("Content-Encoding", "gzip")
		io.WriteString(buffered, "half")
		return errBusy
	})
	if err != errBusy || w.Body.Len() > 0 || len(w.Header()) > 0 {
		t.Errorf("after an error: %v, sent %q", err, w.Body)
	}
}

// TestWorkWithoutRoom checks that a page fails if its spool is refused, even if the handler ignores the
// error of Write.
func TestWorkWithoutRoom(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	t.Setenv("TMP", t.TempDir()+"/none")
	w := httptest.NewRecorder()
	err := Work(w, httptest.NewRequest("GET", "/", nil), 8, Writing, func(buffered http.ResponseWriter) error {
		httpapi.Respond(buffered, http.StatusOK, make([]byte, maxInMemory+1))
		return nil
	})
	if codeOf(err) != "temp_files" || w.Body.Len() > 0 {
		t.Errorf("%v, sent %d bytes", err, w.Body.Len())
	}
}

// TestWorkForNobody checks that work for a disconnected client ends with the panic that net/http
// expects and frees its place.
func TestWorkForNobody(t *testing.T) {
	t.Parallel()
	disconnected, leave := context.WithCancel(t.Context())
	func() {
		defer func() {
			if p := recover(); p != http.ErrAbortHandler {
				t.Errorf("panic: %v", p)
			}
		}()
		r := httptest.NewRequest("GET", "/", nil).WithContext(disconnected)
		Work(httptest.NewRecorder(), r, 9, Reading, func(http.ResponseWriter) error {
			leave()
			return disconnected.Err()
		})
	}()
	if len(Reading) > 0 {
		t.Error("the place is not free")
	}
}

// TestWorkForHalfClosed checks that a completed response is sent to a client that has closed its
// sending half.
func TestWorkForHalfClosed(t *testing.T) {
	t.Parallel()
	for range 100 {
		ended, end := context.WithCancel(t.Context())
		end()
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/", nil).WithContext(ended)
		err := Work(w, r, 11, Writing, func(buffered http.ResponseWriter) error {
			buffered.WriteHeader(http.StatusCreated)
			return nil
		})
		if err != nil || w.Code != http.StatusCreated {
			t.Fatal(w.Code, err)
		}
		err = Work(w, r, 11, Writing, func(http.ResponseWriter) error { return errBusy })
		if err != errBusy {
			t.Fatal(err)
		}
	}
}

// TestRespondLong checks that a long body is sent from disk, and that nothing is sent without a disk.
func TestRespondLong(t *testing.T) {
	body := make([]byte, maxInMemory+1)
	w := httptest.NewRecorder()
	err := Respond(w, 10, http.StatusTeapot, body)
	if err != nil || w.Code != http.StatusTeapot || w.Body.Len() != len(body) || w.Header().Get("Content-Length") != fmt.Sprint(len(body)) {
		t.Errorf("%d with %d bytes, %v", w.Code, w.Body.Len(), err)
	}
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	t.Setenv("TMP", t.TempDir()+"/none")
	w = httptest.NewRecorder()
	if err := Respond(w, 10, http.StatusTeapot, body); codeOf(err) != "temp_files" || w.Body.Len() > 0 {
		t.Errorf("without a disk: %v, sent %d bytes", err, w.Body.Len())
	}
}

// TestSend checks the name and type of a file, that HEAD generates no file, and that nothing is sent
// after an error.
func TestSend(t *testing.T) {
	t.Parallel()
	generated := 0
	a := Attachment{"people.csv", "text/csv"}
	send := func(method string, fault error) (*httptest.ResponseRecorder, error) {
		w := httptest.NewRecorder()
		err := Send(w, httptest.NewRequest(method, "/", nil), 12, a, func(to io.Writer) error {
			generated++
			io.WriteString(to, "Ana")
			return fault
		})
		return w, err
	}
	for method, body := range map[string]string{http.MethodHead: "", http.MethodGet: "Ana"} {
		w, err := send(method, nil)
		if err != nil || w.Code != http.StatusOK || w.Body.String() != body || w.Header().Get("Content-Type") != a.ContentType ||
			w.Header().Get("Content-Disposition") != `attachment; filename="people.csv"` {
			t.Errorf("%s: %d %v %q, %v", method, w.Code, w.Header(), w.Body, err)
		}
	}
	if w, err := send(http.MethodGet, errBusy); err != errBusy || w.Body.Len() > 0 || len(w.Header()) > 0 {
		t.Errorf("%v, sent %q with %v", err, w.Body, w.Header())
	}
	if generated != 2 {
		t.Errorf("generated %d files", generated)
	}
}
