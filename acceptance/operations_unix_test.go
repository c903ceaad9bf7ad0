//go:build unix

package acceptance

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
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
	"github.com/firefighter-records/firefighters/internal/data/apikey"
)

// The tests in this file compare docs/operations.md with the program: the commands in its
// blocks and their output, and the sentences about what the program prints. The page has
// commands for a Unix shell.

// operationsPage returns docs/operations.md.
func operationsPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/operations.md")
	must(t, err)
	return string(text)
}

// pageShell prepares a shell that finds the program.
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

// pageBlock is a block of commands on the page, with the output below it.
type pageBlock struct{ commands, output string }

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?")

// blocksOf returns the blocks of commands of a page.
func blocksOf(page string) (blocks []pageBlock) {
	for _, found := range shellBlock.FindAllStringSubmatch(page, -1) {
		blocks = append(blocks, pageBlock{found[1], found[2]})
	}
	return blocks
}

// shellPrelude replaces commands of the page. The page waits for a service for two seconds:
// here the wait lasts until the service has made a backup and verified it. A job number
// needs a terminal.
const shellPrelude = `set -e
sleep() { until curl -s http://$FIREFIGHTERS_LISTEN/readyz | grep -q verified; do command sleep 0.1; done; }
kill() { command kill $!; }
wait() { command wait $!; }
`

// variable are the parts of an output that differ in each run.
var variable = []struct {
	form *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`(?m)^\{"time":.*\n`), ""}, // the log, which warns that the stick is a folder of the same disk
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`\b([0-9A-Z]{4}-){2}[0-9A-Z]{4}\b`), "CODE"},
	{regexp.MustCompile(`[0-9]{8}T[0-9]{6}Z|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z`), "TIME"},
	{regexp.MustCompile(`[0-9.]+ MB`), "SIZE"},
	{regexp.MustCompile(`[0-9.]+ (second|minute)s?`), "SPAN"},
	{regexp.MustCompile(`"version":"[^"]*"`), "VERSION"},
	{regexp.MustCompile(`"backupDiskFreeBytes":[0-9]+,`), ""},
	{regexp.MustCompile(`(Bytes|Seconds)":[0-9]+`), "$1"},
	{regexp.MustCompile(` +`), " "},
	{regexp.MustCompile(` (-|TIME)`), " WHEN"}, // LAST USED
	{regexp.MustCompile(`(?m) $`), ""},
}

// normalize returns an output without what differs in each run.
func normalize(output string) string {
	for _, v := range variable {
		output = v.form.ReplaceAllString(output, v.name)
	}
	return strings.TrimSpace(output)
}

// TestOperationsBlocks runs the blocks of the page in one shell, in their order. Each prints
// what is below it on the page. Each file that is then next to the database is in the table
// of the page.
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

	here := strings.NewReplacer("/mnt/usb", cli.Quote(stick), "127.0.0.1:8080", address)
	script, answers := shellPrelude, t.TempDir()
	blocks := blocksOf(page)
	if len(blocks) < 10 {
		t.Fatalf("the page has %d blocks of commands", len(blocks))
	}
	answer := func(i int) string { return filepath.Join(answers, fmt.Sprint(i)) }
	for i, block := range blocks {
		script += fmt.Sprintf("{\n%s} >%s 2>&1\n", here.Replace(block.commands), cli.Quote(answer(i)))
	}
	shell := pageShell(t, script, "FIREFIGHTERS_LISTEN="+address)
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(t, shell.Start())
	defer syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) // the service that the last block leaves
	ended := shell.Wait()

	there := strings.NewReplacer(stick, "/mnt/usb", address, "127.0.0.1:8080")
	for i, block := range blocks {
		text, err := os.ReadFile(answer(i))
		if err != nil {
			t.Fatalf("%v before this block: %v\n%s", ended, err, block.commands)
		}
		if got, want := normalize(there.Replace(plain(string(text)))), normalize(block.output); block.output != "" && got != want {
			t.Errorf("the block\n%s\nprints\n%s\nand on the page\n%s", block.commands, got, want)
		}
	}
	if ended != nil {
		last, _ := os.ReadFile(answer(len(blocks) - 1))
		t.Errorf("the commands end with %v: %s", ended, last)
	}
	fileTable(t, page).has(t, shell.Dir)
}

var commandOnPage = regexp.MustCompile("(?m)(?:^|[^/\\w])firefighters(?:\\.exe)? ([a-z-][^'`|>&)\n#;]*)")

// TestOperationsCommands: the program has each command and each flag of the page.
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

// statement is a sentence of the page about what the program prints.
type statement struct {
	text   string   // on the page
	prints []string // what the output must have
	output func(t *testing.T) string
}

// others are the quotations of the page that are not from this program, or that another test has:
// TestMountedFileAsRoot has the last one.
var others = []string{"HTTP(s) - Json Query", "synced", "is itself a mount point"}

var (
	codeOnPage  = regexp.MustCompile("(?ms)^```.*?^```$|^    .*?$|`[^`]*`")
	quoteOnPage = regexp.MustCompile(`"([^"]+)"`)
)

// TestOperationsStatements: the program prints what the page says. Each quotation of the page
// is in a statement that is tested.
func TestOperationsStatements(t *testing.T) {
	t.Parallel()
	page := operationsPage(t)
	all := append(slices.Clone(statements), lossStatements...)
	for _, found := range quoteOnPage.FindAllStringSubmatch(codeOnPage.ReplaceAllString(page, ""), -1) {
		quote := oneLine(found[1])
		tested := func(s statement) bool {
			return strings.Contains(s.text, `"`+quote+`"`) && slices.ContainsFunc(s.prints, func(p string) bool { return strings.Contains(p, quote) })
		}
		if !slices.Contains(others, quote) && !slices.ContainsFunc(all, tested) {
			t.Errorf("the page quotes %q, which no statement has", quote)
		}
	}
	for _, s := range all {
		t.Run(s.text, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(oneLine(page), s.text) {
				t.Fatal("the page does not say this")
			}
			output := s.output(t)
			for _, want := range s.prints {
				if !strings.Contains(output, want) {
					t.Errorf("no %q in\n%s", want, output)
				}
			}
		})
	}
}

// oneLine returns a text with single spaces in the place of line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// prints returns all that a command prints.
func prints(t *testing.T, args ...string) string {
	t.Helper()
	_, stdout, stderr := runCommand(t, args...)
	return stdout + stderr
}

// shows returns a status and a body as one text.
func (a answer) shows() string { return fmt.Sprintf("%d %s\n", a.status, a.body) }

var statements = []statement{
	{"It makes one every 24 hours (`--backup-every 6h` changes that) and keeps 90 (`--backup-keep`).",
		[]string{`with --backup-dir (default "24h")`, "monthly ones (default 90)"},
		func(t *testing.T) string { return prints(t, "serve", "--help") }},
	{"The foot of every office page tells admins when the last one was made",
		[]string{"Last backup: "}, backupFoot},
	{"Programs [ask](#let-a-program-watch-it) `/readyz`, where `\"ok\":false` comes with the reason.",
		[]string{`"backup":{"ok":false,`, `"detail":"the folder for backups cannot be made: `}, missingBackups},
	{"Everybody gets `status`, `writing` and `backup`. The others are for programs on this PC. From another machine a program needs a key.",
		[]string{"key: 200 {\"status\":\"ready\",\"version\":", "without: 200 {\"status\":\"ready\"}\n"}, readyElsewhere},
	{"With a wrong key the answer is the short one.", []string{"wrong: 200 {\"status\":\"ready\"}\n"}, readyElsewhere},
	{"If that has failed, the log has an error, and `/readyz` says `\"ok\":false` until a newer backup passes.",
		[]string{`"level":"ERROR","msg":"the newest backup is not sound`, `"ok":false,`, `"backup":{"ok":true,`}, failedVerification},
	{"If the newest backup is not sound, the command says why, and names the newest good one.",
		[]string{"is not sound: the database is damaged; the newest good one is of "}, damagedBackupFile},
	{"Keys that were revoked after it work again if there was no readable database to replace, as on a new PC.",
		[]string{"Its keys are those of the backup. See: firefighters keys list --db "},
		func(t *testing.T) string {
			_, saved, _ := backedUp(t)
			return prints(t, "restore", saved, "--db", filepath.Join(t.TempDir(), "x.db"))
		}},
	{"`firefighters keys list` shows it, and `firefighters keys revoke` signs it out.",
		[]string{"(browser)\n", "Key 2 is revoked.", "signed out"}, signedOut},
	{"By default the service answers this PC only.", []string{`(default "127.0.0.1:8080")`},
		func(t *testing.T) string { return prints(t, "serve", "--help") }},
	{"Where there is neither the old database nor a list, `restore` warns and prints the commands to delete these people again.",
		[]string{noList, "Try: permanently delete them by their ids: firefighters purge "},
		func(t *testing.T) string {
			_, saved, _ := backedUp(t)
			return prints(t, "restore", saved, "--db", filepath.Join(t.TempDir(), "x.db"))
		}},
	{"Without `--output` the command prints it, with a QR code for paper.",
		[]string{"\nAGE-SECRET-KEY-1", "█▀▀▀▀▀█"},
		func(t *testing.T) string { return prints(t, "backup-key") }},
	{"It also works after somebody was erased: it names the backups that still hold the record.",
		[]string{"x.db.before-restore-"}, reportErasedPerson},
	{"A department without records can be removed: `firefighters departments remove NAME`.",
		[]string{"Removed the department \"Engine 7\"."},
		func(t *testing.T) string {
			db := filepath.Join(t.TempDir(), "x.db")
			newKey(t, db, "Engine 7")
			return prints(t, "departments", "remove", "Engine 7", "--yes", "--db", db)
		}},
	{"If the disk is full or somebody is writing, `purge` may say that traces may be left in the file.",
		[]string{"traces of it may be left in the file: ", "Try: when there is room and nobody is writing: firefighters purge --tenant default --older-than 100y --db ", "There is nothing to erase."}, purgeBesideWriter},
	{"The service answers writes with 507, and reading goes on, also after a restart.",
		[]string{"POST 507 ", "GET 200 "}, fullDisk},
	{"`/readyz` says `\"writing\":{\"ok\":false,…}` with the reason",
		[]string{`"writing":{"ok":false,"detail":"nothing can be written: the disk is full"}`}, fullDisk},
	{"After a power cut on a full disk the service may need room to start, and says so.",
		[]string{"Error: reading database ", ": the disk is full\nTry: make room on the disk"}, crashOnFullDisk},
	{`**The service does not start: "is damaged".** It has not changed the file. It names the newest valid backup and the line to type.`,
		[]string{"is damaged; the newest good backup is of ", "Try: firefighters restore ", "unchanged"}, damagedStart},
	{"The service checks a file over 1 MB only while it serves, so that it starts at once. Then the log reports the damage",
		[]string{"see firefighters check, and put a backup in its place"}, largeDamage},
	{`**"is damaged: its fields do not have their checksum" in the log, answers 500.** The disk or another program has changed a record. The daily check logs "a record is damaged".`,
		[]string{"is damaged: its fields do not have their checksum", "GET 500 ", `"msg":"a record is damaged`}, damagedRecord},
	{"In this case it prints the ids of the damaged records instead.",
		[]string{"check: The record 0", "Error: 1 record of the database "}, damagedRecord},
	{"`backup` and `restore` warn about it, and `/readyz` says how many there are.",
		[]string{"backup: Warning: records in it that are damaged: 1.", "restore: Warning: records in it that are damaged: 1.", `"detail":"records of the newest backup that are damaged: 1;`}, damagedBackup},
	{`**"is not as this program makes it".**`,
		[]string{"Error: the backup ", " is not as this program makes it: "}, foreignTrigger},
	{"So `restore` refuses such a backup, and `check` names what it is. `backup` and the start of the service warn of it, and `/readyz` says `\"ok\":false`.",
		[]string{"restore: Error: the backup ", `check: The schema: the trigger "evil" `, "backup: Warning: ", "Warning: the database is not as this program makes it: ", `"ok":false,`}, foreignTrigger},
	{"The tables of Litestream may be there.", []string{"The database is sound."},
		func(t *testing.T) string {
			db := filepath.Join(t.TempDir(), "x.db")
			ours(t, db)
			execSQL(t, db, `CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER); CREATE TABLE _litestream_lock (id INTEGER)`)
			return prints(t, "check", "--db", db)
		}},
	{`**"has another name as well".** Someone created a hard link to the file.`,
		[]string{"has another name as well"},
		func(t *testing.T) string {
			db := filepath.Join(t.TempDir(), "x.db")
			ours(t, db)
			must(t, os.Link(db, db+"-link"))
			return serveRefused(t, db, t.TempDir())
		}},
	{`**"is in use".** A service already runs on this file`,
		[]string{"is in use: another firefighters serves it"},
		func(t *testing.T) string { s := start(t); return serveRefused(t, s.db, t.TempDir()) }},
	{"Otherwise `restore` refuses: \"in use by another program\".",
		[]string{"is in use by another program"},
		func(t *testing.T) string {
			db, saved, _ := backedUp(t)
			other := openAt(t, db, time.Now)
			defer other.Close()
			return prints(t, "restore", saved, "--db", db)
		}},
	{"`import list` shows its number. People whom it added are deleted, and people whom it changed are as before. People who have changed since are listed and left alone",
		[]string{"1  ", "Took back import 1: 1 person deleted, ", "Left as they are, because they have changed since: 1\n"}, undoneImport},
	{`**The page says "too many wrong tries".** Somebody at your address has typed ten wrong keys or codes within a minute.`,
		[]string{"There were too many wrong tries.", `"address":"127.0.0.1"`}, wrongTries},
	{"**The page asks for help and shows a number.** Look for that number in the log, as `requestId`.",
		[]string{"the log has the number of the page"}, pageNumber},
	{"`firefighters check` says how to take the later time back. A restore in the same place keeps it; a restore under a new name (`--db`) does not.",
		[]string{"before: Warning: the clock of this machine says ", "Try: set the clock; if it is right now: firefighters check --repair --db ", "same place: Warning: the clock of this machine says ", "new name: The database is sound."}, clockAhead},
	{"An old program refuses a database that a newer one has changed.",
		[]string{"was made by a newer version of this program"},
		func(t *testing.T) string {
			db := filepath.Join(t.TempDir(), "x.db")
			ours(t, db)
			execSQL(t, db, `PRAGMA user_version = 1000`)
			return prints(t, "keys", "list", "--db", db)
		}},
}

func backupFoot(t *testing.T) string {
	db := filepath.Join(t.TempDir(), "x.db")
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", filepath.Join(t.TempDir(), "backups"))
	eventually(t, "a backup", func() bool { return s.readyz(t).Backup.Last != nil })
	return s.signIn(t, newKey(t, db, "default", "--scope", "admin"), "en").get(t, "/office/").one(t, "footer").text()
}

func missingBackups(t *testing.T) string {
	db := filepath.Join(t.TempDir(), "x.db")
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", filepath.Join(t.TempDir(), "missing", "backups"))
	s.mayFail = true
	eventually(t, "a failure", func() bool { return !s.readyz(t).Backup.OK })
	return s.do(t, "GET", "/readyz", "").body
}

func readyElsewhere(t *testing.T) string {
	s := start(t)
	output := ""
	for name, key := range map[string]string{"key": s.key, "without": "", "wrong": apikey.New()} {
		output += name + ": " + s.as(key).do(t, "GET", "/readyz", "", "X-Forwarded-For", "192.0.2.7").shows()
	}
	return output
}

func failedVerification(t *testing.T) string {
	db, dir := filepath.Join(t.TempDir(), "x.db"), t.TempDir()
	newKey(t, db, "default")
	execSQL(t, db, `UPDATE tenants SET live_count = 9`)
	works(t, "backup", backupOf(dir, time.Minute), "--db", db)
	serve := []string{"serve", "--db", db, "--backup-dir", dir}
	s := startWith(t, db, serve...)
	s.mayFail = true
	eventually(t, "a failed verification", func() bool { return !s.readyz(t).Backup.OK })
	output := s.do(t, "GET", "/readyz", "").body + s.stderr.String()
	s.stop(t)
	startOn(t, db).stop(t) // which corrects the count
	works(t, "backup", backupOf(dir, 0), "--db", db)
	again := startWith(t, db, serve...)
	again.mayFail = true
	eventually(t, "a verification that succeeded", func() bool { r := again.readyz(t).Backup; return r.OK && r.Verified != nil })
	return output + again.do(t, "GET", "/readyz", "").body
}

func damagedBackupFile(t *testing.T) string {
	db, saved, _ := backedUp(t)
	dir := t.TempDir()
	copyOf(t, saved, backupOf(dir, time.Hour))
	newest := backupOf(dir, 0)
	copyOf(t, saved, newest)
	damage(t, newest)
	return prints(t, "check", "--db", db, "--backup-dir", dir)
}

func signedOut(t *testing.T) string {
	s := start(t)
	b := s.signIn(t, s.key, "en")
	b.get(t, "/office/").wants(t, 200)
	output := prints(t, "keys", "list", "--db", s.db) + prints(t, "keys", "revoke", "2", "--db", s.db)
	eventually(t, "the browser to be signed out", func() bool { return b.get(t, "/office/").status == 303 })
	return output + "signed out"
}

func reportErasedPerson(t *testing.T) string {
	s := start(t)
	id := s.create(t, ana)
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	works(t, "backup", s.db+".before-restore-20260102T000000Z", "--db", s.db)
	works(t, "purge", "--db", s.db, "--tenant", "default", "--yes", id)
	return s.signIn(t, s.key, "en").get(t, "/office/people/"+id+"/report").body
}

func purgeBesideWriter(t *testing.T) string {
	s := start(t)
	id := s.create(t, ana)
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	reader := openSQL(t, s.db)
	reading, err := reader.Begin()
	must(t, err)
	var n int
	must(t, reading.QueryRow(`SELECT count(*) FROM firefighters`).Scan(&n))
	output := prints(t, "purge", "--db", s.db, "--tenant", "default", "--yes", id)
	must(t, reading.Rollback())
	return output + prints(t, "purge", "--tenant", "default", "--older-than", "100y", "--db", s.db)
}

// startOnFullDisk prepares a service that may write no file. The limit on their size stands
// for the full disk.
func startOnFullDisk(t *testing.T, db string) (cmd *exec.Cmd, output *syncBuffer) {
	t.Helper()
	cmd, output = process(t, "--db", db, "--listen", "127.0.0.1:0")
	cmd.Args = append([]string{"sh", "-c", `ulimit -S -f 1; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	return cmd, output
}

func fullDisk(t *testing.T) string {
	before := start(t)
	before.create(t, ana)
	before.stop(t)
	cmd, _ := startOnFullDisk(t, before.db)
	s := startedProcess(t, cmd).as(before.key)
	return "POST " + s.do(t, "POST", collection, ana).shows() + "GET " + s.do(t, "GET", collection, "").shows() + s.do(t, "GET", "/readyz", "").body
}

func crashOnFullDisk(t *testing.T) string {
	before, s := startProcess(t, filepath.Join(t.TempDir(), "x.db"))
	s.create(t, ana)
	must(t, before.Process.Kill())
	before.Wait()
	cmd, output := startOnFullDisk(t, before.Args[2])
	if code := exitCode(t, cmd.Run()); code != 1 {
		t.Errorf("it ends with %d", code)
	}
	return output.String()
}

func damagedStart(t *testing.T) string {
	db, saved, _ := backedUp(t)
	dir := t.TempDir()
	copyOf(t, saved, backupOf(dir, time.Hour))
	damage(t, db)
	before, err := os.ReadFile(db)
	must(t, err)
	output := serveRefused(t, db, dir)
	if after, err := os.ReadFile(db); err == nil && bytes.Equal(before, after) {
		output += "unchanged"
	}
	return output
}

func largeDamage(t *testing.T) string {
	db := invented(t, 1, 10)
	execSQL(t, db, `CREATE TABLE more AS SELECT zeroblob(7000000) AS filling`)
	overwrite(t, db, 1000*4096, "\xff\xff\xff\xff")
	s := startOn(t, db)
	s.mayFail = true
	s.logs(t, "put a backup in its place")
	return s.stderr.String()
}

// damageRecord changes a record as another program does.
func damageRecord(t *testing.T, s *testService) (id string) {
	s.mayFail = true
	id = s.create(t, ana)
	execSQL(t, s.db, `UPDATE firefighters SET last_name = 'Covic' WHERE id = ?`, id)
	return id
}

func damagedRecord(t *testing.T) string {
	s := start(t)
	id := damageRecord(t, s)
	output := "GET " + s.do(t, "GET", collection+"/"+id, "").shows()
	s.logs(t, id)
	s.stop(t)
	again := startOn(t, s.db)
	again.mayFail = true
	again.logs(t, "a record is damaged")
	return output + s.stderr.String() + again.stderr.String() + "check: " + prints(t, "check", "--db", s.db)
}

func damagedBackup(t *testing.T) string {
	db := filepath.Join(t.TempDir(), "x.db")
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", filepath.Join(t.TempDir(), "backups"), "--backup-every", "1s")
	s.client = s.as(newKey(t, db, "default"))
	damageRecord(t, s)
	saved := filepath.Join(t.TempDir(), "saved.db")
	_, warning := works(t, "backup", saved, "--db", db)
	_, again := works(t, "restore", saved, "--db", filepath.Join(t.TempDir(), "x.db"))
	eventually(t, "a backup of it", func() bool { return strings.Contains(s.readyz(t).Backup.Detail, "damaged") })
	return "backup: " + warning + "restore: " + again + s.do(t, "GET", "/readyz", "").body
}

func foreignTrigger(t *testing.T) string {
	db, saved, _ := backedUp(t)
	execSQL(t, db, `CREATE TRIGGER evil AFTER INSERT ON firefighters BEGIN SELECT 1; END`)
	_, warning := works(t, "backup", saved+"-evil", "--db", db)
	output := "backup: " + warning + "restore: " + prints(t, "restore", saved+"-evil", "--db", db) + "check: " + prints(t, "check", "--db", db)
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", filepath.Join(t.TempDir(), "backups"))
	s.mayFail = true
	eventually(t, "a backup", func() bool { return !s.readyz(t).Backup.OK })
	return output + s.stderr.String() + s.do(t, "GET", "/readyz", "").body
}

func undoneImport(t *testing.T) string {
	s := start(t)
	file := filepath.Join(t.TempDir(), "people.csv")
	must(t, os.WriteFile(file, []byte("First name,Last name\nAna,Horvat\nIvan,Horvat\n"), 0o600))
	works(t, "import", file, "--tenant", "default", "--apply", "--db", s.db)
	changed := s.list(t, "search=ivan").Data.Items[0].ID
	s.do(t, "PUT", collection+"/"+changed, ana).wants(t, 200)
	return prints(t, "import", "list", "--tenant", "default", "--db", s.db) + prints(t, "import", "undo", "1", "--tenant", "default", "--db", s.db)
}

func wrongTries(t *testing.T) string {
	s := start(t)
	b := s.browser(t, "en")
	for range 10 {
		b.post(t, "/office/sign-in", url.Values{"key": {apikey.New()}}).wants(t, 403)
	}
	page := b.post(t, "/office/sign-in", url.Values{"key": {s.key}}).wants(t, 429).text()
	s.logs(t, `"address":"127.0.0.1"`)
	return page + s.stderr.String()
}

func pageNumber(t *testing.T) string {
	s := start(t)
	damageRecord(t, s)
	p := s.signIn(t, s.key, "en").get(t, "/office/").wants(t, 500)
	number := p.header.Get("X-Request-Id")
	s.logs(t, `"requestId":"`+number+`"`)
	if !strings.Contains(p.text(), number) {
		return p.text()
	}
	return "the log has the number of the page"
}

func clockAhead(t *testing.T) string {
	db, saved, _ := backedUp(t)
	execSQL(t, db, `UPDATE service SET latest_time = ?`, time.Now().AddDate(10, 0, 0).UnixMilli())
	other := filepath.Join(t.TempDir(), "x.db")
	output := "before: " + prints(t, "check", "--db", db)
	works(t, "restore", saved, "--db", db)
	works(t, "restore", saved, "--db", other)
	return output + "same place: " + prints(t, "check", "--db", db) + "new name: " + prints(t, "check", "--db", other)
}

// TestOperationsReadyz: /readyz has each member in the table of the page.
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
			if name[1] == "writing" || name[1] == "backupDiskFreeBytes" && !apart { // fullDisk has writing
				continue
			}
			if members[name[1]] == nil {
				t.Errorf("/readyz has no %s", name[1])
			}
		}
	}
	if rows < 10 {
		t.Errorf("the table has %d members", rows)
	}
}

// filePattern is a name in the table of files of the page.
type filePattern struct {
	name string
	form *regexp.Regexp
	seen bool
}

type filePatterns []*filePattern

// fileTable returns the names in the table of files of the page. "…" stands for anything, at
// the beginning of a name for the one before it.
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

// find marks the pattern of a file as seen. It reports whether the table has one.
func (table filePatterns) find(name string) bool {
	at := slices.IndexFunc(table, func(p *filePattern) bool { return p.form.MatchString(name) })
	if at >= 0 {
		table[at].seen = true
	}
	return at >= 0
}

// has fails unless the table has each file of the service in a folder.
func (table filePatterns) has(t *testing.T, folder string) {
	t.Helper()
	for _, name := range namesIn(t, folder) {
		if strings.Contains(name, "firefighters") && !table.find(name) {
			t.Errorf("the table of the page has no row for %s", name)
		}
	}
}

// TestOperationsFiles: the program makes each file in the table of the page, and no other.
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
	for _, name := range namesIn(t, folder) { // the -wal goes when it stops
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
			t.Errorf("the program has not made %s", p.name)
		}
	}
}
