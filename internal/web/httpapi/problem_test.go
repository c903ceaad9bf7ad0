package httpapi_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// newRequest returns a GET request with headers as name, value, ...
func newRequest(headers ...string) *http.Request {
	r := httptest.NewRequest("GET", "/", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

// written returns the response that a problem sends.
func written(t *testing.T, err error) *httptest.ResponseRecorder {
	t.Helper()
	var p *httpapi.Problem
	if !errors.As(err, &p) {
		t.Fatalf("%v is not a *Problem", err)
	}
	w := httptest.NewRecorder()
	w.Header().Set("X-Request-Id", "mine")
	p.Write(w)
	return w
}

// TestProblemWith checks that the response contains the members of the problem and the further members.
func TestProblemWith(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	w.Header().Set("X-Request-Id", "mine")
	(&httpapi.Problem{Kind: httpapi.KeyReused, Detail: "Used."}).WriteWith(w, []byte(`{"rows":[]}`))
	const want = `{"type":"about:blank","title":"Unprocessable Content","status":422,"code":"key_reused","detail":"Used.","requestId":"mine","rows":[]}`
	if w.Code != 422 || w.Body.String() != want || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestProblem(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	type entry struct {
		Field string `json:"field"`
	}
	for _, tt := range []struct {
		problem httpapi.Problem
		body    string
	}{
		{httpapi.Problem{Kind: httpapi.Invalid, Detail: "Two.", Errors: []entry{{"a"}, {"b"}}},
			`{"type":"about:blank","title":"Bad Request","status":400,"code":"invalid","detail":"Two.","errors":[{"field":"a"},{"field":"b"}],"requestId":"mine"}`},
		{httpapi.Problem{Kind: httpapi.Busy, Detail: "Busy.", Header: httpapi.RetryLater, Cause: cause},
			`{"type":"about:blank","title":"Service Unavailable","status":503,"code":"busy","detail":"Busy.","requestId":"mine"}`},
		{httpapi.Problem{Kind: httpapi.TooLarge, Detail: "<b> & \u2028."},
			`{"type":"about:blank","title":"Content Too Large","status":413,"code":"too_large","detail":"<b> & \u2028.","requestId":"mine"}`},
		{httpapi.Problem{Kind: httpapi.KeyReused, Detail: "Used."},
			`{"type":"about:blank","title":"Unprocessable Content","status":422,"code":"key_reused","detail":"Used.","requestId":"mine"}`},
	} {
		w := written(t, &tt.problem)
		if w.Code != tt.problem.Status || w.Body.String() != tt.body || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%d %v\ngot  %s\nwant %s", w.Code, w.Header(), w.Body, tt.body)
		}
		if got := w.Header().Get("Retry-After"); (got == "1") != (tt.problem.Header != nil) {
			t.Errorf("%d: Retry-After %q", w.Code, got)
		}
		if err := error(&tt.problem); err.Error() != tt.problem.Detail || errors.Is(err, cause) != (tt.problem.Cause != nil) {
			t.Errorf("error %q with the cause %v", err, errors.Unwrap(err))
		}
	}
}
