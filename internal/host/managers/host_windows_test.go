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

// isWine reports whether this is Wine, which keeps no permissions of files.
var isWine = windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil

// folder returns a new folder. Unlike t.TempDir it does not fail where a folder
// cannot be removed with all that is in it, as under Wine.
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

// notCompared is what Windows notes of inheritance on its own.
var notCompared = regexp.MustCompile(`G:BA|AR|AI|ID`)

// checkPermissions compares the owner and the permissions of a file.
func checkPermissions(t *testing.T, path, want string) {
	t.Helper()
	const what = windows.OWNER_SECURITY_INFORMATION | windows.DACL_SECURITY_INFORMATION
	d, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, what)
	must(t, err)
	got := notCompared.ReplaceAllString(d.String(), "")
	if want = notCompared.ReplaceAllString(descriptor(t, want).String(), ""); got != want && !isWine {
		t.Errorf("%s has %s, not %s", path, got, want)
	}
}

func TestTakeFolder(t *testing.T) {
	if !(Host{}).Permitted() {
		t.Skip("only an administrator can hand a folder to the administrators")
	}
	data := filepath.Join(folder(t), "data")
	made, err := takeFolder(data)
	if !made || err != nil {
		t.Fatalf("made %v, %v", made, err)
	}
	checkPermissions(t, data, dataPermissions(windowsName))
	one := filepath.Join(data, "backups", "one.db")
	write(t, one)
	write(t, filepath.Join(data, "firefighters.db"))
	for range 2 {
		if made, err := takeFolder(data); made || err != nil {
			t.Fatalf("made %v, %v", made, err)
		}
		checkPermissions(t, data, dataPermissions(windowsName))
		checkPermissions(t, filepath.Dir(one), inheritedPermissions(windowsName, true))
		checkPermissions(t, one, inheritedPermissions(windowsName, false))
	}
	if made, err := takeFolder(one); made || err == nil {
		t.Error("a file was taken for a folder")
	}
}

// TestPreparedFolder: a folder that was there gets the same permissions, but not
// if somebody has prepared it with a link.
func TestPreparedFolder(t *testing.T) {
	if !(Host{}).Permitted() {
		t.Skip("only an administrator can hand a folder to the administrators")
	}
	data := filepath.Join(folder(t), "data")
	db := filepath.Join(data, "firefighters.db")
	write(t, db)
	if made, err := takeFolder(data); made || err != nil {
		t.Fatalf("made %v, %v", made, err)
	}
	checkPermissions(t, data, dataPermissions(windowsName))
	checkPermissions(t, db, inheritedPermissions(windowsName, false))

	prepared := filepath.Join(folder(t), "data")
	write(t, filepath.Join(prepared, "firefighters.db"))
	must(t, os.Link(db, filepath.Join(prepared, "service.conf")))
	if _, err := takeFolder(prepared); !errors.Is(err, errLink) || !strings.Contains(err.Error(), "service.conf") {
		t.Errorf("of a link it says %v", err)
	}
}

// TestOwners uses an event, because Wine keeps the permissions of events.
func TestOwners(t *testing.T) {
	if !(Host{}).Permitted() {
		t.Skip("only an administrator can hand something to others")
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
			t.Errorf("%s is trusted: %v", sddl, got)
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
		t.Errorf("it begins with %d, and shows the window as %d", link[0], link[0x3c])
	}
	for _, text := range []string{"open", "firefighters.exe"} {
		var units []byte
		for _, unit := range utf16.Encode([]rune(text)) {
			units = append(units, byte(unit), byte(unit>>8))
		}
		if !bytes.Contains(link, units) {
			t.Errorf("it does not have %q", text)
		}
	}
}

// TestHost plays the service manager.
func TestHost(t *testing.T) {
	var r recorder
	mayEnd := make(chan bool)
	h := &host{log: &events{report: r.report}, run: func(ctx context.Context, log io.Writer) int {
		Manager{}.Ready("Listening.")
		<-ctx.Done()
		<-mayEnd
		return 1 // what was asked to end is not started again because of that
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

// TestFailedHost: a service that cannot start says why.
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
		t.Error("no service manager has started this")
	}
}
