package httpapi_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

var errWrong = errors.New("it is wrong")

func TestTries(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	l := httpapi.NewTries(errWrong, func() time.Time { return now })
	other := errors.New("the disk is full")
	try := func(address, secret string, outcome error, want time.Duration) {
		t.Helper()
		tried := false
		wait, err := l.Try(&http.Request{RemoteAddr: address + ":1"}, secret, func(got string) error {
			tried = got == secret
			return outcome
		})
		if wait != want || tried != (want == 0) || tried && err != outcome {
			t.Errorf("%s with %s: wait %v, want %v: %v", address, secret, wait, want, err)
		}
	}
	for i := range 9 {
		try("192.0.2.1", fmt.Sprint(i), errWrong, 0)
		for range 20 { // a repeated wrong secret does not call open
			wait, err := l.Try(&http.Request{RemoteAddr: "192.0.2.1:1"}, fmt.Sprint(i), nil)
			if wait != 0 || err != errWrong {
				t.Errorf("repetition of %d: wait %v: %v", i, wait, err)
			}
		}
		try("192.0.2.1", "right", nil, 0)
		try("192.0.2.1", "busy", other, 0)
		now = now.Add(time.Second)
	}
	try("192.0.2.1", "9", errWrong, 0)
	try("192.0.2.1", "right", nil, 51*time.Second) // until the first of its ten tries is a minute old
	for i := range 200 {                           // other sources are not locked out
		for j := range 10 {
			try(fmt.Sprint("198.51.100.", i), fmt.Sprint(j), errWrong, 0)
		}
	}
	try("192.0.2.2", "right", nil, 0)
	now = now.Add(51 * time.Second)
	try("192.0.2.1", "right", nil, 0)
	try("192.0.2.1", "0", errWrong, 0) // its earlier try is a minute old
}

// TestTriesAtOnce checks that parallel tries cannot bypass the limit and that correct secrets do not
// count.
func TestTriesAtOnce(t *testing.T) {
	t.Parallel()
	for _, outcome := range []error{errWrong, nil} {
		l := httpapi.NewTries(errWrong, time.Now)
		var all sync.WaitGroup
		var tried atomic.Int64
		for i := range 100 {
			all.Go(func() {
				l.Try(&http.Request{RemoteAddr: "192.0.2.1:1"}, fmt.Sprint(i), func(string) error {
					tried.Add(1)
					return outcome
				})
			})
		}
		all.Wait()
		if got := tried.Load(); outcome == nil && got != 100 || outcome != nil && got != 10 {
			t.Errorf("%d of 100 tries called open; each outcome: %v", got, outcome)
		}
	}
}

func TestSetRetryAfter(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]int{time.Millisecond: 1, time.Second: 2, 59 * time.Second: 60} {
		h := http.Header{}
		if got := httpapi.SetRetryAfter(h, wait); got != want || h.Get("Retry-After") != fmt.Sprint(want) {
			t.Errorf("%v: %d, %q", wait, got, h)
		}
	}
}
