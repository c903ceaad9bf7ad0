package upload

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestSend: a file comes with its name and type, a HEAD request makes none, and after
// an error nothing is sent.
func TestSend(t *testing.T) {
	t.Parallel()
	made := 0
	a := Attachment{"people.csv", "text/csv"}
	send := func(method string, fault error) (*httptest.ResponseRecorder, error) {
		w := httptest.NewRecorder()
		err := Send(w, httptest.NewRequest(method, "/", nil), 12, a, func(to io.Writer) error {
			made++
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
		t.Errorf("%v, and %q was sent with %v", err, w.Body, w.Header())
	}
	if made != 2 {
		t.Errorf("%d files were made", made)
	}
}
