package office

import (
	"slices"
	"strings"
	"testing"
)

// TestRowIsText: whatever people and messages are called, a row has only its own
// elements and attributes.
func TestRowIsText(t *testing.T) {
	t.Parallel()
	const payload = `"'><b onclick=x>%s{{.}}@&amp;`
	text := escape(payload)
	r := rows{text, text, [2]escaped{text, text}, true, true, payload, text, text}
	var b strings.Builder
	r.write(&b, &person{payload, payload, payload, payload, payload, payload, payload, 7, payload, payload})
	row := b.String()
	for _, tag := range []string{"<b ", "<b>", `onclick=x"`} {
		if strings.Contains(row, tag) {
			t.Errorf("%s stands in %s", tag, row)
		}
	}
	if strings.Count(row, `"`)%2 != 0 {
		t.Errorf("quotes do not match in %s", row)
	}
}

func TestRowBreaksAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]escaped{
		"ana@example.com":         "ana<span>@example.com</span>",
		`"a@<b"@example.com`:      "&#34;a<span>@&lt;b&#34;@example.com</span>",
		"written by <a> platform": "written by &lt;a&gt; platform",
	} {
		if got := breakable(address); got != want {
			t.Errorf("%s becomes %s, not %s", address, got, want)
		}
	}
}

func TestPageNumbers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		page, last int64
		want       []int64
	}{
		{1, 1, []int64{1}},
		{1, 2, []int64{1, 2}},
		{1, 5, []int64{1, 2, 0, 5}},
		{3, 5, []int64{1, 2, 3, 4, 5}},
		{4, 7, []int64{1, 2, 3, 4, 5, 6, 7}},
		{5, 170, []int64{1, 0, 4, 5, 6, 0, 170}},
		{170, 170, []int64{1, 0, 169, 170}},
		{171, 170, []int64{1, 0, 170}},
		{9_000_000_000, 3, []int64{1, 2, 3}},
		{2, 0, nil},
	} {
		if got := pageNumbers(tt.page, tt.last); !slices.Equal(got, tt.want) {
			t.Errorf("page %d of %d: %v, not %v", tt.page, tt.last, got, tt.want)
		}
	}
}
