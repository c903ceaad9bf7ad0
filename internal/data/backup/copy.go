package backup

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// copyTo makes a copy at path. When it returns without an error, the copy is
// complete, checked and on disk. source is the identity of what was copied.
func (j *Job) copyTo(ctx context.Context, path string) (made Copy, source Identity, err error) {
	if err := osutil.CreatePrivate(path); err != nil {
		return Copy{}, Identity{}, writeError(j.written(), err)
	}
	source, bytes, err := j.copyPages(ctx, path)
	if err != nil {
		return Copy{}, Identity{}, cmp.Or(ctx.Err(), err)
	}
	err = j.finish(path, source, bytes)
	if err == nil {
		made, err = check(ctx, j.Content, path)
	}
	if errors.Is(err, sqlite.ErrCorrupt) {
		err = &sqlite.FileError{Op: "copying", Path: j.Source, Err: ErrBadCopy}
	}
	if err != nil {
		return Copy{}, Identity{}, err
	}
	return made, source, nil
}

// copyPages copies the database as it is at one moment. The transaction takes
// no longer than it must, because the -wal cannot restart before its end.
func (j *Job) copyPages(ctx context.Context, path string) (source Identity, size int64, err error) {
	c, err := sqlite.Peek(j.Source)
	if err != nil {
		return Identity{}, 0, databaseError("reading", j.Source, err)
	}
	defer c.Close()
	err = c.Transaction(func() error {
		source, err = j.Content.Identify(c)
		if err == nil {
			size, err = c.Size()
		}
		if err != nil {
			return databaseError("reading", j.Source, err)
		}
		if err := j.checkRoom(size); err != nil {
			return err
		}
		return c.CopyTo(ctx, path, j.Progress)
	})
	return source, size, j.copyError(err)
}

// copyError says of an error of the copying which of the two files it is about.
func (j *Job) copyError(err error) error {
	switch {
	case errors.As(err, new(*Error)), errors.As(err, new(*RoomError)):
		return err
	case errors.Is(err, sqlite.ErrFull):
		return writeError(j.written(), err)
	}
	return databaseError("copying", j.Source, err)
}

// finish makes the copy a database of one file. It compares the copy with its
// source, of so many bytes, before change is called, which may add pages.
func (j *Job) finish(path string, source Identity, bytes int64) error {
	err := sqlite.FinishCopy(path, func(c *sqlite.Conn) error {
		copied, err := j.Content.Identify(c)
		size, sizeErr := c.Size()
		if err = cmp.Or(err, sizeErr); err == nil && (copied.Mark != source.Mark || size != bytes) {
			err = ErrBadCopy
		}
		if err == nil && j.change != nil {
			err = j.change(c)
		}
		return err
	})
	return writeError(j.written(), err)
}

// check reads all of a copy. It leaves nothing beside it, and can read from a
// disk that cannot be written.
func check(ctx context.Context, content Content, path string) (found Copy, err error) {
	if err := content.Format().Inspect(path); err != nil {
		return Copy{}, err
	}
	c, err := sqlite.OpenImmutable(path)
	if err != nil {
		return Copy{}, databaseError("reading", path, err)
	}
	defer c.Close()
	err = c.CheckStructure(ctx)
	if err == nil {
		found.Bytes, err = c.Size()
	}
	if err == nil {
		found.Summary, err = content.Summarize(ctx, c)
	}
	if err != nil {
		return Copy{}, cmp.Or(ctx.Err(), databaseError("reading", path, err))
	}
	found.Foreign, _ = errors.AsType[*sqlite.SchemaError](content.Format().CheckSchema(c))
	return found, nil
}

// checkRoom returns an error unless a copy of this size, in bytes, fits on the
// disk of the target.
func (j *Job) checkRoom(size int64) error {
	room := j.room
	if room == nil {
		room = roomFor(osutil.SpaceOf, 0)
	}
	err := room(filepath.Dir(j.Target), size)
	if err == nil && j.work != "" {
		err = roomFor(osutil.SpaceOf, 0)(j.work, size)
	}
	return err
}

// roomFor returns a function that makes sure that a copy fits on the disk of a
// folder, with a tenth of its size and 1 MiB to spare. If part is not 0, that part of
// the disk, 1/part, stays free as well.
func roomFor(spaceOf func(folder string) (osutil.Space, error), part int64) func(folder string, size int64) error {
	return func(folder string, size int64) error {
		space, err := spaceOf(folder)
		if err != nil {
			return writeError(folder, err)
		}
		need := size + size/10 + 1<<20
		if part > 0 {
			need += space.Total / part
		}
		if space.Free >= need {
			return nil
		}
		return &RoomError{folder, space.Free, need}
	}
}
