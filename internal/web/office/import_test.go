package office

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/site"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// TestMessages: there is a message for everything that can be said about a list.
func TestMessages(t *testing.T) {
	t.Parallel()
	messages := map[string]any{}
	for _, file := range []string{"import", "export", "fields"} {
		text, err := os.ReadFile("messages/" + file + ".json")
		if err == nil {
			err = json.Unmarshal(text, &messages)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var keys []string
	add := func(prefix string, values ...string) {
		for _, value := range values {
			keys = append(keys, prefix+value)
		}
	}
	add("import.dates.", append(mapping.Orders, "")...)
	add("import.encoding.", append(sheet.Encodings, "")...)
	add("import.result.", imports.Added, imports.Changed, imports.Left, imports.Refused, imports.Perhaps)
	add("import.names.", mapping.NameOrders...)
	add("export.format.", sheet.Formats...)
	add("export.hint.", sheet.Formats...)
	add("import.format.", sheet.XLSX, sheet.CSV, sheet.VCard, sheet.JSONL)
	for _, delimiter := range delimiters {
		add("import.delimiter.", delimiter)
	}
	for _, name := range fieldNames {
		add("field.", name)
		add("fault."+name+".", record.Invalid)
	}
	for _, key := range keys {
		if messages[key] == nil {
			t.Errorf("there is no message %s", key)
		}
	}
}

// TestChoices: every choice about a list makes it another import.
func TestChoices(t *testing.T) {
	t.Parallel()
	columns := func(fields ...string) *imports.File {
		f := &imports.File{Mapped: &mapping.Result{}}
		for _, field := range fields {
			f.Mapped.Columns = append(f.Mapped.Columns, mapping.Column{Header: "any", Field: field})
		}
		return f
	}
	seen := map[string]int{}
	for i, l := range []broughtList{
		{}, {options: imports.Options{Sheet: "a"}}, {options: imports.Options{Encoding: "a"}}, {options: imports.Options{Dates: "a"}},
		{options: imports.Options{Update: true}}, {options: imports.Options{Spelling: true}}, {options: imports.Options{Zero: true}},
		{options: imports.Options{LeaveOutBad: true}}, {options: imports.Options{AddPerhaps: true}}, {options: imports.Options{Names: "a"}},
		{options: imports.Options{Corrections: imports.Corrections{2: {1: "a"}}}}, {options: imports.Options{Corrections: imports.Corrections{2: {1: "b"}}}},
		{options: imports.Options{Same: map[int]string{2: "a"}}}, {options: imports.Options{Add: map[int]bool{2: true}}},
		{file: columns("a")}, {file: columns("", "a")}, {file: columns("a", "")}, {file: columns("a", "b")}, {file: columns("b", "a")},
	} {
		text := l.choicesHash()
		if same, there := seen[text]; there || strings.Trim(text, "0123456789abcdef") != "" {
			t.Errorf("%d is as %d: %s", i, same, text)
		}
		seen[text] = i
	}
}

// TestNoListNoWork: who has brought no list does not wait for a place to work.
func TestNoListNoWork(t *testing.T) {
	t.Parallel()
	kept, w := newKeptLists(), httptest.NewRecorder()
	for _, address := range []string{importPath, comparePath + "?token=gone"} {
		r := httptest.NewRequest("GET", address, nil)
		handled := false
		err := upload.Work(w, r, 7, 0, func(answer http.ResponseWriter) error { // the only place of the department
			answer.WriteHeader(http.StatusOK)
			one := visit{&site.Visit{W: w, R: r, Session: store.Key{Tenant: 7}}, kept}
			return onList(func(visit) error { handled = true; return nil })(one)
		})
		if !handled || err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestLongText: a long text that cannot be read is not shown again.
func TestLongText(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]int{maxText: maxText, maxText + 1: 0} {
		l := broughtList{keptList: &keptList{pasted: true}, content: make([]byte, size)}
		if got := len(l.text()); got != want {
			t.Errorf("%d of %d bytes are shown", got, size)
		}
	}
}
