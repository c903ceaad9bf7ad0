package transit

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/firefighter-records/firefighters/internal/record"
	"github.com/firefighter-records/firefighters/internal/sheet"
	"github.com/firefighter-records/firefighters/internal/store"
)

// Export is a file to be sent.
type Export struct {
	Format string       // one of package sheet
	Query  record.Query // who is in it, and in which order; the pages do not count
	Name   string       // of the file, in ASCII; the day and the ending are added
}

// Send sends the people of a department as a file, all of one moment. To a HEAD
// request it makes no file. After an error nothing was sent.
func Send(w http.ResponseWriter, r *http.Request, s *store.Store, tenant record.TenantID, e Export) error {
	var file spool
	defer file.Close()
	if r.Method != http.MethodHead {
		// net/http takes the deadline for a client that has gone.
		http.NewResponseController(w).SetReadDeadline(time.Time{})
		if err := export(r, s, tenant, e, &file); r.Context().Err() != nil {
			panic(http.ErrAbortHandler) // the client has gone
		} else if err != nil {
			return err
		}
	}
	content, err := file.reader()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", sheet.ContentType(e.Format))
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s-%s.%s"`,
		e.Name, s.Clock().Now().Format(time.DateOnly), e.Format))
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	h.Set("Content-Length", strconv.FormatInt(file.size, 10))
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(timeFor(file.size)))
	io.Copy(w, content) // an error means that the client has gone
	return nil
}

// timeFor returns how long a client may take for so many bytes.
func timeFor(size int64) time.Duration {
	const slowest = 64 << 10 // bytes in a second
	return time.Minute + time.Duration(size/slowest)*time.Second
}

// export writes the file. It ends early if the client goes.
func export(r *http.Request, s *store.Store, tenant record.TenantID, e Export, file *spool) error {
	done, err := Begin(r.Context())
	if err != nil {
		return err
	}
	defer done()
	to, err := sheet.NewWriter(file, e.Format)
	if err != nil {
		return err
	}
	err = s.Each(tenant, e.Query, func(f *record.Firefighter) error {
		if err := r.Context().Err(); err != nil {
			return err
		}
		return to.Write(f)
	})
	if closing := to.Close(); err == nil {
		err = closing
	}
	return err
}
