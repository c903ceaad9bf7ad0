package dav

import (
	"embed"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/text/lang"
	"github.com/firefighter-records/firefighters/internal/web/callers"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

//go:embed messages
var files embed.FS

// messages returns the texts of calendars and profiles.
var messages = sync.OnceValue(func() lang.Catalog { return lang.MustLoad("messages/*.json", files) })

// CalendarPath is the path of the birthday calendar. Its parameters are key and lang, a language tag.
const CalendarPath = Root + "birthdays.ics"

// Calendar returns an iCalendar with the birthdays of people in a language.
func Calendar(l *lang.Language, department string, people []record.Firefighter) []byte {
	c := calendar.NewWriter("-//Firefighter Records Service//Birthdays//EN", messages().Text(l, "calendar.name", department))
	for _, f := range people {
		if f.DateOfBirth == "" {
			continue
		}
		born := calendar.Of(f.Born())
		summary := messages().Text(l, "calendar.event", f.FirstName+" "+f.LastName, strconv.Itoa(born.Year))
		c.Yearly("birthday-"+f.ID, summary, born, time.UnixMilli(f.UpdatedAt))
	}
	return c.End()
}

// serveCalendar sends the calendar of the department to which the key in the address belongs.
func (s *Server) serveCalendar(w http.ResponseWriter, r *http.Request) error {
	const allow = "OPTIONS, GET, HEAD"
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		w.Header()["Allow"] = []string{allow}
		w.WriteHeader(http.StatusOK)
		return nil
	default:
		return httpapi.NotAllowed(allow)
	}
	query := r.URL.Query()
	tenant, err := s.authorizeCalendar(query.Get("key"), r, w.Header())
	if err != nil {
		return err
	}
	l := lang.ByTag(query.Get("lang"))
	if l == nil {
		l = lang.All()[0]
	}
	return upload.Work(w, r, int64(tenant), upload.Writing, func(w http.ResponseWriter) error { return s.sendCalendar(w, r, tenant, l) })
}

// sendCalendar sends a calendar. Its entity tag is weak, because the body may be compressed.
func (s *Server) sendCalendar(w http.ResponseWriter, r *http.Request, tenant record.TenantID, l *lang.Language) error {
	conditions, err := httpapi.ParseConditions(r)
	if err != nil {
		return err
	}
	department, err := s.store.TenantName(tenant)
	if err != nil {
		return err
	}
	var people []record.Firefighter
	err = s.store.Each(tenant, inOrder, func(f *record.Firefighter) error {
		people = append(people, *f)
		return nil
	})
	if err != nil {
		return err
	}
	body := Calendar(l, department, people)
	h, etag := w.Header(), "W/"+httpapi.ETag(body)
	httpapi.VaryByEncoding(h)
	h["Etag"] = []string{etag}
	err = conditions.CheckRead(etag)
	if errors.Is(err, httpapi.ErrNotModified) { // returning an error would make Work drop the headers
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	if err != nil {
		return err
	}
	h["Content-Type"] = []string{calendar.ContentType}
	httpapi.Respond(w, http.StatusOK, httpapi.Compress(h, r, body))
	return nil
}

// errNoKey is for a calendar address without a key.
var errNoKey = &httpapi.Problem{Kind: httpapi.KeyMissing, Detail: "The address must contain the key of the calendar: ?key=...",
	Header: http.Header{"Www-Authenticate": {`Bearer realm="firefighters"`}}}

// authorizeCalendar returns the department of a calendar key. People share it as part of an address.
func (s *Server) authorizeCalendar(text string, r *http.Request, h http.Header) (record.TenantID, error) {
	key, err := s.callers.FindDevice(r, text, h)
	switch {
	case err == callers.ErrNoKey:
		s.callers.Refusals().Add(r, httpapi.KeyMissing.Code)
		return 0, errNoKey
	case err != nil:
		return 0, err
	}
	return key.Tenant, callers.CheckScope(key.Scope, store.ScopeCalendar)
}
