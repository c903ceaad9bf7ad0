package office

import (
	"strings"
	"testing"
)

// TestRowIsText: whatever people and messages are called, a row has only its own
// elements and attributes.
func TestRowIsText(t *testing.T) {
	t.Parallel()
	const payload = `"'><b onclick=x>%s{{.}}@&amp;`
	text := escape(payload)
	r := rows{text, text, text, text, text, true, true, payload, text, text}
	row := string(r.append(nil, &person{payload, payload, payload, payload, payload, payload, payload, 7, payload}))
	for _, tag := range []string{"<b ", "<b>", `onclick=x"`} {
		if strings.Contains(row, tag) {
			t.Errorf("%s stands in %s", tag, row)
		}
	}
	if strings.Count(row, `"`)%2 != 0 || strings.Contains(row, "%!") {
		t.Errorf("quotes or verbs do not match in %s", row)
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
