package guard

import "time"

// kind is a kind of loss.
type kind int

const (
	gone     kind = iota // the database is missing
	cut                  // the database or its -wal is cut
	replaced             // another file is in its place
	older                // an older state of it is in its place
	damaged              // SQLite has found it damaged
	beside               // the -wal or the -shm is missing, cut or another, or a link leads elsewhere
)

// finding is what a look has found.
type finding struct {
	what     string // what has happened to the files; "" if nothing has
	kind     kind
	fileOnly bool // the content of the file of the database alone says so
	unknown  bool // a look without a result
}

// patience is how long looks in a row must find a loss before it is one: a look may come
// in the middle of what another process does. That process may copy from the -wal into
// the file for longer, but each look then finds the file modified, and the doubt begins
// again.
func (f finding) patience() time.Duration {
	if f.fileOnly {
		return 10 * interval
	}
	return interval * 3 / 4
}

// What a look finds beside a loss of one of the files.
var (
	noResult    = finding{unknown: true}
	overwritten = finding{what: "another program has written over the file of the database", kind: replaced}
	olderFiles  = finding{what: olderCopy, kind: older}
	olderFile   = finding{what: olderCopy, kind: older, fileOnly: true}
)

const olderCopy = "an older copy was written over the files of the database"

var suffixes = []string{"", "-wal", "-shm"} // of the files of a database

var names = map[string]string{"": "the file of the database", "-wal": "the -wal of the database", "-shm": "the -shm of the database"}

// missing, another and cutOff return that this has happened to the file with a suffix.
func missing(suffix string) finding {
	return finding{what: names[suffix] + " was deleted or moved away", kind: kindOf(suffix, gone)}
}

func another(suffix string) finding {
	return finding{what: "another file was put in the place of " + names[suffix], kind: kindOf(suffix, replaced)}
}

func cutOff(suffix string, kind kind) finding {
	return finding{what: names[suffix] + " was cut off", kind: kind}
}

// kindOf returns the kind of a loss of the file with a suffix.
func kindOf(suffix string, ofDatabase kind) kind {
	if suffix != "" {
		return beside
	}
	return ofDatabase
}
