package backup

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Newest returns the newest backup of a database in a folder, or the newest encrypted one. It returns
// ErrNone if there is none, ErrOthers if there are only backups of another database, and
// ErrNoneEncrypted if none is encrypted. The database may be in use, even by this process, damaged or
// missing.
func Newest(db, dir string, encrypted bool) (File, error) {
	db = osutil.Resolve(db)
	all := backupsIn(dir, db, time.Now())
	own, _ := identify(sqlite.Peek, db) // Inspect would release the locks of this process
	backups := ofDatabase(all, own)
	switch {
	case len(all) == 0:
		return File{}, ErrNone
	case len(backups) == 0:
		return File{}, ErrOthers
	}
	if encrypted {
		backups = slices.DeleteFunc(backups, func(f File) bool { return !f.Encrypted })
	}
	if len(backups) == 0 {
		return File{}, ErrNoneEncrypted
	}
	return backups[0], nil
}

func plainOf(files []File) []File {
	return slices.DeleteFunc(slices.Clone(files), func(f File) bool { return f.Encrypted })
}

// PlainIn returns the unencrypted backups of a database in a folder, newest first. The database may be
// in use, even by this process.
func PlainIn(db, dir string) []File {
	db = osutil.Resolve(db)
	own, _ := identify(sqlite.Peek, db)
	return plainOf(ofDatabase(backupsIn(dir, db, time.Now()), own))
}

// DeletePlain deletes unencrypted backups in a folder and returns their number. It skips files that a
// program has open. It deletes none unless the newest backup of the database there is encrypted and
// valid, and returns an error without a database that distinguishes its backups from others.
func DeletePlain(ctx context.Context, format sqlite.Format, db, dir string, plain []File) (deleted int, err error) {
	own, err := identify(sqlite.Peek, osutil.Resolve(db))
	if err == nil && len(own.IDs) == 0 {
		err = ErrNoDepartments
	}
	if err != nil {
		return 0, sqlite.Wrap("reading", db, err)
	}
	newest, err := Newest(db, dir, false)
	if err == nil && !newest.Encrypted {
		err = &Error{OpRead, newest.Path, ErrNotEncrypted}
	}
	if err == nil {
		_, err = newest.Check(ctx, format)
	}
	if err != nil {
		return 0, err
	}
	for _, f := range plain {
		if f.inUse() {
			continue
		}
		if err := os.Remove(f.Path); err != nil {
			return deleted, &Error{OpDelete, f.Path, err}
		}
		deleted++
	}
	return deleted, nil
}

// Listed is a backup in a list.
type Listed struct {
	File
	Bytes    int64
	Verified *time.Time // when the server last verified it; nil if never, or if it has since verified a newer one
	People   int64      // number of people in it who are not deleted; -1 if unknown
	Seen     time.Time  // later changes are not in it; zero if unknown
	Kept     bool       // it is the database that a restore replaced
}

// addContent adds People and Seen as far as they can be read without the key. It reads a few rows.
func (l *Listed) addContent() {
	if l.People = -1; l.Encrypted {
		if file, err := os.Open(l.Path); err == nil {
			defer file.Close()
			if n, _, err := readHeader(file); err == nil {
				if l.Seen = n.Time; n.Empty || n.People > 0 {
					l.People = n.People
				}
			}
		}
		return
	}
	c, err := sqlite.OpenImmutable(l.Path)
	if err != nil {
		return
	}
	defer c.Close()
	people, err := store.CountPeople(c)
	seen, seenErr := store.LatestTime(c)
	if err == nil && seenErr == nil {
		l.People, l.Seen = people, seen
	}
}

// List returns the backups of a database in a folder, newest first. It returns an error if it cannot
// read the folder. The database may be in use, damaged or missing.
func List(db, dir string) (all []Listed, err error) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, err
	}
	db = osutil.Resolve(db)
	return listed(db, backupsIn(dir, db, time.Now())), nil
}

// Restorable returns what List returns and the copies that earlier restores kept next to the database,
// newest first. If it cannot read the folder, it returns these copies and the error.
func Restorable(db, dir string) (all []Listed, err error) {
	_, err = os.ReadDir(dir)
	db = osutil.Resolve(db)
	now := time.Now()
	files := append(backupsIn(dir, db, now), filesIn(filepath.Dir(db), db, now, keptAs)...)
	sortFiles(files, now)
	return listed(db, files), err
}

// listed describes the files, except the backups of another database.
func listed(db string, files []File) (all []Listed) {
	own, _ := identify(sqlite.Peek, db)
	var note verification
	ReadNote(db, NoteVerified, &note)
	for _, f := range ofDatabase(files, own) {
		info, err := os.Stat(f.Path)
		if err != nil { // deleted in the meantime
			continue
		}
		l := Listed{File: f, Bytes: info.Size(), Kept: strings.HasPrefix(f.Name(), filepath.Base(db)+keptSuffix)}
		if note.Backup != nil && note.Backup.Equal(f.Time) {
			l.Verified = note.Good
		}
		l.addContent()
		all = append(all, l)
	}
	return all
}

// Verify is like Check, but also examines an unencrypted backup like the check command. It calls
// report with each finding, and returns ErrUnsound if there are faults. It changes nothing.
func (f File) Verify(ctx context.Context, format sqlite.Format, report func(finding string)) (Copy, error) {
	if f.Encrypted {
		return f.Check(ctx, format)
	}
	if err := format.Inspect(f.Path); err != nil {
		return Copy{}, err
	}
	db, err := sqlite.OpenReadOnly(f.Path)
	if err != nil {
		return Copy{}, err
	}
	copied, err := verify(ctx, format, db, report)
	return copied, cmp.Or(err, db.Close())
}

// verify is Verify for an open database, which may have an older schema version.
func verify(ctx context.Context, format sqlite.Format, db *sqlite.DB, report func(finding string)) (copied Copy, err error) {
	isCurrent := false
	err = db.Read(func(c *sqlite.Conn) error {
		version, err := c.QueryInt(`PRAGMA user_version`)
		isCurrent = version == int64(format.Version)
		if err == nil {
			copied, err = examine(ctx, format, c)
		}
		return err
	})
	if err != nil || !isCurrent {
		return copied, cmp.Or(ctx.Err(), sqlite.Wrap("reading", db.Path(), err))
	}
	found, err := integrity.Check(ctx, db, integrity.Options{Format: format, Found: report, Progress: func(int, int) {}})
	// examine has already counted damaged records. A clock that is behind is not a fault.
	if err == nil && found.Broken+found.Foreign+found.Stale > 0 {
		err = ErrUnsound
	}
	return copied, err
}

// verifyEach is the interval at which the server verifies the newest backup again.
const verifyEach = 30 * 24 * time.Hour

// verification is the note about the verification of the newest backup.
type verification struct {
	At     time.Time  `json:"at"`               // time of the last attempt
	Good   *time.Time `json:"good,omitempty"`   // time of the last success
	Backup *time.Time `json:"backup,omitempty"` // time of the verified backup
	Dir    string     `json:"dir,omitempty"`    // its folder
	Reason string     `json:"reason,omitempty"` // cause of the last failure; "" after a success
}

// verify verifies the first backup in a folder and then the newest one once a month, or every new one
// while the verification fails.
func (s *Scheduler) verify(ctx context.Context) {
	s.mu.Lock()
	note, last, away := s.verified, s.state.Last, s.away
	s.mu.Unlock()
	age := s.now().Sub(note.At)
	isGood := note.Reason == "" && 0 <= age && age < verifyEach
	if last == nil || away != nil || isGood || last.Equal(s.tried) {
		return
	}
	s.tried = *last
	files := s.files()
	if len(files) == 0 {
		return
	}
	_, err := files[0].Verify(ctx, s.format, func(string) {})
	if ctx.Err() != nil {
		return
	}
	note.At, note.Dir, note.Reason = s.now().UTC().Truncate(time.Second), s.options.Dir, ""
	if err == nil {
		note.Good, note.Backup = &note.At, &files[0].Time
		s.log.Info("the newest backup was verified", "backup", files[0].Time.UTC())
	} else {
		note.Reason = reason(err)
		s.log.Error("the newest backup is not sound: see firefighters check --backup-dir", "cause", note.Reason)
	}
	if err := WriteNote(s.db, NoteVerified, note); err != nil {
		s.log.Warn("the verification of the newest backup could not be recorded", "cause", reason(err))
	}
	s.mu.Lock()
	s.verified = note
	s.mu.Unlock()
}
