//go:build unix && !race

package guard_test

import (
	"sync/atomic"
	"testing"
)

// TestOlderFileUnderLoad: where the file alone is written over in the middle of a
// checkpoint, the checkpoint can hide it. Four writers checkpoint all the time, and
// still most of such copies are noticed or do no harm. It takes a minute of two processors,
// and the race detector sees the same code in the other attacks.
func TestOlderFileUnderLoad(t *testing.T) {
	t.Parallel()
	const attacks = 6
	var missed atomic.Int32
	t.Run("", func(t *testing.T) {
		for range attacks {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				if err := writeOlderCopy(t, []string{""}, true); err != nil {
					t.Log(err)
					missed.Add(1)
				}
			})
		}
	})
	if missed.Load() > attacks/2 {
		t.Errorf("%d of %d were not noticed", missed.Load(), attacks)
	}
}
