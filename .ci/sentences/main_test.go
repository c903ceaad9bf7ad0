package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSentences(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file, text string
		words            []int
	}{
		{"splits at stops before white space", "a.md", "One two. Three! Four five six? 1.5 is one.\nword.two", []int{2, 1, 3, 3, 1}},
		{"a paragraph ends a sentence", "a.md", "one two\n\nthree\n", []int{2, 1}},
		{"lines are joined", "a.md", "one\ntwo\nthree.", []int{3}},
		{"list items", "a.md", "Intro:\n- one\n- two three\n  four\n\n  five\n1. six", []int{1, 1, 3, 1, 1}},
		{"no headings, tables, comments, fences", "a.md", "# One two\n| a | b |\n<!-- c -->\n```sh\nd. e\n```\nf", []int{1}},
		{"no indented code", "a.md", "one:\n\n    go run .\n\ntwo\n", []int{1, 1}},
		{"a continued line is no code", "a.md", "- one\n    two\n", []int{2}},
		{"code spans end no sentence", "a.md", "Type `go run . now` and wait.", []int{6}},
		{"links count as their text", "a.md", "See [the api](https://example.org/a?b) here.", []int{4}},
		{"signs are no words", "a.md", "one + two — three", []int{3}},
		{"descriptions", "a.yaml", "a:\n  description: 'It''s one. Two'\n  detail: no no\n  description: |-\n    three\n    four.\n\n    - five\n  b: no\n", []int{2, 1, 2, 1}},
	} {
		if got := measure(test.file, test.text).words; !slices.Equal(got, test.words) {
			t.Errorf("%s: %v, not %v", test.name, got, test.words)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) + ". " }
	for _, test := range []struct {
		name, file, text string
		faults           int
	}{
		{"16 words on average", "a.md", words(16), 0},
		{"17 words on average", "a.md", words(17), 1},
		{"one in ten is long", "a.md", words(26) + strings.Repeat(words(5), 9), 0},
		{"one in nine is long", "a.md", words(26) + strings.Repeat(words(5), 8), 1},
		{"1500 words in README.md", "README.md", strings.Repeat(words(15), 100), 0},
		{"1501 words in ./README.md", "./README.md", "# x\n" + strings.Repeat(words(15), 100), 1},
		{"1501 words elsewhere", "docs/README.md", "# x\n" + strings.Repeat(words(15), 100), 0},
	} {
		if got := measure(test.file, test.text).faults(); len(got) != test.faults {
			t.Errorf("%s: %q", test.name, got)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.md")
	for text, want := range map[string]bool{"Short.": true, strings.Repeat("long ", 30): false} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if passed, err := check(io.Discard, []string{file}, false); passed != want || err != nil {
			t.Errorf("%.10s: %t, %v", text, passed, err)
		}
	}
	if _, err := check(io.Discard, []string{file + "x"}, false); err == nil {
		t.Error("a missing file is no error")
	}
}
