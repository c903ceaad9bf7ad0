package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
)

// truth is the expected content of a department, according to the answers of the
// service.
type truth struct {
	name, key string

	mu          sync.Mutex
	possible    map[string][]*person // by id, the possible states of a record; nil means deleted
	unconfirmed []person             // creates without an answer
}

// number makes all invented people unique.
var number atomic.Uint64

func newTruth(name, key string) *truth {
	return &truth{name: name, key: key, possible: map[string][]*person{}}
}

func (c *check) departments(db string, n int) (truths []*truth, err error) {
	for i := range n {
		name := fmt.Sprintf("Engine %d", i+1)
		key, err := c.key(db, name)
		if err != nil {
			return nil, err
		}
		truths = append(truths, newTruth(name, key))
	}
	return truths, nil
}

// hadNoEffect reports whether a status promises that a write changed nothing: 3xx, 4xx and
// 507. After any other 5xx the effect is unknown.
func hadNoEffect(status int) bool {
	return status >= 300 && status < 500 || status == http.StatusInsufficientStorage
}

func (t *truth) create(c *client, p person) (id string, status int, err error) {
	status, answer, err := c.do("POST", records, t.key, p.body())
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err == nil && status == http.StatusCreated:
		id = string(answer)
		t.possible[id] = []*person{&p}
	case err != nil || !hadNoEffect(status):
		t.unconfirmed = append(t.unconfirmed, p)
	}
	return id, status, err
}

// replace replaces a record, or deletes it if p is nil.
func (t *truth) replace(c *client, id string, p *person) (status int, err error) {
	t.mu.Lock()
	before := t.possible[id]
	t.possible[id] = append(slices.Clone(before), p)
	t.mu.Unlock()
	if p == nil {
		status, _, err = c.do("DELETE", records+"/"+id, t.key, nil)
	} else {
		status, _, err = c.do("PUT", records+"/"+id, t.key, p.body())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err == nil && status < 300:
		t.possible[id] = []*person{p}
	case err == nil && hadNoEffect(status):
		t.possible[id] = before
	}
	return status, err
}

// maxOwn is the number of records that a client keeps.
const maxOwn = 40

// change sends a random write: it creates a record, or replaces or deletes one of own.
func (t *truth) change(c *client, own *[]string, r *rand.Rand) (status int, err error) {
	p := randomPerson(r, number.Add(1))
	switch choice := r.IntN(8); {
	case len(*own) < 2 || choice < 4 && len(*own) < maxOwn:
		id, status, err := t.create(c, p)
		if id != "" {
			*own = append(*own, id)
		}
		return status, err
	case choice < 7:
		return t.replace(c, (*own)[r.IntN(len(*own))], &p)
	default:
		id := (*own)[0]
		*own = (*own)[1:]
		return t.replace(c, id, nil)
	}
}

// size returns the number of records that were ever created.
func (t *truth) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.possible)
}

// compare returns the differences between a whole list and the truth. It then sets the
// truth to the content of the list.
func (t *truth) compare(list map[string]person) (wrong []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, states := range t.possible {
		var actual *person
		if p, found := list[id]; found {
			actual = &p
		}
		if !slices.ContainsFunc(states, func(state *person) bool { return same(state, actual) }) {
			wrong = append(wrong, fmt.Sprintf("%s of %s is %s, want %s", id, t.name, describe(actual), describe(states...)))
		}
		t.possible[id] = []*person{actual}
	}
	for id, p := range list {
		if _, known := t.possible[id]; known {
			continue
		}
		if at := slices.Index(t.unconfirmed, p); at >= 0 {
			t.unconfirmed = slices.Delete(t.unconfirmed, at, at+1)
		} else {
			wrong = append(wrong, fmt.Sprintf("%s of %s is %s, but no request created it", id, t.name, describe(&p)))
		}
		t.possible[id] = []*person{&p}
	}
	t.unconfirmed = nil
	return wrong
}

func same(a, b *person) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func describe(states ...*person) (text string) {
	for i, state := range states {
		if i > 0 {
			text += " or "
		}
		if state == nil {
			text += "missing"
		} else {
			text += fmt.Sprintf("%q", *state)
		}
	}
	return text
}

// orders are queries whose lists must all have the same records.
var orders = []string{"sortBy=createdAt", "sortBy=firstName", "sortBy=lastName&sortDir=asc", "sortBy=email",
	"sortBy=phoneNumber&sortDir=asc", "sortBy=dateOfBirth"}

// verify compares the service with the truth: the list by creation time, the list in
// another order, and some single records.
func (t *truth) verify(s *service, r *rand.Rand) (wrong []string, err error) {
	var lists []map[string]person
	for _, query := range []string{orders[0], orders[1+r.IntN(len(orders)-1)]} {
		list, contradiction, err := s.client.all(t.key, query)
		if err != nil {
			return nil, err
		}
		if contradiction != "" {
			wrong = append(wrong, contradiction)
		}
		lists = append(lists, list)
	}
	wrong = append(wrong, t.compare(lists[0])...)
	wrong = append(wrong, t.compare(lists[1])...)
	checked := 0
	for id := range t.possible { // in random order
		status, p, err := s.client.get(t.key, id)
		if err != nil {
			return wrong, err
		}
		if must := t.possible[id][0]; status != statusOf(must) || must != nil && p != *must {
			wrong = append(wrong, fmt.Sprintf("GET of %s of %s returned %d %q, want %s", id, t.name, status, p, describe(must)))
		}
		if checked++; checked == 20 {
			break
		}
	}
	return wrong, nil
}

func statusOf(p *person) int {
	if p == nil {
		return http.StatusNotFound
	}
	return http.StatusOK
}

// verifyAll records each difference between the service and some truths.
func (c *check) verifyAll(doing string, s *service, truths []*truth, r *rand.Rand) {
	for _, t := range truths {
		wrong, err := t.verify(s, r)
		if err != nil {
			c.wrong("%s: %v", doing, err)
		}
		for _, difference := range wrong {
			c.wrong("%s: %s", doing, difference)
		}
	}
}
