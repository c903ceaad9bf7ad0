package guard

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// NewerCopy returns the newest saved copy beside a database that has seen a later
// time than the database itself, "" if there is none: the process that made it was
// killed before it could say so, or nobody has restored it.
func NewerCopy(content backup.Content, db string) string {
	if len(copies(db)) == 0 {
		return ""
	}
	latest := timeOf(content, sqlite.Peek, db)
	for _, file := range backup.Files(content, db, "") {
		isCopy := file.Path == backup.SavedName(db, file.Time)
		if isCopy && timeOf(content, sqlite.OpenImmutable, file.Path).After(latest) {
			return file.Path
		}
	}
	return ""
}

// copies returns the saved copies beside a database, also those that are not complete.
func copies(db string) (paths []string) {
	entries, _ := os.ReadDir(filepath.Dir(db))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(db)+".saved-") {
			paths = append(paths, filepath.Join(filepath.Dir(db), e.Name()))
		}
	}
	return paths
}

// RemoveLeftovers removes what a process that was killed after a loss has left
// beside the database and nobody needs. The caller has locked the database.
func RemoveLeftovers(db string) {
	for _, path := range copies(db) {
		if strings.HasSuffix(path, partialSuffix) {
			os.Remove(path)
		}
	}
}

// timeOf returns the latest time that a file has seen, zero if it cannot be read.
func timeOf(content backup.Content, open func(string) (*sqlite.Conn, error), path string) time.Time {
	c, err := open(path)
	if err != nil {
		return time.Time{}
	}
	defer c.Close()
	id, err := content.Identify(c)
	if err != nil {
		return time.Time{}
	}
	return id.Time
}
