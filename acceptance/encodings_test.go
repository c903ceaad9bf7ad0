package acceptance

import (
	"runtime"
	"strings"
	"testing"
)

// inCP852 is a list in the format of Excel's "CSV (MS-DOS)" in Hungary: Szőke, Kővári.
const inCP852 = "Vorname;Nachname\r\nGy\x94rgy;Sz\x8bke\r\n\xb5gnes;K\x8bv\xa0ri\r\n"

// TestEncodings checks that the command and the API ask which names are right, and accept an
// encoding as the answer.
func TestEncodings(t *testing.T) {
	t.Parallel()
	db, file := newEngine7(t), list(t, "people.csv", inCP852)
	code, _, stderr := runCommand(t, into("import", file, db, "--apply")...)
	stdout, _ := works(t, into("import", file, db)...)
	const right = `CP852 (DOS, Central Europe): "György Szőke", "Ágnes Kővári": firefighters import `
	if code != 1 || !strings.Contains(stderr, "which names are right?\nTry: windows-1252 (Western Europe): ") || !strings.Contains(stderr, "\nTry: "+right) ||
		!strings.Contains(stderr, "otherwise another --encoding: ") || !strings.Contains(stdout, "\n  "+right) {
		t.Errorf("exit %d: %s\n%s", code, stderr, stdout)
	}
	if got := names(t, db); got != "" {
		t.Errorf("names %s, want none", got)
	}
	works(t, typed(t, stderr, "cp850")[1:]...)
	if got := names(t, db); got != "György Szïke, Ágnes Kïvári" {
		t.Errorf("names %s", got)
	}
	works(t, "import", "undo", "1", "--tenant", "Engine 7", "--db", db)
	works(t, typed(t, stdout, "cp852")[1:]...)
	if got := names(t, db); got != "György Szőke, Ágnes Kővári" {
		t.Errorf("names %s", got)
	}

	s := start(t)
	r := s.do(t, "POST", importsPath, inCP852).report(t, 200)
	if o := r.Questions[0].Options[2]; o.Value != "cp852" || *o.Example != `"György Szőke", "Ágnes Kővári"` {
		t.Errorf("%+v", r)
	}
	if r := s.do(t, "POST", importsPath+"?apply=true&encoding=IBM852", inCP852).report(t, 201); *r.File.Encoding != "cp852" || r.Added != 2 {
		t.Errorf("%+v", r)
	}
	if r := s.do(t, "POST", importsPath, "K\x82rem;Rang\r\nSz\x8bke;x\r\n").report(t, 200); !strings.HasPrefix(r.questions(), "encoding ") || r.Added != 0 { // no column is known
		t.Errorf("%+v", r)
	}
}

// TestLikeliestEncoding checks that the encoding of the system's language comes first.
func TestLikeliestEncoding(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // its language is not an environment variable
	}
	file := list(t, "people.csv", "Vorname;Nachname\r\nAna;\xc8ovi\xe6\r\n")
	for variables, want := range map[string]string{"LC_ALL=hr_HR.UTF-8": "Čović", "LC_ALL= LANG=hr": "Čović", "LC_ALL=de_AT": "Èoviæ", "LC_ALL= LC_CTYPE=ru_RU LANG=hr": "Иoviж"} {
		cmd, output := process(t, into("import", file, "none.db", "--json")...)
		cmd.Env = append(cmd.Env, strings.Fields(variables)...)
		must(t, cmd.Run())
		if !strings.Contains(output.String(), `"options":[{"value":"`) || strings.Index(output.String(), want) > strings.Index(output.String(), `},{"value"`) {
			t.Errorf("%s: %s", variables, output)
		}
	}
}

// typed returns the words of the first command in a text that ends with an encoding.
func typed(t *testing.T, text, encoding string) []string {
	t.Helper()
	for line := range strings.Lines(text) {
		command, found := strings.CutSuffix(line, " --encoding "+encoding+"\n")
		if found {
			command = command[strings.Index(command, "firefighters "):]
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

// TestOfficeEncodings checks that the page shows the names in each encoding.
func TestOfficeEncodings(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	p := b.bring(t, "people.csv", inCP852).wants(t, 200).says(t, "“György Szőke”, “Ágnes Kővári”", "“György Szïke”, “Ágnes Kïvári”", "CP850 (DOS, Western Europe)", "None of these: save the list as .xlsx").
		lacks(t, "Import 2 people")
	if radios := p.all("input", "type", "radio"); len(radios) < 2 || radios[0].attributes["value"] != "windows-1252" {
		t.Errorf("%d encodings: %s", len(radios), p.text())
	}
	croatian := s.signIn(t, newKey(t, s.db, "default"), "hr").get(t, "/office/import").form(t, "/office/import").attach("people.csv", inCP852).send(t, "Provjeri popis").shown(t)
	if first := croatian.all("input", "type", "radio")[0].attributes["value"]; first != "windows-1250" {
		t.Errorf("the first for a Croatian reader is %s", first)
	}
	form := p.again(t)
	form.values.Set("encoding", "cp852")
	p = form.send(t, "Check again").wants(t, 200).lacks(t, "None of these")
	p.again(t).send(t, "Import 2 people").follow(t).says(t, "2 people were imported", "Kővári Ágnes")

	// If no header row is known, the page asks for the encoding first.
	p = b.bring(t, "people.csv", "K\x82rem;Rang\r\nSz\x8bke;x\r\n").wants(t, 200).says(t, "Szőke", "Which names are right").lacks(t, "No column contains names")
	form = p.again(t)
	form.values.Set("encoding", "cp852")
	form.send(t, "Check again").wants(t, 422).says(t, "No column contains names", "Kérem")
}
