// Package view is what the rooms of the office page share: the visit, fields of people as
// the page shows them, addresses, and the notices of what has just happened.
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

// Visit is a request to the page, and who sent it.
type Visit struct{ *site.Visit }

// damaged is the kind of problem for a record that the disk has changed. The API
// does not tell it from other faults of the service.
var damaged = httpapi.Kind{Code: "damaged", Status: http.StatusInternalServerError}

// Handler returns a handler of a room as one of the site.
func Handler(handle func(Visit) error) site.Handler {
	return func(v *site.Visit) error {
		err := handle(Visit{v})
		if errors.As(err, new(*record.DamagedError)) {
			err = &httpapi.Problem{Kind: damaged, Cause: err}
		}
		return err
	}
}

// WithID hands the handler the id of the address in its canonical form.
func WithID(handle func(v Visit, id string) error) func(Visit) error {
	return func(v Visit) error {
		id, err := record.ParseID(v.R.PathValue("id"))
		if err != nil {
			return store.ErrNotFound
		}
		return handle(v, id)
	}
}

// IdempotencyKey returns the key of a form that consists of these parts. prefix names the
// kind of form. A form that is sent twice, or again after a power cut, does one thing.
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

// LabelOf returns what people call a key.
func (v Visit) LabelOf(k store.Key) string {
	if k.Label == "" {
		return v.Text("access.key", int(k.ID))
	}
	return k.Label
}

// Now returns the time where the service runs.
func (v Visit) Now() time.Time { return v.Store.Clock().Now().Local() }

// Today returns the day that it is where the service runs.
func (v Visit) Today() calendar.Date { return calendar.Of(v.Now()) }

// DayStart returns when a day begins where the service runs, or one so many days later.
func (v Visit) DayStart(day calendar.Date, later int) time.Time {
	return time.Date(day.Year, day.Month, day.Day+later, 0, 0, 0, 0, v.Now().Location())
}

// Moment returns a time of milliseconds, the zero time for none.
func Moment(milliseconds int64) time.Time {
	if milliseconds == 0 {
		return time.Time{}
	}
	return time.UnixMilli(milliseconds)
}
