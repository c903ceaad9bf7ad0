package guard

import (
	"os"
	"path/filepath"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// note is the content of a file beside the database which says how far the database has
// come. By it the next start sees whether somebody has put an older copy in its place.
type note struct {
	text  string
	at    time.Time
	stale bool // the database is older than the note, and could not be renewed yet
}

// noteInterval is the least time between two notes.
const noteInterval = time.Second

// notePath returns the path of the note. Its name begins with a dot: who copies all files
// whose names begin with that of the database leaves the note behind. An older copy that
// is put back so finds the newer note.
func notePath(db string) string {
	return filepath.Join(filepath.Dir(db), "."+filepath.Base(db)+"-progress")
}

// ForgetProgress removes the note of a database that is removed, too.
func ForgetProgress(db string) { os.Remove(notePath(db)) }

// readNote compares the database with the note of its last service.
func (g *Guard) readNote() {
	text, err := os.ReadFile(notePath(g.db.Path()))
	if err != nil {
		return
	}
	older := false
	err = g.db.Read(func(c *sqlite.Conn) (err error) {
		_, older, err = g.files.content.Progress(c, string(text))
		return err
	})
	if err == nil && older {
		g.log.Warn("the database is older than what was served before: somebody has put an older copy in its place. " +
			"What was written since is not in it, and keys that were revoked since work again")
		g.noted.stale = true
		g.renew()
	}
}

// renew makes a database that is older than the note another one. On a full disk note
// tries again.
func (g *Guard) renew() {
	err := g.db.Write(func(t *sqlite.Tx) error { return g.files.content.Renew(t.Conn) })
	g.noted.stale = err != nil
}

// note writes down how far the database has come, unless that was done less than
// noteInterval ago. Without a note an older copy is not recognized, so nothing
// depends on it. It is not made durable, as osutil.WriteFile would: that would flush
// the disk twice a second more, which wears out a memory card.
func (g *Guard) note(now time.Time) {
	if g.noted.stale {
		g.renew()
	}
	text := g.files.settled()
	if text == "" || text == g.noted.text || g.noted.stale || !now.IsZero() && now.Sub(g.noted.at) < noteInterval || !g.files.isInFolder() {
		return
	}
	g.noted.at = now
	path := notePath(g.db.Path())
	if osutil.CreatePrivate(path+partialSuffix) == nil && os.WriteFile(path+partialSuffix, []byte(text), 0o600) == nil &&
		os.Rename(path+partialSuffix, path) == nil {
		g.noted.text = text
	}
}
