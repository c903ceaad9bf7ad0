package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

var preferences = []struct {
	headers string // several with line breaks
	strict  bool
}{
	{"", false},
	{"handling=strict", true},
	{"handling=lenient", false},
	{"Handling=STRICT", true},
	{"\thandling =  strict ", true},
	{`handling="strict"`, true},
	{`handling="\s\trict"`, true},
	{"handling=strict; why=strictly", true},
	{`handling="strict";a="b,c"`, true},
	{"return=minimal, handling=strict", true},
	{"return=minimal\nhandling=strict", true},
	{"return=minimal,, ,handling=strict,", true},
	{`x="a, handling=lenient", handling=strict`, true},
	{`x="\", handling=lenient", handling=strict`, true},
	{"handling=lenient, handling=strict", false}, // the first counts
	{"handling=strict\nhandling=lenient", true},
	{"handling, handling=strict", false},
	{"handling=, handling=strict", false},
	{`handling="", handling=strict`, false},
	{"handling=stricter", false},
	{"handling=strict er", false},
	{"handlings=strict", false},
	{`"handling=strict"`, false},
	{`handling="strict`, false},
	{"x=\"\nhandling=strict", true}, // what is broken spoils no other header
	{"respond-async; handling=strict", false},
	{"handling=strict=1, handling=strict", true},
}

func TestPrefersStrict(t *testing.T) {
	t.Parallel()
	for _, tt := range preferences {
		r := &http.Request{Header: http.Header{"Prefer": strings.Split(tt.headers, "\n")}}
		if got := PrefersStrict(r); got != tt.strict {
			t.Errorf("%q: %t", tt.headers, got)
		}
	}
	if PrefersStrict(&http.Request{}) {
		t.Error("without the header")
	}
}

// FuzzPrefer: a preference is what another one before it, or a parameter behind it, does
// not change.
func FuzzPrefer(f *testing.F) {
	for _, tt := range preferences {
		f.Add(tt.headers)
	}
	f.Fuzz(func(t *testing.T, headers string) {
		values := strings.Split(headers, "\n")
		got := preference(values, "handling")
		if !strings.Contains(strings.ToLower(headers), "handling") && got != "" {
			t.Fatalf("%q has %q", headers, got)
		}
		if other := preference(append([]string{"return=minimal"}, values...), "HANDLING"); other != got {
			t.Fatalf("%q has %q, and behind another %q", headers, got, other)
		}
		if first := preference(append([]string{`handling="a\"b" ;c, handling=d`}, values...), "handling"); first != `a"b` {
			t.Fatalf("%q: the first is %q", headers, first)
		}
	})
}
