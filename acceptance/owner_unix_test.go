//go:build unix

package acceptance

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// station is a folder of a user other than root, like the folder of an installed service. If the
// tests do not run as root, it belongs to the user of the tests.
type station struct {
	folder, db, program string
	owner               *syscall.Credential
}

// newStation returns a station with a program that its user can run.
func newStation(t *testing.T) station {
	t.Helper()
	s := station{folder: t.TempDir(), owner: &syscall.Credential{Uid: uint32(os.Geteuid()), Gid: uint32(os.Getegid()), NoSetGroups: true}}
	s.db, s.program = filepath.Join(s.folder, "x.db"), filepath.Join(t.TempDir(), "firefighters")
	must(t, os.Link(program, s.program)) // a copy could still be open for writing in a child of another test
	for _, folder := range []string{filepath.Dir(s.folder), filepath.Dir(s.program)} {
		must(t, os.Chmod(folder, 0o755))
	}
	must(t, os.Chmod(filepath.Dir(filepath.Dir(s.program)), 0o755))
	if os.Geteuid() == 0 {
		s.owner = &syscall.Credential{Uid: 12345, Gid: 23456}
		must(t, os.Chown(s.folder, int(s.owner.Uid), int(s.owner.Gid)))
	}
	must(t, os.Chmod(s.folder, 0o700))
	return s
}

// serves starts the service as the owner of the folder.
func (s station) serves(t *testing.T) (*exec.Cmd, client) {
	t.Helper()
	cmd, _ := process(t, "--db", s.db, "--listen", "127.0.0.1:0")
	cmd.Path = s.program
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner}
	return cmd, startedProcess(t, cmd)
}

// runs runs a command as the owner of the folder and returns its exit code and output.
func (s station) runs(t *testing.T, args ...string) (code int, output string) {
	t.Helper()
	cmd, text := process(t, append(args, "--db", s.db)...)
	cmd.Path = s.program
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner}
	return exitCode(t, cmd.Run()), text.String()
}

// TestOnceReadOnly checks that a service starts on a database that was read-only before, although
// SQLite then made a read-only -shm, and that errors name the file that cannot be written.
func TestOnceReadOnly(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	refused := func(file string) {
		t.Helper()
		code, output := s.runs(t, "serve", "--listen", "127.0.0.1:0")
		want := fmt.Sprintf("no permission to read and write %q", file)
		if code != 1 || !strings.Contains(output, want) || !strings.Contains(output, "chmod 600 "+file) {
			t.Errorf("code %d, want %s: %s", code, want, output)
		}
	}
	starts := func() {
		t.Helper()
		cmd, _ := s.serves(t)
		must(t, cmd.Process.Signal(syscall.SIGTERM))
		must(t, cmd.Wait())
	}
	starts()
	must(t, os.Chmod(s.db, 0o400))
	refused(s.db)
	if info, err := os.Stat(s.db + "-shm"); err != nil || info.Mode().Perm() != 0o400 {
		t.Fatalf("the -shm: %v, %v", info, err)
	}
	must(t, os.Chmod(s.db, 0o600))
	starts()
	if os.Geteuid() == 0 { // the file of another user stays
		must(t, os.WriteFile(s.db+"-shm", nil, 0o600))
		refused(s.db + "-shm")
	}
}

// belongs checks that all files in the folder belong to its owner.
func (s station) belongs(t *testing.T, after string) {
	t.Helper()
	must(t, filepath.WalkDir(s.folder, func(path string, _ fs.DirEntry, err error) error {
		must(t, err)
		info, err := os.Lstat(path)
		if os.IsNotExist(err) { // a running service removes temporary files
			return nil
		}
		must(t, err)
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != s.owner.Uid {
			t.Errorf("after %s, %s belongs to user %d, want %d", after, path, owner.Uid, s.owner.Uid)
		}
		return nil
	}))
}

// TestFilesMadeAsRoot checks that the files of a service still belong to its user after commands by
// root, and that the service can use them. If the tests do not run as root, both are the same user.
func TestFilesMadeAsRoot(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	list, saved := filepath.Join(s.folder, "list.csv"), filepath.Join(s.folder, "saved.db")
	does := func(args ...string) {
		t.Helper()
		works(t, append(args, "--db", s.db)...)
		s.belongs(t, args[0]+" "+args[1])
	}
	does("keys", "create", "--tenant", "Engine 7")
	does("export", "--tenant", "Engine 7", "-o", list)
	must(t, os.WriteFile(list, []byte("First name,Last name\nAna,Horvat\n"), 0o600))
	must(t, os.Chown(list, int(s.owner.Uid), int(s.owner.Gid)))
	does("import", list, "--tenant", "Engine 7", "--apply")
	does("backup", saved)
	does("restore", saved)
	does("check", "--repair")
	does("invite", "--tenant", "Engine 7", "--name", "Ana")
	does("purge", "--tenant", "Engine 7", "--older-than", "1y", "--yes")

	cmd, client := s.serves(t)
	client.key = newKey(t, s.db, "Engine 7")
	does("backup", filepath.Join(s.folder, "while-served.db"))
	does("import", "undo", "1", "--tenant", "Engine 7")
	client.create(t, ana)
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	must(t, cmd.Wait())
	s.belongs(t, "the service has stopped")

	cmd, _ = s.serves(t)
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	must(t, cmd.Wait())
	s.belongs(t, "the service has started on it as "+strconv.Itoa(int(s.owner.Uid)))
}

// TestLinksOfOthersAsRoot checks that root writes through no link of the service, also not into the
// folder of the service, and through no folder of another user.
func TestLinksOfOthersAsRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder to another user")
	}
	s := newStation(t)
	newKey(t, s.db, "default")
	private, foreign := t.TempDir(), t.TempDir()
	victim := filepath.Join(private, "victim")
	must(t, os.WriteFile(victim, []byte("precious"), 0o600))
	must(t, os.Chown(foreign, 34567, 34567))
	paths := []string{filepath.Join(foreign, "new")}
	for name, target := range map[string]string{"there": victim, "missing": filepath.Join(private, "new"), "folder": private} {
		link := filepath.Join(s.folder, name)
		must(t, os.Symlink(target, link))
		must(t, os.Lchown(link, int(s.owner.Uid), int(s.owner.Gid)))
		if name == "folder" {
			link = filepath.Join(link, "new")
		}
		paths = append(paths, link)
	}
	const reason = "it leads through a link or a folder that another user can change"
	for _, path := range paths {
		refuses(t, 1, fmt.Sprintf("Error: writing the backup %q: %s\n", path, reason), "backup", path, "--db", s.db, "--force")
		want := fmt.Sprintf("Error: writing %q: %s\n", path, reason)
		refuses(t, 1, want, "export", "--tenant", "default", "--format", "csv", "-o", path, "--db", s.db, "--force")
	}
	for name, args := range map[string][]string{
		"restore": {"restore", s.db, "--db", filepath.Join(s.folder, "there")},
		"keys":    {"keys", "create", "--tenant", "default", "--db", filepath.Join(s.folder, "missing")},
		"serve":   {"serve", "--listen", "127.0.0.1:0", "--db", filepath.Join(s.folder, "folder", "x")},
	} {
		if code, _, stderr := runCommand(t, args...); code != 1 || !strings.Contains(stderr, reason) {
			t.Errorf("%s: code %d, %s", name, code, stderr)
		}
	}
	served := startWith(t, s.db, "serve", "--db", s.db, "--backup-dir", filepath.Join(s.folder, "folder", "backups"))
	served.mayFail = true
	served.logs(t, "Warning: no backups are made: ", reason)
	text, err := os.ReadFile(victim)
	if err != nil || string(text) != "precious" || len(namesIn(t, private)) != 1 || len(namesIn(t, foreign)) > 0 {
		t.Errorf("the targets of the links changed: %q, %q, %q, %v", text, namesIn(t, private), namesIn(t, foreign), err)
	}
}
