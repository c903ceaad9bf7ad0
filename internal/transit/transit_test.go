package transit

import (
	"context"
	"errors"
	"testing"
)

// TestBegin: only so many files are worked on, and a client that goes waits no
// longer.
func TestBegin(t *testing.T) {
	var done []func()
	for range atOnce {
		end, err := Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		done = append(done, end)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Begin(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("one more: %v", err)
	}
	waiting := make(chan error)
	go func() {
		end, err := Begin(t.Context())
		if err == nil {
			end()
		}
		waiting <- err
	}()
	for _, end := range done {
		end()
	}
	if err := <-waiting; err != nil || len(working) != 0 {
		t.Errorf("afterwards: %v, and %d are counted", err, len(working))
	}
}
