package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/julienschmidt/httprouter"

	"firefighters/internal/record"
)

const (
	maxBody    = 64 << 10
	maxHeaders = 64 << 10
	// maxIgnoredBody is how much of a refused body is read, for a simple
	// client hears no answer while it is still sending.
	maxIgnoredBody = 32 << 20
)

var headersTooLarge = fmt.Sprintf("The headers of a request may have at most %d bytes.", maxHeaders)

// server answers requests from a store.
type server struct {
	store    *store
	auth     *authenticator
	backups  *backupKeeper // nil if none are to be made
	log      *slog.Logger
	router   *httprouter.Router
	idPrefix string // of request ids: random, for each start of the program
	lastID   atomic.Uint64
	origins  []string // of other sites' pages that may come
	attempts attempts

	onlyLoopback bool // it is for this machine alone
}

// handler answers one request, or gives the error to answer it with.
type handler func(s *server, w http.ResponseWriter, r *http.Request, id string, c caller) error

// route is one operation. A GET answers HEAD too.
type route struct {
	method, path, scope string
	handle              handler
	deprecated          *deprecation // nil: it is here to stay
}

// routes is all there is.
var routes = []route{
	{"GET", firefightersPath, scopeRead, (*server).handleList, nil},
	{"POST", firefightersPath, scopeWrite, (*server).handleCreate, nil},
	{"GET", firefightersPath + "/:id", scopeRead, withID((*server).handleGet), nil},
	{"PUT", firefightersPath + "/:id", scopeWrite, withID((*server).handleReplace), nil},
	{"DELETE", firefightersPath + "/:id", scopeWrite, withID((*server).handleDelete), nil},
	{"GET", "/api/v1/whoami", scopeRead, (*server).handleWhoAmI, nil},
	{"GET", documentPath, public, document("application/json; charset=utf-8", openAPIJSON), nil},
	{"GET", "/api/v1/openapi.yaml", public, document("application/yaml", openAPIYAML), nil},
	{"GET", "/healthz", public, (*server).handleHealth, nil},
	{"GET", "/readyz", public, (*server).handleReady, nil},
}

const firefightersPath = "/api/v1/firefighters"

// deprecation says that a route is not to be used any more, and from when on
// it may be gone: what docs/api.md promises.
type deprecation struct {
	since, sunset time.Time
	link          string // where it says what to use instead
}

// announce tells it as RFC 9745 and RFC 8594 have it.
func (d *deprecation) announce(h http.Header) {
	if d == nil {
		return
	}
	h.Set("Deprecation", fmt.Sprintf("@%d", d.since.Unix()))
	h.Set("Sunset", d.sunset.UTC().Format(http.TimeFormat))
	h.Add("Link", fmt.Sprintf(`<%s>; rel="deprecation"; type="text/html"`, d.link))
}

func newServer(store *store, log *slog.Logger) *server {
	prefix := make([]byte, 6)
	rand.Read(prefix)
	s := &server{
		store:    store,
		auth:     newAuthenticator(store, log),
		log:      log,
		router:   httprouter.New(),
		idPrefix: hex.EncodeToString(prefix) + "-",
	}
	for _, route := range routes {
		s.add(route)
	}
	s.router.RedirectTrailingSlash, s.router.RedirectFixedPath = false, false
	s.router.NotFound = s.failing(problem{Status: http.StatusNotFound, Detail: "There is nothing at this path.", header: toDocument})
	s.router.MethodNotAllowed = s.failing(problem{Status: http.StatusMethodNotAllowed,
		Detail: "This path does not take this method; the header Allow says which it takes."})
	s.router.GlobalOPTIONS = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
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

var noStore = []string{"no-store"} // shared by all answers

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("X-Request-Id")
	if !harmlessID(id) {
		id = s.newRequestID()
	}
	answer := w.Header()
	answer["X-Request-Id"] = []string{id}
	answer["Cache-Control"] = noStore
	switch {
	case s.onlyLoopback && r.Host != "" && !namesLoopback(r.Host):
		s.fail(w, r, "", errOtherHost)
	case headerSize(r) > maxHeaders:
		s.fail(w, r, "", &problem{Status: http.StatusRequestHeaderFieldsTooLarge,
			Detail: headersTooLarge})
	case s.cors(w, r):
	default:
		s.router.ServeHTTP(w, r)
	}
}

func (s *server) newRequestID() string {
	return s.idPrefix + strconv.FormatUint(s.lastID.Add(1), 36)
}

// endpoint lets in who may come in, and answers with the handler's error
// where there is one.
func (s *server) endpoint(route route) httprouter.Handle {
	path, scope := route.path, route.scope
	return func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		defer func() {
			if p := recover(); p == http.ErrAbortHandler {
				panic(p)
			} else if p != nil {
				s.fail(w, r, path, fmt.Errorf("panic: %v", p))
			}
		}()
		route.deprecated.announce(w.Header())
		var c caller
		if scope != public {
			var err error
			if c, err = s.auth.authenticate(r, w.Header()); err != nil {
				s.fail(w, r, path, err)
				return
			}
			if !c.may(scope) {
				s.fail(w, r, path, &problem{Status: http.StatusForbidden, Detail: "This API key may only read."})
				return
			}
		}
		switch err := route.handle(s, w, r, params.ByName("id"), c); err {
		case nil:
		case errNotModified:
			w.WriteHeader(http.StatusNotModified)
		default:
			s.fail(w, r, path, err)
		}
	}
}

// withID gives the handler the id of the path in its canonical form.
func withID(handle handler) handler {
	return func(s *server, w http.ResponseWriter, r *http.Request, id string, c caller) error {
		parsed, err := uuid.Parse(id)
		if err != nil || len(id) != 36 { // Parse takes other spellings, too
			return record.FieldErrors{{Field: "id", Code: record.Invalid, Detail: "id must be a UUID."}}
		}
		return handle(s, w, r, parsed.String(), c)
	}
}

// recordSize is how long a record in JSON is, or nearly, in bytes.
const recordSize = 320

func (s *server) handleList(w http.ResponseWriter, r *http.Request, _ string, c caller) error {
	varies(w)
	q, err := parseListQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	if err := s.checkList(w, r, c); err != nil {
		return err
	}
	p, err := s.store.listFirefighters(c.tenant, q)
	if err != nil {
		return err
	}
	body := appendPage(make([]byte, 0, recordSize*(1+len(p.items))), q, p)
	w.Header()["Etag"] = []string{s.listTag(c.tenant, p.version)}
	if links := linksOf(firefightersPath, r.URL.RawQuery, q, p.totalPages(q)); links != "" {
		w.Header()["Link"] = append(w.Header()["Link"], links)
	}
	respond(w, http.StatusOK, compressed(w, r, body))
	return nil
}

func (p page) totalPages(q listQuery) int64 { return (p.totalCount + q.pageSize - 1) / q.pageSize }

// appendPage appends the page envelope.
func appendPage(b []byte, q listQuery, p page) []byte {
	b = append(b, `{"data":{"items":[`...)
	for i := range p.items {
		if i > 0 {
			b = append(b, ',')
		}
		b = p.items[i].AppendJSON(b)
	}
	totalPages := p.totalPages(q)
	return fmt.Appendf(b, `],"page":%d,"pageSize":%d,"totalCount":%d,"totalPages":%d,`+
		`"hasPreviousPage":%t,"hasNextPage":%t},"totalCount":%d}`,
		q.page, q.pageSize, p.totalCount, totalPages, q.page > 1, q.page < totalPages, p.totalCount)
}

func (s *server) handleGet(w http.ResponseWriter, r *http.Request, id string, c caller) error {
	on, err := conditionsOf(r)
	if err != nil {
		return err
	}
	f, err := s.store.firefighter(c.tenant, id)
	if err != nil {
		return err
	}
	body := f.AppendJSON(make([]byte, 0, recordSize))
	etag := etagOf(body)
	w.Header()["Etag"] = []string{etag}
	if err := on.check(etag, true); err != nil {
		return err
	}
	respond(w, http.StatusOK, body)
	return nil
}

func (s *server) handleCreate(w http.ResponseWriter, r *http.Request, _ string, c caller) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	a, err := attemptOf(r, c.key, body)
	if err != nil {
		return err
	}
	if a.key == "" {
		return s.create(w, c, body, a)
	}
	end, ok := s.attempts.begin(a)
	if !ok {
		return errInFlight
	}
	defer end()
	id, answer, err := s.store.replay(c.tenant, a)
	switch {
	case err != nil:
		return err
	case answer == nil:
		return s.create(w, c, body, a)
	}
	w.Header().Set("Idempotency-Replayed", "true")
	respondRecord(w, http.StatusCreated, id, answer)
	return nil
}

// create makes a record of a body, and answers with it.
func (s *server) create(w http.ResponseWriter, c caller, body []byte, a attempt) error {
	fields, err := s.fieldsOf(body)
	if err != nil {
		return err
	}
	f, err := s.store.createFirefighter(c.tenant, c.key, fields, a)
	if err == nil {
		respondRecord(w, http.StatusCreated, f.ID, f.AppendJSON(nil))
	}
	return err
}

func (s *server) handleReplace(w http.ResponseWriter, r *http.Request, id string, c caller) error {
	on, err := conditionsOf(r)
	if err != nil {
		return err
	}
	body, err := readBody(r)
	if err != nil {
		return err
	}
	fields, err := s.fieldsOf(body)
	if err != nil {
		return err
	}
	f, err := s.store.replaceFirefighter(c.tenant, c.key, id, fields, on)
	if err == nil {
		respondRecord(w, http.StatusOK, id, f.AppendJSON(nil))
	}
	return err
}

// respondRecord answers with a record that has just been written.
func respondRecord(w http.ResponseWriter, status int, id string, body []byte) {
	if status == http.StatusCreated {
		w.Header()["Location"] = []string{firefightersPath + "/" + id}
	}
	w.Header()["Etag"] = []string{etagOf(body)}
	respond(w, status, body)
}

func (s *server) handleDelete(w http.ResponseWriter, r *http.Request, id string, c caller) error {
	on, err := conditionsOf(r)
	if err != nil {
		return err
	}
	if err := s.store.deleteFirefighter(c.tenant, c.key, id, on); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *server) handleWhoAmI(w http.ResponseWriter, _ *http.Request, _ string, c caller) error {
	who, err := s.store.whoIs(c.key)
	if errors.Is(err, errNotFound) {
		err = errUnknownKey // erased at this moment
	}
	if err != nil {
		return err
	}
	body, err := json.Marshal(who)
	if err == nil {
		respond(w, http.StatusOK, body)
	}
	return err
}

func (s *server) handleHealth(w http.ResponseWriter, _ *http.Request, _ string, _ caller) error {
	respond(w, http.StatusOK, []byte(`{"status":"ok"}`))
	return nil
}

func (s *server) handleReady(w http.ResponseWriter, _ *http.Request, _ string, _ caller) error {
	if err := s.store.ping(); err != nil {
		return &problem{Status: http.StatusServiceUnavailable, Detail: "The database does not answer.",
			header: retryLater, cause: err}
	}
	body := []byte(`{"status":"ready"`)
	if s.backups != nil {
		body = s.backups.appendState(append(body, `,"backup":`...))
	}
	respond(w, http.StatusOK, append(body, '}'))
	return nil
}
