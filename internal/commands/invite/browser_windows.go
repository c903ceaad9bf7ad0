package invite

import "golang.org/x/sys/windows"

func hasBrowser() bool { return true }

func noBrowser() string { return "" }

// openBrowser opens a file in the browser. Nothing comes from ended.
func openBrowser(path string) (ended <-chan error, err error) {
	file, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	return nil, windows.ShellExecute(0, nil, file, nil, nil, windows.SW_SHOWNORMAL)
}
