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

// station is a folder of a user who is not root, as that of an installed service.
// Without the rights for it, it belongs to the user of the tests.
type station struct {
	folder, db, program string
	owner               *syscall.Credential
}

// newStation returns one that its user can reach, with a program that the user
// may start.
func newStation(t *testing.T) station {
	t.Helper()
	s := station{folder: t.TempDir(), owner: &syscall.Credential{Uid: uint32(os.Geteuid()), Gid: uint32(os.Getegid()), NoSetGroups: true}}
	s.db, s.program = filepath.Join(s.folder, "x.db"), filepath.Join(t.TempDir(), "firefighters")
	must(t, os.Link(program, s.program)) // not a copy, which a child of another test could hold open for writing
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

// belongs reports an error for each file in the folder that is not its owner's.
func (s station) belongs(t *testing.T, after string) {
	t.Helper()
	must(t, filepath.WalkDir(s.folder, func(path string, _ fs.DirEntry, err error) error {
		must(t, err)
		info, err := os.Lstat(path)
		if os.IsNotExist(err) { // a service that runs removes its trials
			return nil
		}
		must(t, err)
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != s.owner.Uid {
			t.Errorf("after %s, %s belongs to user %d, not %d", after, path, owner.Uid, s.owner.Uid)
		}
		return nil
	}))
}

// TestFilesMadeAsRoot: whatever root does with the database of a service, the
// files in its folder belong to the user of the service, who goes on with them.
// Where the tests do not run as root, that user and they are the same.
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

// TestLinksOfOthersAsRoot: root writes no backup and no export through a link in the folder
// of somebody else, and whatever that user puts there, to no other place. For any
// other user a link is what it is everywhere.
func TestLinksOfOthersAsRoot(t *testing.T) {
	t.Parallel()
	root := os.Geteuid() == 0
	s := newStation(t)
	newKey(t, s.db, "default")
	private := t.TempDir()
	theirs, victim := filepath.Join(private, "folder"), filepath.Join(private, "victim")
	must(t, os.Mkdir(theirs, 0o700))
	must(t, os.WriteFile(victim, []byte("precious"), 0o600))
	writers := map[string]func(path string) []string{
		"backup": func(path string) []string { return []string{"backup", path, "--db", s.db} },
		"export": func(path string) []string {
			return []string{"export", "--tenant", "default", "--format", "csv", "-o", path, "--db", s.db}
		},
	}
	for name, writer := range writers {
		in := filepath.Join(s.folder, name)
		must(t, os.Mkdir(in, 0o700))
		must(t, os.Symlink(victim, filepath.Join(in, "there")))
		must(t, os.Symlink(filepath.Join(private, "new"), filepath.Join(in, "missing")))
		must(t, os.Symlink(theirs, filepath.Join(in, "folder")))
		if root {
			must(t, os.Chown(in, int(s.owner.Uid), int(s.owner.Gid)))
			for _, link := range []string{"there", "missing", "folder"} {
				must(t, os.Lchown(filepath.Join(in, link), int(s.owner.Uid), int(s.owner.Gid)))
			}
		}
		plain := filepath.Join(in, "plain")
		works(t, writer(plain)...)
		if found := namesIn(t, in); len(found) != 4 {
			t.Errorf("%s leaves %q", name, found)
		}
		info, err := os.Stat(plain)
		must(t, err)
		if owner := info.Sys().(*syscall.Stat_t); info.Mode() != 0o600 || info.Size() == 0 || owner.Uid != s.owner.Uid {
			t.Errorf("%s makes a file with the mode %v of user %d", name, info.Mode(), owner.Uid)
		}
		if code, _, _ := runCommand(t, writer(plain)...); code != 1 {
			t.Errorf("%s replaces a file", name)
		}
		works(t, append(writer(plain), "--force")...)
		if !root {
			works(t, writer(filepath.Join(in, "missing"))...)
			must(t, os.Remove(filepath.Join(private, "new")))
			continue
		}
		for _, path := range []string{"there", "missing", filepath.Join("folder", "x")} {
			path = filepath.Join(in, path)
			said := fmt.Sprintf("Error: writing %q: it leads through a link that another user can change\nTry: name the folder that it leads to, or start as that user\n", path)
			refuses(t, 1, said, writer(path)...)
			refuses(t, 1, said, append(writer(path), "--force")...)
		}
		// A link of root in a folder of root may be followed.
		must(t, os.Symlink(plain, filepath.Join(private, name)))
		works(t, append(writer(filepath.Join(private, name)), "--force")...)
		if is, err := os.Lstat(plain); err != nil || !is.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", name, is, err)
		}
	}
	if root {
		in := filepath.Join(s.folder, "export")
		const said = "it leads through a link that another user can change\nTry: name the f"
		for name, args := range map[string][]string{
			"restore": {"restore", s.db, "--db", filepath.Join(in, "there")},
			"keys":    {"keys", "create", "--tenant", "default", "--db", filepath.Join(in, "missing")},
			"folder":  {"keys", "create", "--tenant", "default", "--db", filepath.Join(in, "folder", "x")},
			"serve":   {"serve", "--listen", "127.0.0.1:0", "--db", filepath.Join(in, "missing")},
		} {
			if code, _, stderr := runCommand(t, args...); code != 1 || !strings.Contains(stderr, said) {
				t.Errorf("%s: code %d, %s", name, code, stderr)
			}
		}
		own := filepath.Join(t.TempDir(), "x.db")
		served := startWith(t, own, "serve", "--db", own, "--backup-dir", filepath.Join(in, "folder", "backups"))
		served.mayFail = true
		eventually(t, "the warning", func() bool {
			log := served.stderr.String()
			return strings.Contains(log, "Warning: no backups are made: the folder ") && strings.Contains(log, " is not used: "+said)
		})
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "precious" || len(namesIn(t, theirs)) > 0 || exists(filepath.Join(private, "new")) {
		t.Errorf("what the links lead to has changed: %q, %q, %v", text, namesIn(t, theirs), err)
	}
}
