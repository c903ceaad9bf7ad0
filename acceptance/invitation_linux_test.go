package acceptance

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// newTerminal returns a terminal, and what a program prints on it.
func newTerminal(t *testing.T) (terminal *os.File, printed *syncBuffer) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	must(t, err)
	t.Cleanup(func() { person.Close() })
	number, err := unix.IoctlGetUint32(int(person.Fd()), unix.TIOCGPTN)
	must(t, err)
	must(t, unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0))
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	t.Cleanup(func() { terminal.Close() })
	printed = &syncBuffer{}
	go io.Copy(printed, person)
	return terminal, printed
}

// barred is a service whose database the person at the desktop may not read, and a
// stand-in for sudo.
type barred struct {
	station
	desktop
	client
}

// newBarred returns one where sudo does this, in shell: "permit" lets the person
// read the database, and runs the program.
func newBarred(t *testing.T, sudo string) barred {
	t.Helper()
	b := barred{station: newStation(t), desktop: newDesktop(t, "")}
	var cmd *exec.Cmd
	cmd, b.client = b.serves(t)
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	must(t, os.Chmod(b.db, 0))
	sudo = "#!/bin/sh\necho \"$@\" >" + cli.Quote(b.record+"/sudo") + "\npermit() { chmod 600 " + cli.Quote(b.db) + "; shift; exec \"$@\"; }\n" + sudo + "\n"
	must(t, os.WriteFile(filepath.Join(b.programs, "sudo"), []byte(sudo), 0o755))
	for _, folder := range []string{b.home, b.programs, b.record} {
		must(t, os.Chmod(filepath.Dir(folder), 0o755))
		must(t, filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
			return os.Chown(path, int(b.owner.Uid), int(b.owner.Gid))
		}))
	}
	return b
}

// open prepares the command as the person types it.
func (b barred) open(t *testing.T, settings []string, flags ...string) (cmd *exec.Cmd, printed *syncBuffer) {
	t.Helper()
	cmd, _ = b.desktop.command(t, settings, append([]string{"open", "--db", b.db}, flags...)...)
	cmd.Path, cmd.SysProcAttr = b.program, &syscall.SysProcAttr{Credential: b.owner}
	terminal, printed := newTerminal(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	return cmd, printed
}

// asks is what open says before it asks for rights.
const asks = "Opening the page needs the rights of an administrator. Asking sudo for them.\n"

// TestOpenWithRights: open gets its link from a process with more rights, and opens
// the browser as the person's own. No process list shows the code. When it was used,
// both processes end, and leave nothing behind.
func TestOpenWithRights(t *testing.T) {
	t.Parallel()
	b := newBarred(t, `permit "$@"`)
	cmd, printed := b.open(t, nil, "--tenant", "default")
	must(t, cmd.Start())
	_, code := b.opens(t, b.url)
	asked, err := os.ReadFile(filepath.Join(b.record, "sudo"))
	must(t, err)
	want := fmt.Sprintf("-- %s open --write-to %s/firefighters-open-", b.program, b.home)
	if got := string(asked); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, " --db "+b.db+" --tenant default\n") {
		t.Errorf("sudo is asked for %s", got)
	}
	b.letsIn(t, code)
	err = cmd.Wait()
	eventually(t, "the text", func() bool { return strings.Count(printed.String(), "\n") == 2 })
	if got := strings.ReplaceAll(printed.String(), "\r", ""); err != nil || got != asks+"Opening the page in the browser. Press its button to sign in.\n" {
		t.Errorf("%v, printed:\n%s", err, got)
	}
	if left := namesIn(t, b.home); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestOpenWithoutRights: where there are no rights to get, or no link, one line says
// why, and another what to type. Nothing is left behind.
func TestOpenWithoutRights(t *testing.T) {
	t.Parallel()
	const noAdmin = "Error: only an administrator may open the page of this service\nTry: "
	for name, tt := range map[string]struct {
		sudo, want string
		code       int
		settings   []string
		piped      bool
		flags      []string
	}{
		"refused": {sudo: "exit 1", code: 1, want: asks + "Error: the page was not opened, because the rights for it were not given\n" +
			"Try: ask an administrator of this PC for a link: sudo firefighters invite --tenant NAME --name NAME\n"},
		"no terminal": {piped: true, code: 1, want: noAdmin + "sudo firefighters open --db DB\n"},
		"no sudo":     {settings: []string{"PATH=/nowhere"}, code: 1, want: noAdmin + "as root: firefighters open --db DB\n"},
		"no department": {sudo: `permit "$@"`, flags: []string{"--tenant", "nowhere"}, code: 1,
			want: asks + "Error: there is no department \"nowhere\"\nTry: see their names: firefighters departments list --db DB\n"},
		"no browser": {sudo: `permit "$@"`, settings: []string{"DISPLAY="},
			want: asks + "There is no browser here. Open this link in one within 15 minutes, and press the button:\nLINK\n" +
				"Note: the link works on this computer alone, because the service listens on 127.0.0.1.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBarred(t, tt.sudo)
			cmd, printed := b.open(t, tt.settings, tt.flags...)
			if tt.piped {
				cmd.Stdin = strings.NewReader("")
			}
			cmd.Run()
			normal := func() string {
				text := strings.NewReplacer(b.db, "DB", "\r", "").Replace(printed.String())
				if link := invitationForm.FindString(text); link != "" {
					text = strings.ReplaceAll(text, strings.TrimSpace(link), "LINK")
				}
				return text
			}
			eventually(t, "the text", func() bool { return strings.Count(normal(), "\n") >= strings.Count(tt.want, "\n") })
			if code := cmd.ProcessState.ExitCode(); code != tt.code || normal() != tt.want {
				t.Errorf("code %d, printed:\n%swant %d and:\n%s", code, normal(), tt.code, tt.want)
			}
			if left := namesIn(t, b.home); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// TestWriteTo: the part of open with more rights writes to an empty private file
// alone, and prints nothing.
func TestWriteTo(t *testing.T) {
	t.Parallel()
	s := start(t)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	must(t, os.WriteFile(in("full"), []byte("x"), 0o600))
	must(t, os.WriteFile(in("shared"), nil, 0o644))
	must(t, os.WriteFile(in("outside"), nil, 0o600))
	must(t, os.WriteFile(in("two names"), nil, 0o600))
	must(t, os.Link(in("two names"), in("second name")))
	must(t, os.Symlink("outside", in("link")))
	for _, name := range []string{"full", "shared", "second name", "link", "."} {
		path := in(name)
		refuses(t, 2, fmt.Sprintf("Error: open: --write-to: %q is not an empty file that only its owner can read\nTry: firefighters open --help\n", path),
			"open", "--db", s.db, "--write-to", path)
	}
	refuses(t, 2, fmt.Sprintf("Error: open: --write-to: lstat %s: no such file or directory\nTry: firefighters open --help\n", in("missing")),
		"open", "--db", s.db, "--write-to", in("missing"))
	if text, err := os.ReadFile(in("outside")); err != nil || len(text) > 0 {
		t.Errorf("the target of the link has %q, %v", text, err)
	}

	must(t, os.WriteFile(in("error"), nil, 0o600))
	refuses(t, 1, "", "open", "--db", s.db, "--tenant", "nowhere", "--write-to", in("error"))
	if text, err := os.ReadFile(in("error")); err != nil || !strings.HasPrefix(string(text), "Error: there is no department") {
		t.Errorf("the file has %q, %v", text, err)
	}
	cmd, output := process(t, "open", "--db", s.db, "--write-to", in("outside"))
	must(t, cmd.Start())
	var link string
	eventually(t, "the link", func() bool {
		text, _ := os.ReadFile(in("outside"))
		link = string(text)
		return strings.HasSuffix(link, "\n")
	})
	must(t, os.Remove(in("outside"))) // ends it
	if err := cmd.Wait(); err != nil || output.String() != "" {
		t.Errorf("%v, output %q", err, output)
	}
	link, local, _ := strings.Cut(link, " ") // where others find the page, and where this machine does
	if local != s.url+"\n" {
		t.Errorf("this machine finds the page at %q", local)
	}
	s.letsIn(t, invitationForm.FindStringSubmatch(link + "\n")[2])
}
