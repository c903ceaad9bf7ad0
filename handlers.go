package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/julienschmidt/httprouter"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

const (
	maxBody          = 64 << 10
	recordSize       = 320 // bytes of a record in JSON, or nearly
	firefightersPath = "/api/v1/firefighters"
)

// server answers requests from a store.
type server struct {
	store        *store.Store
	auth         *authenticator
	backups      func() backup.State // nil without backups
	log          *slog.Logger
	router       *httprouter.Router
	office       http.Handler // the page for people; nil without it
	cors         httpapi.CORS
	requestIDs   *httpapi.RequestIDs
	startID      string   // random, of this start of the program
	inFlight     sync.Map // the requestKeys of creates with an Idempotency-Key
	loopbackOnly bool     // it listens on this machine alone
	tls          bool     // for good: browsers are told so
}

// handler answers a request of c, or returns the error to answer it with. id
// is what is variable in the path.
type handler func(s *server, w http.ResponseWriter, r *http.Request, id string, c caller) error

// route is one operation. A GET answers HEAD, too.
type route struct {
	method, path, scope string
	handle              handler
	deprecated          *httpapi.Deprecation // nil: it stays
}

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

// newServer returns a server without limits, backups or CORS.
func newServer(store *store.Store, log *slog.Logger) *server {
	random := make([]byte, 6)
	rand.Read(random)
	s := &server{
		store:   store,
		auth:    newAuthenticator(store, log),
		log:     log,
		router:  httprouter.New(),
		startID: hex.EncodeToString(random),
	}
	s.requestIDs = httpapi.NewRequestIDs(s.startID + "-")
	for _, route := range routes {
		s.add(route)
	}
	s.router.RedirectTrailingSlash, s.router.RedirectFixedPath = false, false
	s.router.NotFound = s.always(errNoPath)
	s.router.MethodNotAllowed = s.always(errMethod)
	s.router.GlobalOPTIONS = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if h := w.Header(); strings.Contains(h.Get("Allow"), http.MethodPatch) {
			h["Accept-Patch"] = []string{httpapi.MergePatch}
		}
		w.WriteHeader(http.StatusNoContent)
	})
	return s
}

func (s *server) add(route route) {
	endpoint := s.endpoint(route)
	s.router.Handle(route.method, route.path, endpoint)
	if route.method == "GET" {
		s.router.Handle("HEAD", route.path, endpoint)
	}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["X-Request-Id"] = []string{s.requestIDs.For(r)}
	httpapi.SetSecurityHeaders(h, s.tls)
	if httpapi.IsLast(r, limitOf(r)) {
		defer httpapi.EndConnection(w)()
	}
	switch {
	case s.loopbackOnly && r.Host != "" && !httpapi.IsLoopbackHost(r.Host):
		s.fail(w, r, "", errOtherHost)
	case s.office != nil && strings.HasPrefix(r.URL.Path, site.Root):
		s.office.ServeHTTP(w, r)
	case s.office != nil && leadsToOffice(r):
		http.Redirect(w, r, site.Root, http.StatusSeeOther)
	case s.cors.Handle(w, r):
	case strings.Contains(strings.ToLower(r.URL.RawPath), "%2f"): // the router would take it for a slash
		s.fail(w, r, "", errNoPath)
	default:
		s.router.ServeHTTP(w, r)
	}
}

// leadsToOffice reports whether a browser asks for what a person would type.
func leadsToOffice(r *http.Request) bool {
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	typed := r.URL.Path == "/" || r.URL.Path == strings.TrimSuffix(site.Root, "/")
	return read && typed && strings.Contains(strings.Join(r.Header["Accept"], ","), "text/html")
}

// endpoint lets a caller in by the route's scope and answers with the error of
// the handler, if there is one.
func (s *server) endpoint(route route) httprouter.Handle {
	return func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		defer func() {
			if p := recover(); p == http.ErrAbortHandler {
				panic(p)
			} else if p != nil {
				s.fail(w, r, route.path, fmt.Errorf("panic: %v", p))
			}
		}()
		route.deprecated.Announce(w.Header())
		c, err := s.auth.authorize(r, w.Header(), route.scope)
		if err == nil {
			id := ""
			if len(params) > 0 {
				id = params[0].Value
			}
			err = route.handle(s, w, r, id, c)
		}
		if err != nil {
			s.fail(w, r, route.path, err)
		}
	}
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

// requestKey is what no two creates at a time may share.
type requestKey struct {
	by  store.KeyID
	key string
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

// once calls answer with the Idempotency-Key of a request, nil if it has none.
// hash is that of all that the request asks for.
func (s *server) once(r *http.Request, c caller, hash [sha256.Size]byte, answer func(*store.IdempotencyKey) error) error {
	key, err := httpapi.IdempotencyKey(r)
	switch {
	case err != nil:
		return err
	case key == "":
		return answer(nil)
	}
	if _, busy := s.inFlight.LoadOrStore(requestKey{c.key, key}, true); busy {
		return errInFlight
	}
	defer s.inFlight.Delete(requestKey{c.key, key})
	return answer(&store.IdempotencyKey{By: c.key, Key: key, Hash: hash[:]})
}

// createOnce answers with the replay to an earlier create with this
// key, or creates a record.
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
