package main

import (
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

const firefightersPath = "/api/v1/firefighters"

// routes are all operations.
var routes = []route{
	{"GET", firefightersPath, store.ScopeRead, (*server).handleList, nil},
	{"POST", firefightersPath, store.ScopeWrite, (*server).handleCreate, nil},
	{"GET", firefightersPath + "/:id", store.ScopeRead, withID((*server).handleGet), nil},
	{"PUT", firefightersPath + "/:id", store.ScopeWrite, withID((*server).handleReplace), nil},
	{"PATCH", firefightersPath + "/:id", store.ScopeWrite, withID((*server).handleMerge), nil},
	{"DELETE", firefightersPath + "/:id", store.ScopeWrite, withID((*server).handleDelete), nil},
	{"GET", "/api/v1/changes", store.ScopeRead, (*server).handleChanges, nil},
	{"GET", "/api/v1/export", store.ScopeRead, (*server).handleExport, nil},
	{"GET", importsPath, store.ScopeRead, (*server).handleImports, nil},
	{"POST", importsPath, store.ScopeWrite, (*server).handleImport, nil},
	{"GET", importsPath + "/:number", store.ScopeRead, withNumber((*server).handleGetImport), nil},
	{"DELETE", importsPath + "/:number", store.ScopeWrite, withNumber((*server).handleTakeBack), nil},
	{"GET", "/api/v1/whoami", store.ScopeRead, (*server).handleWhoAmI, nil},
	{"GET", documentPath, public, serveDocument("application/json; charset=utf-8", openAPIJSON), nil},
	{"GET", "/api/v1/openapi.yaml", public, serveDocument("application/yaml", openAPIYAML), nil},
	{"GET", "/healthz", public, (*server).handleHealth, nil},
	{"GET", "/readyz", public, (*server).handleReady, nil},
}

// withID hands the handler the id of the path in its canonical form.
func withID(handle handler) handler {
	return func(s *server, w http.ResponseWriter, r *http.Request, id string, c caller) error {
		id, err := store.ParseRecordID(id)
		if err != nil {
			return record.FieldErrors{{Field: "id", Code: record.Invalid, Detail: "id must be a UUID."}}
		}
		return handle(s, w, r, id, c)
	}
}

func (s *server) handleList(w http.ResponseWriter, r *http.Request, _ string, c caller) error {
	h := w.Header()
	httpapi.VaryByEncoding(h)
	q, err := record.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	if err := s.checkListTag(h, r, c.tenant); err != nil {
		return err
	}
	p, err := s.store.List(c.tenant, q)
	if err != nil {
		return err
	}
	totalPages := (p.Total + q.PageSize - 1) / q.PageSize
	h["Etag"] = []string{s.listTag(c.tenant, p.Version)}
	if links := httpapi.Links(firefightersPath, r.URL.RawQuery, q.Page, totalPages); links != "" {
		h["Link"] = append(h["Link"], links)
	}
	httpapi.Respond(w, http.StatusOK, httpapi.Compress(h, r, appendPage(nil, q, p, totalPages)))
	return nil
}

// appendPage appends the page envelope.
func appendPage(b []byte, q record.Query, p store.Page, totalPages int64) []byte {
	b = slices.Grow(b, recordSize*(1+len(p.Items)))
	b = append(b, `{"data":{"items":[`...)
	for i := range p.Items {
		if i > 0 {
			b = append(b, ',')
		}
		b = p.Items[i].AppendJSON(b)
	}
	return fmt.Appendf(b, `],"page":%d,"pageSize":%d,"totalCount":%d,"totalPages":%d,`+
		`"hasPreviousPage":%t,"hasNextPage":%t},"totalCount":%d}`,
		q.Page, q.PageSize, p.Total, totalPages, q.Page > 1, q.Page < totalPages, p.Total)
}

// checkListTag returns httpapi.ErrNotModified for a list that the client has,
// without reading the list.
func (s *server) checkListTag(h http.Header, r *http.Request, tenant record.TenantID) error {
	conditions, err := httpapi.ParseConditions(r)
	if err != nil || conditions.IsZero() {
		return err
	}
	version, err := s.store.Version(tenant)
	if err != nil {
		return err
	}
	etag := s.listTag(tenant, version)
	err = conditions.CheckRead(etag)
	if err != nil {
		h["Etag"] = []string{etag}
	}
	return err
}

// listTag returns the weak entity tag of all lists of a department at a
// version. It holds for one start of the program, because a restored database
// counts the same versions again.
func (s *server) listTag(tenant record.TenantID, version int64) string {
	return `W/"` + s.startID + "-" + strconv.FormatInt(int64(tenant), 36) + "-" + strconv.FormatInt(version, 36) + `"`
}

func (s *server) handleGet(w http.ResponseWriter, r *http.Request, id string, c caller) error {
	conditions, err := httpapi.ParseConditions(r)
	if err != nil {
		return err
	}
	f, err := s.store.Get(c.tenant, id)
	if err != nil {
		return err
	}
	body := f.AppendJSON(make([]byte, 0, recordSize))
	etag := httpapi.ETag(body)
	w.Header()["Etag"] = []string{etag}
	if err := conditions.CheckRead(etag); err != nil {
		return err
	}
	httpapi.Respond(w, http.StatusOK, body)
	return nil
}

func (s *server) handleCreate(w http.ResponseWriter, r *http.Request, _ string, c caller) error {
	body, err := httpapi.ReadBody(w, r, httpapi.JSON, maxBody)
	if err != nil {
		return err
	}
	return s.once(r, c, sha256.Sum256(body), func(key *store.IdempotencyKey) error {
		if key == nil {
			return s.create(w, c, body, nil)
		}
		return s.createOnce(w, c, body, key)
	})
}

// createOnce answers as the first create with this key did, or is the first.
func (s *server) createOnce(w http.ResponseWriter, c caller, body []byte, key *store.IdempotencyKey) error {
	id, stored, err := s.store.Replay(c.tenant, key)
	switch {
	case err != nil:
		return err
	case stored == nil:
		return s.create(w, c, body, key)
	}
	w.Header().Set("Idempotency-Replayed", "true")
	respondCreated(w, id, stored)
	return nil
}

func (s *server) create(w http.ResponseWriter, c caller, body []byte, key *store.IdempotencyKey) error {
	fields, err := record.Decode(body, s.store.Clock().Now())
	if err != nil {
		return err
	}
	f, err := s.store.Create(c.tenant, c.key, fields, key)
	if err == nil {
		respondCreated(w, f.ID, f.AppendJSON(nil))
	}
	return err
}

func respondCreated(w http.ResponseWriter, id string, body []byte) {
	w.Header()["Location"] = []string{firefightersPath + "/" + id}
	respondRecord(w, http.StatusCreated, body)
}

// respondRecord answers with a record that has just been written.
func respondRecord(w http.ResponseWriter, status int, body []byte) {
	w.Header()["Etag"] = []string{httpapi.ETag(body)}
	httpapi.Respond(w, status, body)
}

func (s *server) handleReplace(w http.ResponseWriter, r *http.Request, id string, c caller) error {
	conditions, err := httpapi.ParseConditions(r)
	if err != nil {
		return err
	}
	body, err := httpapi.ReadBody(w, r, httpapi.JSON, maxBody)
	if err != nil {
		return err
	}
	fields, err := record.Decode(body, s.store.Clock().Now())
	if err != nil {
		return err
	}
	f, err := s.store.Replace(c.tenant, c.key, id, fields, checkTag(conditions))
	if err == nil {
		respondRecord(w, http.StatusOK, f.AppendJSON(nil))
	}
	return err
}

func (s *server) handleMerge(w http.ResponseWriter, r *http.Request, id string, c caller) error {
	conditions, err := httpapi.ParseConditions(r)
	if err != nil {
		return err
	}
	body, err := httpapi.ReadBody(w, r, httpapi.MergePatch, maxBody)
	if err != nil {
		return err
	}
	patch, err := record.DecodePatch(body, s.store.Clock().Now())
	if err != nil {
		return err
	}
	merge := func(f record.Fields) (record.Fields, error) { return patch.Merge(f), nil }
	f, err := s.store.Edit(c.tenant, c.key, id, merge, checkTag(conditions))
	if err == nil {
		respondRecord(w, http.StatusOK, f.AppendJSON(nil))
	}
	return err
}

// checkTag returns the check of a request's conditions against a record that
// is about to change.
func checkTag(conditions httpapi.Conditions) store.Check {
	return func(f record.Firefighter) error {
		if conditions.IsZero() {
			return nil
		}
		return conditions.CheckWrite(httpapi.ETag(f.AppendJSON(nil)))
	}
}

func (s *server) handleDelete(w http.ResponseWriter, r *http.Request, id string, c caller) error {
	conditions, err := httpapi.ParseConditions(r)
	if err != nil {
		return err
	}
	if err := s.store.Delete(c.tenant, c.key, id, checkTag(conditions)); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// The OpenAPI document of the service. docs/openapi.yaml is written by hand,
// docs/openapi.json is generated from it (CONTRIBUTING.md).

//go:embed docs/openapi.json
var openAPIJSON []byte

//go:embed docs/openapi.yaml
var openAPIYAML []byte

// serveDocument answers with a file that is part of the program. Its entity
// tag is weak, because it may be sent compressed or not.
func serveDocument(contentType string, body []byte) handler {
	etag := "W/" + httpapi.ETag(body)
	return func(_ *server, w http.ResponseWriter, r *http.Request, _ string, _ caller) error {
		h := w.Header()
		httpapi.VaryByEncoding(h)
		conditions, err := httpapi.ParseConditions(r)
		if err != nil {
			return err
		}
		h["Etag"] = []string{etag}
		err = conditions.CheckRead(etag)
		switch {
		case errors.Is(err, httpapi.ErrPreconditionFailed):
			return &httpapi.Problem{Kind: httpapi.Precondition, Detail: "This is not what the request's conditions ask for."}
		case err != nil:
			return err
		}
		h.Set("Content-Type", contentType)
		httpapi.Respond(w, http.StatusOK, httpapi.Compress(h, r, body))
		return nil
	}
}

// What a client asks about its key, and about the service.

func (s *server) handleWhoAmI(w http.ResponseWriter, _ *http.Request, _ string, c caller) error {
	info, err := s.store.KeyInfo(c.key)
	if errors.Is(err, store.ErrNotFound) {
		err = errUnknownKey // erased at this moment
	}
	if err != nil {
		return err
	}
	return httpapi.RespondJSON(w, http.StatusOK, info)
}

func (s *server) handleHealth(w http.ResponseWriter, _ *http.Request, _ string, _ caller) error {
	httpapi.Respond(w, http.StatusOK, []byte(`{"status":"ok"}`))
	return nil
}

// readiness is the body of /readyz.
type readiness struct {
	Status  string        `json:"status"`
	Writing *writingState `json:"writing,omitempty"` // nil where it works
	Backup  *backupState  `json:"backup,omitempty"`  // nil without backups
}

// writingState is what /readyz says where nothing can be written.
type writingState struct {
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// backupState is what /readyz says of the backups. No file is named in it.
type backupState struct {
	OK     bool       `json:"ok"`
	Last   *time.Time `json:"last,omitempty"`  // the time of the last valid backup
	Since  *time.Time `json:"since,omitempty"` // when they began to fail
	Detail string     `json:"detail,omitempty"`
}

func (s *server) handleReady(w http.ResponseWriter, _ *http.Request, _ string, _ caller) error {
	if err := s.store.Ping(); errors.Is(err, sqlite.ErrLost) {
		return err
	} else if err != nil {
		return notReady(err)
	}
	ready := readiness{Status: "ready"}
	if fault := s.store.DB().WritingFault(); fault != nil {
		ready.Writing = &writingState{Detail: "nothing can be written: " + fault.Error()}
	}
	if s.backups != nil {
		ready.Backup = new(backupState(s.backups()))
	}
	return httpapi.RespondJSON(w, http.StatusOK, ready)
}
