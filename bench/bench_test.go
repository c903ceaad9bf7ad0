package main

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
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
		rate, err := load{at, 4, []request{test.send}}.run(100 * time.Millisecond)
		if (err != nil) != test.fails || rate == 0 {
			t.Errorf("%s: %f requests a second, error %v, want an error: %t", test.name, rate, err, test.fails)
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
	if got := compared("", "", []float64{10, 30, 5}, []float64{10, 10, 10}).value; got != 1 {
		t.Errorf("ratio with rounds of 1, 3 and 0.5 = %v, want the median, 1", got)
	}
}

// TestFill checks that a row gets further rounds until the program agrees with itself and with
// the figure.
func TestFill(t *testing.T) {
	agreeing := [][]float64{{10}, {10}, {5}}
	for _, test := range []struct {
		first  [][]float64
		rounds int
	}{
		{agreeing, 1},
		{[][]float64{{10.1}, {10}, {5}}, 1},
		{[][]float64{{10}, {10.3}, {5}}, 2},
		{[][]float64{{10}, {10}, {4.8}}, 2},
		{[][]float64{{10}, {11}, {5}}, 3},
	} {
		r, rounds := row{}, 0
		b := &bench{settings: settings{against: []string{"old"}, figures: map[string]float64{"": 2}}}
		err := b.fill(&r, func() ([][]float64, error) {
			if rounds++; rounds == 1 {
				return test.first, nil
			}
			return agreeing, nil
		})
		if err != nil || rounds != test.rounds || len(r.values[2]) != rounds || r.against(2).value < 2 {
			t.Errorf("fill after %v: %d rounds, values %v, %v, want %d rounds", test.first, rounds, r.values, err, test.rounds)
		}
	}
}

// TestFigures checks that a row above its figure and one without a result are errors.
func TestFigures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "base")
	if err := os.WriteFile(path, []byte("# A comment.\n99aab77727d669cd3277b899d271880cbdc24261\n1.5 start of it\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	figures, err := readFigures(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name        string
		ours, again float64
		fault       string
	}{
		{"list", 1.03, 1.03, ""},
		{"list", 1.04, 1.04, "list: 1.040 times"},
		{"list", 1, 0.97, "list: the program differs from itself"},
		{"start of it", 1.54, 1.54, ""},
		{"start of it", 1.56, 1.56, "start of it: 1.560 times"},
		{"misspelled", 1, 1, "start of it: has a figure but is not a row"},
	} {
		rows := []row{{name: test.name, values: [][]float64{{test.ours}, {test.again}, {1}}}}
		if test.name == "list" {
			rows = append(rows, row{name: "start of it", values: [][]float64{{1}, {1}, {1}}})
		}
		b := &bench{settings: settings{against: []string{"old"}, figures: figures}}
		err := b.addRows(rows)
		if (err != nil) != (test.fault != "") || err != nil && !strings.Contains(err.Error(), test.fault) {
			t.Errorf("%s of %v: error %v, want %q", test.name, test.ours, err, test.fault)
		}
		b.figures = nil
		if err := b.addRows(rows); err != nil {
			t.Errorf("%s of %v without figures: %v", test.name, test.ours, err)
		}
	}
}
