package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/people/demo"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
)

const records = "/api/v1/firefighters"

// answerLimit is the longest time that a request may take.
const answerLimit = time.Minute

type client struct {
	http.Client
	address string
}

// do sends a request and returns the status and the body of the answer. For a created
// record it returns the id instead of the body. A write is acknowledged as soon as its
// status arrives: later errors of the answer are ignored.
func (c *client) do(method, path, key string, body []byte) (status int, answer []byte, err error) {
	r, err := http.NewRequest(method, "http://"+c.address+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	w, err := c.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer w.Body.Close()
	answer, err = io.ReadAll(w.Body)
	if w.StatusCode == http.StatusCreated {
		return w.StatusCode, []byte(strings.TrimPrefix(w.Header.Get("Location"), records+"/")), nil
	}
	if method != "GET" {
		err = nil
	}
	return w.StatusCode, answer, err
}

// person is a record without its id, in the JSON of requests and answers.
type person struct {
	FirstName   string `json:"firstName"`
	LastName    string `json:"lastName"`
	PhoneNumber string `json:"phoneNumber,omitempty"`
	Email       string `json:"email,omitempty"`
	DateOfBirth string `json:"dateOfBirth,omitempty"`
}

func (p person) body() []byte {
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // encoding strings cannot fail
	}
	return body
}

// randomPerson returns an invented person. The number makes the last name
// unique.
func randomPerson(r *rand.Rand, number uint64) person {
	f := demo.In("hr").Person(calendar.Of(time.Now()), r.IntN(50), r.IntN(1_000_000))
	p := person{f.FirstName, fmt.Sprintf("%s %d", f.LastName, number), f.PhoneNumber, f.Email, ""}
	if f.DateOfBirth != "" {
		p.DateOfBirth = f.DateOfBirth + "T00:00:00Z"
	}
	return p
}

// page is the answer to a list request.
type page struct {
	Data struct {
		Items []struct {
			ID string `json:"id"`
			person
		} `json:"items"`
		TotalCount int `json:"totalCount"`
	} `json:"data"`
	TotalCount int `json:"totalCount"`
}

const pageSize = 100

func (c *client) list(key, query string, number int) (p page, err error) {
	path := fmt.Sprintf("%s?pageSize=%d&page=%d&%s", records, pageSize, number, query)
	status, body, err := c.do("GET", path, key, nil)
	if err != nil {
		return p, err
	}
	if status != http.StatusOK {
		return p, fmt.Errorf("answered by %d %s", status, body)
	}
	return p, json.Unmarshal(body, &p)
}

// all gets the whole list of a department. contradiction describes an inconsistency within
// the list, or is empty.
func (c *client) all(key, query string) (list map[string]person, contradiction string, err error) {
	list = map[string]person{}
	for number := 1; ; number++ {
		p, err := c.list(key, query, number)
		if err != nil {
			return nil, "", err
		}
		for _, item := range p.Data.Items {
			if _, twice := list[item.ID]; twice {
				contradiction = fmt.Sprintf("%s appears twice in the list by %q", item.ID, query)
			}
			list[item.ID] = item.person
		}
		if p.TotalCount != p.Data.TotalCount {
			contradiction = fmt.Sprintf("the totals %d and %d differ", p.TotalCount, p.Data.TotalCount)
		}
		if len(p.Data.Items) < pageSize {
			if len(list) != p.TotalCount {
				contradiction = fmt.Sprintf("the list by %q has %d records, but its total is %d", query, len(list), p.TotalCount)
			}
			return list, contradiction, nil
		}
	}
}

func (c *client) get(key, id string) (status int, p person, err error) {
	status, body, err := c.do("GET", records+"/"+id, key, nil)
	if err == nil && status == http.StatusOK {
		err = json.Unmarshal(body, &p)
	}
	return status, p, err
}
