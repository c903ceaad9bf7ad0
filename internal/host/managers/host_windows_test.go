package managers

import (
	"errors"
	"io"
	"io/fs"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/firefighter-records/firefighters/internal/host/internal/winservice"
)

func TestErrors(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]error{
		windows.ERROR_ACCESS_DENIED: ErrNotPermitted, windows.ERROR_SERVICE_DOES_NOT_EXIST: ErrNotInstalled,
		&winservice.EndedError{Word: "stopped"}: ErrNotReady, io.EOF: io.EOF, nil: nil,
	} {
		if err != nil {
			err = &fs.PathError{Op: "open", Path: "x", Err: err}
		}
		if got := known(err); !errors.Is(got, want) || want == nil && got != nil {
			t.Errorf("%v is %v, not %v", err, got, want)
		}
	}
}
