package main

import "testing"

func TestCompare(t *testing.T) {
	ana, eva, ivo := person{FirstName: "Ana", LastName: "1"}, person{FirstName: "Eva", LastName: "2"}, person{FirstName: "Ivo", LastName: "3"}
	tests := []struct {
		name        string
		possible    map[string][]*person
		unconfirmed []person
		list        map[string]person
		wrong       int
	}{
		{"unchanged", map[string][]*person{"a": {&ana}, "b": {nil}}, nil, map[string]person{"a": ana}, 0},
		{"lost", map[string][]*person{"a": {&ana}}, nil, nil, 1},
		{"changed", map[string][]*person{"a": {&ana}}, nil, map[string]person{"a": eva}, 1},
		{"deleted but listed", map[string][]*person{"a": {nil}}, nil, map[string]person{"a": ana}, 1},
		{"old", map[string][]*person{"a": {&ana, &eva}}, nil, map[string]person{"a": ana}, 0},
		{"new", map[string][]*person{"a": {&ana, &eva}}, nil, map[string]person{"a": eva}, 0},
		{"neither", map[string][]*person{"a": {&ana, &eva}}, nil, map[string]person{"a": ivo}, 1},
		{"possibly deleted", map[string][]*person{"a": {&ana, nil}}, nil, nil, 0},
		{"created without an answer", nil, []person{ivo}, map[string]person{"c": ivo}, 0},
		{"created twice", nil, []person{ivo}, map[string]person{"c": ivo, "d": ivo}, 1},
		{"created by no request", nil, nil, map[string]person{"c": ivo}, 1},
	}
	for _, test := range tests {
		truth := newTruth("Engine 1", "")
		for id, states := range test.possible {
			truth.possible[id] = states
		}
		truth.unconfirmed = test.unconfirmed
		if wrong := truth.compare(test.list); len(wrong) != test.wrong {
			t.Errorf("%s: got %q, want %d", test.name, wrong, test.wrong)
		}
		if wrong := truth.compare(test.list); len(wrong) > 0 {
			t.Errorf("%s, compared again: %q", test.name, wrong)
		}
	}
}

func TestCrashMark(t *testing.T) {
	for text, want := range map[string]bool{
		`Error: database "x.db" is damaged`:             false,
		"goroutine 1 [running]:":                        true,
		`"cause":"panic in a write: index out of range`: true,
	} {
		if got := findCrashMark(text) != ""; got != want {
			t.Errorf("%q: crash mark found: %t", text, got)
		}
	}
}
