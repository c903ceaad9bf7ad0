package acceptance

import (
	"slices"
	"testing"
)

// menu returns the texts of the links of a navigation, and marks the current one.
func (p *webPage) menu(t *testing.T, label string) (entries []string) {
	t.Helper()
	for _, a := range p.one(t, "nav", "aria-label", label).all("a") {
		entry := a.text()
		if a.attributes["aria-current"] == "page" {
			entry = "[" + entry + "]"
		}
		entries = append(entries, entry)
	}
	return entries
}

// TestOfficeMenu: the menu says where one is, a section has a second row, and a page has
// the words of its entry as its heading.
func TestOfficeMenu(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.signIn(t, newKey(t, s.db, "default", "--scope", "admin"), "en")
	for path, want := range map[string][]string{
		"/office/":          {"[People]", "Birthdays", "Print", "Lists", "History", "Access"},
		"/office/birthdays": {"People", "[Birthdays]", "Print", "Lists", "History", "Access"},
		"/office/print":     {"People", "Birthdays", "[Print]", "Lists", "History", "Access"},
		"/office/compare":   {"People", "Birthdays", "Print", "[Lists]", "History", "Access"},
		"/office/deleted":   {"People", "Birthdays", "Print", "Lists", "[History]", "Access"},
		"/office/access":    {"People", "Birthdays", "Print", "Lists", "History", "[Access]"},
	} {
		p := admin.get(t, path).wants(t, 200)
		if got := p.menu(t, "Menu"); !slices.Equal(got, want) {
			t.Errorf("the menu of %s is %q", path, got)
		}
		if summary := p.one(t, "details", "class", "menu").all("summary"); len(summary) != 1 || summary[0].text() != "Menu" {
			t.Errorf("the menu of %s cannot be folded", path)
		}
	}
	for path, want := range map[string][]string{
		"/office/import":  {"[Import]", "Export", "Compare", "Check a printed list", "Imports so far"},
		"/office/export":  {"Import", "[Export]", "Compare", "Check a printed list", "Imports so far"},
		"/office/compare": {"Import", "Export", "[Compare]", "Check a printed list", "Imports so far"},
		"/office/paper":   {"Import", "Export", "Compare", "[Check a printed list]", "Imports so far"},
		"/office/imports": {"Import", "Export", "Compare", "Check a printed list", "[Imports so far]"},
	} {
		p := admin.get(t, path).wants(t, 200)
		if got := p.menu(t, "Lists"); !slices.Equal(got, want) || !slices.Contains(got, "["+p.heading(t)+"]") {
			t.Errorf("%s, %q, has the second row %q", path, p.heading(t), got)
		}
	}
	for path, want := range map[string][]string{"/office/history": {"[History]", "Deleted"}, "/office/deleted": {"History", "[Deleted]"}} {
		p := admin.get(t, path).wants(t, 200)
		if got := p.menu(t, "History"); !slices.Equal(got, want) || !slices.Contains(got, "["+p.heading(t)+"]") {
			t.Errorf("%s, %q, has the second row %q", path, p.heading(t), got)
		}
	}

	reader := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	lists := reader.get(t, "/office/").one(t, "nav", "aria-label", "Menu").all("a")[3]
	p := reader.get(t, lists.attributes["href"]).wants(t, 200)
	if got := p.menu(t, "Menu"); !slices.Equal(got, []string{"People", "Birthdays", "Print", "[Lists]", "History"}) {
		t.Errorf("who may read has the menu %q", got)
	}
	if got := p.menu(t, "Lists"); !slices.Equal(got, []string{"[Export]", "Compare", "Check a printed list", "Imports so far"}) {
		t.Errorf("who may read has the second row %q", got)
	}
}
