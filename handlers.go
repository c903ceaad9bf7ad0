package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

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

	onlyLoopback bool // it is for this machine alone
}

// handler answers one request, or gives the error to answer it with.
type handler func(s *server, w http.ResponseWriter, r *http.Request, id string, c caller) error

// routes is all there is. A GET answers HEAD too.
var routes = []struct {
	method, path, scope string
	handle              handler
}{
	{"GET", "/api/v1/firefighters", scopeRead, (*server).handleList},
	{"POST", "/api/v1/firefighters", scopeWrite, (*server).handleCreate},
	{"GET", "/api/v1/firefighters/:id", scopeRead, withID((*server).handleGet)},
	{"PUT", "/api/v1/firefighters/:id", scopeWrite, withID((*server).handleReplace)},
	{"DELETE", "/api/v1/firefighters/:id", scopeWrite, withID((*server).handleDelete)},
	{"GET", "/healthz", public, (*server).handleHealth},
	{"GET", "/readyz", public, (*server).handleReady},
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
		endpoint := s.endpoint(route.path, route.scope, route.handle)
		s.router.Handle(route.method, route.path, endpoint)
		if route.method == "GET" {
			s.router.Handle("HEAD", route.path, endpoint)
		}
	}
	s.router.RedirectTrailingSlash, s.router.RedirectFixedPath = false, false
	s.router.NotFound = s.failing(http.StatusNotFound, "There is nothing at this path.")
	s.router.MethodNotAllowed = s.failing(http.StatusMethodNotAllowed,
		"This path does not take this method; the header Allow says which it takes.")
	s.router.GlobalOPTIONS = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	return s
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
	default:
		s.router.ServeHTTP(w, r)
	}
}

func (s *server) newRequestID() string {
	return s.idPrefix + strconv.FormatUint(s.lastID.Add(1), 36)
}

// endpoint lets in who may come in, and answers with the handler's error
// where there is one.
func (s *server) endpoint(path, scope string, handle handler) httprouter.Handle {
	return func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		defer func() {
			if p := recover(); p == http.ErrAbortHandler {
				panic(p)
			} else if p != nil {
				s.fail(w, r, path, fmt.Errorf("panic: %v", p))
			}
		}()
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
		if err := handle(s, w, r, params.ByName("id"), c); err != nil {
			s.fail(w, r, path, err)
		}
	}
}

// withID gives the handler the id of the path in its canonical form.
func withID(handle handler) handler {
	return func(s *server, w http.ResponseWriter, r *http.Request, id string, c caller) error {
		parsed, err := uuid.Parse(id)
		if err != nil || len(id) != 36 { // Parse takes other spellings, too
			return record.Faults{{Field: "id", Code: record.Invalid, Detail: "id must be a UUID."}}
		}
		return handle(s, w, r, parsed.String(), c)
	}
}

func (s *server) handleList(w http.ResponseWriter, r *http.Request, _ string, c caller) error {
	q, err := parseListQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	p, err := s.store.listFirefighters(c.tenant, q)
	if err != nil {
		return err
	}
	const record, envelope = 320, 256 // bytes, or nearly
	body := make([]byte, 0, envelope+record*len(p.items))
	respond(w, http.StatusOK, appendPage(body, q, p))
	return nil
}

// appendPage appends the page envelope.
func appendPage(b []byte, q listQuery, p page) []byte {
	b = append(b, `{"data":{"items":[`...)
	for i := range p.items {
		if i > 0 {
			b = append(b, ',')
		}
		b = p.items[i].AppendJSON(b)
	}
	totalPages := (p.totalCount + q.pageSize - 1) / q.pageSize
	return fmt.Appendf(b, `],"page":%d,"pageSize":%d,"totalCount":%d,"totalPages":%d,`+
		`"hasPreviousPage":%t,"hasNextPage":%t},"totalCount":%d}`,
		q.page, q.pageSize, p.totalCount, totalPages, q.page > 1, q.page < totalPages, p.totalCount)
}

func (s *server) handleGet(w http.ResponseWriter, _ *http.Request, id string, c caller) error {
	f, err := s.store.firefighter(c.tenant, id)
	if err != nil {
		return err
	}
	respond(w, http.StatusOK, f.AppendJSON(nil))
	return nil
}

func (s *server) handleCreate(w http.ResponseWriter, r *http.Request, _ string, c caller) error {
	fields, err := s.readFields(r)
	if err != nil {
		return err
	}
	f, err := s.store.createFirefighter(c.tenant, c.key, fields)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/v1/firefighters/"+f.ID)
	respond(w, http.StatusCreated, f.AppendJSON(nil))
	return nil
}

func (s *server) handleReplace(w http.ResponseWriter, r *http.Request, id string, c caller) error {
	fields, err := s.readFields(r)
	if err != nil {
		return err
	}
	f, err := s.store.replaceFirefighter(c.tenant, c.key, id, fields)
	if err != nil {
		return err
	}
	respond(w, http.StatusOK, f.AppendJSON(nil))
	return nil
}

func (s *server) handleDelete(w http.ResponseWriter, _ *http.Request, id string, c caller) error {
	if err := s.store.deleteFirefighter(c.tenant, c.key, id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
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

// readFields reads the body of a create or replace request. Its shape is
// judged here, its meaning by the store; where the shape has faults nothing
// reaches the store, and so both are named here.
func (s *server) readFields(r *http.Request) (record.Fields, error) {
	if !isJSON(r.Header.Get("Content-Type")) {
		return record.Fields{}, &problem{Status: http.StatusUnsupportedMediaType,
			Detail: "The body must be of Content-Type application/json."}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return record.Fields{}, record.BodyError("The body could not be read to its end.")
	}
	if len(body) > maxBody {
		return record.Fields{}, &problem{Status: http.StatusRequestEntityTooLarge,
			Detail: fmt.Sprintf("The body may have at most %d bytes.", maxBody)}
	}
	fields, faults, err := record.Decode(body)
	if err == nil && len(faults) > 0 {
		_, more := fields.Clean(s.store.clock.now())
		faults.Merge(more)
		err = faults
	}
	return fields, err
}

// isJSON takes an absent type for JSON, and no character set but UTF-8.
func isJSON(contentType string) bool {
	if contentType == "" {
		return true
	}
	mediaType, params, err := mime.ParseMediaType(contentType)
	charset, given := params["charset"]
	return err == nil && mediaType == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}

// respond sends a body that is complete, so that no failure can follow the
// status.
func respond(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body) // an error means that the client has gone
}

// problem is an error as RFC 9457 has it: what the client is told.
type problem struct {
	Type      string        `json:"type"`
	Title     string        `json:"title"`
	Status    int           `json:"status"`
	Detail    string        `json:"detail"`
	Errors    record.Faults `json:"errors,omitempty"`
	RequestID string        `json:"requestId"`

	header http.Header // to send with it
	cause  error       // for the log
}

const problemType = "application/problem+json"

func (p *problem) Error() string { return p.Detail }

// complete fills in what follows from the status.
func (p *problem) complete(requestID string) {
	p.Type, p.Title, p.RequestID = "about:blank", http.StatusText(p.Status), requestID
}

var retryLater = http.Header{"Retry-After": {"1"}} // in seconds

// problemOf finds the words for an error. Of one that is not foreseen the
// client learns nothing.
func problemOf(err error) *problem {
	var known *problem
	var faults record.Faults
	var body record.BodyError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &faults):
		return &problem{Status: http.StatusBadRequest, Detail: faults.Error(), Errors: faults}
	case errors.As(err, &body):
		return &problem{Status: http.StatusBadRequest, Detail: body.Error()}
	case errors.Is(err, errNotFound):
		return &problem{Status: http.StatusNotFound, Detail: "There is no firefighter with this id."}
	case errors.Is(err, errBusy):
		return &problem{Status: http.StatusServiceUnavailable, Detail: "The database is busy.", header: retryLater, cause: err}
	case errors.Is(err, errClosed):
		return &problem{Status: http.StatusServiceUnavailable, Detail: "The service is shutting down.", header: retryLater, cause: err}
	case errors.Is(err, errFull):
		return &problem{Status: http.StatusInsufficientStorage,
			Detail: "The disk is full: nothing was written. Reading goes on.", cause: err}
	}
	return &problem{Status: http.StatusInternalServerError,
		Detail: "Something went wrong here. The log says more under this request's id.", cause: err}
}

// fail answers with err, and logs it if the fault is ours. path is that of
// the route, for the request's own may hold anything.
func (s *server) fail(w http.ResponseWriter, r *http.Request, path string, err error) {
	p := *problemOf(err)
	p.complete(w.Header().Get("X-Request-Id"))
	if p.Status >= http.StatusInternalServerError {
		s.log.Error("request failed", "requestId", p.RequestID, "status", p.Status,
			"method", r.Method, "path", path, "cause", fmt.Sprint(p.cause))
	}
	for name, values := range p.header {
		w.Header()[name] = values
	}
	if r.Header.Get("Expect") == "" { // else the client has not begun to send
		io.CopyN(io.Discard, r.Body, maxIgnoredBody)
	}
	w.Header().Set("Content-Type", problemType)
	body, _ := json.Marshal(p) // strings and numbers: it cannot fail
	respond(w, p.Status, body)
}

// failing answers every request with the same problem.
func (s *server) failing(status int, detail string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, "", &problem{Status: status, Detail: detail})
	})
}

// harmlessID tells whether a request id may stand in a log and in a header.
func harmlessID(id string) bool {
	const harmless = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
	return id != "" && len(id) <= 64 && strings.Trim(id, harmless) == ""
}

// headerSize is the size of the headers as they were sent, or nearly.
func headerSize(r *http.Request) int {
	size := len(r.Host)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(": \r\n") + len(value)
		}
	}
	return size
}
