package sheet

import (
	"slices"
	"strings"
	"testing"
)

func TestReadJSONL(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
	}{
		{"lines", "{\"firstName\":\" Ana \",\"lastName\":\"Č\\u0107\"}\n\n{\"lastName\":\"B\",\"boots\":\"x\"}\n", []string{"firstName|lastName|boots", "1 Ana|Čć", "3 |B|x"}},
		{"values", `{"a":null,"b":12.50,"c":true,"d":{"e": [1, "f"]},"g":"'=x"}`, []string{"a|b|c|d|g", `1 |12.50|true|{"e":[1,"f"]}|'=x`}},
		{"nothing in a line", "{}\n{\"a\":null}\n{\"a\":\"1\"}", []string{"a", "3 1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read(t.Context(), []byte(tt.text), Options{})
			if err != nil || !slices.Equal(lines(got), tt.want) || got.Format != JSONL {
				t.Errorf("got %v; want %q", err, tt.want)
			}
		})
	}
}

func TestBadJSONL(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, code, what string }{
		{"{\"a\":\"1\"}\n{\"a\":\n", FileDamaged, "line 2: EOF"},
		{"{\"a\":\"1\"}\n\n{\"a\":1x}", FileDamaged, "line 3: invalid character 'x' after object key:value pair"},
		{"{\"a\":\"1\"}\n5\n", FileDamaged, "line 2: 5 is not an object"},
		{`{"a":"1","a":"2"}`, FileDamaged, "line 1: duplicate member a"},
		{`[{"a":"1"}]`, FileDamaged, `line 1: [{"a":"1"}] is not an object`},
		{`{"a":"1"} {"a":"2"}`, FileDamaged, "line 1: more than one object"},
		{`{}`, FileEmpty, ""},
	}
	for _, tt := range tests {
		if _, err := Read(t.Context(), []byte(tt.text), Options{}); !isFault(err, tt.code, tt.what) {
			t.Errorf("%s: got %#v", tt.text, err)
		}
	}
	var wide strings.Builder
	for i := range maxColumns + 1 {
		wide.WriteString(`,"a` + strings.Repeat("b", i) + `":1`)
	}
	if _, err := readJSONL(t.Context(), "{"+wide.String()[1:]+"}"); !isFault(err, FileTooMany, "columns") {
		t.Errorf("too many columns: got %v", err)
	}
}

// FuzzJSONL reads arbitrary text. Reading must not panic, and no row may be wider than the header.
func FuzzJSONL(f *testing.F) {
	f.Add("{\"a\":\"1\"}\n{\"b\":{\"c\":[null]}}")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := readJSONL(t.Context(), text)
		if err != nil {
			return
		}
		for _, row := range table.Rows {
			if len(row.Cells) > len(table.Header) {
				t.Fatalf("%q has more cells than %q", row.Cells, table.Header)
			}
		}
	})
}
