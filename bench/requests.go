package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"github.com/firefighter-records/firefighters/internal/people/demo"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
)

const records = "/api/v1/firefighters"

// someItem is a part of every list that is not empty.
const someItem = `"items":[{"id":"`

// get requests a record and expects its id in the answer.
func (p person) get() request {
	return newRequest("GET", records+"/"+p.id, p.key, "", 200, `"id":"`+p.id+`"`)
}

func (p person) replace(body string) request {
	return newRequest("PUT", records+"/"+p.id, p.key, body, 200, `"id":"`+p.id+`"`)
}

// list requests a page of a list and expects at least one record.
func (d *department) list(query string) request {
	return newRequest("GET", records+"?"+query, d.key, "", 200, someItem)
}

// page requests the office's list and expects a text on it.
func (d *department) page(at *process, query, want string) request {
	_, port, _ := net.SplitHostPort(at.address)
	bytes := fmt.Appendf(nil, "GET /office/?%s HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nAccept-Language: en\r\n"+
		"Cookie: firefighters-%s=%s\r\n\r\n", query, port, d.session)
	return request{bytes, 200, []byte(want)}
}

func (d *department) create(body string) request {
	return newRequest("POST", records, d.key, body, 201, `{"id":"`)
}

// inventor invents people as of today. The demo of each program invents people of the same country.
var inventor, today = demo.In(inventedLanguage), calendar.Of(time.Now())

// body returns a random new person. Its number is higher than any that demo uses.
func body(r *rand.Rand, d *department) string {
	f := inventor.Person(today, int(d.id-1), 1_000_000+r.IntN(1_000_000_000))
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

// each returns a request for each item.
func each[T any](items []T, request func(T) request) (all []request) {
	for _, item := range items {
		all = append(all, request(item))
	}
	return all
}

// creates returns requests that add people. Large departments get more of them.
func creates(r *rand.Rand, people []person) []request {
	return each(people, func(p person) request { return p.create(body(r, p.department)) })
}

// replaces returns requests that change all fields of random people, so that every derived
// column changes.
func replaces(r *rand.Rand, people []person) []request {
	return each(people, func(p person) request { return p.replace(body(r, p.department)) })
}
