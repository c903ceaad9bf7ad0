package main

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/julienschmidt/httprouter"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/callers"
	"github.com/firefighter-records/firefighters/internal/web/dav"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/site"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

const (
	apiRoot          = "/api/v1/"
	firefightersPath = "/api/v1/firefighters"
	importsPath      = "/api/v1/imports"
	maxBody          = 64 << 10 // bytes of a request body that is not a file
	recordSize       = 320      // approximate size of a record in JSON, in bytes
)

// mainRoutes are the operations on records and on the service itself.
var mainRoutes = []route{
	{method: "GET", path: firefightersPath, scope: store.ScopeRead, query: true, handle: (*server).handleList},
	{method: "POST", path: firefightersPath, scope: store.ScopeWrite, handle: (*server).handleCreate},
	{method: "GET", path: firefightersPath + "/:id", scope: store.ScopeRead, id: true, query: true, handle: (*server).handleGet},
	{method: "PUT", path: firefightersPath + "/:id", scope: store.ScopeWrite, id: true, handle: (*server).handleReplace},
	{method: "PATCH", path: firefightersPath + "/:id", scope: store.ScopeWrite, id: true, handle: (*server).handleMerge},
	{method: "DELETE", path: firefightersPath + "/:id", scope: store.ScopeWrite, id: true, handle: (*server).handleDelete},
	{method: "GET", path: "/api/v1/whoami", scope: store.ScopeRead, handle: (*server).handleWhoAmI},
	{method: "GET", path: documentPath, handle: serveFile(jsonDocument)},
	{method: "GET", path: "/api/v1/openapi.yaml", handle: serveFile(yamlDocument)},
	{method: "GET", path: "/healthz", handle: (*server).handleHealth},
	{method: "GET", path: "/readyz", handle: (*server).handleReady},
}

// server is the HTTP handler of a service.
type server struct {
	site.Service
	version    string // of the program
	started    time.Time
	startID    string // random for each start
	router     *httprouter.Router
	office     http.Handler // nil without the office page
	phones     *dav.Server  // nil without address books
	requestIDs httpapi.RequestIDs
	inFlight   sync.Map       // requestKeys of requests in progress
	waiting    *httpapi.Bound // requests that wait for changes
}

// handler handles a request of a caller, or returns the error to answer with. id is the variable part
// of the path, if there is one. The id of a record is in its canonical form.
type handler func(s *server, w http.ResponseWriter, r *http.Request, id string, c caller) error

// route is an operation. A GET route also answers HEAD.
type route struct {
	method, path, scope string
	id                  bool // whether the path ends with the id of a record
	query               bool // whether the handler reads query parameters; otherwise there must be none
	handle              handler
}

// newServer returns a server for the API, without its pages.
func newServer(service site.Service, routes []route) *server {
	random := make([]byte, 6)
	rand.Read(random)
	s := &server{
		Service: service,
		version: cli.ReadBuild().Version,
		started: cmp.Or(service.Started, time.Now()),
		startID: hex.EncodeToString(random),
		router:  httprouter.New(),
		// This leaves connections for requests that do not wait.
		waiting: httpapi.NewBound(service.Connections*3/4, service.Connections*2/3),
	}
	s.requestIDs.Prefix = s.startID + "-"
	for _, route := range routes {
		s.add(route)
	}
	s.router.RedirectTrailingSlash, s.router.RedirectFixedPath = false, false
	s.router.NotFound = s.always(s.noPath)
	s.router.MethodNotAllowed = s.always(func(h http.Header, _ *http.Request) *httpapi.Problem { return httpapi.NotAllowed(h.Get("Allow")) })
	s.router.GlobalOPTIONS = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if h := w.Header(); strings.Contains(h.Get("Allow"), http.MethodPatch) {
			h["Accept-Patch"] = []string{httpapi.AcceptPatch}
		}
		w.WriteHeader(http.StatusNoContent)
	})
	return s
}

// serveFile returns a handler that sends a file.
func serveFile(send sendFile) handler {
	return func(_ *server, w http.ResponseWriter, r *http.Request, _ string, _ caller) error { return send(w, r) }
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
	httpapi.SetSecurityHeaders(h, r.TLS != nil && s.Authority == nil) // with an authority, other services on the host may lack TLS
	if httpapi.IsLast(r, limitOf(r)) {
		defer httpapi.EndConnection(w)()
	}
	switch {
	case (s.LoopbackOnly || s.LocalPort != "" && r.TLS == nil) && r.Host != "" && !httpapi.IsLoopbackHost(r.Host) && !s.IsPublic(r):
		s.fail(w, r, "", errOtherHost)
	case s.office != nil && strings.HasPrefix(r.URL.Path, site.Root):
		s.office.ServeHTTP(w, r)
	case s.phones != nil && s.phones.Takes(r):
		s.phones.ServeHTTP(w, r)
	case httpapi.AllowOrigins(w, r, s.Origins):
	case strings.Contains(strings.ToLower(r.URL.RawPath), "%2f"): // the router would treat it as a slash
		s.fail(w, r, "", errNoPath)
	default:
		s.router.ServeHTTP(w, r)
	}
}

// limitOf returns the maximum size of the request body.
func limitOf(r *http.Request) int64 {
	switch {
	case r.URL.Path == importsPath:
		return upload.MaxBody
	case strings.HasPrefix(r.URL.Path, dav.Root):
		return dav.MaxBody
	}
	return maxBody
}

// endpoint returns the handler of a route. It authorizes the caller and checks the query and the id.
func (s *server) endpoint(route route) httprouter.Handle {
	return func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		defer func() {
			if p := recover(); p == http.ErrAbortHandler {
				panic(p)
			} else if p != nil {
				s.fail(w, r, route.path, fmt.Errorf("panic: %v", p))
			}
		}()
		c, err := s.authorize(r, w.Header(), route.scope)
		if err == nil && !route.query && strings.HasPrefix(route.path, apiRoot) {
			err = record.ParseParameters(r.URL.RawQuery).Err()
		}
		id := ""
		if len(params) > 0 {
			id = params[0].Value
		}
		if err == nil && route.id {
			if id, err = record.ParseID(id); err != nil {
				err = errWrongID
			}
		}
		if err == nil {
			err = route.handle(s, w, r, id, c)
		}
		if err != nil {
			s.fail(w, r, route.path, err)
		}
	}
}

// fail answers with an error. path is the path of the route, because the request path is not safe to log.
func (s *server) fail(w http.ResponseWriter, r *http.Request, path string, err error) {
	if errors.Is(err, httpapi.ErrNotModified) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	upload.Ignore(r, s.Callers.HasKey(r))
	s.explain(w, r, path, err).Write(w)
}

// explain returns the problem of an error and logs the cause of a server error. A busy limit on
// uploads has no cause, and neither has a lost database, which the guard logs.
func (s *server) explain(w http.ResponseWriter, r *http.Request, path string, err error) *httpapi.Problem {
	p := problemOf(err)
	if p.Status >= http.StatusInternalServerError && p.Cause != nil {
		s.Log.Error("request failed", "requestId", w.Header().Get("X-Request-Id"), "status", p.Status,
			"method", r.Method, "path", path, "cause", p.Cause.Error())
	}
	return p
}

func (s *server) always(problem func(http.Header, *http.Request) *httpapi.Problem) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, "", problem(w.Header(), r)) })
}

// noPath returns the problem of a path that does not exist.
func (s *server) noPath(_ http.Header, r *http.Request) *httpapi.Problem {
	if path, ends := strings.CutSuffix(r.URL.Path, "/"); ends {
		if known, _, _ := s.router.Lookup(http.MethodGet, path); known != nil {
			return errSlash
		}
	}
	return errNoPath
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
	p, err := s.Store.List(c.tenant, q)
	if err != nil {
		return err
	}
	totalPages := (p.Total + q.PageSize - 1) / q.PageSize
	h["Etag"] = []string{s.listTag(c.tenant, p.Version)}
	if links := httpapi.Links(firefightersPath, q.LinkQuery(r.URL.RawQuery), q.Page, totalPages, p.Next); links != "" {
		h["Link"] = append(h["Link"], links)
	}
	httpapi.Respond(w, http.StatusOK, httpapi.Compress(h, r, appendPage(nil, q, p, totalPages)))
	return nil
}

// appendPage appends a page of the list as JSON.
func appendPage(b []byte, q record.Query, p store.Page, totalPages int64) []byte {
	b = slices.Grow(b, recordSize*(1+len(p.Items)))
	b = append(b, `{"data":{"items":[`...)
	for i := range p.Items {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendRecord(b, &p.Items[i], q.Times)
	}
	return fmt.Appendf(b, `],"page":%d,"pageSize":%d,"totalCount":%d,"totalPages":%d,`+
		`"hasPreviousPage":%t,"hasNextPage":%t},"totalCount":%d}`,
		q.Page, q.PageSize, p.Total, totalPages, q.Page > 1, p.Next != "", p.Total)
}

func appendRecord(b []byte, f *record.Firefighter, times bool) []byte {
	if times {
		return f.AppendJSONWithTimes(b)
	}
	return f.AppendJSON(b)
}

// checkListTag returns httpapi.ErrNotModified, without reading the list, if the client has it.
func (s *server) checkListTag(h http.Header, r *http.Request, tenant record.TenantID) error {
	conditions, err := httpapi.ParseNoneMatch(r)
	if err != nil || conditions.IsZero() {
		return err
	}
	version, err := s.Store.Version(tenant)
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

// listTag returns the weak entity tag of all lists of a department at a version. It contains startID,
// because a restored database may repeat version numbers.
func (s *server) listTag(tenant record.TenantID, version int64) string {
	return `W/"` + s.startID + "-" + strconv.FormatInt(int64(tenant), 36) + "-" + strconv.FormatInt(version, 36) + `"`
}

func (s *server) handleGet(w http.ResponseWriter, r *http.Request, id string, c caller) error {
	parameters := record.ParseParameters(r.URL.RawQuery)
	times := parameters.Times()
	if err := parameters.Err(); err != nil {
		return err
	}
	conditions, err := httpapi.ParseConditions(r)
	if err != nil {
		return err
	}
	f, err := s.Store.Get(c.tenant, id)
	if err != nil {
		return err
	}
	body := f.AppendJSON(make([]byte, 0, recordSize))
	etag := s.Store.Tag(body) // does not depend on times
	w.Header()["Etag"] = []string{etag}
	if err := conditions.CheckRead(etag); err != nil {
		return err
	}
	httpapi.Respond(w, http.StatusOK, appendRecord(body[:0], &f, times))
	return nil
}

func (s *server) handleCreate(w http.ResponseWriter, r *http.Request, _ string, c caller) error {
	body, err := httpapi.ReadBody(w, r, maxBody)
	if err != nil {
		return err
	}
	key, done, err := s.idempotencyKey(r, c, sha256.Sum256(body))
	if err != nil {
		return err
	}
	defer done()
	id, answer, err := s.replay(w, c, key)
	if err != nil {
		return err
	}
	if answer == nil {
		fields, err := record.Decode(body, s.Store.Clock().Now())
		if err != nil {
			return err
		}
		f, err := s.Store.Create(c.tenant, c.key, fields, key)
		if err != nil {
			return err
		}
		id, answer = f.ID, f.AppendJSON(nil)
	}
	w.Header()["Location"] = []string{firefightersPath + "/" + id}
	s.respondRecord(w, http.StatusCreated, answer)
	return nil
}

// requestKey identifies requests of which only one is handled at a time.
type requestKey struct {
	by  store.KeyID
	key string
}

// idempotencyKey returns the Idempotency-Key of a request, or nil. hash must be the same for all
// requests with the key. Until done is called, another request with the key gets errInFlight.
func (s *server) idempotencyKey(r *http.Request, c caller, hash [sha256.Size]byte) (key *store.IdempotencyKey, done func(), err error) {
	text, err := httpapi.IdempotencyKey(r)
	if err != nil || text == "" {
		return nil, func() {}, err
	}
	inFlight := requestKey{c.key, text}
	if _, busy := s.inFlight.LoadOrStore(inFlight, true); busy {
		return nil, nil, errInFlight
	}
	return &store.IdempotencyKey{By: c.key, Key: text, Hash: hash[:]}, func() { s.inFlight.Delete(inFlight) }, nil
}

// replay returns the stored response to an earlier request with the key. answer may be nil.
func (s *server) replay(w http.ResponseWriter, c caller, key *store.IdempotencyKey) (id string, answer []byte, err error) {
	if key == nil {
		return "", nil, nil
	}
	id, answer, err = s.Store.Replay(c.tenant, key)
	if answer != nil {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	return id, answer, err
}

func (s *server) respondRecord(w http.ResponseWriter, status int, body []byte) {
	w.Header()["Etag"] = []string{s.Store.Tag(body)}
	httpapi.Respond(w, status, body)
}

func (s *server) handleReplace(w http.ResponseWriter, r *http.Request, id string, c caller) error {
	return s.change(w, r, func(body []byte, check store.Check) (f record.Firefighter, err error) {
		fields, err := record.Decode(body, s.Store.Clock().Now())
		if err != nil {
			return f, err
		}
		return s.Store.Replace(c.tenant, c.key, id, fields, check)
	})
}

func (s *server) handleMerge(w http.ResponseWriter, r *http.Request, id string, c caller) error {
	return s.change(w, r, func(body []byte, check store.Check) (f record.Firefighter, err error) {
		patch, err := record.DecodePatch(body, s.Store.Clock().Now())
		if err != nil {
			return f, err
		}
		merge := func(f record.Fields) (record.Fields, error) { return patch.Merge(f), nil }
		return s.Store.Edit(c.tenant, c.key, id, merge, check)
	})
}

// change reads the conditions and the body of a request, calls write and sends the changed record.
func (s *server) change(w http.ResponseWriter, r *http.Request, write func([]byte, store.Check) (record.Firefighter, error)) error {
	conditions, err := httpapi.ParseConditions(r)
	if err != nil {
		return err
	}
	body, err := httpapi.ReadBody(w, r, maxBody)
	if err != nil {
		return err
	}
	f, err := write(body, s.checkTag(conditions))
	if err == nil {
		s.respondRecord(w, http.StatusOK, f.AppendJSON(nil))
	}
	return err
}

// checkTag returns a check of the request's conditions against the record before the change.
func (s *server) checkTag(conditions httpapi.Conditions) store.Check {
	return func(f record.Firefighter) error {
		if conditions.IsZero() {
			return nil
		}
		return conditions.CheckWrite(s.Store.Tag(f.AppendJSON(nil)))
	}
}

func (s *server) handleDelete(w http.ResponseWriter, r *http.Request, id string, c caller) error {
	conditions, err := httpapi.ParseConditions(r)
	if err != nil {
		return err
	}
	if err := s.Store.Delete(c.tenant, c.key, id, s.checkTag(conditions)); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *server) handleWhoAmI(w http.ResponseWriter, _ *http.Request, _ string, c caller) error {
	info, err := s.Store.KeyInfo(c.key)
	if err != nil {
		return err
	}
	w.Header()["Link"] = documentLinks["Link"]
	return httpapi.RespondJSON(w, http.StatusOK, info)
}

// handleFront sends a browser to the office page. Other clients get 404.
func (s *server) handleFront(w http.ResponseWriter, r *http.Request, _ string, _ caller) error {
	if !strings.Contains(strings.Join(r.Header["Accept"], ","), "text/html") {
		return errNoPath
	}
	w.Header()["Link"] = documentLinks["Link"]
	http.Redirect(w, r, site.Root, http.StatusSeeOther)
	return nil
}

func (s *server) handleHealth(w http.ResponseWriter, _ *http.Request, _ string, _ caller) error {
	httpapi.Respond(w, http.StatusOK, []byte(`{"status":"ok"}`))
	return nil
}

// readiness is the body of /readyz.
type readiness struct {
	Status   string       `json:"status"`
	Writing  *fault       `json:"writing,omitempty"` // nil if writing works or the caller may not see it
	Erasure  *fault       `json:"erasure,omitempty"` // nil without traces of permanently deleted data, or if the caller may not see it
	Backup   *backupState `json:"backup,omitempty"`  // nil without backups
	*figures              // nil unless mayWatch
}

// figures are values for monitoring. Unknown values are nil.
type figures struct {
	Version         string `json:"version"`
	Uptime          int64  `json:"uptimeSeconds"`
	DatabaseBytes   int64  `json:"databaseBytes"` // including the WAL
	Free            *int64 `json:"diskFreeBytes,omitempty"`
	BackupFree      *int64 `json:"backupDiskFreeBytes,omitempty"` // if the backups are on another disk
	BackupAge       *int64 `json:"backupAgeSeconds,omitempty"`    // of the last valid backup
	CertificateDays *int64 `json:"certificateDays,omitempty"`     // whole days until expiry; negative afterwards
}

type fault struct {
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// backupState describes the backups in /readyz. It names no files.
type backupState struct {
	OK     bool       `json:"ok"`
	Last   *time.Time `json:"last,omitempty"`  // time of the last valid backup
	Since  *time.Time `json:"since,omitempty"` // when backups began to fail
	Detail string     `json:"detail,omitempty"`

	Free     *int64         `json:"-"`                  // in figures
	Verified *time.Time     `json:"verified,omitempty"` // when the newest backup was last verified
	Trouble  backup.Trouble `json:"-"`                  // for the office page
}

func (s *server) handleReady(w http.ResponseWriter, r *http.Request, _ string, _ caller) error {
	_, traces, err := s.Store.Erasures()
	if errors.Is(err, sqlite.ErrLost) {
		return err
	} else if err != nil {
		return &httpapi.Problem{Kind: httpapi.Unavailable, Header: httpapi.RetryLater, Cause: err, Detail: "The database does not respond."}
	}
	ready := readiness{Status: "ready"}
	if s.Backups != nil {
		ready.Backup = new(backupState(s.Backups()))
	}
	switch {
	case s.mayWatch(r):
		if err := s.Store.DB().WritingFault(); err != nil {
			ready.Writing = &fault{Detail: "nothing can be written: " + err.Error()}
		}
		if traces {
			ready.Erasure = &fault{Detail: "the file may contain traces of permanently deleted data until it is rewritten"}
		}
		ready.figures = s.figures(ready.Backup)
	case ready.Backup != nil:
		ready.Backup = &backupState{OK: ready.Backup.OK}
	}
	return httpapi.RespondJSON(w, http.StatusOK, ready)
}

// mayWatch reports whether a request gets all of a readiness: it comes from this computer or has a valid
// key. With an invalid key, which is logged as usual, the response is the same as without a key.
func (s *server) mayWatch(r *http.Request) bool {
	if httpapi.IsLocal(r) && !s.IsPublic(r) {
		return true
	}
	if r.Header["Authorization"] == nil {
		return false
	}
	_, err := s.Callers.Find(r, callers.Bearer(r), http.Header{})
	return err == nil
}

// figures returns the current figures. It must be fast, because monitors poll every few seconds.
func (s *server) figures(b *backupState) *figures {
	now, path := time.Now(), s.Store.DB().Path()
	f := &figures{Version: s.version, Uptime: int64(now.Sub(s.started).Seconds()), DatabaseBytes: sqlite.SizeOf(path)}
	if space, err := osutil.SpaceOf(filepath.Dir(path)); err == nil {
		f.Free = &space.Free
	}
	if b != nil {
		f.BackupFree = b.Free
	}
	if b != nil && b.Last != nil {
		f.BackupAge = new(max(0, int64(now.Sub(*b.Last).Seconds())))
	}
	if s.Expires != nil && !s.Expires().IsZero() {
		f.CertificateDays = new(int64(math.Floor(s.Expires().Sub(now).Hours() / 24)))
	}
	return f
}
