package acceptance

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// checkPaper types a code into the page.
func (b *browser) checkPaper(t *testing.T, code string) *webPage {
	t.Helper()
	return b.get(t, "/office/paper").wants(t, 200).form(t, "/office/paper").set(t, "Code", code).send(t, "Check").wants(t, 200)
}

// slip returns the heading and text of each section of the slip.
func (p *webPage) slip(t *testing.T) (sections []string) {
	t.Helper()
	for _, s := range p.one(t, "div", "class", "paper").all("section") {
		sections = append(sections, s.text())
	}
	return sections
}

func (p *webPage) hasSlip(t *testing.T, want ...string) {
	t.Helper()
	if got := p.slip(t); !slices.Equal(got, want) {
		t.Errorf("%s has\n%s\nwant\n%s", p.path, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const unknownPaper = "This code does not belong to this list. It may be mistyped, from another department, or from before a backup was restored."

// TestOfficePaper prints an empty list, adds, changes and deletes people, and checks after each
// step the changes since each print.
func TestOfficePaper(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	empty := b.printed(t)
	for _, typed := range []string{empty, strings.ToLower(empty), " " + empty[:3] + " " + empty[3:] + " ", empty[:2] + "-" + empty[2:4] + "–" + empty[4:]} {
		p := b.checkPaper(t, typed).says(t, "Nothing has changed", "The list with code "+empty+" is up to date.", "· 0 people")
		if p.fault(t, "Code") != "" || p.labelled(t, "Code").attributes["value"] != typed || p.one(t, "p", "class", "code").text() != empty {
			t.Errorf("%q: %s", typed, p.text())
		}
	}
	bo := s.create(t, `{"firstName":"Bo","lastName":"Zed","phoneNumber":"1","email":"bo@example.com"}`)
	id := s.create(t, ana)
	both := b.printed(t)
	p := b.checkPaper(t, empty).says(t, "Changes since the list with code "+empty, "write the new code "+both+" on it", "· 2 people").lacks(t, "Nothing has changed")
	const head = " Last name First name Phone E-mail Date of birth "
	p.hasSlip(t, "Added: 2 people"+head+"Čović Ana 091 234 5678 ana@example.com 15 May 1990 Zed Bo 1 bo@example.com")
	s.do(t, "PUT", collection+"/"+id, `{"firstName":"Ana","lastName":"Horvat","email":"ana@example.com","dateOfBirth":"1990-05-16"}`).wants(t, 200)
	s.do(t, "DELETE", collection+"/"+bo, "").wants(t, 204)
	const changed = "Changed: 1 person Ana Horvat Last name Čović → Horvat Phone 091 234 5678 → (empty) Date of birth 15 May 1990 → 16 May 1990"
	const deleted = "Deleted: 1 person Last name First name Phone Zed Bo 1"
	b.checkPaper(t, both).hasSlip(t, deleted, changed)
	b.checkPaper(t, empty).hasSlip(t, "Added: 1 person"+head+"Horvat Ana ana@example.com 16 May 1990")
	works(t, "undelete", "--db", s.db, "--tenant", "default", bo)
	b.checkPaper(t, both).hasSlip(t, changed)
	s.do(t, "PUT", collection+"/"+id, ana).wants(t, 200)
	b.checkPaper(t, both).says(t, "Nothing has changed", "is up to date")
	if b.printed(t) == both {
		t.Error("two different lists have the same code")
	}
	s.do(t, "PUT", collection+"/"+id, strings.Replace(ana, "1990-05-15", "1990-05-15T10:00:00+02:00", 1)).wants(t, 200)
	b.checkPaper(t, both).says(t, "Nothing has changed") // no paper shows the time
}

// TestOfficePaperUnknown checks that codes of no print of this list get the same message.
func TestOfficePaperUnknown(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	s.create(t, ana)
	code := b.printed(t)
	swapped := code[1:] + code[:1]
	other := s.signIn(t, newKey(t, s.db, "other"), "en").printed(t)
	typed := []string{"AAAA", "AAAAAAAA", "00OO11", `"><b>`, "\x00\xff", strings.Repeat("A", 5000), other, code + "A", code[1:]}
	if swapped != code {
		typed = append(typed, swapped)
	}
	for _, text := range typed {
		p := b.get(t, "/office/paper?"+url.Values{"code": {text}}.Encode()).wants(t, 200)
		if p.fault(t, "Code") != unknownPaper || len(p.all("div", "class", "paper")) > 0 {
			t.Errorf("%q: %s", text, p.text())
		}
	}
	if value := b.checkPaper(t, `"><b>`).labelled(t, "Code").attributes["value"]; value != `"><b>` {
		t.Errorf("the typed code became %q", value)
	}
}

// TestOfficePaperErased checks that the page counts permanently deleted people without naming
// them, next to all other changes.
func TestOfficePaperErased(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	id := s.create(t, ana)
	code := b.printed(t)
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	b.checkPaper(t, code).hasSlip(t, "Deleted: 1 person Last name First name Phone Čović Ana 091 234 5678")
	works(t, "purge", "--db", s.db, "--tenant", "default", "--yes", id)
	const erased = "1 deleted person was permanently deleted since then and may still be on this printout. The name is no longer known. Print a new list."
	p := b.checkPaper(t, code).says(t, erased, "Changes since the list with code "+code).lacks(t, "Ana", "Nothing has changed", "Correct the paper")
	p.hasSlip(t)
	s.create(t, `{"firstName":"Bo","lastName":"Zed"}`)
	b.checkPaper(t, code).says(t, erased).hasSlip(t, "Added: 1 person Last name First name Phone E-mail Date of birth Zed Bo")
	b.checkPaper(t, b.printed(t)).says(t, "Nothing has changed").lacks(t, "erased")
}

// TestOfficePaperRestored checks that codes from before a restore are invalid, although the same
// versions appear again with other people.
func TestOfficePaperRestored(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create(t, ana)
	saved := s.db + ".saved"
	works(t, "backup", saved, "--db", s.db)
	var codes []string
	for range 3 {
		codes = append(codes, s.signIn(t, s.key, "en").printed(t))
		s.create(t, ana)
	}
	s.stop(t)
	works(t, "restore", saved, "--db", s.db)
	restored := startOn(t, s.db)
	for range 5 {
		restored.as(s.key).create(t, ana)
	}
	b := restored.signIn(t, s.key, "en")
	for _, code := range codes {
		if fault := b.checkPaper(t, code).fault(t, "Code"); fault != unknownPaper {
			t.Errorf("the code %s from before the restore has the fault %q", code, fault)
		}
	}
	b.checkPaper(t, b.printed(t)).says(t, "Nothing has changed")
}
