package managers

import (
	"cmp"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// keptSuffix follows the name of a program that was replaced.
const keptSuffix = ".old"

// CopyProgram installs a program under another path. A program that is there, which
// may be running, is kept with keptSuffix. CopyProgram does nothing if both have the
// same content, so that the kept program is always another version.
func CopyProgram(from, to string) (copied bool, kept string, err error) {
	if osutil.SameFile(from, to) || sameContent(from, to) {
		return false, "", nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return false, "", err
	}
	fresh := to + ".new"
	defer os.Remove(fresh)
	if err := copyFile(from, fresh); err != nil {
		return false, "", err
	}
	if osutil.Exists(to) {
		kept = to + keptSuffix
		if err := replaceKept(to, kept); err != nil {
			return false, "", err
		}
	}
	return true, kept, cmp.Or(os.Rename(fresh, to), osutil.SyncFolder(filepath.Dir(to)))
}

// replaceKept renames a program to the kept one, and removes what was kept before. The
// kept program may still run, after an installation that was stopped halfway, and
// Windows does not remove a program that runs. Then it is the last one that worked. So
// it stays, and replaceKept removes program.
func replaceKept(program, kept string) error {
	if err := os.Remove(kept); err != nil && !os.IsNotExist(err) {
		return os.Remove(program)
	}
	return os.Rename(program, kept)
}

// copyFile copies a program to a new file that everybody may run.
func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	os.Remove(to)
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return cmp.Or(err, target.Sync(), target.Chmod(0o755), target.Close())
}

// sameContent reports whether two files can be read and are equal.
func sameContent(a, b string) bool {
	var sums [2][sha256.Size]byte
	for i, name := range []string{a, b} {
		file, err := os.Open(name)
		if err != nil {
			return false
		}
		sum := sha256.New()
		_, err = io.Copy(sum, file)
		if file.Close(); err != nil {
			return false
		}
		sum.Sum(sums[i][:0])
	}
	return sums[0] == sums[1]
}
