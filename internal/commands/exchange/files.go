package exchange

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// standardInput is the name of standard input in the place of a file.
const standardInput = "-"

// isDatabase reports whether a path names the database or a file of it.
func isDatabase(path, db string) bool {
	db = osutil.Resolve(db)
	return slices.ContainsFunc([]string{"", "-wal", "-shm", "-lock"}, func(suffix string) bool { return osutil.SameFile(path, db+suffix) })
}

// readFile returns the content of a file or of standard input, or an error when the
// command must stop: standard input may never end.
func readFile(env cli.Env, path string) ([]byte, error) {
	type result struct {
		content []byte
		err     error
	}
	read := make(chan result, 1)
	go func() {
		content, err := readWhole(env, path)
		read <- result{content, err}
	}()
	select {
	case r := <-read:
		return r.content, r.err
	case <-env.Context.Done():
		return nil, errors.New("stopped before the file was read; nothing was changed")
	}
}

// readWhole returns the content of a file or of standard input. It opens no pipe, socket
// or device, which could keep it waiting, and reads no more than a file may have. The
// error is a *sheet.FileError for a file that is too large.
func readWhole(env cli.Env, path string) ([]byte, error) {
	if path == standardInput {
		return readAll(env.Stdin, path)
	}
	info, err := os.Stat(path)
	name := osutil.InQuotes(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, cli.WithHint(fmt.Errorf("there is no file %s", name), "name the right file")
	case err != nil:
		return nil, cannotRead(path, err)
	case !info.Mode().IsRegular():
		return nil, cli.WithHint(fmt.Errorf("%s is not a file", name), "the file itself, or - for standard input")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, cannotRead(path, err)
	}
	defer file.Close()
	return readAll(file, path)
}

func readAll(r io.Reader, path string) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, sheet.MaxFile+1))
	switch {
	case err != nil:
		return nil, cannotRead(path, err)
	case len(content) > sheet.MaxFile:
		return nil, &sheet.FileError{Code: sheet.FileTooLarge, Args: []any{sheet.MaxFile >> 20}}
	}
	return content, nil
}

func cannotRead(path string, err error) error {
	if osutil.NotPermitted(err) {
		return cli.WithHint(fmt.Errorf("%s may not be read", osutil.InQuotes(path)), "start as the user who owns it")
	}
	return fmt.Errorf("reading %s: %w", osutil.InQuotes(path), cause(err))
}

// cause returns what the system says, without the path.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// target is a file to be written, whole or not at all.
type target struct {
	flag   string // that names it
	path   string // empty: none
	force  bool   // replace one that exists
	format string
}

// chooseFormat takes the format from the ending of the file's name, unless it is
// chosen already. The error says what is wrong with the flags.
func (t *target) chooseFormat(formats ...string) error {
	if t.path == "" {
		return nil
	}
	format := sheet.FormatOf(t.path)
	switch {
	case format == "" && t.format != "":
		return nil
	case !slices.Contains(formats, format):
		return fmt.Errorf("%s must end in .%s, not %q", t.flag, strings.Join(formats, " or ."), filepath.Base(t.path))
	case t.format != "" && t.format != format:
		return fmt.Errorf("%s %s is not of the format %s", t.flag, cli.Quote(t.path), t.format)
	}
	t.format = format
	return nil
}

// refuse returns an error if the file may not be written.
func (t *target) refuse(db string) error {
	if t.path == "" {
		return nil
	}
	if err := osutil.RefuseRedirect(t.path, db); err != nil {
		return t.failed(err)
	}
	path := osutil.Resolve(t.path)
	name := osutil.InQuotes(t.path)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !osutil.Exists(filepath.Dir(path)):
		return cli.WithHint(fmt.Errorf("the folder of %s does not exist", name), "make it first: mkdir "+cli.Quote(filepath.Dir(path)))
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return t.failed(err)
	case isDatabase(path, db):
		return cli.WithHint(fmt.Errorf("%s is the database itself", name), "another name")
	case !info.Mode().IsRegular():
		return cli.WithHint(fmt.Errorf("%s is not a file", name), "another name")
	case !t.force:
		return cli.WithHint(fmt.Errorf("%s is there already", name), "another name, or --force to replace it")
	}
	return nil
}

// write writes the file, which only its owner can read. It gets its name when it
// is complete and on disk. What was there before stays until then.
func (t *target) write(db string, fill func(io.Writer) error) error {
	draft, err := osutil.NewDraft(t.path)
	if err != nil {
		return t.failed(err)
	}
	defer draft.Discard()
	out := bufio.NewWriterSize(draft, 1<<16)
	err = fill(out)
	if failed := out.Flush(); failed != nil { // also if it was in filling
		err = t.failed(failed)
	}
	if err = cmp.Or(err, t.refuse(db)); err != nil {
		return err
	}
	return t.failed(draft.Publish(true))
}

// failed says that the file could not be written. It returns nil for nil.
func (t *target) failed(err error) error {
	if err == nil {
		return nil
	}
	name, hint := osutil.InQuotes(t.path), ""
	switch {
	case errors.Is(err, osutil.ErrRedirect):
		return cli.WithHint(fmt.Errorf("writing %s: %w", name, err), "take a folder of root, or start as that user")
	case osutil.NotPermitted(err):
		return cli.WithHint(fmt.Errorf("the folder of %s may not be written", name), "start as the user who owns it, or take another folder")
	case osutil.NoRoom(filepath.Join(filepath.Dir(osutil.Resolve(t.path)), "x")):
		hint = "make room there, or take another disk"
	}
	err = fmt.Errorf("writing %s: %w", name, cause(err))
	if hint == "" {
		return err
	}
	return cli.WithHint(err, hint)
}
