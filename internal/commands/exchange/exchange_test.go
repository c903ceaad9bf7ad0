package exchange

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs a command without a database.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	root := &cobra.Command{Use: "firefighters"}
	root.AddGroup(cli.Groups...)
	root.AddCommand(Commands{}.All()...)
	var out, errs strings.Builder
	env := cli.Env{Context: t.Context(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
	code = cli.Execute(env, root, args, nil)
	return code, out.String(), errs.String()
}

// TestUsage checks usage errors, which are found before a database is opened.
func TestUsage(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"import x.csv --tenant " + strings.Repeat("č", 101): "--department may have at most 100 characters",
		"import x.csv --dates md":                           `--dates must be one of dmy, mdy, ymd, not "md"`,
		"import x.csv --encoding latin1":                    "--encoding must be one of utf-8, utf-16, windows-1252, ",
		"import x.csv --map Handy":                          `--map must be like "Vorname=firstName,Handy=phoneNumber", not "Handy"`,
		"import x.csv --map a=phon":                         `--map has the unknown field "phon"; the fields are ` + strings.Join(record.FieldNames(), ", "),
		"import x.csv --report x.vcf":                       `--report must end in .csv or .xlsx, not "x.vcf"`,
		"import x.csv --dry-run --apply":                    "--apply and --dry-run cannot be combined",
		"import x.csv --compare --apply":                    "--apply and --compare cannot be combined",
		"import undo x":                                     `"x" is not the number of an import`,
		"import undo 0":                                     `"0" is not the number of an import`,
		"export --format pdf":                               `--format must be csv, xlsx, vcf or jsonl, not "pdf"`,
		"export -o x.pdf":                                   `--output must end in .xlsx or .csv or .vcf or .jsonl, not "x.pdf"`,
		"export people.csv":                                 "unexpected argument \"people.csv\"\nTry: firefighters export --output people.csv\n",
		"export people.csv --db fresh.db":                   "unexpected argument \"people.csv\"\nTry: firefighters export --db fresh.db --output people.csv\n",
		"export -o x.csv --format xlsx":                     "--output x.csv does not have the format xlsx",
	} {
		code, stdout, stderr := run(t, strings.Split(line, " ")...)
		if code != 2 || stdout != "" || !strings.HasPrefix(stderr, "Error: "+want) {
			t.Errorf("%s: code %d, stdout %q, stderr:\n%swant:\n%s", line, code, stdout, stderr, want)
		}
	}
}

// TestWrongFiles checks that invalid files are rejected before a database is opened.
func TestWrongFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	list := []byte("firstName,lastName\nAna,Horvat\n")
	must(t, os.WriteFile(path("large.csv"), nil, 0o600))
	must(t, os.Truncate(path("large.csv"), 200<<20))
	must(t, os.WriteFile(path("people.csv"), list, 0o600))
	must(t, os.Mkdir(path("folder.xlsx"), 0o700))
	for name, want := range map[string]string{
		"absent.csv": "there is no file %s\n",
		"peple.csv":  "there is no file %s\nTry: firefighters import " + cli.Quote(path("people.csv")) + " --db x.db\n",
		"":           "%s is not a file\n",
		"large.csv":  "%s: the file is larger than 32 MB\nTry: save only the list of people, without pictures and other sheets\n",
	} {
		file := filepath.Clean(path(name))
		want = "Error: " + strings.ReplaceAll(want, "%s", `"`+file+`"`)
		if code, stdout, stderr := run(t, "import", file, "--db", "x.db"); code != 1 || stdout != "" || stderr != want {
			t.Errorf("%s: code %d, stdout %q, stderr:\n%swant:\n%s", name, code, stdout, stderr, want)
		}
	}
	for name, want := range map[string]string{
		"people.csv":  "%s already exists\nTry: to replace it, add --force\n",
		"no/x.csv":    "the folder of %s does not exist\nTry: mkdir " + cli.Quote(path("no")) + "\n",
		"folder.xlsx": "%s is not a file\n",
	} {
		want = "Error: " + strings.ReplaceAll(want, "%s", `"`+path(name)+`"`)
		for _, args := range [][]string{{"import", path("people.csv"), "--report"}, {"export", "-o"}} {
			if code, stdout, stderr := run(t, append(args, path(name), "--db", "x.db")...); code != 1 || stdout != "" || stderr != want {
				t.Errorf("%q: code %d, stdout %q, stderr:\n%swant:\n%s", args, code, stdout, stderr, want)
			}
		}
	}
}
