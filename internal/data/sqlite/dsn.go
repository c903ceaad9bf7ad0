package sqlite

import (
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Data source names. They hold all settings of a connection, so that no
// connection can be without them.

// busyTimeout is how long a statement waits for another program's lock.
const busyTimeout = 5 * time.Second

func dsn(path string, settings ...string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" && !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/x is /C:/x in a URL
	}
	settings = append(settings, "_error_rc=1", "_dqs=0", "_defensive=1",
		fmt.Sprintf("_busy_timeout=%d", busyTimeout.Milliseconds()))
	return (&url.URL{Scheme: "file", Path: path, RawQuery: strings.Join(settings, "&")}).String()
}

// writerDSN makes every commit survive a power cut. In WAL mode this takes
// synchronous=FULL, and on macOS fullfsync. The writer runs its own checkpoints.
func writerDSN(path string) string {
	return dsn(path, "mode=rw", "_journal_mode=WAL", "_synchronous=FULL", "_foreign_keys=1", "_pragma=fullfsync(1)",
		"_pragma=temp_store(memory)", "_pragma=cache_size(-16000)", "_pragma=wal_autocheckpoint(0)",
		"_pragma=journal_size_limit(33554432)")
}

// readerDSN is for connections that read a database in WAL mode.
func readerDSN(path string) string {
	return dsn(path, "mode=ro", "_query_only=1", "_pragma=temp_store(memory)")
}

// migrationDSN leaves the journal mode alone. So a new file is made as a whole
// or, when the power fails, not at all.
func migrationDSN(path string) string {
	return dsn(path, "mode=rw", "_synchronous=FULL", "_foreign_keys=1", "_pragma=fullfsync(1)")
}

// peekDSN is for reading a file that other programs may use, or that a power
// cut left as it is. With mode=rw SQLite would write the -wal into the file.
// With mode=ro it would leave a -wal beside a file that has none, and would not
// roll back a transaction that a power cut interrupted.
func peekDSN(path string) string {
	if osutil.Exists(path + "-wal") {
		return dsn(path, "mode=ro")
	}
	if !osutil.Exists(path+"-journal") && !osutil.Writable(filepath.Dir(path)) {
		return immutableDSN(path) // nobody changes it, and SQLite cannot put a file beside it
	}
	return dsn(path, "mode=rw", "_query_only=1")
}

// immutableDSN is for reading a file that nobody changes. It leaves no file
// beside it.
func immutableDSN(path string) string { return dsn(path, "mode=ro", "immutable=1", "_query_only=1") }

// privateDSN is for writing a copy that no other program knows yet, and that
// is worth nothing until it is whole. It needs no locks, which some disks for
// backups do not have, and no journal on disk. The copy of a database in WAL
// mode leaves that mode here. nolock=1 could not open it, and without exclusive
// mode SQLite would need a -shm.
func privateDSN(path string) string {
	vfs := "vfs=unix-none"
	if runtime.GOOS == "windows" {
		vfs = "vfs=win32-none"
	}
	return dsn(path, "mode=rw", vfs, "_pragma=locking_mode(exclusive)", "_journal_mode=MEMORY", "_synchronous=OFF", "_foreign_keys=1")
}

// lockDSN waits so long for another lock, and puts no file beside the locked one.
func lockDSN(path string, wait time.Duration) string {
	return dsn(path, "mode=rw", fmt.Sprintf("_timeout=%d", wait.Milliseconds()), "_journal_mode=MEMORY")
}
