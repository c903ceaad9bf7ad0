package httpapi_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// refusals is a Refusals with a log that the test reads.
type refusals struct {
	*httpapi.Refusals
	mu  sync.Mutex
	log strings.Builder
}

func newRefusals() *refusals {
	r := &refusals{}
	r.Refusals = httpapi.NewRefusals(slog.New(slog.NewTextHandler(r, nil)))
	return r
}

func (r *refusals) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(line)
}

func (r *refusals) add(address, reason string) {
	r.Add(&http.Request{RemoteAddr: address}, reason)
}

var refusalLine = regexp.MustCompile(`(?m)^time=\S+ level=WARN msg="requests were refused" address=(.*) count=(\d+) code=(\w+)\n`)

// logged checks the new lines of the log, as "address count code".
func (r *refusals) logged(t *testing.T) string {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.log.Reset()
	if rest := refusalLine.ReplaceAllString(r.log.String(), ""); rest != "" {
		t.Errorf("unexpected log: %s", rest)
	}
	var lines []string
	for _, line := range refusalLine.FindAllStringSubmatch(r.log.String(), -1) {
		lines = append(lines, strings.Join(line[1:], " "))
	}
	return strings.Join(lines, ", ")
}

func (r *refusals) wants(t *testing.T, want string) {
	t.Helper()
	if got := r.logged(t); got != want {
		t.Errorf("got log %q, want %q", got, want)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRefusals()
		pass := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		r.add("192.0.2.1:1000", "missing")
		r.wants(t, "192.0.2.1 1 missing")
		r.add("192.0.2.1:1001", "missing")
		r.add("[2001:db8::1%eth0]:1000", "expired")
		r.wants(t, "2001:db8::1%eth0 1 expired")
		r.add("192.0.2.1:1000", "unknown")
		pass(999 * time.Millisecond)
		r.wants(t, "")
		pass(time.Millisecond)
		r.wants(t, "192.0.2.1 2 unknown")
		for range 3 {
			r.add("192.0.2.1:1000", "revoked")
		}
		r.wants(t, "")
		pass(time.Second)
		r.wants(t, "192.0.2.1 3 revoked")
		pass(time.Second)
		r.add("192.0.2.1:1000", "unknown") // logged at once after a second without requests
		r.wants(t, "192.0.2.1 1 unknown")
		r.add("192.0.2.1:1000", "revoked")
		r.Finish()
		r.wants(t, "192.0.2.1 1 revoked")
		r.Finish()
		r.wants(t, "")
	})
}

// TestManyAddresses checks that addresses beyond the limit share a line until others are forgotten.
func TestManyAddresses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRefusals()
		many := func(network int) (lines int) {
			for i := range 5000 {
				r.add(fmt.Sprintf("10.%d.%d.%d:1", network, i/250, i%250), "unknown")
			}
			return strings.Count(r.logged(t), ",") + 1
		}
		if n := many(1); n != 257 {
			t.Errorf("got %d lines", n)
		}
		r.Finish()
		r.wants(t, fmt.Sprintf("others %d unknown", 5000-257))
		time.Sleep(time.Second)
		synctest.Wait()
		if n := many(2); n != 257 {
			t.Errorf("got %d lines for other addresses after a pause", n)
		}
	})
}
