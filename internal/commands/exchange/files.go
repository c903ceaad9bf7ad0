package exchange

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// standardInput is the FILE argument for standard input.
const standardInput = "-"

// isDatabase reports whether path is the database or one of its files.
func isDatabase(path, db string) bool {
	db = osutil.Resolve(db)
	return slices.ContainsFunc([]string{"", "-wal", "-shm", "-lock"}, func(suffix string) bool { return osutil.SameFile(path, db+suffix) })
}

// readFile returns the content of a file or of standard input. It returns context.Canceled if the
// command is stopped while standard input does not end.
func readFile(env cli.Env, cmd *cobra.Command, path string) ([]byte, error) {
	if path != standardInput {
		return readRegular(cmd, path)
	}
	type result struct {
		content []byte
		err     error
	}
	read := make(chan result, 1)
	go func() {
		content, err := readAll(env.Stdin, path)
		read <- result{content, err}
	}()
	select {
	case r := <-read:
		return r.content, r.err
	case <-env.Context.Done():
		return nil, context.Canceled
	}
}

// readRegular returns the content of a regular file. It does not open pipes, sockets and devices,
// which could block.
func readRegular(cmd *cobra.Command, path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, cli.WithHint(fmt.Errorf("there is no file %s", osutil.InQuotes(path)), similarFile(cmd, path))
	case err != nil:
		return nil, cannotRead(path, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", osutil.InQuotes(path))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, cannotRead(path, err)
	}
	defer file.Close()
	return readAll(file, path)
}

// similarFile returns the typed command line with the most similar file name in the folder of path, or
// with a similar subcommand, or "".
func similarFile(cmd *cobra.Command, path string) string {
	entries, _ := os.ReadDir(filepath.Dir(path))
	var names []string
	for _, entry := range entries {
		if !entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	command := cmd.CommandPath() + " "
	cmd.SuggestionsMinimumDistance = 2
	name := cli.Nearest(filepath.Base(path), names)
	switch subcommands := cmd.SuggestionsFor(path); {
	case name == "" && len(subcommands) > 0:
		return command + subcommands[0]
	case name == "":
		return ""
	}
	return command + cli.Quote(filepath.Join(filepath.Dir(path), name)) + strings.TrimPrefix(cli.CommandLine(cmd), command+cli.Quote(path))
}

// readAll reads at most sheet.MaxFile bytes. The error for more is a *sheet.FileError.
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
		return fmt.Errorf("%s cannot be read: permission denied", osutil.InQuotes(path))
	}
	return fmt.Errorf("reading %s: %w", osutil.InQuotes(path), osutil.Cause(err))
}

type target struct {
	flag   string // the flag that names the file
	path   string // empty for no file
	force  bool   // replace an existing file
	format string
}

// chooseFormat sets the format from the extension of the file, unless it is set. The error is a usage
// error.
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
		return fmt.Errorf("%s %s does not have the format %s", t.flag, cli.Quote(t.path), t.format)
	}
	t.format = format
	return nil
}

// refuse returns an error if the file exists and force is not set, or cannot be written.
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
		return cli.WithHint(fmt.Errorf("the folder of %s does not exist", name), "mkdir "+cli.Quote(filepath.Dir(path)))
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return t.failed(err)
	case isDatabase(path, db):
		return fmt.Errorf("%s is the database", name)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", name)
	case !t.force:
		return cli.WithHint(fmt.Errorf("%s already exists", name), "to replace it, add --force")
	}
	return nil
}

// write writes the file, which only its owner can read. It replaces a previous file only when the new
// one is complete and on disk.
func (t *target) write(db string, fill func(io.Writer) error) error {
	draft, err := osutil.NewDraft(t.path)
	if err != nil {
		return t.failed(err)
	}
	defer draft.Discard()
	out := bufio.NewWriterSize(draft, 1<<16)
	err = fill(out)
	if failed := out.Flush(); failed != nil { // an earlier write error, if there was one
		return t.failed(failed)
	}
	if err != nil {
		return err
	}
	if err := t.refuse(db); err != nil {
		return err
	}
	return t.failed(draft.Publish(true))
}

// failed explains an error of writing the file. It returns nil for nil.
func (t *target) failed(err error) error {
	if err == nil {
		return nil
	}
	name := osutil.InQuotes(t.path)
	if osutil.NotPermitted(err) && !errors.Is(err, osutil.ErrRedirect) {
		return fmt.Errorf("the folder of %s is not writable", name)
	}
	return fmt.Errorf("writing %s: %w", name, osutil.Cause(err))
}
