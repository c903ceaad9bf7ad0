package backup

import (
	"context"
	"os"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Newest returns the newest backup of a database in a folder. The database may be in use, in
// this process as well, damaged or missing. The error is ErrNone, or ErrOthers if the folder
// has backups of another database only.
func Newest(db, dir string) (File, error) {
	db = osutil.Resolve(db)
	all := backupsIn(dir, db, time.Now())
	own, _ := identify(sqlite.Peek, db) // Inspect would end the locks of this process on it
	its := ofDatabase(all, own)
	switch {
	case len(all) == 0:
		return File{}, ErrNone
	case len(its) == 0:
		return File{}, ErrOthers
	}
	return its[0], nil
}

// Listed is a backup in a list.
type Listed struct {
	File
	Bytes    int64
	Verified *time.Time // when the server last verified it; nil if it did not, or has verified a newer one since
}

// List returns the backups of a database in a folder, the newest first. The database may be
// in use, damaged or missing. It returns an error if the folder cannot be read.
func List(db, dir string) (all []Listed, err error) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, err
	}
	db = osutil.Resolve(db)
	own, _ := identify(sqlite.Peek, db)
	var note verification
	ReadNote(db, noteVerified, &note)
	for _, f := range ofDatabase(backupsIn(dir, db, time.Now()), own) {
		info, err := os.Stat(f.Path)
		if err != nil { // deleted meanwhile
			continue
		}
		listed := Listed{File: f, Bytes: info.Size()}
		if note.Backup != nil && note.Backup.Equal(f.Time) {
			listed.Verified = note.Good
		}
		all = append(all, listed)
	}
	return all, nil
}

// Verify is Check, and for a plain backup what the command check does with a database: it
// calls found with each finding. It changes nothing. The error is ErrUnsound if there are
// faults.
func (f File) Verify(ctx context.Context, format sqlite.Format, found func(finding string)) (Copy, error) {
	copied, err := f.Check(ctx, format)
	if err != nil || f.Encrypted {
		return copied, err
	}
	faults, err := examine(ctx, format, f.Path, found)
	if err == nil && faults > 0 {
		err = ErrUnsound
	}
	return copied, err
}

// examine checks all of a backup of the newest schema, as the command check does with a
// database. It calls found with each finding, and returns the number of faults. Damaged
// records, which summarize counts, and a clock that is behind are no faults. A backup of an
// older schema has none.
func examine(ctx context.Context, format sqlite.Format, path string, found func(finding string)) (faults int, err error) {
	if format.HeaderVersion(path) != format.Version {
		return 0, nil
	}
	db, err := sqlite.OpenReadOnly(path)
	if err != nil {
		return 0, err
	}
	all, err := integrity.Check(ctx, db, integrity.Options{Format: format, Found: found, Progress: func(int, int) {}})
	if closing := db.Close(); err == nil {
		err = closing
	}
	return all.Broken + all.Foreign + all.Stale, err
}

// verifyEach is the time after which the server verifies the newest backup again.
const verifyEach = 30 * 24 * time.Hour

// verification is the note about how the server has verified the newest backup.
type verification struct {
	At     time.Time  `json:"at"`               // of the last attempt
	Good   *time.Time `json:"good,omitempty"`   // of the last one that succeeded
	Backup *time.Time `json:"backup,omitempty"` // the time of the backup that it verified
	Reason string     `json:"reason,omitempty"` // why the last one failed; "" if it succeeded
}

// verify verifies the newest backup if that is due: once a month and, as long as it fails,
// each new one.
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
	note.At, note.Reason = s.now().UTC().Truncate(time.Second), ""
	if err == nil {
		note.Good, note.Backup = &note.At, &files[0].Time
		s.log.Info("the newest backup was verified", "backup", files[0].Time.UTC())
	} else {
		note.Reason = reason(err)
		s.log.Error("the newest backup is not sound: see firefighters check --backup-dir", "cause", note.Reason)
	}
	if err := WriteNote(s.db, noteVerified, note); err != nil {
		s.log.Warn("the verification of the newest backup could not be noted", "cause", reason(err))
	}
	s.mu.Lock()
	s.verified = note
	s.mu.Unlock()
}
