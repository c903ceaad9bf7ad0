//go:build linux || darwin

package managers

import (
	"io"
	"os"
)

// reopen makes what is written to an open file go to the one at path, if that is
// another one by now.
func reopen(file *os.File, path string) error {
	old, err := file.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Stat(path); err != nil || os.SameFile(old, now) {
		return err
	}
	fresh, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer fresh.Close()
	return duplicate(int(fresh.Fd()), int(file.Fd()))
}

// tailOf returns the last 64 KiB of a log, which may be large. Without one it is empty.
func tailOf(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	const most = 64 << 10
	if info, err := file.Stat(); err == nil {
		file.Seek(max(0, info.Size()-most), io.SeekStart)
	}
	text, _ := io.ReadAll(io.LimitReader(file, most)) // what can be read
	return string(text)
}
