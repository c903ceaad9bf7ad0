package acceptance

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
)

// eraseOf returns the address of the page that asks before a person is permanently deleted.
func eraseOf(id string) string { return "/office/deleted/erase?id=" + id }

// TestErase checks that the page first names the people and the consequences and changes nothing,
// and that the second step deletes them permanently with every trace.
func TestErase(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "admin", "--label", "desk"), "en")
	deleted := func(name, day string) (id string) {
		id = s.create(t, fmt.Sprintf(`{"firstName":%q,"lastName":"Canary","phoneNumber":"0998877001","email":"canary@mail.example"}`, name))
		s.do(t, "PATCH", collection+"/"+id, `{"dateOfBirth":"1990-05-15"}`, "Content-Type", "application/merge-patch+json").wants(t, 200)
		s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
		if day != "" {
			at, err := time.ParseInLocation(time.DateOnly, day, time.Local)
			must(t, err)
			execSQL(t, s.db, `UPDATE firefighters SET deleted_at = ? WHERE id = ?`, at.UnixMilli(), id)
		}
		return id
	}
	left := func(want ...string) {
		t.Helper()
		if names := b.get(t, "/office/deleted").names(); !slices.Equal(names, want) {
			t.Errorf("deleted people: %q", names)
		}
	}
	eva, ivo, mia := deleted("Eva", ""), deleted("Ivo", "2019-12-31"), deleted("Mia", "2020-01-01")
	deleted("Una", "2018-01-01")
	back := deleted("Leo", "2017-01-01")

	p := b.get(t, "/office/deleted")
	ask := b.get(t, p.one(t, "a", "href", eraseOf(eva)).attributes["href"]).says(t, "1 person will be permanently deleted", "Eva Canary, deleted on", "This cannot be undone",
		"when and by whom it was permanently deleted", "Earlier backups contain the record", "Lists that were printed").lacks(t, "Ivo")
	left("Eva Canary", "Mia Canary", "Ivo Canary", "Una Canary", "Leo Canary")
	if p := ask.press(t, "Delete 1 person permanently"); p.notice(t) != "1 person was permanently deleted Backups that contain this data" || p.heading(t) != "Deleted" {
		t.Errorf("notice %q", p.notice(t))
	}
	left("Mia Canary", "Ivo Canary", "Una Canary", "Leo Canary")
	again := ask.press(t, "Delete 1 person permanently")
	again.one(t, "a", "href", "/office/people/"+eva+"/report#backups")
	if again.notice(t) != "Nothing to delete: already permanently deleted or restored Backups that contain this data" {
		t.Errorf("notice after pressing twice: %q", again.notice(t))
	}
	if newest := b.get(t, "/office/history").edits(t)[0]; newest != "A deleted person was permanently deleted, by desk" {
		t.Errorf("the newest entry of the history is %q", newest)
	}
	b.get(t, eraseOf(eva)).wants(t, http.StatusNotFound)

	p = b.get(t, p.one(t, "a", "href", "/office/deleted/erase").attributes["href"]).lacks(t, "will be permanently deleted")
	typed := p.form(t, "/office/deleted/erase")
	for day, want := range map[string]string{"32.1.2020": "There is no such day.", "soon": "This date cannot be read.", "2999-01-01": "This day is in the future."} {
		typed.set(t, "Deleted before", day).send(t, "Show these people").says(t, want).lacks(t, "Canary")
	}
	typed.set(t, "Deleted before", "2017-01-01").send(t, "Show these people").says(t, "No one on this page was deleted before 1 January 2017")
	ask = typed.set(t, "Deleted before", "1 Jan 2020").send(t, "Show these people").
		says(t, "3 people deleted before 1 January 2020 will be permanently deleted", "Ivo Canary", "Una Canary", "Leo Canary").lacks(t, "Mia")
	s.do(t, "GET", collection+"/"+back, "").wants(t, 404)
	b.post(t, "/office/people/"+back+"/undelete", url.Values{}).wants(t, http.StatusSeeOther)
	done := ask.press(t, "Delete 3 people permanently")
	if done.notice(t) != "2 people were permanently deleted" {
		t.Errorf("notice %q", done.notice(t))
	}
	left("Mia Canary")
	s.do(t, "GET", collection+"/"+back, "").wants(t, 200)
	b.get(t, "/office/people/"+ivo+"/history").wants(t, http.StatusNotFound)
	for _, language := range []string{"de", "fr", "es", "hr"} {
		b.get(t, eraseOf(mia), "Accept-Language", language).wants(t, http.StatusOK).says(t, "Mia Canary")
	}

	b.get(t, eraseOf(mia)).press(t, "Delete 1 person permanently")
	s.do(t, "DELETE", collection+"/"+back, "").wants(t, 204)
	b.get(t, eraseOf(back)).press(t, "Delete 1 person permanently").says(t, "No one has been deleted")
	checkTraces(t, s.db, s.db+"-wal")
	works(t, "check", "--db", s.db)
}

// TestEraseIsForAdmins checks that permanent deletion needs the scope admin and a request from
// the page itself.
func TestEraseIsForAdmins(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.signIn(t, newKey(t, s.db, "default", "--scope", "admin"), "en")
	id := s.create(t, ana)
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	form := url.Values{"id": {id}}
	for _, scope := range []string{"read", "write"} {
		b := s.signIn(t, newKey(t, s.db, "default", "--scope", scope), "en")
		if p := b.get(t, "/office/deleted"); len(p.all("a", "href", eraseOf(id)))+len(p.all("a", "href", "/office/deleted/erase")) != 0 {
			t.Errorf("%s sees the link to delete permanently", scope)
		}
		b.get(t, eraseOf(id)).wants(t, http.StatusForbidden)
		b.post(t, "/office/deleted/erase", form).wants(t, http.StatusForbidden)
	}
	other := s.signIn(t, newKey(t, s.db, "Engine 7", "--scope", "admin"), "en")
	other.get(t, eraseOf(id)).wants(t, http.StatusNotFound)
	other.post(t, "/office/deleted/erase", form).says(t, "Nothing to delete")
	admin.post(t, "/office/deleted/erase", form, "Sec-Fetch-Site", "cross-site").wants(t, http.StatusForbidden)
	for _, wrong := range []url.Values{{}, {"before": {"x"}}, {"before": {"2999-01-01"}}} {
		admin.post(t, "/office/deleted/erase", wrong).wants(t, http.StatusBadRequest)
	}
	admin.get(t, eraseOf("x")).wants(t, http.StatusNotFound)
	admin.get(t, "/office/deleted").says(t, "1 deleted person")
}

// TestEraseNamesBackups checks that the page names the backups with the person before the
// deletion, and that the list next to the backups gets the id at once.
func TestEraseNamesBackups(t *testing.T) {
	t.Parallel()
	copies := t.TempDir()
	s := start(t, "--backup-dir", copies)
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "admin"), "en")
	eventually(t, "the first backup, which is empty", func() bool {
		found, _ := filepath.Glob(filepath.Join(copies, "x-*.db"))
		return len(found) == 1
	})
	id := s.create(t, ana)
	eventually(t, "a backup with the person", func() bool {
		code, _, _ := runCommand(t, "backup", filepath.Join(copies, "x-20200201T093000Z.db"), "--db", s.db)
		return code == 0
	})
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	ask := b.get(t, eraseOf(id)).says(t, "Restoring such a backup does not restore the record", "x-20200201T093000Z.db")
	if rows := ask.rows("Backups that contain this data"); len(rows) != 1 {
		t.Errorf("the page names %d backups", len(rows))
	}
	ask.press(t, "Delete 1 person permanently")
	if list, err := os.ReadFile(filepath.Join(copies, backup.ErasedName)); err != nil || string(list) != id+"\n" {
		t.Errorf("the list next to the backups contains %q, %v", list, err)
	}
}

// TestEraseWhileRead checks that the notice tells what to do if the file cannot be rewritten, as
// text and not as a link.
func TestEraseWhileRead(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "admin"), "en")
	id := s.create(t, ana)
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	reading, err := openSQL(t, s.db).Begin()
	must(t, err)
	defer reading.Rollback()
	must(t, reading.QueryRow(`SELECT count(*) FROM firefighters`).Scan(new(int)))
	p := b.get(t, eraseOf(id)).press(t, "Delete 1 person permanently").says(t, "1 person was permanently deleted", "traces of permanently deleted people")
	if links := p.one(t, "div", "id", "notice").all("a"); len(links) != 1 || links[0].text() != "Backups that contain this data" {
		t.Errorf("the notice has %d links", len(links))
	}
}
