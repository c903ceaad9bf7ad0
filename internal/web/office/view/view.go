// Package view has what the parts of the office page share: the visit, fields of people for
// display, addresses, and notices about the previous action.
package view

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// Visit is a request to the page, with the session that sent it.
type Visit struct{ *site.Visit }

// damaged is the kind of problem of a record with a wrong checksum. The API reports it as an
// internal error.
var damaged = httpapi.Kind{Code: "damaged", Status: http.StatusInternalServerError}

// Handler adapts a handler of this page to a handler of the site.
func Handler(handle func(Visit) error) site.Handler {
	return func(v *site.Visit) error {
		err := handle(Visit{v})
		if errors.As(err, new(*record.DamagedError)) {
			err = &httpapi.Problem{Kind: damaged, Cause: err}
		}
		return err
	}
}

// WithID passes the ID of the address, in canonical form, to the handler.
func WithID(handle func(v Visit, id string) error) func(Visit) error {
	return func(v Visit) error {
		id, err := record.ParseID(v.R.PathValue("id"))
		if err != nil {
			return store.ErrNotFound
		}
		return handle(v, id)
	}
}

// IdempotencyKey returns a key derived from the parts of a form, so that a form sent twice has
// one effect. prefix names the kind of form.
func (v Visit) IdempotencyKey(prefix string, parts ...string) *store.IdempotencyKey {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return &store.IdempotencyKey{By: v.Session.ID, Key: prefix + hex.EncodeToString(sum[:]), Hash: sum[:]}
}

// Find returns a record of the department, deleted or not.
func (v Visit) Find(id string) (f record.Firefighter, deleted bool, err error) {
	f, err = v.Store.Get(v.Session.Tenant, id)
	if !errors.Is(err, store.ErrNotFound) {
		return f, false, err
	}
	gone, err := v.Store.GetDeleted(v.Session.Tenant, id)
	if err == nil {
		err = gone.Err()
	}
	return gone.Firefighter, true, err
}

// LabelOf returns the label of a key, or a text with its number if it has none.
func (v Visit) LabelOf(k store.Key) string {
	if k.Label == "" {
		return v.Text("access.key", int(k.ID))
	}
	return k.Label
}

// Now returns the local time of the service.
func (v Visit) Now() time.Time { return v.Store.Clock().Now().Local() }

// Today returns the current day in the time zone of the service.
func (v Visit) Today() calendar.Date { return calendar.Of(v.Now()) }

// DayStart returns the start of the day that many days after day, in the time zone of the service.
func (v Visit) DayStart(day calendar.Date, later int) time.Time {
	return time.Date(day.Year, day.Month, day.Day+later, 0, 0, 0, 0, v.Now().Location())
}

// Moment returns the time of milliseconds since 1970, or the zero time for 0.
func Moment(milliseconds int64) time.Time {
	if milliseconds == 0 {
		return time.Time{}
	}
	return time.UnixMilli(milliseconds)
}
