package history

import (
	"encoding/json"
	"io"
	"slices"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
)

// dossier is all stored data about one person, with the backups that contain it.
type dossier struct {
	store.PersonalData
	Backups backup.Holders
}

// readDossier collects the stored data about a person and searches the backups.
func readDossier(v view.Visit, id string) (d dossier, err error) {
	if d.PersonalData, err = v.Store.PersonalData(v.Session.Tenant, id); err != nil {
		return d, err
	}
	search := v.Site.Search
	if d.Record != nil {
		search.From = time.UnixMilli(d.Record.CreatedAt)
	}
	search.Until = d.ErasedAt
	search.Holds = func(c *sqlite.Conn) (bool, error) { return store.HoldsRecord(c, id) }
	d.Backups, err = search.Run(v.R.Context())
	return d, err
}

// document is the JSON form of a dossier. docs/office.md describes its members.
type document struct {
	MadeAt     *string         `json:"madeAt"`
	Department string          `json:"department"`
	ID         string          `json:"id"`
	DeletedAt  *string         `json:"deletedAt"`
	ErasedAt   *string         `json:"erasedAt"`
	Damaged    bool            `json:"damaged"`
	Record     json.RawMessage `json:"record"`
	History    []change        `json:"history"`
	Distinct   []string        `json:"distinctFrom"`
	Imports    []imported      `json:"imports"`
	Readers    []reader        `json:"readers"`
	Responses  []response      `json:"storedResponses"`
	Backups    backups         `json:"backups"`
}

// by names the key of a change; null for a command.
type by struct {
	Key   *store.KeyID `json:"key"`
	Label *string      `json:"label"`
}

type change struct {
	At     *string `json:"at"`
	Action string  `json:"action"`
	by
	Import *int64          `json:"import"`
	Before json.RawMessage `json:"before"`
	Merged *string         `json:"mergedWith"`
}

type imported struct {
	Number int64   `json:"number"`
	At     *string `json:"at"`
	by
	UndoneAt *string `json:"takenBackAt"`
}

type reader struct {
	ID         store.KeyID `json:"id"`
	State      string      `json:"state"`
	Scope      string      `json:"scope"`
	Birthdays  bool        `json:"birthdays"`
	Label      string      `json:"label"`
	CreatedAt  *string     `json:"createdAt"`
	ExpiresAt  *string     `json:"expiresAt"`
	LastUsedAt *string     `json:"lastUsedAt"`
	RevokedAt  *string     `json:"revokedAt"`
}

type response struct {
	At     *string         `json:"at"`
	Until  *string         `json:"until"`
	Import *int64          `json:"import"`
	Body   json.RawMessage `json:"body"`
}

type backups struct {
	Folder string   `json:"folder"` // ok, unset or away (unreadable)
	Files  []holder `json:"files"`
	Unread []string `json:"unread"`
}

type holder struct {
	Name      string  `json:"name"`
	At        *string `json:"at"`
	Encrypted bool    `json:"encrypted"`
	Until     *string `json:"until"` // a day
}

// writeJSON writes the dossier as a JSON document, with the oldest change first.
func (d dossier) writeJSON(to io.Writer) error {
	all := document{MadeAt: moment(d.At), Department: d.Department, ID: d.ID, ErasedAt: moment(d.ErasedAt),
		History: []change{}, Distinct: append([]string{}, d.Distinct...), Imports: []imported{}, Readers: []reader{}, Responses: []response{}}
	if f := d.Record; f != nil {
		all.DeletedAt, all.Damaged, all.Record = store.Moment(f.DeletedAt), f.Damaged, f.AppendJSONWithTimes(nil)
	}
	for _, e := range slices.Backward(d.Edits) {
		c := change{At: moment(e.At), Action: e.Action, by: byKey(e.Key, e.Label)}
		if e.Import != nil {
			c.Import = &e.Import.Number
		}
		if e.Merged != "" {
			c.Merged = &e.Merged
		}
		if e.Before != nil {
			c.Before = e.Before.AppendJSON(nil)
		}
		all.History = append(all.History, c)
	}
	for _, i := range d.Imports() {
		all.Imports = append(all.Imports, imported{i.Number, moment(i.At), byKey(i.Key, i.Label), moment(i.UndoneAt)})
	}
	for _, k := range d.Readers {
		all.Readers = append(all.Readers, reader{k.ID, k.State(d.At), k.Scope, k.Birthdays, k.Label,
			store.Moment(k.CreatedAt), store.Moment(k.Expiry()), store.Moment(k.LastUsedAt), store.Moment(k.RevokedAt)})
	}
	for _, r := range d.Replays {
		stored := response{At: moment(r.At), Until: moment(r.Until), Body: r.Body}
		if r.Import != 0 {
			stored.Import = &r.Import
		}
		all.Responses = append(all.Responses, stored)
	}
	all.Backups = d.backups()
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(all)
}

func (d dossier) backups() backups {
	b := backups{"ok", []holder{}, []string{}}
	switch {
	case d.Backups.NotSet:
		b.Folder = "unset"
	case d.Backups.Away:
		b.Folder = "away"
	}
	for _, f := range d.Backups.Files {
		h := holder{Name: f.Name(), At: moment(f.Time), Encrypted: f.Encrypted}
		if !f.Until.IsZero() {
			h.Until = new(f.Until.Format(time.DateOnly))
		}
		b.Files = append(b.Files, h)
	}
	for _, f := range d.Backups.Unread {
		b.Unread = append(b.Unread, f.Name())
	}
	return b
}

// Imports returns the imports that added or changed the person, oldest first.
func (d dossier) Imports() (all []store.Import) {
	for _, e := range slices.Backward(d.Edits) {
		if i := e.Import; i != nil && (len(all) == 0 || all[len(all)-1].Number != i.Number) {
			all = append(all, *i)
		}
	}
	return all
}

func byKey(key store.KeyID, label string) (b by) {
	if key != 0 {
		b.Key, b.Label = &key, &label
	}
	return b
}

// moment returns a time in RFC 3339 format, or nil for the zero time.
func moment(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	return store.Moment(at.UnixMilli())
}
