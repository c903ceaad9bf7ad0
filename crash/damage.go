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

// damageRun damages copies of a database and counts the outcomes.
type damageRun struct {
	*check
	intact    string // the database that is copied
	truths    []*truth
	refused   atomic.Int64 // copies that were not served
	failed    atomic.Int64 // copies with errors, but no wrong answer
	right     atomic.Int64 // copies with right answers only
	incorrect atomic.Int64 // copies with wrong answers
	answers   atomic.Int64 // wrong answers
	detected  atomic.Int64 // incorrect copies that firefighters check detects
}

// line formats the counts.
func (d *damageRun) line() string {
	return fmt.Sprintf("%d not served, %d served with errors, %d served without errors; undetected wrong answers: %d, in %d "+
		"copies, of which firefighters check detects %d", d.refused.Load(), d.failed.Load(), d.right.Load(), d.answers.Load(),
		d.incorrect.Load(), d.detected.Load())
}

// makeIntact creates a database with all kinds of records. It is closed, so that
// nothing is left in the -wal.
func (c *check) makeIntact(writes int) (*damageRun, error) {
	d := &damageRun{check: c, intact: filepath.Join(c.folder, "intact.db")}
	var err error
	if d.truths, err = c.departments(d.intact, 2); err != nil {
		return nil, err
	}
	s, err := c.serve(d.intact)
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

// serveCopy checks and serves a damaged copy. Errors must be clear, and no
// successful answer may be wrong.
func (d *damageRun) serveCopy(doing, db string, r *rand.Rand) {
	defer removeDatabase(db)
	detected := d.checkCopy(doing, db)
	s, err := d.serve(db)
	if err != nil {
		d.refused.Add(1)
		d.check.checkRefusal(doing, err)
		return
	}
	wrong, failures := d.askAll(s, r)
	if _, status, err := newTruth("", d.truths[0].key).create(s.client, randomPerson(r, number.Add(1))); err != nil {
		d.wrong("%s: a write was answered by %d %v", doing, status, err)
	}
	s.kill()
	d.checkText(doing, s.log.String())
	switch {
	case len(wrong) > 0:
		d.incorrect.Add(1)
		d.answers.Add(int64(len(wrong)))
		if detected {
			d.detected.Add(1)
		}
		d.wrong("%s: %s", doing, wrong[0])
	case failures > 0:
		d.failed.Add(1)
	default:
		d.right.Add(1)
	}
}

// checkCopy runs firefighters check on a copy and reports whether it detects
// damage.
func (d *damageRun) checkCopy(doing, db string) bool {
	out, text, err := d.command("check", "--db", db)
	d.checkText(doing+", firefighters check", out+text)
	if err != nil && !strings.Contains(text, "Error: ") {
		d.wrong("%s: firefighters check ended by %v without a clear message: %s", doing, err, out+text)
	}
	return err != nil
}

// askAll requests all records in several ways. It returns the wrong answers and
// the number of errors.
func (d *damageRun) askAll(s *service, r *rand.Rand) (wrong []string, failures int) {
	note := func(what string, err error) {
		var answer errorAnswer
		switch {
		case errors.As(err, &answer) && (answer.status >= 500 || answer.status == http.StatusUnauthorized):
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
				err = errorAnswer{status, "for " + describe(must)}
			}
			note(id, err)
			if err == nil && must != nil && p != *must {
				wrong = append(wrong, fmt.Sprintf("%s was answered by %q, not by %s", id, p, describe(must)))
			}
		}
		note("a search", d.search(s, t, r))
	}
	return wrong, failures
}

// search searches for the name of one record, which must be in the answer.
func (d *damageRun) search(s *service, t *truth, r *rand.Rand) error {
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
		err = fmt.Errorf("%q was not found", must)
	}
	return err
}

// copies creates damaged copies and examines each of them.
func (d *damageRun) copies(n int, damage func(i int, r *rand.Rand, content []byte) (doing string, damaged []byte)) error {
	content, err := os.ReadFile(d.intact)
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
		d.serveCopy(doing, db, r)
		return d.ctx.Err()
	})
}

const pageBytes = 4096

// flip flips a byte in each page of a database, several times.
func flip(c *check) error {
	d, err := c.makeIntact(c.choose(120, 400))
	if err != nil {
		return err
	}
	info, err := os.Stat(d.intact)
	if err != nil {
		return err
	}
	pages, times := int(info.Size())/pageBytes, c.choose(3, 40)
	err = d.copies(pages*times, func(i int, r *rand.Rand, content []byte) (string, []byte) {
		at := i%pages*pageBytes + r.IntN(pageBytes)
		if used := r.IntN(4); used > 0 { // unused parts of a page are zero
			at = usedByte(content, i%pages, r)
		}
		content[at] ^= byte(1 + r.IntN(255))
		return fmt.Sprintf("byte %d of page %d flipped", at%pageBytes, i%pages+1), content
	})
	c.summary = fmt.Sprintf("a byte flipped in each of %d pages, %d times: %s", pages, times, d.line())
	return err
}

// usedByte returns the offset of a random byte of a page. It prefers bytes that
// are not zero.
func usedByte(content []byte, page int, r *rand.Rand) int {
	at := page*pageBytes + r.IntN(pageBytes)
	for tries := 0; content[at] == 0 && tries < 100; tries++ {
		at = page*pageBytes + r.IntN(pageBytes)
	}
	return at
}

// cut truncates a database to many sizes, before and while it is served. Size 0
// is left out, because an empty file counts as no database.
func cut(c *check) error {
	d, err := c.makeIntact(c.choose(120, 400))
	if err != nil {
		return err
	}
	info, err := os.Stat(d.intact)
	if err != nil {
		return err
	}
	sizes := []int{1, 15, 16, 50, 99, 100, 101, 511, 512, 1000, 2048, 4095}
	for page := 1; page < int(info.Size())/pageBytes; page += c.choose(2, 1) {
		sizes = append(sizes, page*pageBytes, page*pageBytes+1+c.rand.IntN(pageBytes-1))
	}
	sizes = append(sizes, int(info.Size())-1)
	err = d.copies(len(sizes), func(i int, _ *rand.Rand, content []byte) (string, []byte) {
		return fmt.Sprintf("truncated to %d of %d bytes", sizes[i], len(content)), content[:sizes[i]]
	})
	if err != nil {
		return err
	}
	c.summary = fmt.Sprintf("a database truncated to %d sizes: %s; and to %d sizes while it was served", len(sizes), d.line(), len(sizes)/2)
	return parallel(len(sizes)/2, func(i int) error { return d.cutLive(i, sizes[2*i+1]) })
}

// cutLive truncates a database while it is served. Pages in the cache or in the
// -wal can still be right, all other reads fail. So each request must be
// answered by success or by 5xx, and the service must stop on a signal.
func (d *damageRun) cutLive(i, size int) error {
	doing := fmt.Sprintf("truncated to %d bytes while it is served", size)
	db := filepath.Join(d.folder, fmt.Sprintf("live%d.db", i))
	defer removeDatabase(db)
	if err := copyFile(d.intact, db); err != nil {
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
			var answer errorAnswer
			if _, err := s.client.list(t.key, query, 1); err != nil && !(errors.As(err, &answer) && answer.status >= 500) {
				d.wrong("%s: %v", doing, err)
			}
		}
		p := randomPerson(rand.New(rand.NewPCG(0, 0)), number.Add(1))
		if status, _, err := s.client.do("POST", records, t.key, p.body()); err != nil || status != http.StatusCreated && status < 500 {
			d.wrong("%s: a write was answered by %d %v", doing, status, err)
		}
	}
	s.stop() // an error is allowed
	d.checkText(doing, s.log.String())
	return nil
}

// flipWAL flips a byte in the header and in each frame of a -wal. For SQLite the
// -wal ends before a damaged frame. So the database must have a state that
// existed at some time.
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
		at := i // an offset in the header
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
	c.summary = fmt.Sprintf("a byte flipped in the header and each of %d frames of a -wal, %d times: "+
		"%d copies served without the last acknowledged writes; %d not served", frames, times, lost.Load(), refused.Load())
	return err
}

// openDamaged serves a copy with a damaged -wal and finds its state.
func (h *history) openDamaged(i, at int, wal []byte, r *rand.Rand, lost, refused *atomic.Int64) error {
	doing := fmt.Sprintf("byte %d of the -wal flipped", at)
	db, err := h.copy(i, wal)
	if err != nil {
		return err
	}
	defer removeDatabase(db)
	garbage := make([]byte, 32<<10) // SQLite must build the -shm again
	for n := range garbage {
		garbage[n] = byte(r.Uint32())
	}
	if err := os.WriteFile(db+"-shm", garbage, 0o600); err != nil {
		return err
	}
	s, err := h.serve(db)
	if err != nil {
		refused.Add(1)
		h.checkRefusal(doing, err)
		return nil
	}
	state, err := h.stateOf(s, r)
	s.kill()
	h.checkText(doing, s.log.String())
	switch {
	case err != nil:
		h.wrong("%s: %v", doing, err)
	case state < 0:
		h.wrong("%s: its state never existed", doing)
	case state < len(h.states)-1:
		lost.Add(1)
	}
	h.runCheck(doing, db)
	return nil
}
