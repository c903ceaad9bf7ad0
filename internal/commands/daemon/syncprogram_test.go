package daemon

import "testing"

func TestSyncProgram(t *testing.T) {
	t.Parallel()
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
		if got := syncProgram(path); got != want {
			t.Errorf("%s: %q, not %q", path, got, want)
		}
	}
}
