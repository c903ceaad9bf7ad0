package acceptance

import (
	"strings"
	"testing"
)

// inCP852 is a list as Excel saves it as "CSV (MS-DOS)" in Hungary: Szőke, Kővári.
const inCP852 = "Vorname;Nachname\r\nGy\x94rgy;Sz\x8bke\r\n\xb5gnes;K\x8bv\xa0ri\r\n"

// TestEncodings: the command, the API and the page ask which names of a list are right, and
// take the answer.
func TestEncodings(t *testing.T) {
	t.Parallel()
	db, file := newEngine7(t), list(t, "people.csv", inCP852)
	code, _, stderr := runCommand(t, into("import", file, db, "--apply")...)
	stdout, _ := works(t, into("import", file, db)...)
	if code != 1 || !strings.Contains(stderr, `row 2 is "György Szőke" in cp852, and "György Szïke" in cp850`) || !strings.Contains(stderr, "none of these") || !strings.Contains(stdout, "none of these") {
		t.Errorf("exit %d: %s\n%s", code, stderr, stdout)
	}
	works(t, typed(t, stderr, "cp850")[1:]...)
	if got := names(t, db); got != "György Szïke, Ágnes Kïvári" {
		t.Errorf("there is %s", got)
	}
	works(t, "import", "undo", "1", "--tenant", "Engine 7", "--db", db)
	works(t, typed(t, stdout, "cp852")[1:]...)
	if got := names(t, db); got != "György Szőke, Ágnes Kővári" {
		t.Errorf("there is %s", got)
	}

	s := start(t)
	r := s.do(t, "POST", importsPath, inCP852).report(t, 200)
	if *r.File.Encoding != "cp852" || len(r.Warnings) != 2 || !strings.Contains(r.Warnings[1], `row 3 is "Ágnes Kővári" in cp852, and "Ágnes Kïvári" in cp850`) {
		t.Errorf("%+v", r)
	}
	p := s.do(t, "POST", importsPath+"?apply=true", inCP852).wants(t, 400)
	if got := p.faults(t); got != "encoding required" || !strings.Contains(p.problem(t).Detail, `"György Szőke" in cp852, and "György Szïke" in cp850. If none of these is right`) {
		t.Errorf("%s: %s", got, p.body)
	}
	if r := s.do(t, "POST", importsPath+"?apply=true&encoding=IBM852", inCP852).report(t, 201); *r.File.Encoding != "cp852" || r.Added != 2 {
		t.Errorf("%+v", r)
	}
}

// typed returns the words of the command in a text that ends with an encoding.
func typed(t *testing.T, text, encoding string) []string {
	t.Helper()
	for line := range strings.Lines(text) {
		command, found := strings.CutSuffix(strings.TrimPrefix(line, "Try: "), " --encoding "+encoding+"\n")
		if found {
			words := strings.Fields(strings.ReplaceAll(command, "'Engine 7'", "Engine\x007") + " --encoding " + encoding)
			for i, word := range words {
				words[i] = strings.ReplaceAll(word, "\x00", " ")
			}
			return words
		}
	}
	t.Fatalf("no command ends with %s:\n%s", encoding, text)
	return nil
}

// TestOfficeEncodings: the page shows the names as each encoding has them.
func TestOfficeEncodings(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	p := b.bring(t, "people.csv", inCP852).wants(t, 200).says(t, "György Szőke, Ágnes Kővári", "György Szïke, Ágnes Kïvári", "CP850 (DOS, Western Europe)", "None of these: save the list as .xlsx").
		lacks(t, "Import 2 people")
	if n := len(p.all("input", "type", "radio")); n != 2 {
		t.Errorf("%d encodings: %s", n, p.text())
	}
	form := p.again(t)
	form.values.Set("encoding", "cp852")
	p = form.send(t, "Check again").follow(t).wants(t, 200).lacks(t, "None of these")
	p.again(t).send(t, "Import 2 people").follow(t).says(t, "2 people were imported", "Ágnes Kővári")

	// Where no header is known, the encoding is asked for first.
	p = b.bring(t, "people.csv", "K\x82rem;Rang\r\nSz\x8bke;x\r\n").wants(t, 422).says(t, "Szőke", "which names are right").lacks(t, "No column has names")
	form = p.again(t)
	form.values.Set("encoding", "cp852")
	form.send(t, "Check again").follow(t).wants(t, 422).says(t, "No column has names", "Kérem")

	b.bring(t, "people.csv", "Vorname;Nachname\r\nJ\x81rgen;M\x81ller\r\n").wants(t, 200).says(t, "The list is read in cp850", "Jürgen Müller", "Import 1 person")
}
