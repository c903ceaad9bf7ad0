package main

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"modernc.org/sqlite"

	"firefighters/internal/osutil"
)

// How a copy of a database is made and checked.

// copiedAtOnce is how many pages are copied between two looks at whether to
// go on: some 4 MB.
const copiedAtOnce = 1024

// copy makes a copy at path, which is whole, checked and on disk when it
// returns without an error. It holds one moment of the source for as long as
// the pages take to copy, and no longer: the -wal cannot start over meanwhile.
func (b *backup) copy(ctx context.Context, path string) (made saved, err error) {
	if err := createFile(path); err != nil {
		return saved{}, err
	}
	size, departments, err := b.copyPages(ctx, path)
	if err != nil {
		return saved{}, cmp.Or(ctx.Err(), err)
	}
	if err := b.finish(path); err != nil {
		return saved{}, err
	}
	made, err = checkCopy(ctx, path)
	if errors.Is(err, errDamaged) || err == nil && (made.bytes != size || made.departments != departments) {
		return saved{}, bland{hinted{fmt.Errorf("database %q %w: a copy of it does not pass the check", b.source, errDamaged),
			"firefighters check --db " + quoteArg(b.source)}, "the database is damaged: a copy of it does not pass the check"}
	}
	return made, err
}

// copyPages copies the database as it is at one moment, and gives its size in
// bytes and in departments.
func (b *backup) copyPages(ctx context.Context, path string) (size, departments int64, err error) {
	source, err := openConn(verifyDSN(b.source))
	if err != nil {
		return 0, 0, explain("reading", b.source, err)
	}
	defer source.Close()
	if _, err := source.exec(`BEGIN`); err != nil {
		return 0, 0, explain("reading", b.source, err)
	}
	departments, err = source.queryNumber(`SELECT count(*) FROM tenants`)
	if err == nil {
		size, err = source.queryNumber(`SELECT page_count * page_size FROM pragma_page_count, pragma_page_size`)
	}
	if err != nil {
		return 0, 0, explain("reading", b.source, err)
	}
	if err := b.room(filepath.Dir(b.target), size); err != nil {
		return 0, 0, err
	}
	// Nobody else knows the copy, and it is nothing until it is whole: it
	// needs neither locks nor a journal.
	copying, err := source.Conn.(interface {
		NewBackup(string) (*sqlite.Backup, error)
	}).NewBackup(dsn(path, "mode=rw", "nolock=1", "_journal_mode=MEMORY", "_synchronous=OFF"))
	if err != nil {
		return 0, 0, explain("writing", path, translate(err))
	}
	if err := b.steps(ctx, copying); err != nil {
		copying.Finish()
		if err = translate(err); errors.Is(err, errFull) {
			return 0, 0, hinted{fmt.Errorf("writing %q: %w", b.target, err), "make room there, or take another disk"}
		}
		return 0, 0, explain("copying", b.source, err)
	}
	return size, departments, translate(copying.Finish())
}

func (b *backup) steps(ctx context.Context, copying *sqlite.Backup) error {
	for {
		more, err := copying.Step(copiedAtOnce)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if b.step != nil {
			b.step(copying.PageCount()-copying.Remaining(), copying.PageCount())
		}
		if !more {
			return nil
		}
	}
}

// finish makes the copy a database of one file, with the changes that are to
// be made to it, and writes it to disk.
func (b *backup) finish(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	// The file format versions, which would have SQLite look for a -wal.
	_, err = file.WriteAt([]byte{1, 1}, 18)
	if err := cmp.Or(err, file.Close()); err != nil || b.change == nil {
		return cmp.Or(err, syncFile(path))
	}
	c, err := openConn(dsn(path, "mode=rw", "nolock=1", "_journal_mode=MEMORY", "_foreign_keys=1"))
	if err != nil {
		return err
	}
	return cmp.Or(b.change(c), c.Close(), syncFile(path))
}

func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return cmp.Or(file.Sync(), file.Close())
}

// checkCopy looks a whole copy through, and gives what is in it. It leaves
// nothing beside it, and can read from a disk that cannot be written.
func checkCopy(ctx context.Context, path string) (s saved, err error) {
	if err := inspect(path); err != nil {
		return saved{}, err
	}
	c, err := openConn(copyDSN(path))
	if err != nil {
		return saved{}, explain("reading", path, err)
	}
	defer c.Close()
	verdict := ""
	err = c.queryContext(ctx, `PRAGMA integrity_check(1)`, func(row values) { verdict = text(row[0]) })
	if err == nil && verdict != "ok" {
		return saved{}, damaged(path)
	}
	if err == nil {
		err = c.queryContext(ctx, holdsSQL, func(row values) {
			s.records, s.departments, s.bytes = number(row[0]), number(row[1]), number(row[2])
		})
	}
	if err == nil {
		s.damaged, err = damagedIn(ctx, c)
	}
	if err != nil {
		return saved{}, cmp.Or(ctx.Err(), explain("reading", path, err))
	}
	return s, nil
}

// copyDSN reads a file that nobody changes, and leaves nothing beside it.
func copyDSN(path string) string { return dsn(path, "mode=ro", "immutable=1", "_query_only=1") }

// damagedIn counts the records that are not what the service wrote, which is
// known from schema version 2 on.
func damagedIn(ctx context.Context, c *conn) (n int64, err error) {
	version, err := c.queryNumber(`PRAGMA user_version`)
	if err != nil || version < 2 {
		return 0, err
	}
	err = c.queryContext(ctx, recordSQL, func(row values) {
		if isDamaged(row) {
			n++
		}
	})
	return n, err
}

// holdsSQL is right for every version of the schema.
const holdsSQL = `
	SELECT (SELECT count(*) FROM firefighters WHERE deleted_at IS NULL), (SELECT count(*) FROM tenants),
	       page_count * page_size
	  FROM pragma_page_count, pragma_page_size`

// queryContext is query without arguments for an answer that takes long, for
// which nobody may be waiting any more.
func (c *conn) queryContext(ctx context.Context, text string, scan func(row values)) error {
	statement, _, err := c.prepare(text, nil)
	if err != nil {
		return err
	}
	rows, err := statement.(driver.StmtQueryContext).QueryContext(ctx, nil)
	if err != nil {
		return translate(err)
	}
	row := make(values, len(rows.Columns()))
	for err = rows.Next(row); err == nil; err = rows.Next(row) {
		scan(row)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return translate(cmp.Or(err, rows.Close()))
}

// roomFor makes sure that a copy fits on the disk of a folder, and that a part
// of the disk stays free: a tenth of it, or as here one in kept; 0 is none.
func roomFor(spaceOf func(folder string) (osutil.Space, error), kept int64) func(folder string, size int64) error {
	return func(folder string, size int64) error {
		space, err := spaceOf(folder)
		if err != nil {
			return err
		}
		need := size + size/10 + 1<<20
		if kept > 0 {
			need += space.Total / kept
		}
		if space.Free >= need {
			return nil
		}
		return bland{hinted{fmt.Errorf("too little room in %q: %s are free, and %s must be",
			folder, inMegabytes(space.Free), inMegabytes(need)), "make room there, or take another disk"},
			fmt.Sprintf("too little room for backups: %s are free, and %s must be", inMegabytes(space.Free), inMegabytes(need))}
	}
}
