package record

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
)

func TestParameters(t *testing.T) {
	t.Parallel()
	p := ParseParameters("a=true&b=1&c=0&d=false&e=&format=xlsx&search=ana;eva&sortBy=email")
	for name, want := range map[string]bool{"a": true, "b": true, "c": false, "d": false, "e": false, "f": false} {
		if got := p.Bool(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if got := p.OneOf("format", "csv", "csv", "xlsx") + p.OneOf("e", "csv", "xlsx"); got != "xlsxcsv" {
		t.Errorf("one of: %s", got)
	}
	want := Query{Terms: []Term{{Text: "ana"}, {Text: "eva"}}, SortBy: ByEmail}
	if got := p.Export(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := p.Err(); err != nil {
		t.Error(err)
	}
}

func TestParametersReject(t *testing.T) {
	t.Parallel()
	p := ParseParameters("a=yes&b=TRUE&c=1&c=1&format=pdf&sortDir=up&%zz=1")
	if p.Bool("a") || p.Bool("b") || !p.Bool("c") || p.OneOf("format", "csv", "csv", "xlsx") != "csv" || p.Export().Descending {
		t.Error("an invalid parameter was used")
	}
	p.Add("map", Unknown, "There is no %s.", "x")
	var errs FieldErrors
	const want = "query invalid, a invalid, b invalid, c duplicate, format invalid, sortDir invalid, map unknown"
	if errors.As(p.Err(), &errs); codes(errs) != want {
		t.Errorf("got %s, want %s", codes(errs), want)
	}
}

// TestUnknownParameters checks that unread parameters are reported in addition to other errors,
// with a list of the known ones, and that Err can be called repeatedly.
func TestUnknownParameters(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"":                         "",
		"page=2&include=":          "",
		"Page=2":                   "Page unknown",
		"x=1&x=2&page=0&b=&&emial": "page out_of_range, b unknown, emial unknown, x unknown",
		"%zz=1&y":                  "query invalid, y unknown",
		"=1":                       " unknown",
	} {
		_, err := ParseQuery(query)
		var errs FieldErrors
		if errors.As(err, &errs); codes(errs) != want {
			t.Errorf("%q: %q, not %q", query, codes(errs), want)
		}
	}
	p := ParseParameters("c=1")
	if err := p.Err(); err.Error() != `There is no parameter "c": this operation has none.` {
		t.Error(err)
	}
	p.Get("a")
	p.Bool("b")
	for range 2 {
		if err := p.Err(); err.Error() != `There is no parameter "c". This operation has a, b.` {
			t.Error(err)
		}
	}
	many := ""
	for i := range 1000 {
		many += fmt.Sprintf("&x%d", i)
	}
	var errs FieldErrors
	if errors.As(ParseParameters(many).Err(), &errs); len(errs) != maxUnknown {
		t.Errorf("%d unknown parameters reported", len(errs))
	}
}
