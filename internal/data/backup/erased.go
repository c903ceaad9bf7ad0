package backup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// ErasedName is a file beside the backups. It has the ids of the records that were erased
// from their databases, a line each, and nothing else. A restore erases them again, when the
// database that it replaces is gone or does not know.
const ErasedName = "erased-ids.txt"

// readErased returns the ids in the list of a folder. The error is fs.ErrNotExist if there
// is no list. Lines that are no ids are left out. An editor may have saved the list again.
func readErased(folder string) (ids []string, err error) {
	text, err := os.ReadFile(filepath.Join(folder, ErasedName))
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		if id, err := uuid.Parse(strings.TrimSpace(line)); err == nil {
			ids = append(ids, id.String())
		}
	}
	return ids, err
}

// NoteErased brings the list in a folder of backups up to date: what was erased from the
// database is added, and what a restore with KeepErased has brought back is taken out.
func NoteErased(db, folder string) error {
	path := filepath.Join(folder, ErasedName)
	if err := osutil.RefuseRedirect(path, db); err != nil {
		return writeError(path, err)
	}
	listed, err := readErased(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return writeError(path, err)
	}
	c, err := sqlite.Peek(osutil.Resolve(db))
	if err != nil {
		return databaseError("reading", db, err)
	}
	defer c.Close()
	erased, err := store.Erased(c, listed)
	if err != nil {
		return databaseError("reading", db, err)
	}
	if slices.Equal(erased, listed) {
		return nil
	}
	var text strings.Builder
	for _, id := range erased {
		text.WriteString(id + "\n")
	}
	return writeError(path, osutil.WriteFile(path, []byte(text.String()), true))
}

// findErased reads which records must not come back: from the database that is replaced, and
// from the list next to the backup. Records that the database still has were restored on
// purpose, so that it does not name them.
func (r *restoring) findErased(old *sqlite.Conn) {
	if r.KeepErased {
		return
	}
	r.listed, r.listUnread = readErased(filepath.Dir(r.File))
	r.erasedUnread = r.done.Unread
	if old != nil {
		r.erased, r.erasedUnread = store.Erased(old, r.listed)
	}
}

// compareOld decides whether the old database knows what happened after the backup. If it
// does not, the whole list counts.
func (r *restoring) compareOld(source Identity) {
	follows := r.unidentified || r.old.follows(source)
	r.done.RevokedUnknown = r.done.Unread != nil || !follows
	if r.erasedUnread != nil || !follows {
		r.erased = append(r.erased, r.listed...)
		r.done.ErasedUnknown = r.listUnread
	}
}
