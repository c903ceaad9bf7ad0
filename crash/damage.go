package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// damaging counts what comes of damaged databases.
type damaging struct {
	*check
	sound   string // the database that is damaged in copies
	truths  []*truth
	refused atomic.Int64 // that were not served
	failed  atomic.Int64 // of which some requests were answered by an error
	right   atomic.Int64 // of which all answers were right
	lied    atomic.Int64 // of which some were wrong
	answers atomic.Int64 // that were wrong
	known   atomic.Int64 // lies that firefighters check finds
}

func (d *damaging) line() string {
	return fmt.Sprintf("%d not served, %d served with errors, %d served as if nothing was; undetected wrong answers: %d, in %d "+
		"copies, of which firefighters check finds %d", d.refused.Load(), d.failed.Load(), d.right.Load(), d.answers.Load(),
		d.lied.Load(), d.known.Load())
}

// makeSound makes a database with all kinds of records, folded and closed.
func (c *check) makeSound(writes int) (*damaging, error) {
	d := &damaging{check: c, sound: filepath.Join(c.folder, "sound.db")}
	var err error
	if d.truths, err = c.departments(d.sound, 2); err != nil {
		return nil, err
	}
	s, err := c.serve(d.sound)
	if err != nil {
		return nil, err
	}
	ids := make([][]string, len(d.truths))
	for i := range writes {
		at := i % len(d.truths)
		if err := c.writeOne(s.client, d.truths[at], &ids[at]); err != nil {
			return nil, err
		}
	}
	return d, s.stop()
}

// look has a damaged copy checked and served. Whatever it says must be said
// clearly, and no answer that it gives for right may be wrong.
func (d *damaging) look(doing, db string, r *rand.Rand) {
	defer removeDatabase(db)
	found := d.examine(doing, db)
	s, err := d.serve(db)
	if err != nil {
		d.refused.Add(1)
		d.check.refused(doing, err)
		return
	}
	wrong, failures := d.question(s, r)
	if _, status, err := newTruth("", d.truths[0].key).create(s.client, somebody(r, number.Add(1))); err != nil {
		d.wrong("%s: a write is answered by %d %v", doing, status, err)
	}
	s.kill()
	d.judge(doing, s.log.String())
	switch {
	case len(wrong) > 0:
		d.lied.Add(1)
		d.answers.Add(int64(len(wrong)))
		if found {
			d.known.Add(1)
		}
		d.wrong("%s: %s", doing, wrong[0])
	case failures > 0:
		d.failed.Add(1)
	default:
		d.right.Add(1)
	}
}

// examine has the program check a copy, and tells whether it finds something.
func (d *damaging) examine(doing, db string) bool {
	out, text, err := d.command("check", "--db", db)
	d.judge(doing+", and checked", out+text)
	if err != nil && !strings.Contains(text, "Error: ") {
		d.wrong("%s: firefighters check ended by %v without a clear message: %s", doing, err, out+text)
	}
	return err != nil
}

// question asks for everything in several ways, and gives the answers that are
// wrong and the number of those that are errors.
func (d *damaging) question(s *service, r *rand.Rand) (wrong []string, failures int) {
	note := func(what string, err error) {
		var u unanswered
		switch {
		case errors.As(err, &u) && (u.status >= 500 || u.status == http.StatusUnauthorized):
			failures++
		case err != nil:
			wrong = append(wrong, what+": "+err.Error())
		}
	}
	for _, t := range d.truths {
		for _, query := range orders {
			list, contradiction, err := s.client.all(t.key, query)
			note(query, err)
			if err == nil {
				wrong = append(wrong, t.copy().compare(list)...)
			}
			if contradiction != "" {
				wrong = append(wrong, contradiction)
			}
		}
		for id, states := range t.possible {
			must := states[0]
			status, p, err := s.client.get(t.key, id)
			if err == nil && status != statusOf(must) {
				err = unanswered{status, "for " + describe(must)}
			}
			note(id, err)
			if err == nil && must != nil && p != *must {
				wrong = append(wrong, fmt.Sprintf("%s is answered by %q, not by %s", id, p, describe(must)))
			}
		}
		note("a search", d.search(s, t, r))
	}
	return wrong, failures
}

// search looks for a name, and for nothing less.
func (d *damaging) search(s *service, t *truth, r *rand.Rand) error {
	ids := make([]string, 0, len(t.possible))
	for id, states := range t.possible {
		if states[0] != nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	id := ids[r.IntN(len(ids))]
	must := *t.possible[id][0]
	p, err := s.client.list(t.key, "search="+url.QueryEscape(must.LastName), 1)
	for _, item := range p.Data.Items {
		if item.ID == id && item.person == must {
			return nil
		}
	}
	if err == nil {
		err = fmt.Errorf("%q is not found", must)
	}
	return err
}

// copies makes damaged copies and looks at each.
func (d *damaging) copies(n int, damage func(i int, r *rand.Rand, content []byte) (doing string, damaged []byte)) error {
	content, err := os.ReadFile(d.sound)
	if err != nil {
		return err
	}
	return parallel(n, func(i int) error {
		r := rand.New(rand.NewPCG(d.seed, uint64(i)))
		db := filepath.Join(d.folder, fmt.Sprintf("copy%d.db", i))
		doing, damaged := damage(i, r, slices.Clone(content))
		if err := os.WriteFile(db, damaged, 0o600); err != nil {
			return err
		}
		d.look(doing, db, r)
		return d.ctx.Err()
	})
}

const pageBytes = 4096

// flip flips a byte in each page of a database.
func flip(c *check) error {
	d, err := c.makeSound(c.choose(120, 400))
	if err != nil {
		return err
	}
	info, err := os.Stat(d.sound)
	if err != nil {
		return err
	}
	pages, times := int(info.Size())/pageBytes, c.choose(6, 40)
	err = d.copies(pages*times, func(i int, r *rand.Rand, content []byte) (string, []byte) {
		at := i%pages*pageBytes + r.IntN(pageBytes)
		if used := r.IntN(4); used > 0 { // most of a page may be empty
			at = usedByte(content, i%pages, r)
		}
		content[at] ^= byte(1 + r.IntN(255))
		return fmt.Sprintf("byte %d of page %d flipped", at%pageBytes, i%pages+1), content
	})
	c.found = fmt.Sprintf("a byte flipped in each of %d pages, %d times: %s", pages, times, d.line())
	return err
}

// usedByte chooses a byte of a page that is not zero, if there is one.
func usedByte(content []byte, page int, r *rand.Rand) int {
	at := page*pageBytes + r.IntN(pageBytes)
	for tries := 0; content[at] == 0 && tries < 100; tries++ {
		at = page*pageBytes + r.IntN(pageBytes)
	}
	return at
}

// cut cuts a database off at many sizes, also one whose -wal is whole. An
// empty file counts as none, and is not among them.
func cut(c *check) error {
	d, err := c.makeSound(c.choose(120, 400))
	if err != nil {
		return err
	}
	info, err := os.Stat(d.sound)
	if err != nil {
		return err
	}
	sizes := []int{1, 15, 16, 50, 99, 100, 101, 511, 512, 1000, 2048, 4095}
	for page := 1; page < int(info.Size())/pageBytes; page += c.choose(2, 1) {
		sizes = append(sizes, page*pageBytes, page*pageBytes+1+c.rand.IntN(pageBytes-1))
	}
	sizes = append(sizes, int(info.Size())-1)
	err = d.copies(len(sizes), func(i int, _ *rand.Rand, content []byte) (string, []byte) {
		return fmt.Sprintf("cut off at byte %d of %d", sizes[i], len(content)), content[:sizes[i]]
	})
	if err != nil {
		return err
	}
	c.found = fmt.Sprintf("a database cut off at %d sizes: %s; and under a running service at %d", len(sizes), d.line(), len(sizes)/2)
	return parallel(len(sizes)/2, func(i int) error { return d.cutLive(i, sizes[2*i+1]) })
}

// cutLive cuts a database off while it is served. Nothing can be right from
// then on, but every request has an answer, and the service stops when told.
func (d *damaging) cutLive(copy, size int) error {
	doing := fmt.Sprintf("cut off at byte %d while it is served", size)
	db := filepath.Join(d.folder, fmt.Sprintf("live%d.db", copy))
	defer removeDatabase(db)
	if err := copyFile(d.sound, db); err != nil {
		return err
	}
	s, err := d.serve(db)
	if err != nil {
		return err
	}
	t := d.truths[0]
	if _, err := s.client.list(t.key, orders[0], 1); err != nil {
		return err
	}
	if err := os.Truncate(db, int64(size)); err != nil {
		return err
	}
	for range 3 {
		for _, query := range append(orders, "search=an") {
			if _, err := s.client.list(t.key, query, 1); err != nil && !errors.As(err, new(unanswered)) {
				d.wrong("%s: %v", doing, err)
			}
		}
		if _, _, err := s.client.do("POST", records, t.key, somebody(rand.New(rand.NewPCG(0, 0)), number.Add(1)).body()); err != nil {
			d.wrong("%s: %v", doing, err)
		}
	}
	s.stop() // by whatever error
	d.judge(doing, s.log.String())
	return nil
}

// flipWAL flips a byte in each frame of a -wal, in its header, and cuts it off
// at any size. SQLite takes what comes before for the whole, so the state must
// be one that once was.
func flipWAL(c *check) error {
	h, err := c.makeHistory(c.choose(10, 40))
	if err != nil {
		return err
	}
	frames := (len(h.wal) - walHeader) / h.frame
	times := c.choose(1, 4)
	var lost, refused atomic.Int64
	err = parallel(frames*times+walHeader, func(i int) error {
		r := rand.New(rand.NewPCG(c.seed, uint64(i)))
		at := i // a byte of the header
		if i >= walHeader {
			frame := (i - walHeader) % frames
			at = walHeader + frame*h.frame + r.IntN(h.frame)
			if r.IntN(3) == 0 {
				at = walHeader + frame*h.frame + r.IntN(frameHeader)
			}
		}
		wal := slices.Clone(h.wal)
		wal[at] ^= byte(1 + r.IntN(255))
		return h.openDamaged(i, at, wal, r, &lost, &refused)
	})
	c.found = fmt.Sprintf("a byte flipped in the header and each of %d frames of a -wal, %d times: "+
		"%d copies served without the last of what was acknowledged, and nobody the wiser; %d not served", frames, times, lost.Load(), refused.Load())
	return err
}

// openDamaged serves a copy with a damaged -wal.
func (h *history) openDamaged(copy, at int, wal []byte, r *rand.Rand, lost, refused *atomic.Int64) error {
	doing := fmt.Sprintf("byte %d of the -wal flipped", at)
	db := filepath.Join(h.folder, fmt.Sprintf("copy%d.db", copy))
	defer removeDatabase(db)
	if err := copyFile(h.db, db); err != nil {
		return err
	}
	if err := os.WriteFile(db+"-wal", wal, 0o600); err != nil {
		return err
	}
	garbage := make([]byte, 32<<10) // SQLite makes the -shm anew, whatever there is
	for i := range garbage {
		garbage[i] = byte(r.Uint32())
	}
	if err := os.WriteFile(db+"-shm", garbage, 0o600); err != nil {
		return err
	}
	s, err := h.serve(db)
	if err != nil {
		refused.Add(1)
		h.refused(doing, err)
		return nil
	}
	state, err := h.stateOf(s, r)
	s.kill()
	h.judge(doing, s.log.String())
	switch {
	case err != nil:
		h.wrong("%s: %v", doing, err)
	case state < 0:
		h.wrong("%s: it has a state that never was", doing)
	case state < len(h.states)-1:
		lost.Add(1)
	}
	h.sound(doing, db)
	return nil
}
