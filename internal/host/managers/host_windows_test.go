package managers

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
)

// isWine reports whether the test runs on Wine, which does not store file permissions.
var isWine = windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil

// folder is t.TempDir, but ignores errors while removing the folder, which occur on Wine.
func folder(t *testing.T) string {
	t.Helper()
	path, err := os.MkdirTemp("", "with a space")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(path) })
	return path
}

func write(t *testing.T, path string) {
	t.Helper()
	must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte("x"), 0o666)))
}

func descriptor(t *testing.T, sddl string) *windows.SECURITY_DESCRIPTOR {
	t.Helper()
	d, err := windows.SecurityDescriptorFromString(sddl)
	must(t, err)
	return d
}

// notCompared matches the group, and the flags that Windows adds for inheritance.
var notCompared = regexp.MustCompile(`G:BA|AR|AI|ID`)

// checkPermissions compares the owner and the permissions of a file.
func checkPermissions(t *testing.T, path, want string) {
	t.Helper()
	const what = windows.OWNER_SECURITY_INFORMATION | windows.DACL_SECURITY_INFORMATION
	d, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, what)
	must(t, err)
	got := notCompared.ReplaceAllString(d.String(), "")
	if want = notCompared.ReplaceAllString(descriptor(t, want).String(), ""); got != want && !isWine {
		t.Errorf("%s has %s, want %s", path, got, want)
	}
}

func TestTakeFolder(t *testing.T) {
	if !(Host{}).Permitted() {
		t.Skip("only an administrator can make the administrators the owner")
	}
	data := filepath.Join(folder(t), "data")
	created, err := takeFolder(data)
	if !created || err != nil {
		t.Fatalf("created %v, %v", created, err)
	}
	checkPermissions(t, data, dataPermissions)
	one := filepath.Join(data, "backups", "one.db")
	write(t, one)
	write(t, filepath.Join(data, "firefighters.db"))
	for range 2 {
		if created, err := takeFolder(data); created || err != nil {
			t.Fatalf("created %v, %v", created, err)
		}
		checkPermissions(t, data, dataPermissions)
		checkPermissions(t, filepath.Dir(one), folderPermissions)
		checkPermissions(t, one, filePermissions)
	}
	if created, err := takeFolder(one); created || err == nil {
		t.Error("no error for a file")
	}
}

// TestPreparedFolder checks that an existing folder gets the same permissions, and that a folder
// with a link is rejected.
func TestPreparedFolder(t *testing.T) {
	if !(Host{}).Permitted() {
		t.Skip("only an administrator can make the administrators the owner")
	}
	data := filepath.Join(folder(t), "data")
	db := filepath.Join(data, "firefighters.db")
	write(t, db)
	if created, err := takeFolder(data); created || err != nil {
		t.Fatalf("created %v, %v", created, err)
	}
	checkPermissions(t, data, dataPermissions)
	checkPermissions(t, db, filePermissions)

	prepared := filepath.Join(folder(t), "data")
	write(t, filepath.Join(prepared, "firefighters.db"))
	must(t, os.Link(db, filepath.Join(prepared, "service.conf")))
	if _, err := takeFolder(prepared); !errors.Is(err, errLink) || !strings.Contains(err.Error(), "service.conf") {
		t.Errorf("the error for a link is %v", err)
	}
}

// TestOwners uses an event object, because Wine stores the permissions of events.
func TestOwners(t *testing.T) {
	if !(Host{}).Permitted() {
		t.Skip("only an administrator can change an owner")
	}
	enablePrivileges("SeRestorePrivilege")
	event, err := windows.CreateEvent(nil, 0, 0, nil)
	must(t, err)
	defer windows.CloseHandle(event)
	s := secured{path: "event", handle: event}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	must(t, err)
	for sddl, trusted := range map[string]bool{
		"O:BAD:P": true, "O:SYD:P": true, "O:" + serviceSID(windowsName) + "D:P": true, "O:" + serviceSID("TrustedInstaller") + "D:P": true,
		"O:" + user.User.Sid.String() + "D:P": true,
		"O:BUD:P":                             false, "O:" + serviceSID("Other") + "D:P": false, "O:S-1-5-21-1-2-3-1001D:P": false,
	} {
		if err := s.set(sddl); err != nil {
			t.Fatalf("%s: %v", sddl, err)
		}
		if got := s.ownedByUs(); got != trusted {
			t.Errorf("%s: ownedByUs() = %v", sddl, got)
		}
	}
}

func TestLetWrite(t *testing.T) {
	t.Parallel()
	backups := filepath.Join(folder(t), "backups", "fire")
	for range 2 {
		must(t, errors.Join(os.MkdirAll(backups, 0o777), letWrite(backups)))
	}
	file := filepath.Join(backups, "one.db")
	write(t, file)
	d, err := windows.GetNamedSecurityInfo(backups, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	must(t, err)
	if n := strings.Count(d.String(), serviceSID(windowsName)); n != 1 && !isWine {
		t.Errorf("the service has %d rights: %s", n, d)
	}
}

func TestShortcut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(folder(t), "Firefighters.lnk")
	program := filepath.Join(folder(t), "firefighters.exe")
	write(t, program)
	for range 2 {
		must(t, makeShortcut(path, program, "open"))
	}
	link, err := os.ReadFile(path)
	if err != nil || len(link) < 0x4c {
		t.Fatalf("%d bytes, %v", len(link), err)
	}
	if link[0] != 0x4c || link[0x3c] != 1 {
		t.Errorf("the header size is %d, the window state %d", link[0], link[0x3c])
	}
	for _, text := range []string{"open", "firefighters.exe"} {
		var units []byte
		for _, unit := range utf16.Encode([]rune(text)) {
			units = append(units, byte(unit), byte(unit>>8))
		}
		if !bytes.Contains(link, units) {
			t.Errorf("the shortcut lacks %q", text)
		}
	}
}

// TestHost acts as the service manager.
func TestHost(t *testing.T) {
	var r recorder
	mayEnd := make(chan bool)
	h := &host{log: &events{report: r.report}, run: func(ctx context.Context, log io.Writer) int {
		Manager{}.Ready("Listening.")
		<-ctx.Done()
		<-mayEnd
		return 1 // must not make Windows restart a service that was stopped
	}}
	requests, changes, ended := make(chan svc.ChangeRequest), make(chan svc.Status), make(chan uint32)
	go func() {
		_, code := h.Execute(nil, requests, changes)
		ended <- code
	}()
	want := func(state svc.State, accepts svc.Accepted) {
		t.Helper()
		if got := <-changes; got.State != state || got.Accepts&acceptsWhenReady != accepts || state == svc.Running && got.Accepts&svc.AcceptStop == 0 {
			t.Errorf("the service reports %+v", got)
		}
	}
	want(svc.Running, 0)
	want(svc.Running, acceptsWhenReady)
	requests <- svc.ChangeRequest{Cmd: svc.Interrogate, CurrentStatus: svc.Status{State: svc.Running, Accepts: svc.AcceptStop}}
	want(svc.Running, 0)
	requests <- svc.ChangeRequest{Cmd: svc.Stop}
	want(svc.StopPending, 0)
	requests <- svc.ChangeRequest{Cmd: svc.Shutdown}
	want(svc.StopPending, 0)
	close(mayEnd)
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
	r.want(t, "1 Listening.")
}

// TestFailedHost checks that a service that cannot start reports why.
func TestFailedHost(t *testing.T) {
	var r recorder
	h := &host{log: &events{report: r.report}, run: func(_ context.Context, log io.Writer) int {
		io.WriteString(log, `{"level":"ERROR","msg":"the port is taken","try":"another"}`)
		return 1
	}}
	changes := make(chan svc.Status, 1)
	if specific, code := h.Execute(nil, nil, changes); !specific || code != 1 {
		t.Errorf("exit code %d, specific %v", code, specific)
	}
	r.want(t, "3 the port is taken\ntry: another")
	if RunAsService([]string{"serve"}, nil) || RunAsService([]string{"service", "run"}, nil) {
		t.Error("RunAsService returns true without the service manager")
	}
}
