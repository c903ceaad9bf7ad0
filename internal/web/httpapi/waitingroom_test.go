package httpapi_test

import (
	"context"
	"errors"
	"testing"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// waits reports for each of some requests whether it may go on waiting.
func waits(all ...context.Context) (some []bool) {
	for _, ctx := range all {
		some = append(some, ctx.Err() == nil)
	}
	return some
}

// enter has a request wait, which must have a place.
func enter(t *testing.T, room *httpapi.WaitingRoom, owner int64) (waiting context.Context, leave func()) {
	t.Helper()
	waiting, leave, err := room.Enter(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	return waiting, leave
}

// TestWaitingRoom: one owner may have all places, and gives some to others, the one taken
// first before the others. Nobody takes more than that.
func TestWaitingRoom(t *testing.T) {
	t.Parallel()
	room := httpapi.NewWaitingRoom(4)
	full := func(owner int64) {
		t.Helper()
		var p *httpapi.Problem
		if _, _, err := room.Enter(t.Context(), owner); !errors.As(err, &p) || p.Status != 429 || p.Header.Get("Retry-After") == "" {
			t.Errorf("a place for %d: %v", owner, err)
		}
	}
	expect := func(want []bool, all ...context.Context) {
		t.Helper()
		for i, waiting := range waits(all...) {
			if waiting != want[i] {
				t.Errorf("%v wait, not %v", waits(all...), want)
				return
			}
		}
	}
	a, leaveA := enter(t, room, 1)
	b, leaveB := enter(t, room, 1)
	c, leaveC := enter(t, room, 1)
	d, leaveD := enter(t, room, 1)
	full(1)
	expect([]bool{true, true, true, true}, a, b, c, d)
	x, leaveX := enter(t, room, 2)
	expect([]bool{false, true, true, true, true}, a, b, c, d, x)
	leaveA() // it has no place to give back
	full(1)
	y, leaveY := enter(t, room, 2)
	expect([]bool{false, true, true, true, true}, b, c, d, x, y)
	full(1)
	full(2)
	z, leaveZ := enter(t, room, 3) // of either of the two
	full(3)
	expect([]bool{true}, z)
	for _, leave := range []func(){leaveB, leaveC, leaveD, leaveX, leaveY, leaveZ} {
		leave()
		leave()
	}
	for range 4 {
		enter(t, room, 5)
	}
	full(5)
}

// TestWaitingRoomCloses: all go, and so do those who come later.
func TestWaitingRoomCloses(t *testing.T) {
	t.Parallel()
	room := httpapi.NewWaitingRoom(2)
	before, _ := enter(t, room, 1)
	room.Close()
	after, _ := enter(t, room, 1)
	if before.Err() == nil || after.Err() == nil {
		t.Errorf("%v wait", waits(before, after))
	}
	ctx, cancel := context.WithCancel(t.Context())
	none, leave, err := (*httpapi.WaitingRoom)(nil).Enter(ctx, 1)
	if cancel(); err != nil || none.Err() == nil { // the client has gone
		t.Error("a request waits without its client")
	}
	leave()
}
