package osutil

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSyncProgram(t *testing.T) {
	for path, want := range map[string]string{
		"/home/ana/firefighters":                                     "",
		"/home/ana/Dropbox/station":                                  "Dropbox",
		"/home/ana/Dropbox (Station 7)":                              "Dropbox",
		"/home/ana/dropboxes":                                        "",
		`C:\Users\Ana\OneDrive - Fire Department\Documents`:          "OneDrive",
		`C:\Users\Ana\OneDrive`:                                      "OneDrive",
		`G:\My Drive\records`:                                        "Google Drive",
		"/Users/ana/Library/CloudStorage/GoogleDrive-ana@example/My": "Google Drive",
		"/Users/ana/Library/CloudStorage/Box-Box":                    "a sync program",
		"/Users/ana/Library/Mobile Documents/com~apple~CloudDocs":    "iCloud",
		"/home/ana/Nextcloud/x":                                      "Nextcloud",
		`C:\Users\Ana\iCloudDrive\x`:                                 "iCloud",
	} {
		if got := SyncProgram(path); got != want {
			t.Errorf("%s: %q, not %q", path, got, want)
		}
	}
}

func TestDisk(t *testing.T) {
	dir := t.TempDir()
	space, err := SpaceOf(dir)
	if err != nil || space.Total <= 0 || space.Free < 0 || space.Free > space.Total {
		t.Errorf("%+v, %v", space, err)
	}
	if _, err := SpaceOf(filepath.Join(dir, "missing")); err == nil {
		t.Error("there is room in a folder that is not there")
	}
	if err := SyncFolder(dir); err != nil {
		t.Error(err)
	}
	if kind := Network(os.TempDir()); kind != "" {
		t.Logf("temporary files are on a network disk: %s", kind)
	}
}
