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

// ErasedName is the name of a file in the backup folder that lists the IDs of permanently deleted
// records, one in each line. A restore uses it to delete them again if the database that it replaces
// is missing or incomplete.
const ErasedName = "erased-ids.txt"

// readErased returns the IDs in the list of a folder. It ignores lines that are not IDs and a byte
// order mark, which an editor may add. It returns fs.ErrNotExist if there is no list.
func readErased(folder string) (ids []string, err error) {
	text, err := os.ReadFile(filepath.Join(folder, ErasedName))
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		if id, err := uuid.Parse(strings.TrimSpace(line)); err == nil {
			ids = append(ids, id.String())
		}
	}
	return ids, err
}

// NoteErased updates the list in a backup folder. It adds records permanently deleted from the
// database and removes records that a restore with KeepErased has restored.
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
		return sqlite.Wrap("reading", db, err)
	}
	defer c.Close()
	erased, err := store.Erased(c, listed)
	if err != nil {
		return sqlite.Wrap("reading", db, err)
	}
	if slices.Equal(erased, listed) {
		return nil
	}
	lines := strings.Join(append(erased, ""), "\n")
	return writeError(path, osutil.WriteFile(path, []byte(lines), true))
}

// findErased reads the IDs of permanently deleted records from the old database and from the list
// next to the backup. The database omits listed records that it still contains, because someone
// restored them on purpose.
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

// compareOld determines whether the old database records what happened after the backup. If not, the
// restore uses the whole list.
func (r *restoring) compareOld(source Identity) {
	follows := r.unidentified || r.old.follows(source)
	r.done.RevokedUnknown = r.done.Unread != nil || !follows
	if r.erasedUnread != nil || !follows {
		r.erased = append(r.erased, r.listed...)
		r.done.ErasedUnknown = r.listUnread
	}
}
