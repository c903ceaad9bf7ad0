package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// history is a database whose -wal was never checkpointed, with the acknowledged
// state at each size of the -wal.
type history struct {
	*check
	db     string
	sizes  []int64    // of the -wal, after each write
	states [][]*truth // before the first write and after each write
	wal    []byte
	frame  int // size of a frame of the -wal in bytes
}

// Sizes of the parts of a -wal in bytes (SQLite file format, section 4).
const (
	walHeader   = 32
	frameHeader = 24
)

// makeHistory makes one write after another and kills the service.
func (c *check) makeHistory(writes int) (*history, error) {
	h := &history{check: c, db: filepath.Join(c.folder, "history.db")}
	truths, err := c.departments(h.db, 2)
	if err != nil {
		return nil, err
	}
	s, err := c.serve(h.db)
	if err != nil {
		return nil, err
	}
	h.remember(truths)
	ids := make([][]string, len(truths))
	for i := range writes {
		at := i % len(truths)
		if err := c.writeOne(s.client, truths[at], &ids[at]); err != nil {
			return nil, err
		}
		info, err := os.Stat(h.db + "-wal")
		if err != nil {
			return nil, err
		}
		h.sizes = append(h.sizes, info.Size())
		h.remember(truths)
		if i > 0 && h.sizes[i] <= h.sizes[i-1] {
			return nil, errors.New("the -wal did not grow with a write: this check needs a change")
		}
	}
	s.kill()
	if h.wal, err = os.ReadFile(h.db + "-wal"); err != nil {
		return nil, err
	}
	h.frame = frameHeader + int(binary.BigEndian.Uint32(h.wal[8:]))
	return h, nil
}

// writeOne creates, replaces or deletes a record, and must succeed.
func (c *check) writeOne(at *client, t *truth, ids *[]string) error {
	_, _, status, err := t.change(at, ids, c.rand)
	if err != nil || status >= 300 {
		return fmt.Errorf("a write was answered by %d %w", status, err)
	}
	return nil
}

// remember adds the current state.
func (h *history) remember(truths []*truth) {
	var state []*truth
	for _, t := range truths {
		state = append(state, t.copy())
	}
	h.states = append(h.states, state)
}

// acknowledged returns the number of acknowledged writes when the -wal had the
// given size.
func (h *history) acknowledged(size int) (n int) {
	for n < len(h.sizes) && h.sizes[n] <= int64(size) {
		n++
	}
	return n
}

// tears are the ways in which a power cut can leave unsynced data in the -wal. The
// data between from and end, the end of the write in progress, can be anything.
var tears = []struct {
	name string
	tear func(h *history, from, end int, r *rand.Rand) []byte
}{
	{"cut off between frames", func(h *history, from, _ int, _ *rand.Rand) []byte { return h.wal[:from] }},
	{"cut off in a frame", func(h *history, from, _ int, r *rand.Rand) []byte { return h.wal[:from+1+r.IntN(h.frame-1)] }},
	{"a page of zeros", func(h *history, from, end int, _ *rand.Rand) []byte {
		return splice(h.wal[:end], from+frameHeader, make([]byte, h.frame-frameHeader))
	}},
	{"zeros to the end", func(h *history, from, end int, r *rand.Rand) []byte {
		start := from + r.IntN(h.frame)
		return splice(h.wal[:end], start, make([]byte, end-start))
	}},
	{"half a page", func(h *history, from, end int, r *rand.Rand) []byte {
		sector := 512 * (1 + r.IntN((h.frame-frameHeader)/512-1))
		return splice(h.wal[:end], from+sector, make([]byte, h.frame-sector))
	}},
	{"garbage", func(h *history, from, end int, r *rand.Rand) []byte {
		garbage := make([]byte, 1+r.IntN(h.frame))
		for i := range garbage {
			garbage[i] = byte(r.Uint32())
		}
		return splice(h.wal[:end], from, garbage)
	}},
}

// splice returns a copy of b with other written at an offset.
func splice(b []byte, at int, other []byte) []byte {
	b = append([]byte(nil), b...)
	copy(b[at:], other)
	return b
}

// torn tears the -wal at every frame. All writes acknowledged before that frame
// must be there, and the state must be one that existed.
func torn(c *check) error {
	h, err := c.makeHistory(c.choose(8, 60))
	if err != nil {
		return err
	}
	frames := (len(h.wal) - walHeader) / h.frame
	ways := c.choose(2, len(tears))
	err = parallel(frames*ways, func(i int) error {
		from := walHeader + i/ways*h.frame
		end := len(h.wal)
		if n := h.acknowledged(from); n < len(h.sizes) {
			end = int(h.sizes[n])
		}
		t := tears[(i%ways+i/ways*ways)%len(tears)]
		r := rand.New(rand.NewPCG(c.seed, uint64(i)))
		doing := fmt.Sprintf("%s, from frame %d on", t.name, i/ways)
		return h.open(doing, i, t.tear(h, from, end, r), h.acknowledged(from), r)
	})
	c.summary = fmt.Sprintf("%d writes in %d frames of the -wal; torn at each frame in %d of %d ways: %d copies opened", len(h.sizes), frames, ways, len(tears), frames*ways)
	return err
}

// copy copies the database with another -wal.
func (h *history) copy(i int, wal []byte) (db string, err error) {
	db = filepath.Join(h.folder, fmt.Sprintf("copy%d.db", i))
	if err := copyFile(h.db, db); err != nil {
		return "", err
	}
	return db, os.WriteFile(db+"-wal", wal, 0o600)
}

// open serves a copy of the database with another -wal. It must have the state
// after n writes or after n+1 writes.
func (h *history) open(doing string, i int, wal []byte, n int, r *rand.Rand) error {
	db, err := h.copy(i, wal)
	if err != nil {
		return err
	}
	defer removeDatabase(db)
	s, err := h.serve(db)
	if err != nil {
		h.wrong("%s: %v", doing, err)
		return nil
	}
	defer s.kill()
	if found, err := h.stateOf(s, r); err != nil {
		h.wrong("%s: %v", doing, err)
	} else if found != n && found != n+1 {
		h.wrong("%s: %d writes were acknowledged, but it has the state after %s", doing, n, stateName(found))
	}
	h.end(doing, s, db)
	return nil
}

// stateOf returns the index of the state that the service has, or -1.
func (h *history) stateOf(s *service, r *rand.Rand) (int, error) {
	order := orders[r.IntN(len(orders))]
	lists := make([]map[string]person, len(h.states[0]))
	for i, t := range h.states[0] {
		list, contradiction, err := s.client.all(t.key, order)
		if err != nil {
			return 0, err
		}
		if contradiction != "" {
			return 0, errors.New(contradiction)
		}
		lists[i] = list
	}
	for n, state := range h.states {
		var wrong []string
		for i, t := range state {
			wrong = append(wrong, t.copy().compare(lists[i])...)
		}
		if strings.Join(wrong, "") == "" {
			return n, nil
		}
	}
	return -1, nil
}

func stateName(n int) string {
	if n < 0 {
		return "no number of writes"
	}
	return fmt.Sprint(n)
}
