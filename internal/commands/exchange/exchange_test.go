package exchange

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs a command that knows no database.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	p := Commands{}
	var out, errs strings.Builder
	env := cli.Env{Context: t.Context(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
	code = cli.PrintError(cli.Program{Commands: p.Table()}.Run(env, args), &errs)
	return code, out.String(), errs.String()
}

// TestUsage: what is wrong with a command line is found before anything is
// opened.
func TestUsage(t *testing.T) {
	t.Parallel()
	const importHint, exportHint = "\nTry: firefighters import --help\n", "\nTry: firefighters export --help\n"
	const undoHint = "\nTry: firefighters import undo --help\n"
	long := strings.Repeat("č", 101)
	for line, want := range map[string]string{
		"import":                                     "import: say which file to read" + importHint,
		"import missing.csv":                         "import: --tenant is required" + importHint,
		"import missing.csv --tenant " + long:        "import: --tenant may have at most 100 characters" + importHint,
		"import missing.csv --tenant Engine 7":       "import: it takes one argument, but there is also \"7\"\nTry: put a name of several words in quotes, as \"Engine 7\": firefighters import --help\n",
		"import missing.csv --tenant A --dates md":   "import: --dates must be one of dmy, mdy, ymd, not \"md\"" + importHint,
		"import missing.csv --encoding latin1":       "import: --encoding must be one of utf-8, utf-16, windows-1252, windows-1250, cp850, cp852, iso-8859-2, iso-8859-15, windows-1254, macintosh, windows-1251, koi8-r, windows-1253, shift_jis, gb18030, not \"latin1\"" + importHint,
		"import missing.csv --map Handy":             "import: --map must be like \"Vorname=firstName,Handy=phoneNumber\", not \"Handy\"" + importHint,
		"import missing.csv --report x.txt":          "import: --report must end in .csv or .xlsx, not \"x.txt\"" + importHint,
		"import missing.csv --report x.vcf":          "import: --report must end in .csv or .xlsx, not \"x.vcf\"" + importHint,
		"import missing.csv --force":                 "import: --force is for --report" + importHint,
		"import missing.csv --aply":                  "import: unknown flag: --aply; did you mean --apply?" + importHint,
		"import missing.csv --db=":                   "import: --db names no file" + importHint,
		"import undo":                                "import undo: say which import to take back, by its number" + undoHint,
		"import undo 7":                              "import undo: --tenant is required" + undoHint,
		"import undo x --tenant A":                   "import undo: \"x\" is not the number of an import\nTry: see their numbers: firefighters import list --tenant A --db firefighters.db\n",
		"import undo 0":                              "import undo: \"0\" is not the number of an import\nTry: see their numbers: firefighters import list --tenant NAME --db firefighters.db\n",
		"import list":                                "import list: --tenant is required\nTry: firefighters import list --help\n",
		"import list A":                              "import list: it takes no argument, but there is \"A\"\nTry: to name the department: firefighters import list --tenant A\n",
		"import missing.csv --compare --apply":       "import: --compare changes nothing; leave out --apply" + importHint,
		"compare missing.csv --tenant A":             "there is no command \"compare\"; did you mean \"import\"?" + importHint,
		"export":                                     "export: --tenant is required" + exportHint,
		"export --tenant A --format pdf":             "export: --format must be csv, xlsx, vcf or jsonl, not \"pdf\"" + exportHint,
		"export --tenant A -o x.pdf":                 "export: --output must end in .xlsx or .csv or .vcf or .jsonl, not \"x.pdf\"" + exportHint,
		"export --tenant A -o x.csv --format xlsx":   "export: --output x.csv is not of the format xlsx" + exportHint,
		"export --tenant A --force":                  "export: --force is for --output" + exportHint,
		"export people.csv":                          "export: it takes no argument, but there is \"people.csv\"",
		"undo":                                       "there is no command \"undo\"; did you mean \"import undo\"?" + undoHint,
		"export --tenant A -o /nowhere/x.csv":        "the folder of \"/nowhere/x.csv\" does not exist",
		"import missing.csv --tenant A --map a=phon": "import: --map has \"phon\", and the fields are " + strings.Join(record.FieldNames(), ", ") + ", id, name, nameReversed, and - for none" + importHint,
	} {
		code, stdout, stderr := run(t, strings.Split(line, " ")...)
		if want := "Error: " + want; code == 0 || stdout != "" || !strings.HasPrefix(stderr, want) {
			t.Errorf("%s: code %d, stdout %q, stderr:\n%swant:\n%s", line, code, stdout, stderr, want)
		}
		if usage := !strings.Contains(line, "nowhere"); usage != (code == 2) {
			t.Errorf("%s: code %d", line, code)
		}
	}
}

// TestCommands: the table is sorted, and each command explains itself with an
// example.
func TestCommands(t *testing.T) {
	t.Parallel()
	table := Commands{}.Table()
	if !slices.IsSortedFunc(table, func(a, b cli.Command) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("not sorted:\n%s", cli.CommandList(table))
	}
	for _, name := range []string{"export", "import", "import list", "import undo"} {
		code, stdout, stderr := run(t, append(strings.Fields(name), "--help")...)
		if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "Usage: firefighters "+name+" ") || !strings.Contains(stdout, "\n  firefighters "+name+" ") {
			t.Errorf("%s: code %d, stderr %q, stdout:\n%s", name, code, stderr, stdout)
		}
		for line := range strings.Lines(stdout) {
			if !strings.HasPrefix(strings.TrimSpace(line), "--") && !strings.HasPrefix(strings.TrimSpace(line), "-o") && !strings.HasPrefix(line, "  firefighters") && len([]rune(line)) > 82 {
				t.Errorf("%s: a long line: %s", name, line)
			}
		}
	}
}

// TestWrongFiles: what is no file of people is refused before a database is
// opened.
func TestWrongFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	must(t, os.WriteFile(path("large.csv"), nil, 0o600))
	must(t, os.Truncate(path("large.csv"), 200<<20))
	must(t, os.WriteFile(path("there.csv"), []byte("firstName,lastName\nAna,Horvat\n"), 0o600))
	for name, want := range map[string]string{
		"missing.csv": "there is no file %s\nTry: name the right file\n",
		"":            "%s is not a file\nTry: the file itself, or - for standard input\n",
		"large.csv":   "%s: the file is larger than 32 MB\nTry: save the list of people alone, without pictures and other sheets\n",
	} {
		file := filepath.Clean(path(name))
		want = "Error: " + strings.ReplaceAll(want, "%s", `"`+file+`"`)
		if code, stdout, stderr := run(t, "import", file, "--tenant", "A", "--db", path("x.db")); code != 1 || stdout != "" || stderr != want {
			t.Errorf("%s: code %d, stdout %q, stderr:\n%swant:\n%s", name, code, stdout, stderr, want)
		}
	}
	for name, want := range map[string]string{
		"there.csv":   "%s is there already\nTry: another name, or --force to replace it\n",
		"no/x.csv":    "the folder of %s does not exist\nTry: make it first: mkdir " + cli.Quote(path("no")) + "\n",
		"folder.xlsx": "%s is not a file\nTry: another name\n",
	} {
		os.Mkdir(path("folder.xlsx"), 0o700)
		want = "Error: " + strings.ReplaceAll(want, "%s", `"`+path(name)+`"`)
		for _, args := range [][]string{{"import", path("there.csv"), "--report"}, {"export", "-o"}} {
			args = append(args, path(name), "--tenant", "A", "--db", path("x.db"))
			if code, stdout, stderr := run(t, args...); code != 1 || stdout != "" || stderr != want {
				t.Errorf("%q: code %d, stdout %q, stderr:\n%swant:\n%s", args, code, stdout, stderr, want)
			}
		}
	}
}
