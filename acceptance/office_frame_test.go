package acceptance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// menu returns the texts of the links in a navigation. Brackets mark the current one.
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

// TestOfficeMenu checks that the menu marks the current page, that a section has a second row, and
// that the heading of a page matches its entry.
func TestOfficeMenu(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.signIn(t, newKey(t, s.db, "default", "--scope", "admin"), "en")
	for path, want := range map[string][]string{
		"/office/":           {"[People]", "Birthdays", "Print", "Lists", "History", "Access"},
		"/office/people/new": {"[People]", "Birthdays", "Print", "Lists", "History", "Access"},
		"/office/birthdays":  {"People", "[Birthdays]", "Print", "Lists", "History", "Access"},
		"/office/print":      {"People", "Birthdays", "[Print]", "Lists", "History", "Access"},
		"/office/compare":    {"People", "Birthdays", "Print", "[Lists]", "History", "Access"},
		"/office/deleted":    {"People", "Birthdays", "Print", "Lists", "[History]", "Access"},
		"/office/access":     {"People", "Birthdays", "Print", "Lists", "History", "[Access]"},
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
		"/office/import":  {"[Import]", "Export", "Compare", "Check a printed list", "Import history"},
		"/office/export":  {"Import", "[Export]", "Compare", "Check a printed list", "Import history"},
		"/office/compare": {"Import", "Export", "[Compare]", "Check a printed list", "Import history"},
		"/office/paper":   {"Import", "Export", "Compare", "[Check a printed list]", "Import history"},
		"/office/imports": {"Import", "Export", "Compare", "Check a printed list", "[Import history]"},
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
		t.Errorf("the menu of a reader is %q", got)
	}
	if got := p.menu(t, "Lists"); !slices.Equal(got, []string{"[Export]", "Compare", "Check a printed list", "Import history"}) {
		t.Errorf("the second row of a reader is %q", got)
	}
}

// backupLine returns the line about backups, which a closed <details> in the footer shows.
func (p *webPage) backupLine(t *testing.T) string {
	t.Helper()
	line := p.one(t, "details", "class", "backups warn")
	if _, open := line.attributes["open"]; open {
		t.Error("the line about backups is open")
	}
	return line.one("summary").text()
}

// TestOfficeBackups checks that the footer of every page shows the state of the backups, and what
// to do, to users with the scope admin.
func TestOfficeBackups(t *testing.T) {
	t.Parallel()
	without := start(t)
	admin := without.signIn(t, newKey(t, without.db, "default", "--scope", "admin"), "en")
	for _, path := range []string{"/office/", "/office/history", "/office/people/nobody"} {
		p := admin.get(t, path)
		if line := p.backupLine(t); line != "Last backup: none – Backups are not set up." {
			t.Errorf("the line of %s: %s", path, line)
		}
		p.one(t, "div", "id", "backups-todo")
		p.says(t, "If the disk of the station PC fails, all data is lost.", "--backup-dir DIR")
	}
	if text := admin.get(t, "/office/").one(t, "details", "class", "backups warn").text(); strings.Contains(text, "/") {
		t.Errorf("the footer contains a path: %s", text)
	}
	for _, scope := range []string{"read", "write"} {
		if foot := without.signIn(t, newKey(t, without.db, "default", "--scope", scope), "en").get(t, "/office/").one(t, "footer").text(); strings.Contains(foot, "ackup") {
			t.Errorf("%s sees %s", scope, foot)
		}
	}

	db, dir := filepath.Join(t.TempDir(), "x.db"), filepath.Join(t.TempDir(), "backups")
	with := startWith(t, db, "serve", "--db", db, "--backup-dir", dir)
	eventually(t, "a backup", func() bool { return with.readyz(t).Backup.Last != nil })
	last := with.readyz(t).Backup.Last.Local()
	admin = with.signIn(t, newKey(t, db, "default", "--scope", "admin"), "en")
	if line := admin.get(t, "/office/").backupLine(t); line != "Last backup: "+last.Format("2 January 2006, 15:04")+" – The backups are on the same disk as the data." {
		t.Errorf("with backups on the disk of the database: %s", line)
	}
	if body := string(with.do(t, "GET", "/readyz", "").wants(t, 200).body); strings.Contains(body, "rouble") {
		t.Errorf("/readyz returns %s", body)
	}
}

// TestOfficeBackupsFail checks that the page names an unusable folder as the cause.
func TestOfficeBackupsFail(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	db, dir := filepath.Join(folder, "x.db"), filepath.Join(folder, "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", dir)
	s.mayFail = true
	eventually(t, "the first try", func() bool { return !s.readyz(t).Backup.OK })
	admin := s.signIn(t, newKey(t, db, "default", "--scope", "admin"), "de")
	if line := admin.get(t, "/office/").backupLine(t); line != "Letzte Datensicherung: keine – Die Datensicherungen können nicht in ihren Ordner geschrieben werden." {
		t.Errorf("the line: %s", line)
	}
}

// TestOfficeKeys checks that the keyboard shortcuts match the scope of the user.
func TestOfficeKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	for scope, want := range map[string]string{"read": "/ Go to the search ? Show these shortcuts", "write": "/ Go to the search n Add person ? Show these shortcuts"} {
		p := s.signIn(t, newKey(t, s.db, "default", "--scope", scope), "en").get(t, "/office/history")
		if keys := p.one(t, "dialog").all("dl")[0].text(); keys != want {
			t.Errorf("the shortcuts of %s are %q", scope, keys)
		}
	}
	if p := s.browser(t, "en").get(t, "/office/sign-in"); len(p.all("dialog")) > 0 {
		t.Error("the sign-in page has shortcuts")
	}
}
