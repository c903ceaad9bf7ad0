package upload

import (
	"fmt"
	"net/http"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
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
	describe := func(w http.ResponseWriter) {
		h := w.Header()
		h.Set("Content-Type", sheet.ContentType(e.Format))
		h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s-%s.%s"`,
			e.Name, s.Clock().Now().Format(time.DateOnly), e.Format))
		w.WriteHeader(http.StatusOK)
	}
	if r.Method == http.MethodHead {
		describe(w)
		return nil
	}
	return Work(w, r, tenant, 0, func(w http.ResponseWriter) error {
		if err := export(w, r, s, tenant, e); err != nil {
			return err
		}
		describe(w)
		return nil
	})
}

// export writes the file. It ends early if the client goes.
func export(w http.ResponseWriter, r *http.Request, s *store.Store, tenant record.TenantID, e Export) error {
	to, err := sheet.NewWriter(w, e.Format)
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
