package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// applicationID is "FfRs", in the header of every database that we made.
const applicationID = 0x46665273

// busyTimeout is how long a statement waits for another program's lock.
const busyTimeout = 5 * time.Second

// What the methods of the store answer beside success. Everything else is a
// failure whose text is for the log alone.
var (
	errNotFound = errors.New("no such record")
	errBusy     = errors.New("the database is locked by another program")
	errFull     = errors.New("the disk is full")
	errClosed   = errors.New("the database is closed")
)

var (
	errNoDatabase = errors.New("there is no database")
	errUnreadable = errors.New("a page of the database cannot be read")
)

// hinted is an error for the person at the keyboard, with what to type.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

// tenantID is the department that a request, and so every method on its
// records, is for.
type tenantID int64

// store is an open database: a few connections that read, and the writer's.
type store struct {
	clock   *clock
	readers chan *conn   // those that are idle
	gate    sync.RWMutex // held for reading while one is lent out
	writer  *writer
	rolls   rolls
	faults  atomic.Int64 // pages that could not be read
}

// maxFaults bounds what the connections leave behind that SQLite was torn out
// of: nobody can close them.
const maxFaults = 100

// openStore opens the database at path. Where there is none it makes one, if
// create is set; made says so. A file that is not ours, newer than we are or
// damaged is refused and left as it is.
func openStore(path string, create bool, now func() time.Time) (s *store, made bool, err error) {
	path = resolve(path)
	version := 0
	if err = cmp.Or(awaitRestore(path), inspect(path)); err == nil {
		version, err = verify(path)
	}
	switch {
	case errors.Is(err, errNoDatabase) && create:
		made = true
		if err = createFile(path); err != nil {
			return nil, false, explain("making", path, err)
		}
	case err != nil:
		return nil, false, err
	}
	if version == 0 {
		if err := makeSchema(path); err != nil {
			return nil, false, explain("setting up", path, err)
		}
	}
	s, err = connect(path, now)
	if err != nil {
		return nil, false, explain("opening", path, err)
	}
	return s, made, nil
}

// readerCount is the number of connections that read.
var readerCount = max(4, runtime.NumCPU())

// connect opens the connections of a store on a database that is in order.
func connect(path string, now func() time.Time) (s *store, err error) {
	var open []*conn
	defer func() {
		if err != nil {
			for _, c := range open {
				c.Close()
			}
		}
	}()
	dsns := append([]string{writerDSN(path), writerDSN(path), holderDSN(path)}, slices.Repeat([]string{readerDSN(path)}, readerCount)...)
	for _, dsn := range dsns {
		c, err := openConn(dsn)
		if err != nil {
			return nil, err
		}
		open = append(open, c)
	}
	writing, folder, holder, readers := open[0], open[1], open[2], open[3:]
	latest, err := writing.queryNumber(`SELECT latest_time FROM service`)
	if err != nil {
		return nil, err
	}
	s = &store{clock: &clock{system: now}, readers: make(chan *conn, readerCount), rolls: rolls{rest: rollRest, departments: map[tenantID]*department{}}}
	s.clock.latest.Store(latest)
	s.clock.saved.Store(latest)
	for _, c := range readers {
		s.readers <- c
	}
	s.writer = newWriter(writing, holder, folder, s)
	return s, forLitestream(writing, folder)
}

// forLitestream has a -wal cut off when it starts over, if Litestream copies
// the database: after a pause it takes frames from before for those that it
// knows, and its copy is damaged. It costs a single writer a third of the speed.
func forLitestream(conns ...*conn) error {
	copied, err := conns[0].queryNumber(`SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = '_litestream_seq')`)
	for _, c := range conns {
		if err == nil && copied == 1 {
			_, err = c.queryNumber(`PRAGMA journal_size_limit = 0`)
		}
	}
	return err
}

// read lends out a connection to read with. What one statement reads is of
// one moment. A mapped page that the disk cannot give is errUnreadable, and not
// the end of the program as it would be by default.
func (s *store) read(do func(*conn) error) (err error) {
	if s.faults.Load() >= maxFaults {
		return errUnreadable
	}
	s.gate.RLock()
	defer s.gate.RUnlock()
	c, open := <-s.readers
	if !open {
		return errClosed
	}
	defer func() { s.readers <- c }()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		p := recover()
		if _, fault := p.(interface{ Addr() uintptr }); fault {
			err, c.broken = errUnreadable, true
			s.faults.Add(1)
		} else if p != nil {
			c.broken = true
			panic(p)
		}
	}()
	return do(c)
}

// close waits for what is under way and closes the database.
func (s *store) close() error {
	s.writer.stop()
	var failures []error
	for range readerCount {
		failures = append(failures, (<-s.readers).Close())
	}
	close(s.readers)
	// The last connection to close tidies up, and a reader cannot.
	return cmp.Or(append(failures, s.writer.holder.Close(), s.writer.folder.Close(), s.writer.conn.Close())...)
}

// ping reports whether the database answers.
func (s *store) ping() error {
	return s.read(func(c *conn) error {
		_, err := c.queryNumber(`SELECT only_row FROM service`)
		return err
	})
}

// isEmpty reports whether the database has no department yet.
func (s *store) isEmpty() (empty bool, err error) {
	err = s.read(func(c *conn) error {
		n, err := c.queryNumber(`SELECT EXISTS (SELECT 1 FROM tenants)`)
		empty = n == 0
		return err
	})
	return empty, err
}

// The settings of a connection are in its data source name.

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

// migrationDSN leaves the journal mode alone, so that a new file is made
// whole or, when the power fails, not at all.
func migrationDSN(path string) string {
	return dsn(path, "mode=rw", "_synchronous=FULL", "_foreign_keys=1")
}

// writerDSN makes every commit survive a power cut: in WAL mode that takes
// synchronous=FULL, and on macOS fullfsync too.
func writerDSN(path string) string {
	return dsn(path, "mode=rw", "_journal_mode=WAL", "_synchronous=FULL", "_foreign_keys=1",
		"_pragma=fullfsync(1)", "_pragma=temp_store(memory)", "_pragma=cache_size(-16000)", "_pragma=wal_autocheckpoint(0)", // see checkpoint
		"_pragma=journal_size_limit(33554432)")
}

// holderDSN maps nothing: nobody is there to see that a page is lost.
func holderDSN(path string) string {
	return dsn(path, "mode=ro", "_query_only=1")
}

// readerDSN maps the file into memory, as far as addresses and SQLite (2 GiB)
// go: a page that the system has is read without a call to it.
func readerDSN(path string) string {
	mapped := int64(math.MaxInt32)
	if strconv.IntSize == 32 {
		mapped = 0
	}
	return dsn(path, "mode=ro", "_query_only=1", "_pragma=temp_store(memory)", fmt.Sprintf("_pragma=mmap_size(%d)", mapped))
}

// clock never goes back, not even across restarts: what has once expired
// stays so on a machine that starts in 1970.
type clock struct {
	system func() time.Time
	latest atomic.Int64 // milliseconds
	saved  atomic.Int64 // what the database has of it; set by the writer
}

// maxBehind is how far the system's clock may be behind the latest time seen
// without anybody being told.
const maxBehind = time.Hour

// behind is how far the system's clock is behind the latest time seen. It may
// be wrong now, or may have been far ahead once.
func (c *clock) behind() time.Duration { return c.now().Sub(c.system()) }

// earlier is for what must not happen too soon: the system's time, if it is
// before the latest time seen.
func (c *clock) earlier() time.Time { return c.now().Add(-c.behind()) }

// now is the system's time, or the latest time seen if that is later.
func (c *clock) now() time.Time {
	now := c.system()
	for {
		latest := c.latest.Load()
		if now.UnixMilli() <= latest {
			return time.UnixMilli(latest).UTC()
		}
		if c.latest.CompareAndSwap(latest, now.UnixMilli()) {
			return now.UTC()
		}
	}
}
