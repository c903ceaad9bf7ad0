package main

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\n"
	tests := []struct {
		answer          string
		status, missing int
		body            string
		fails           bool
	}{
		{answer: "", missing: 1},
		{answer: head[:len(head)-1], missing: 1},
		{answer: head, status: 200, missing: 4},
		{answer: head + "bo", status: 200, missing: 2, body: "bo"},
		{answer: head + "body", status: 200, body: "body"},
		{answer: head + "body and more", status: 200, missing: -9, body: "body and more"},
		{answer: "HTTP/1.1 204 No Content\r\n\r\n", status: 204},
		{answer: "HTTP/1.1 200 OK\r\n\r\n", fails: true},
		{answer: "HTTP/1.1 abc OK\r\n\r\n", fails: true},
	}
	for _, test := range tests {
		status, body, missing, err := parse([]byte(test.answer))
		if (err != nil) != test.fails {
			t.Errorf("parse(%q): error %v, want an error: %t", test.answer, err, test.fails)
		}
		if err == nil && (status != test.status || missing != test.missing || string(body) != test.body) {
			t.Errorf("parse(%q) = %d, %q, %d, want %d, %q, %d", test.answer, status, body, missing,
				test.status, test.body, test.missing)
		}
	}
}

// TestLoad checks that a load fails on an unexpected answer.
func TestLoad(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("as wanted"))
	}))
	t.Cleanup(server.Close)
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	at := &process{command: &exec.Cmd{Process: self}, address: strings.TrimPrefix(server.URL, "http://")}
	for _, test := range []struct {
		name  string
		send  request
		fails bool
	}{
		{"right", newRequest("GET", "/", "", "", 200, "wanted"), false},
		{"wrong body", newRequest("GET", "/", "", "", 200, "else"), true},
		{"wrong status", newRequest("GET", "/", "", "", 404, ""), true},
	} {
		r, err := load{at: at, clients: 4, supply: &supply{requests: []request{test.send}}}.run(100 * time.Millisecond)
		if (err != nil) != test.fails || r.requests == 0 {
			t.Errorf("%s: %d requests, error %v, want an error: %t", test.name, r.requests, err, test.fails)
		}
	}
}

func TestFragment(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	if got := fragment(r, "čaj", 3); got != "čaj" {
		t.Errorf("fragment of the whole text = %q", got)
	}
	if got := fragment(r, "a b", 3) + fragment(r, "ab", 3); got != "" {
		t.Errorf("fragments of a piece with a space and of a short text = %q, want none", got)
	}
}

func TestGoal(t *testing.T) {
	for _, test := range []struct {
		goal  goal
		value float64
		met   bool
	}{
		{atLeast(0.8), 0.8, true}, {atLeast(0.8), 0.79, false}, {atLeast(0.8), 2, true},
		{atMost(2, "×"), 2, true}, {atMost(2, "×"), 2.1, false}, {atMost(2, "×"), 1, true},
	} {
		if test.goal.met(test.value) != test.met {
			t.Errorf("%v: met(%v) = %t", test.goal, test.value, !test.met)
		}
	}
}

func TestRatio(t *testing.T) {
	of := func(requests ...int) (results []result) {
		for _, n := range requests {
			results = append(results, result{requests: n, elapsed: time.Second})
		}
		return results
	}
	if got := (comparison{of(10, 30, 5), of(10, 10, 10)}).ratio(); got != 1 {
		t.Errorf("ratio with rounds of 1, 3 and 0.5 = %v, want the median, 1", got)
	}
}
