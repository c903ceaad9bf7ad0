package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	ana, eva, ivo := person{FirstName: "Ana", LastName: "1"}, person{FirstName: "Eva", LastName: "2"}, person{FirstName: "Ivo", LastName: "3"}
	tests := []struct {
		name        string
		possible    map[string][]*person
		unconfirmed []person
		list        map[string]person
		wrong       int
	}{
		{"as it was", map[string][]*person{"a": {&ana}, "b": {nil}}, nil, map[string]person{"a": ana}, 0},
		{"lost", map[string][]*person{"a": {&ana}}, nil, nil, 1},
		{"changed", map[string][]*person{"a": {&ana}}, nil, map[string]person{"a": eva}, 1},
		{"deleted but there", map[string][]*person{"a": {nil}}, nil, map[string]person{"a": ana}, 1},
		{"old", map[string][]*person{"a": {&ana, &eva}}, nil, map[string]person{"a": ana}, 0},
		{"new", map[string][]*person{"a": {&ana, &eva}}, nil, map[string]person{"a": eva}, 0},
		{"neither", map[string][]*person{"a": {&ana, &eva}}, nil, map[string]person{"a": ivo}, 1},
		{"perhaps deleted", map[string][]*person{"a": {&ana, nil}}, nil, nil, 0},
		{"created without an answer", nil, []person{ivo}, map[string]person{"c": ivo}, 0},
		{"created twice", nil, []person{ivo}, map[string]person{"c": ivo, "d": ivo}, 1},
		{"created by nobody", nil, nil, map[string]person{"c": ivo}, 1},
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

// TestMachine applies a trace with two syncs. The second one fails, so its write
// is not durable.
func TestMachine(t *testing.T) {
	path := func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, `\x%02x`, c)
		}
		return b.String()
	}
	wal, socket := path("/x/db-wal"), path("socket:[1]")
	log := filepath.Join(t.TempDir(), "strace")
	text := strings.NewReplacer("WAL", wal, "SOCKET", socket, "SHM", path("/x/db-shm"),
		"ANSWER", path("HTTP/1.1 201 Created\r\nX-Request-Id: w7\r\n\r\n")).Replace(
		`10 pwrite64(7<WAL>, "\x61\x62", 2, 0) = 2
10 pwrite64(8<SHM>, "\x00", 1, 4095) = 1
10 fsync(7<WAL> <unfinished ...>
11 --- SIGURG {si_signo=SIGURG} ---
11 pwrite64(7<WAL>, "\x63", 1, 2) = 1
10 <... fsync resumed>) = 0
11 write(9<SOCKET>, "ANSWER", 42) = 42
11 fsync(7<WAL>) = -1 EIO (Input/output error)
12 ftruncate(7<WAL>, 1 <unfinished ...>
`)
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	events, err := readTrace(log, "/x/db")
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{map[string]*file{"": {}, "-wal": {}}, map[string]int{}, map[string]bool{}, 0}
	for _, e := range events {
		m.step(e)
	}
	f := m.files["-wal"]
	if string(f.durable) != "ab" || len(f.pending) != 2 || !m.done["w7"] {
		t.Errorf("durable is %q, %d calls are pending, answered: %v", f.durable, len(f.pending), m.done)
	}
	content := f.durable
	for _, e := range f.pending {
		content = apply(content, e)
	}
	if string(content) != "a" {
		t.Errorf("after the pending calls the content is %q", content)
	}
	if err := os.WriteFile(log, []byte(`10 pwritev(7<`+wal+`>, [{iov_base="\x00"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readTrace(log, "/x/db"); err == nil {
		t.Error("an unknown call was ignored")
	}
}

func TestParallel(t *testing.T) {
	done := make([]bool, 10)
	if err := parallel(len(done), func(i int) error { done[i] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	for i, is := range done {
		if !is {
			t.Errorf("%d was skipped", i)
		}
	}
	if err := parallel(3, func(int) error { return errors.New("no") }); err == nil {
		t.Error("an error was lost")
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

// TestPlanned: only the whole of an import, or of undoing it, counts as done.
func TestPlanned(t *testing.T) {
	ana, eva, ivo, mia := person{FirstName: "Ana", LastName: "1"}, person{FirstName: "Eva", LastName: "2"},
		person{FirstName: "Ivo", LastName: "3"}, person{FirstName: "Mia", LastName: "4"}
	before := map[string]person{"a": ana, "b": eva}
	adding := planned{before: before, changed: map[string]person{"b": ivo}, added: []person{mia, eva}}
	undoing := planned{before: before, changed: map[string]person{"a": ivo}, gone: true}
	for _, test := range []struct {
		name string
		p    planned
		list map[string]person
		done bool
	}{
		{"all", adding, map[string]person{"a": ana, "b": ivo, "c": mia, "d": eva}, true},
		{"in another order", adding, map[string]person{"a": ana, "b": ivo, "c": eva, "d": mia}, true},
		{"nothing", adding, before, false},
		{"one is missing", adding, map[string]person{"a": ana, "b": ivo, "c": mia}, false},
		{"one is not changed", adding, map[string]person{"a": ana, "b": eva, "c": mia, "d": eva}, false},
		{"another is changed", adding, map[string]person{"a": mia, "b": ivo, "c": mia, "d": eva}, false},
		{"one is gone", adding, map[string]person{"b": ivo, "c": mia, "d": eva}, false},
		{"one is added twice", adding, map[string]person{"a": ana, "b": ivo, "c": mia, "d": mia}, false},
		{"undone", undoing, map[string]person{"a": ivo}, true},
		{"not undone", undoing, before, false},
		{"half of it undone", undoing, map[string]person{"a": ivo, "b": eva}, false},
	} {
		if done := test.p.isDone(test.list); done != test.done {
			t.Errorf("%s: %t", test.name, done)
		}
	}
}
