package acceptance

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// tree returns a JSON text as Go values.
func tree(t *testing.T, text string) (value any) {
	t.Helper()
	must(t, json.Unmarshal([]byte(text), &value))
	return value
}

// keptInSQL reads the data about a person with SQL, in the format of the report.
const keptInSQL = `
	WITH one AS (SELECT * FROM firefighters WHERE id = ?1),
	     past AS (SELECT *, (SELECT number FROM imports i WHERE i.tenant_id = c.tenant_id AND c.id & 0xffffffff BETWEEN first_change AND last_change) AS import
	                FROM changes c WHERE record_id = ?1 ORDER BY id)
	SELECT json_object(
	    'deletedAt', (SELECT strftime('%FT%R:%fZ', deleted_at / 1000.0, 'unixepoch') FROM one),
	    'record', json((SELECT json_object('id', id, 'firstName', first_name, 'lastName', last_name, 'phoneNumber', phone_number, 'email', email, 'dateOfBirth', date_of_birth,
	        'invitationStatus', invitation_status, 'userId', user_id, 'createdAt', strftime('%FT%R:%fZ', created_at / 1000.0, 'unixepoch'),
	        'updatedAt', strftime('%FT%R:%fZ', updated_at / 1000.0, 'unixepoch')) FROM one)),
	    'history', json((SELECT json_group_array(json_object('at', strftime('%FT%R:%fZ', at / 1000.0, 'unixepoch'), 'action', action, 'key', key_id,
	        'label', (SELECT label FROM keys WHERE id = key_id), 'import', import, 'before', json(before), 'mergedWith', merged_with)) FROM past)),
	    'distinctFrom', json((SELECT json_group_array(iif(one = ?1, other, one)) FROM distinct_people WHERE ?1 IN (one, other))),
	    'imports', json((SELECT json_group_array(json_object('number', number, 'at', strftime('%FT%R:%fZ', at / 1000.0, 'unixepoch'), 'key', key_id,
	        'label', (SELECT label FROM keys WHERE id = key_id), 'takenBackAt', strftime('%FT%R:%fZ', taken_back_at / 1000.0, 'unixepoch')))
	        FROM imports WHERE number IN (SELECT import FROM past))),
	    'storedResponses', json((SELECT json_group_array(json_object('at', strftime('%FT%R:%fZ', created_at / 1000.0, 'unixepoch'),
	        'until', strftime('%FT%R:%fZ', created_at / 1000.0 + 86400, 'unixepoch'), 'import', NULL, 'body', json(answer))) FROM replays WHERE record_id = ?1)))`

// TestDossier checks that the report about a person matches the result of SQL and contains
// nothing about anyone else, and that only keys with the scope admin can read it.
func TestDossier(t *testing.T) {
	t.Parallel()
	copies := t.TempDir()
	s := start(t, "--backup-dir", copies)
	eventually(t, "the first backup, which is empty", func() bool {
		found, _ := filepath.Glob(filepath.Join(copies, "x-*.db"))
		return len(found) == 1
	})
	early := newKey(t, s.db, "default", "--label", "before the entry")
	works(t, "keys", "revoke", "2", "--db", s.db)
	newKey(t, s.db, "Ladder 1", "--label", "another department")
	desk := s.as(newKey(t, s.db, "default", "--label", "desk"))
	newKey(t, s.db, "default", "--label", "tablet", "--scope", "phone", "--birthdays")
	b := s.signIn(t, s.key, "en")

	created := desk.do(t, "POST", collection, ana, "Idempotency-Key", "once").wants(t, http.StatusCreated)
	var f wireRecord
	decode(t, created.body, &f)
	others := []string{"Zvonimir", "Kanarinac", "zk@example.com", "099 777 6543"}
	other := desk.create(t, `{"firstName":"Zvonimir","lastName":"Kanarinac","email":"zk@example.com","phoneNumber":"099 777 6543"}`)
	file := filepath.Join(t.TempDir(), "Zvonimir Kanarinac.csv")
	must(t, os.WriteFile(file, []byte("id,firstName,lastName,phoneNumber,email\n"+f.ID+",Ana,Čović,0977,\n"+other+",Zvonimir,Kanarinac,0988,\n,New,Kanarinac,0988,\n"), 0o600))
	works(t, "import", file, "--tenant", "default", "--db", s.db, "--apply", "--update")
	works(t, "import", "undo", "1", "--tenant", "default", "--db", s.db)
	const held = "x-20200201T093000Z.db"
	eventually(t, "a backup with both people", func() bool {
		code, _, _ := runCommand(t, "backup", filepath.Join(copies, held), "--db", s.db)
		return code == 0
	})
	b.post(t, "/office/people/"+other+"/distinct?with="+f.ID, nil).wants(t, http.StatusSeeOther)
	desk.do(t, "DELETE", collection+"/"+f.ID, "").wants(t, http.StatusNoContent)
	newKey(t, s.db, "default", "--label", "too late", "--scope", "phone")
	report := "/office/people/" + f.ID + "/report"

	hasOnly := func(what, text string) {
		t.Helper()
		for _, canary := range append(others, "0988", "another department", "before the entry", "too late", early, file) {
			if strings.Contains(text, canary) {
				t.Errorf("%s contains %q: %s", what, canary, text)
			}
		}
		if !strings.Contains(text, "desk") || !strings.Contains(text, "tablet") {
			t.Errorf("%s does not list the readers: %s", what, text)
		}
	}
	heldBy := func(got map[string]any, folder string, names ...string) {
		t.Helper()
		backups := got["backups"].(map[string]any)
		var found []string
		for _, file := range backups["files"].([]any) {
			file := file.(map[string]any)
			found = append(found, file["name"].(string))
			if until, ok := file["until"].(string); !ok || until <= "2026" || len(until) != 10 || file["at"] != "2020-02-01T09:30:00.000Z" || file["encrypted"] != false {
				t.Errorf("a backup is %v", file)
			}
		}
		if backups["folder"] != folder || !slices.Equal(found, names) || len(backups["unread"].([]any)) > 0 {
			t.Errorf("the backups are %v", backups)
		}
	}
	check := func() {
		t.Helper()
		sent := b.get(t, report+".json").wants(t, http.StatusOK)
		want := "private, no-store attachment; filename=\"person-" + f.ID + ".json\" application/json"
		if got := sent.header.Get("Cache-Control") + " " + sent.header.Get("Content-Disposition") + " " + sent.header.Get("Content-Type"); got != want {
			t.Errorf("headers of the file: %s", got)
		}
		var sql string
		must(t, openSQL(t, s.db).QueryRow(keptInSQL, f.ID).Scan(&sql))
		hasOnly("the file", sent.body)
		got := tree(t, sent.body).(map[string]any)
		for name, value := range tree(t, sql).(map[string]any) {
			if !reflect.DeepEqual(got[name], value) {
				t.Errorf("%s is\n%v, want\n%v", name, got[name], value)
			}
		}
		var readers []string
		for _, r := range got["readers"].([]any) {
			readers = append(readers, r.(map[string]any)["label"].(string))
		}
		heldBy(got, "ok", held)
		if slices.Sort(readers); !slices.Equal(readers, []string{"desk", "first key", "first key", "tablet"}) {
			t.Errorf("%q could read it", readers)
		}
		for _, language := range []string{"en", "de", "fr", "es", "hr"} {
			p := b.get(t, report, "Accept-Language", language).wants(t, http.StatusOK).says(t, "Čović", f.ID, "091 234 5678", "0977", "first key", held)
			hasOnly("the page", p.one(t, "main").text())
			if title := p.one(t, "title").text() + p.heading(t); strings.Contains(title, "Ana") {
				t.Errorf("the title %q has the name, but a browser names files by it", title)
			}
		}
	}
	check()
	b.get(t, "/office/people/"+f.ID+"/history").says(t, "All data about this person")
	desk.signIn(t, desk.key, "en").get(t, report+".json").wants(t, http.StatusForbidden)
	s.signIn(t, newKey(t, s.db, "Ladder 1", "--scope", "admin"), "en").get(t, report+".json").wants(t, http.StatusNotFound)

	works(t, "purge", "--tenant", "default", "--db", s.db, "--yes", f.ID)
	erased := b.get(t, report+".json").wants(t, http.StatusOK).body
	gone := tree(t, erased).(map[string]any)
	if gone["erasedAt"] == nil || gone["record"] != nil || len(gone["history"].([]any)) != 1 || strings.Contains(erased, "Ana") {
		t.Errorf("after the deletion: %s", erased)
	}
	heldBy(gone, "ok", held)
	b.get(t, report).wants(t, http.StatusOK).says(t, "permanently deleted", f.ID, held).lacks(t, "Čović")
	b.get(t, "/office/people/"+nobody+"/report").wants(t, http.StatusNotFound)
}
