//go:build unix

package acceptance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// The tests in this file compare docs/operations.md with the program: the commands in its blocks
// with their output, and its tables. The commands are for a Unix shell.

// operationsPage returns docs/operations.md.
func operationsPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/operations.md")
	must(t, err)
	return string(text)
}

// pageShell prepares a shell that finds the program in its PATH.
func pageShell(t *testing.T, script string, environ ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	shell := exec.CommandContext(ctx, "/bin/sh", "-c", script)
	shell.Dir = t.TempDir()
	shell.Env = append(append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH")), environ...)
	shell.WaitDelay = time.Second
	return shell
}

// pageBlock is a block of commands on the page with the output below it.
type pageBlock struct{ commands, output string }

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?")

// blocksOf returns the blocks of commands of a page.
func blocksOf(page string) (blocks []pageBlock) {
	for _, found := range shellBlock.FindAllStringSubmatch(page, -1) {
		blocks = append(blocks, pageBlock{found[1], found[2]})
	}
	return blocks
}

// shellPrelude replaces commands of the page. The page waits for a service for two seconds; the test
// waits until the service has made and verified a backup. A job number would need a terminal.
const shellPrelude = `set -e
sleep() { until curl -s http://$FIREFIGHTERS_LISTEN/readyz | grep -q verified; do command sleep 0.1; done; }
kill() { command kill $!; }
wait() { command wait $!; }
`

// variable are the parts of an output that differ between runs.
var variable = []struct {
	form *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`(?m)^\{"time":.*\n`), ""}, // the log warns that the stick is on the same disk
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`\b([0-9A-Z]{4}-){2}[0-9A-Z]{4}\b`), "CODE"},
	{regexp.MustCompile(`[0-9]{8}T[0-9]{6}Z|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z`), "TIME"},
	{regexp.MustCompile(`(?m)[0-9]{4}-[0-9]{2}-[0-9]{2}$`), "DAY"},
	{regexp.MustCompile(`[0-9.]+ MB`), "SIZE"},
	{regexp.MustCompile(`[0-9.]+ (second|minute)s?`), "SPAN"},
	{regexp.MustCompile(`"version":"[^"]*"`), "VERSION"},
	{regexp.MustCompile(`"backupDiskFreeBytes":[0-9]+,`), ""},
	{regexp.MustCompile(`(Bytes|Seconds)":[0-9]+`), "$1"},
	{regexp.MustCompile(` +`), " "},
	{regexp.MustCompile(` (-|TIME)`), " WHEN"}, // LAST USED
	{regexp.MustCompile(`(?m) $`), ""},
}

// normalize returns an output without the parts that differ between runs.
func normalize(output string) string {
	for _, v := range variable {
		output = v.form.ReplaceAllString(output, v.name)
	}
	return strings.TrimSpace(output)
}

// TestOperationsBlocks runs the blocks of the page in order in one shell and compares their output
// with the page. It also checks that the table of the page has each file next to the database.
func TestOperationsBlocks(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"curl", "grep"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the page uses %s, which is not installed", tool)
		}
	}
	page, stick := operationsPage(t), t.TempDir()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := listener.Addr().String()
	must(t, listener.Close())

	toTest := strings.NewReplacer("/mnt/usb", cli.Quote(stick), "127.0.0.1:8080", address)
	script, answers := shellPrelude, t.TempDir()
	blocks := blocksOf(page)
	if len(blocks) < 10 {
		t.Fatalf("the page has %d blocks of commands", len(blocks))
	}
	answer := func(i int) string { return filepath.Join(answers, fmt.Sprint(i)) }
	for i, block := range blocks {
		script += fmt.Sprintf("{\n%s} >%s 2>&1\n", toTest.Replace(block.commands), cli.Quote(answer(i)))
	}
	shell := pageShell(t, script, "FIREFIGHTERS_LISTEN="+address)
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(t, shell.Start())
	defer syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) // stops the service of the last block
	ended := shell.Wait()

	toPage := strings.NewReplacer(stick, "/mnt/usb", address, "127.0.0.1:8080")
	for i, block := range blocks {
		text, err := os.ReadFile(answer(i))
		if err != nil {
			t.Fatalf("%v before this block: %v\n%s", ended, err, block.commands)
		}
		if got, want := normalize(toPage.Replace(plain(string(text)))), normalize(block.output); block.output != "" && got != want {
			t.Errorf("the block\n%s\nprints\n%s\nwant\n%s", block.commands, got, want)
		}
	}
	if ended != nil {
		last, _ := os.ReadFile(answer(len(blocks) - 1))
		t.Errorf("the commands end with %v: %s", ended, last)
	}
	fileTable(t, page).has(t, shell.Dir)
}

var commandOnPage = regexp.MustCompile("(?m)(?:^|[^/\\w])firefighters(?:\\.exe)? ([a-z-][^'`|>&)\n#;]*)")

// TestOperationsCommands checks that the program has each command and each flag of the page.
func TestOperationsCommands(t *testing.T) {
	t.Parallel()
	script, seen := "set -e\n", map[string]bool{}
	for _, found := range commandOnPage.FindAllStringSubmatch(operationsPage(t), -1) {
		if line := strings.TrimSuffix(strings.TrimSpace(found[1]), "."); !seen[line] {
			seen[line] = true
			script += fmt.Sprintf("firefighters %s --help >/dev/null || { echo %s; exit 1; }\n", line, cli.Quote("it fails: "+line))
		}
	}
	if len(seen) < 45 {
		t.Errorf("the page has %d commands", len(seen))
	}
	shell := pageShell(t, script, "KEY=x", "ID=x", "TO=x")
	if output, err := shell.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, output)
	}
}

// TestOperationsReadyz checks that /readyz has each member in the table of the page.
func TestOperationsReadyz(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(operationsPage(t), "| member | meaning |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	db := filepath.Join(t.TempDir(), "x.db")
	backups, apart := anotherDisk(t, db)
	s := startWith(t, db, "serve", "--db", db, "--tls-self-signed", "--backup-dir", backups)
	s.trust(t)
	eventually(t, "a verification", func() bool { return s.readyz(t).Backup.Verified != nil })
	var members map[string]any
	decode(t, s.do(t, "GET", "/readyz", "").body, &members)
	for member := range members["backup"].(map[string]any) {
		members["backup."+member] = true
	}
	rows := 0
	for line := range strings.Lines(table) {
		names, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(names, -1) {
			rows++
			if name[1] == "writing" || name[1] == "erasure" || name[1] == "backupDiskFreeBytes" && !apart { // only faults add these
				continue
			}
			if members[name[1]] == nil {
				t.Errorf("/readyz lacks %s", name[1])
			}
		}
	}
	if rows < 10 {
		t.Errorf("the table has %d members", rows)
	}
}

// filePattern is a name in the table of files on the page.
type filePattern struct {
	name string
	form *regexp.Regexp
	seen bool
}

type filePatterns []*filePattern

// fileTable returns the names in the table of files on the page. "…" stands for any text. A name
// that begins with - is a suffix of the database.
func fileTable(t *testing.T, page string) (table filePatterns) {
	t.Helper()
	_, text, _ := strings.Cut(page, "| file | contents |\n|---|---|\n")
	text, _, _ = strings.Cut(text, "\n\n")
	for line := range strings.Lines(text) {
		names, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		for _, found := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(names, -1) {
			name := found[1]
			if strings.HasPrefix(name, "-") {
				name = "firefighters.db" + name
			}
			form := strings.ReplaceAll(regexp.QuoteMeta(name), "…", ".+")
			form = strings.ReplaceAll(form, "20261120T093000Z", `\d{8}T\d{6}Z`)
			table = append(table, &filePattern{name: name, form: regexp.MustCompile("^" + form + "$")})
		}
	}
	if len(table) < 10 {
		t.Fatalf("the table has %d names", len(table))
	}
	return table
}

// find marks the pattern of a file as seen. It reports whether the table has such a pattern.
func (table filePatterns) find(name string) bool {
	at := slices.IndexFunc(table, func(p *filePattern) bool { return p.form.MatchString(name) })
	if at >= 0 {
		table[at].seen = true
	}
	return at >= 0
}

// has checks that the table has each file of the service in a folder.
func (table filePatterns) has(t *testing.T, folder string) {
	t.Helper()
	for _, name := range namesIn(t, folder) {
		isDraft := strings.HasPrefix(name, ".firefighters-") // left by a killed process
		if strings.Contains(name, "firefighters") && !isDraft && !table.find(name) {
			t.Errorf("the table of the page has no row for %s", name)
		}
	}
}

// TestOperationsFiles checks that the program creates exactly the files in the table of the page.
func TestOperationsFiles(t *testing.T) {
	t.Parallel()
	table := fileTable(t, operationsPage(t))
	db := filepath.Join(t.TempDir(), "firefighters.db")
	folder := filepath.Dir(db)
	backups, _ := anotherDisk(t, db)
	recipient, _ := works(t, "backup-key", "--output", filepath.Join(t.TempDir(), "key.txt"))
	serve := []string{"serve", "--db", db, "--tls-self-signed", "--backup-dir", backups}

	encrypted := startWith(t, db, append(serve, "--backup-encrypt-to", strings.TrimSpace(recipient))...)
	encrypted.trust(t)
	eventually(t, "a verification", func() bool { return encrypted.readyz(t).Backup.Verified != nil })
	for _, name := range namesIn(t, folder) { // the -wal is removed at the stop
		table.find(name)
	}
	encrypted.stop(t)
	table.has(t, folder)
	table.has(t, backups)

	plain := filepath.Join(t.TempDir(), "plain.db")
	works(t, "backup", plain, "--db", db)
	works(t, "restore", plain, "--db", db)
	other := filepath.Join(t.TempDir(), "backups")
	s := startWith(t, db, "serve", "--db", db, "--tls-self-signed", "--backup-dir", other)
	s.trust(t)
	eventually(t, "a backup", func() bool { return s.readyz(t).Backup.Last != nil })
	s.stop(t)
	table.has(t, other)
	table.has(t, folder)
	loseFiles(t, db)
	table.has(t, folder)
	for _, p := range table {
		if !p.seen {
			t.Errorf("the program did not create %s", p.name)
		}
	}
}

// loseFiles creates the files of a loss next to a database.
func loseFiles(t *testing.T, db string) {
	t.Helper()
	lose := func() {
		cmd, output := process(t, "--db", db, "--listen", "127.0.0.1:0")
		startedProcess(t, cmd).do(t, "GET", "/readyz", "").wants(t, 200)
		must(t, os.Remove(db))
		eventually(t, "the copy", func() bool { return strings.Contains(output.String(), "the lost database ") })
		must(t, interrupt(cmd.Process))
		cmd.Wait()
	}
	lose()
	saved, err := filepath.Glob(db + ".saved-*")
	must(t, err)
	works(t, "restore", saved[0], "--db", db)
	cmd, s := startProcess(t, db)
	s.do(t, "GET", "/readyz", "").wants(t, 200)
	must(t, cmd.Process.Kill())
	cmd.Wait()
	must(t, os.Truncate(db, 0))
	startWith(t, db, "serve", "--new", "--db", db).stop(t) // keeps the -wal
	lose()
}

// TestOperationsMessages checks that the program contains each message that the page explains.
func TestOperationsMessages(t *testing.T) {
	t.Parallel()
	built, err := os.ReadFile(program)
	must(t, err)
	messages := regexp.MustCompile(`\*\*"([^"]+)"`).FindAllStringSubmatch(operationsPage(t), -1)
	if len(messages) < 8 {
		t.Fatalf("the page explains %d messages", len(messages))
	}
	for _, message := range messages {
		text := strings.Join(strings.Fields(message[1]), " ")
		if !bytes.Contains(built, []byte(text)) {
			t.Errorf("the program never prints %q", text)
		}
	}
}

// TestLongDatabaseName checks that a database whose backups would have too long names is refused.
func TestLongDatabaseName(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	named := func(size int) string { return filepath.Join(folder, strings.Repeat("x", size-len(".db"))+".db") }
	longest := 255 - len(".saved-20261120T093000Z-mixed.partial-journal")
	if _, err := os.Lstat(filepath.Join(folder, strings.Repeat("x", 255))); !errors.Is(err, fs.ErrNotExist) {
		t.Skipf("this file system has shorter names: %v", err)
	}
	startOn(t, named(longest))
	words := fmt.Sprintf("Error: opening database %q: its name is too long for the names of its backups\n"+
		"Try: use a shorter name\n", named(longest+1))
	refuses(t, 1, words, "serve", "--db", named(longest+1), "--listen", "127.0.0.1:0")
	refuses(t, 1, words, "keys", "create", "--db", named(longest+1))
	if exists(named(longest+1) + "-lock") {
		t.Error("a file was created")
	}
}

// TestDeadPC types the commands of the section "The PC is dead" in a new folder, with a plain and with
// an encrypted backup. A server takes the place of the service.
func TestDeadPC(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(operationsPage(t), "## The PC is dead\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var lines []string
	for _, found := range regexp.MustCompile(`(?m)^    sudo firefighters (.*)$`).FindAllStringSubmatch(section, -1) {
		lines = append(lines, found[1])
	}
	if len(lines) != 5 {
		t.Fatalf("the section has the commands %q", lines)
	}
	key, recipient, _ := newIdentity(t)
	for name, flags := range map[string][]string{"plain": nil, "encrypted": {"--backup-encrypt-to", recipient}} {
		old, stick := filepath.Join(t.TempDir(), "firefighters.db"), t.TempDir()
		s := startWith(t, old, append([]string{"serve", "--db", old, "--backup-dir", stick}, flags...)...)
		id, apiKey := s.create(t, ana), s.key
		s.stop(t)
		must(t, os.RemoveAll(stick))
		s = startWith(t, old, append([]string{"serve", "--db", old, "--backup-dir", stick}, flags...)...)
		eventually(t, "a backup", func() bool { return s.readyz(t).Backup.Last != nil })
		s.stop(t)
		files, err := filepath.Glob(filepath.Join(stick, "firefighters-*Z.db*"))
		must(t, err)
		typed := strings.NewReplacer("/mnt/usb/firefighters/firefighters-20261120T093000Z.db.age", files[0],
			"/mnt/usb/firefighters/firefighters-20261120T093000Z.db", files[0], "/mnt/usb/firefighters", stick,
			"/mnt/usb/key.txt", key, "age1…", recipient, "service install", "serve --listen 127.0.0.1:0",
			"/var/lib/firefighters/", "")
		pc := t.TempDir()
		on := func(line string) (*exec.Cmd, *syncBuffer) {
			cmd, output := process(t, strings.Fields(typed.Replace(line))...)
			cmd.Dir = pc
			return cmd, output
		}
		first, output := on(lines[0])
		commands := lines[1:3]
		if flags != nil {
			commands = lines[3:]
		}
		restore := "Try: firefighters " + strings.Replace(typed.Replace(commands[0]), key, "KEYFILE", 1) + "\n"
		if code := exitCode(t, first.Run()); code != 1 || !strings.Contains(output.String(), restore) || len(namesIn(t, pc)) > 1 {
			t.Errorf("%s: code %d, files %q, want %s: %s", name, code, namesIn(t, pc), restore, output)
		}
		restoring, output := on(commands[0])
		if code := exitCode(t, restoring.Run()); code != 0 {
			t.Fatalf("%s: %s", name, output)
		}
		serving, _ := on(commands[1])
		again := startedProcess(t, serving)
		again.as(apiKey).do(t, "GET", collection+"/"+id, "").wants(t, 200)
	}
}
