package invite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// The database of an installed service is not for the person at the screen, but
// the browser is that person's. So open starts itself a second time, with the
// rights of an administrator, to make the invitation. The link comes back in a
// file that the first process has made, which no other user can read.

// writeToFlag names that file.
const writeToFlag = "write-to"

// elevated is a process with more rights.
type elevated struct {
	ended chan struct{} // closed when it has
	code  int           // that it ended with
}

func (e *elevated) hasEnded() bool {
	select {
	case <-e.ended:
		return true
	default:
		return false
	}
}

// Why there is no process with more rights.
var (
	errCannotAsk = errors.New("only an administrator may open the page of this service")
	errRefused   = errors.New("the page was not opened, because the rights for it were not given")
)

// borrow opens the page with an invitation that a process with more rights makes.
func (o *opening) borrow() error {
	path, err := newPrivateFile("link", nil)
	if err != nil {
		return fmt.Errorf("making a private file: %w", err)
	}
	defer removePrivateFile(path)
	other, err := elevate(o.env, o.arguments(path))
	if err != nil {
		return o.noRights(err)
	}
	defer func() {
		removePrivateFile(path) // which ends the other process
		select {
		case <-other.ended: // it may be reading from this terminal
		case <-time.After(2 * time.Second):
		}
	}()
	text := ""
	if _, err := poll(o.env.Context, func() (bool, error) {
		ended := other.hasEnded() // before the file is read for the last time
		content, err := os.ReadFile(path)
		text = string(content)
		return ended || strings.HasSuffix(text, "\n"), err
	}); err != nil {
		return fmt.Errorf("reading the link: %w", err)
	}
	if o.made, o.local, err = o.answer(text, other); err != nil || o.env.Context.Err() != nil {
		return err
	}
	o.used = func() (bool, error) { return other.hasEnded(), nil }
	return o.show()
}

// arguments returns those of the process with more rights, which has another
// environment.
func (o *opening) arguments(path string) []string {
	args := []string{"open", "--" + writeToFlag, path}
	if !isOfService(o.env, o.db) { // which that process knows better
		if db, err := filepath.Abs(o.db); err == nil {
			args = append(args, "--db", db)
		}
	}
	if o.name != "" {
		args = append(args, "--tenant", o.name)
	}
	return args
}

// answer returns the invitation in what the other process has written, and the URL for
// this machine, or the error there.
func (o *opening) answer(text string, other *elevated) (made invitation, local string, err error) {
	url, code, isLink := strings.Cut(strings.TrimSuffix(text, "\n"), site.InvitationLink("", ""))
	what, isError := strings.CutPrefix(text, "Error: ")
	switch {
	case isError:
		<-other.ended
		what, hint, _ := strings.Cut(strings.TrimSuffix(what, "\n"), "\nTry: ")
		switch {
		case other.code == 2:
			return invitation{}, "", cli.Usage(what, hint)
		case hint != "":
			return invitation{}, "", cli.WithHint(errors.New(what), hint)
		}
		return invitation{}, "", errors.New(what)
	case isLink:
		code, local, _ = strings.Cut(code, " ")
		return invitation{url, code}, local, nil
	}
	return invitation{}, "", o.noRights(errRefused)
}

// noRights returns the error with what to type.
func (o *opening) noRights(err error) error {
	if errors.Is(err, errCannotAsk) {
		return cli.WithHint(err, cli.AsAdministrator(cli.TypedLine(o.flags, 0)))
	}
	return cli.WithHint(err, "ask an administrator of this PC for a link: "+cli.AsAdministrator("firefighters invite --tenant NAME --name NAME"))
}

// deliver is the part of the process with more rights. It writes the link, or why
// there is none, to the file at path, and waits until the invitation was used or
// the file has gone.
func (o *opening) deliver(c Commands, path string) error {
	file, err := openPrivate(path)
	if err != nil {
		return cli.Wrong(o.flags, "--"+writeToFlag+": "+err.Error())
	}
	defer file.Close()
	err = o.invite(c, func() error {
		if _, err := io.WriteString(file, o.made.link()+" "+o.local+"\n"); err != nil {
			return err
		}
		ctx, stop := context.WithTimeout(o.env.Context, 2*lookFor) // the other process comes first
		defer stop()
		_, err := poll(ctx, func() (bool, error) {
			if !osutil.Exists(path) {
				return true, nil
			}
			return o.used()
		})
		return err
	})
	if err == nil {
		return nil
	}
	var text strings.Builder
	code := cli.PrintError(err, &text)
	if _, failed := io.WriteString(file, text.String()); failed != nil {
		return err
	}
	return cli.Printed(code)
}

// openPrivate opens a file that is there for writing. It must be empty, have one
// name, and be for its owner alone: a process with more rights writes to nothing
// that it could do harm to.
func openPrivate(path string) (*os.File, error) {
	before, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	notPrivate := fmt.Errorf("%s is not an empty file that only its owner can read", osutil.InQuotes(path))
	if !before.Mode().IsRegular() || before.Size() > 0 || osutil.LinkCount(before) > 1 || runtime.GOOS != "windows" && before.Mode().Perm()&0o077 != 0 {
		return nil, notPrivate
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	if now, err := file.Stat(); err != nil || !os.SameFile(before, now) {
		file.Close()
		return nil, notPrivate
	}
	return file, nil
}
