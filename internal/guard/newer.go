package guard

import (
	"path/filepath"
	"time"

	"firefighters/internal/backup"
	"firefighters/internal/sqlite"
)

// NewerCopy returns the newest saved copy beside a database that has seen a later
// time than the database itself, "" if there is none: the process that made it was
// killed before it could say so, or nobody has restored it.
func NewerCopy(content backup.Content, db string) string {
	if copies, _ := filepath.Glob(db + ".saved-*"); len(copies) == 0 {
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
