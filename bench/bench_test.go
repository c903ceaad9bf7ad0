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

// testProcess returns a process for a server that runs within the test.
func testProcess(t *testing.T, answer string) *process {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return &process{command: &exec.Cmd{Process: self}, address: strings.TrimPrefix(server.URL, "http://")}
}

func TestLoad(t *testing.T) {
	at := testProcess(t, "as wanted")
	tests := []struct {
		name   string
		supply *supply
		pace   float64
		most   int
		fails  bool
	}{
		{"repeated", &supply{requests: []request{newRequest("GET", "/", "", "", 200, "wanted")}}, 0, 1e9, false},
		{"once", &supply{requests: make([]request, 3), once: true}, 0, 3, false},
		{"with a pace", &supply{requests: []request{newRequest("GET", "/", "", "", 200, "")}}, 100, 21, false},
		{"wrong body", &supply{requests: []request{newRequest("GET", "/", "", "", 200, "else")}}, 0, 0, true},
		{"wrong status", &supply{requests: []request{newRequest("GET", "/", "", "", 404, "")}}, 0, 0, true},
		{"nothing to send", &supply{once: true}, 0, 0, true},
	}
	for i := range tests[1].supply.requests {
		tests[1].supply.requests[i] = tests[0].supply.requests[0]
	}
	for _, test := range tests {
		r, err := load{at: at, clients: 4, supply: test.supply, pace: test.pace}.run(200 * time.Millisecond)
		if (err != nil) != test.fails {
			t.Errorf("%s: error %v, want an error: %t", test.name, err, test.fails)
		}
		if r.requests > test.most || !test.fails && len(r.latencies) != r.requests {
			t.Errorf("%s: %d requests with %d latencies, want at most %d", test.name, r.requests, len(r.latencies), test.most)
		}
	}
}

func TestMatch(t *testing.T) {
	ana := texts{"ana", "covic-gros", "ana@example.com", "091 234-5678 buro", "0912345678", "ana\ncovic-groes\nana@example.com\n091 234-5678 buero"}
	abroad := texts{digits: "3850912345678"}
	if !abroad.match("0912345678") || !abroad.match("091234567") || abroad.match("0123456") {
		t.Error("a number of another country")
	}
	for term, want := range map[string]bool{
		"cov": true, "ana@": true, "234-5": true, "(091)": true, "912345": true, "q": false, "a1": false, "ana covic": false,
		"gros": true, "groes": true, "buro": true, "buero": true, "0912345678": true, "012345678": false,
	} {
		if ana.match(term) != want {
			t.Errorf("match(%q) = %t", term, !want)
		}
	}
}

func TestFragment(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	if got := fragment(r, "čaj", 3); got != "čaj" {
		t.Errorf("the whole text: got %q", got)
	}
	if got := fragment(r, "a b", 3) + fragment(r, "ab", 3); got != "" {
		t.Errorf("a piece with a space and a short text: got %q", got)
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
	c := comparison{of(10, 30, 5), of(10, 10, 10)}
	if got := c.ratio(0, 1, result.rate); got != 1 {
		t.Errorf("the median of 1, 3 and 0.5: got %v", got)
	}
}
