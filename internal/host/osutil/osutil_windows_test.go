package osutil

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/windows"
)

// TestMakePrivateFolder checks that other users have no rights. Wine does not store permissions, so
// the test also checks the requested descriptor.
func TestMakePrivateFolder(t *testing.T) {
	t.Parallel()
	parent, err := os.MkdirTemp("", "firefighters-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(parent) }) // sometimes fails on Wine, so not TempDir
	folder := filepath.Join(parent, "new")
	if err := MakePrivateFolder(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "x"), []byte("text"), 0o600); err != nil || SharedFolder(folder) {
		t.Errorf("shared %v, %v", SharedFolder(folder), err)
	}
	if err := MakePrivateFolder(folder); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an existing folder: %v", err)
	}
	if err := MakePrivateFolder(filepath.Join(folder, "missing", "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a parent: %v", err)
	}
	wanted, err := privatePermissions()
	if err != nil || isShared(wanted) {
		t.Fatalf("the permissions are %v, %v", wanted, err)
	}
	if control, _, err := wanted.Control(); err != nil || control&windows.SE_DACL_PROTECTED == 0 {
		t.Errorf("it inherits: %x, %v", control, err)
	}
}

func TestIsShared(t *testing.T) {
	t.Parallel()
	for sddl, want := range map[string]bool{
		"D:(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1301bf;;;AU)": true, // a new disk
		"D:(A;OICIIO;GR;;;WD)":                true,
		"D:(A;;0x1200a9;;;BU)":                true,
		"D:(A;;0x40;;;IU)":                    true,
		"D:(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)":  false,
		"D:(A;;0x20000;;;BU)":                 false, // READ_CONTROL
		"D:(D;OICI;FA;;;BU)(A;;FA;;;BA)":      false,
		"D:(A;OICI;FA;;;S-1-5-21-1-2-3-1001)": false,
	} {
		d, err := windows.SecurityDescriptorFromString(sddl)
		if err != nil || isShared(d) != want {
			t.Errorf("%s: %v, %v", sddl, !want, err)
		}
	}
	open, err := windows.NewSecurityDescriptor()
	if err == nil {
		err = open.SetDACL(nil, true, false) // no list of permissions
	}
	if err != nil || !isShared(open) {
		t.Errorf("without permissions: %v", err)
	}
}
