package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"

	"github.com/firefighter-records/firefighters/internal/people/demo"
)

const (
	records     = "/api/v1/firefighters"
	changesPath = "/api/v1/changes"
)

// someItem is a part of every list that is not empty.
const someItem = `"items":[{"id":"`

// get expects the requested record.
func (p person) get() request {
	return newRequest("GET", records+"/"+p.id, p.key, "", 200, `"id":"`+p.id+`"`)
}

func (p person) replace(body string) request {
	return newRequest("PUT", records+"/"+p.id, p.key, body, 200, `"id":"`+p.id+`"`)
}

func (p person) remove() request {
	return newRequest("DELETE", records+"/"+p.id, p.key, "", noBody, "")
}

// list expects a page that is not empty.
func (d *department) list(query string) request {
	return newRequest("GET", records+"?"+query, d.key, "", 200, someItem)
}

// search expects the right total.
func (d *department) search(term string, found int64) request {
	return newRequest("GET", records+"?search="+url.QueryEscape(term), d.key, "", 200,
		fmt.Sprintf(`"totalCount":%d}`, found))
}

// like is the same search on the baseline.
func (d *department) like(term string) request {
	return newRequest("GET", fmt.Sprintf("/like/%d?search=%s", d.id, url.QueryEscape(term)), d.key, "", 200, "totalCount")
}

func (d *department) create(body string) request {
	return newRequest("POST", records, d.key, body, 201, `{"id":"`)
}

// body returns a random new person. Its number is so high that demo has not used
// it.
func body(r *rand.Rand, d *department) string {
	f := demo.Person(int(d.id-1), 1_000_000+r.IntN(1_000_000_000))
	member := map[string]string{"firstName": f.FirstName, "lastName": f.LastName}
	for name, value := range map[string]string{
		"phoneNumber": f.PhoneNumber, "email": f.Email, "dateOfBirth": f.DateOfBirth,
	} {
		if value != "" {
			member[name] = value
		}
	}
	text, err := json.Marshal(member)
	if err != nil {
		panic(err) // encoding strings cannot fail
	}
	return string(text)
}

// each returns a supply with one request for each item.
func each[T any](items []T, request func(T) request) *supply {
	s := &supply{}
	for _, item := range items {
		s.requests = append(s.requests, request(item))
	}
	return s
}

func (c *country) gets() *supply { return each(c.reads(), person.get) }

// lists returns a request for the first page of each ordinary department. The
// orders are used in turn.
func (c *country) lists(orders ...string) *supply {
	s := &supply{}
	for i := range max(len(c.ordinary), len(orders)) {
		s.requests = append(s.requests, c.ordinary[i%len(c.ordinary)].list(orders[i%len(orders)]))
	}
	return s
}

// searches returns searches in the sample, with terms of one kind.
func (c *country) searches(k kind) (*supply, error) {
	s, sample := &supply{}, c.sample()
	for n := range searchesDrawn {
		d := sample[n%len(sample)]
		term, found, err := k.draw(c.random, d)
		if err != nil {
			return nil, err
		}
		s.requests = append(s.requests, d.search(term, found))
	}
	return s, nil
}

// creates adds people to random departments, to large ones more often.
func (c *country) creates() *supply {
	return each(c.reads(), func(p person) request { return p.create(body(c.random, p.department)) })
}

// replaces changes all fields of random people, so that every derived column
// changes.
func (c *country) replaces() *supply {
	return each(c.reads(), func(p person) request { return p.replace(body(c.random, p.department)) })
}

// removes deletes people, each once.
func (c *country) removes() *supply {
	s := each(c.others(), person.remove)
	s.once = true
	return s
}
