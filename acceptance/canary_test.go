package acceptance

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// canaries are the data of ana, the person that most tests create. They may appear in
// answers with her record, but never in a log or an error.
var canaries = []string{"Čović", "ana@example.com", "091 234 5678"}

// witness counts what all tests log, answer and write to disk.
var witness struct {
	mu                   sync.Mutex
	logs, answers, files int
	answersWithTheCanary int
	filesWithTheCanary   int
	leaks                []string
}

func leaked(where, what, text string) {
	witness.leaks = append(witness.leaks, fmt.Sprintf("%s: %s: %.2000s", where, what, text))
}

// sawLog checks a log, or what a command wrote to standard error.
func sawLog(where, text string) {
	witness.mu.Lock()
	defer witness.mu.Unlock()
	if witness.logs++; keyForm.MatchString(text) {
		leaked(where, "a key in the log", text)
	}
	for _, canary := range canaries {
		if strings.Contains(text, canary) {
			leaked(where, canary+" in the log", text)
		}
	}
}

// keyAlone matches a key that is a word. A cursor may contain ff_ and then 49 letters and digits by chance.
var keyAlone = regexp.MustCompile(`\b` + keyForm.String() + `\b`)

// sawAnswer checks the answer to a request.
func sawAnswer(where string, a answer) {
	witness.mu.Lock()
	defer witness.mu.Unlock()
	witness.answers++
	text := fmt.Sprint(a.header) + a.body
	if keyAlone.MatchString(text) {
		leaked(where, "a key in an answer", text)
	}
	for _, canary := range canaries {
		switch {
		case !strings.Contains(text, canary):
		case a.status >= 300:
			leaked(where, canary+" in an error", text)
		default:
			witness.answersWithTheCanary++
		}
	}
}

// sawFolder checks every file in the folder of a database: the database, the files of
// SQLite, and backups.
func sawFolder(t *testing.T, folder string) {
	if folder == "." {
		return // the test did not set a path; this is the source folder
	}
	filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil // it was removed in the meantime
		}
		witness.mu.Lock()
		defer witness.mu.Unlock()
		if witness.files++; keyForm.Match(text) {
			leaked(t.Name(), "a key in the file "+path, keyForm.FindString(string(text)))
		}
		if strings.Contains(string(text), canaries[0]) {
			witness.filesWithTheCanary++
		}
		return nil
	})
}

// testify returns the exit code of all tests. They fail if anything leaked. If all tests
// ran, they also fail if too few logs, answers or files were checked.
func testify(code int) int {
	for _, leak := range witness.leaks {
		fmt.Println("LEAK", leak)
		code = 1
	}
	all := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.list").Value.String() == ""
	if all && (witness.logs < 100 || witness.answers < 1000 || witness.answersWithTheCanary < 100 || witness.filesWithTheCanary < 10) {
		fmt.Printf("FAIL: too few texts were searched for the canary: %d logs, %d answers (%d with it), %d files (%d with it)\n",
			witness.logs, witness.answers, witness.answersWithTheCanary, witness.files, witness.filesWithTheCanary)
		code = 1
	}
	if all && code == 0 {
		for _, promise := range unmet() {
			fmt.Println("FAIL: docs/openapi.yaml documents something that no test has seen:", promise)
			code = 1
		}
		if code != 0 {
			fmt.Println(howToRemake)
		}
	}
	return code
}
