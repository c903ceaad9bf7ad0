package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/callers"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// fileRoutes are the operations on changes, exports and imports.
var fileRoutes = []route{
	{method: "GET", path: "/api/v1/changes", scope: store.ScopeRead, query: true, handle: (*server).handleChanges},
	{method: "GET", path: "/api/v1/export", scope: store.ScopeRead, query: true, handle: (*server).handleExport},
	{method: "GET", path: importsPath, scope: store.ScopeRead, handle: (*server).handleImports},
	{method: "POST", path: importsPath, scope: store.ScopeWrite, query: true, handle: (*server).handleImport},
	{method: "GET", path: importsPath + "/:number", scope: store.ScopeRead, handle: withNumber((*server).handleGetImport)},
	{method: "DELETE", path: importsPath + "/:number", scope: store.ScopeWrite, handle: withNumber((*server).handleUndoImport)},
}

const (
	defaultChanges = 100
	maxChanges     = 1000
	maxWait        = 60 // seconds to wait for changes; many proxies time out after a minute
)

func (s *server) handleChanges(w http.ResponseWriter, r *http.Request, _ string, c caller) error {
	h := w.Header()
	httpapi.VaryByEncoding(h)
	p := record.ParseParameters(r.URL.RawQuery)
	after, limit, times := p.Get("after"), p.WholeNumber("limit", 1, defaultChanges, maxChanges), p.Times()
	wait := time.Duration(min(p.WholeNumber("wait", 0, 0, maxWait), maxWait)) * time.Second
	if err := p.Err(); err != nil {
		return err
	}
	if wait > 0 && r.Method == http.MethodGet {
		if err := s.awaitChange(w, r, c, after, wait); err != nil {
			return err
		}
	}
	respond := func(w http.ResponseWriter) error {
		feed, err := s.Store.Changes(c.tenant, after, int(min(limit, maxChanges)))
		if err != nil {
			return err
		}
		httpapi.Respond(w, http.StatusOK, httpapi.Compress(h, r, appendFeed(nil, feed, times)))
		return nil
	}
	if limit > defaultChanges {
		return upload.Work(w, r, int64(c.tenant), upload.Writing, respond)
	}
	return respond(w)
}

// awaitChange waits until the department has a change after the position, wait is over, the service
// stops or the client disconnects. It then checks the key again.
func (s *server) awaitChange(w http.ResponseWriter, r *http.Request, c caller, after string, wait time.Duration) error {
	if !s.waiting.Add(int64(c.tenant)) {
		return errTooManyWait
	}
	defer s.waiting.Remove(int64(c.tenant))
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	defer context.AfterFunc(s.Stopping, cancel)()
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(wait + time.Minute))
	if err := s.Store.AwaitChange(ctx, c.tenant, after); err != nil {
		return err
	}
	key, err := s.Callers.FindAgain(r, callers.Bearer(r))
	if err != nil {
		return err
	}
	return callers.CheckScope(key.Scope, store.ScopeRead)
}

func appendFeed(b []byte, feed store.Feed, times bool) []byte {
	b = slices.Grow(b, 2*recordSize*(1+len(feed.Items)))
	b = append(b, `{"items":[`...)
	for i, change := range feed.Items {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"position":%q,"at":%q,"action":%q,"id":%q,"record":`,
			change.Position, change.At.UTC().Format(record.InMillis), change.Action, change.ID)
		if change.Record == nil {
			b = append(b, "null}"...)
			continue
		}
		b = append(appendRecord(b, change.Record, times), '}')
	}
	return fmt.Appendf(b, `],"next":%q,"more":%t}`, feed.Next, feed.More)
}

func (s *server) handleExport(w http.ResponseWriter, r *http.Request, _ string, c caller) error {
	p := record.ParseParameters(r.URL.RawQuery)
	format, q := p.OneOf("format", sheet.CSV, sheet.Formats...), p.Export()
	if err := p.Err(); err != nil {
		return err
	}
	name := "people-" + s.Store.Clock().Now().Format(time.DateOnly) + "." + format
	file := upload.Attachment{Name: name, ContentType: sheet.ContentType(format)}
	return upload.Send(w, r, int64(c.tenant), file, func(to io.Writer) error {
		return sheet.WriteAll(r.Context(), to, format, sheet.Form{Times: q.Times}, func(each func(*record.Firefighter) error) error {
			return s.Store.Each(c.tenant, q, each)
		})
	})
}

func (s *server) handleImport(w http.ResponseWriter, r *http.Request, _ string, c caller) error {
	upload.ExtendDeadlines(w)
	o, err := importOptions(record.ParseParameters(r.URL.RawQuery))
	if err != nil {
		return err
	}
	if _, err := httpapi.IdempotencyKey(r); err != nil {
		return err
	}
	file, err := upload.Receive(w, r, int64(c.tenant))
	if err != nil {
		return err
	}
	defer file.Close()
	o.Name = file.Name
	var key *store.IdempotencyKey
	if o.Apply {
		hash, err := file.Hash()
		if err != nil {
			return err
		}
		request := fmt.Appendf(nil, "%s?%s\n%q\n%x", importsPath, r.URL.RawQuery, o.Name, hash)
		var done func()
		if key, done, err = s.idempotencyKey(r, c, sha256.Sum256(request)); err != nil {
			return err
		}
		defer done()
	}
	return upload.Work(w, r, int64(c.tenant), upload.Reading, func(w http.ResponseWriter) error {
		content, err := file.Content()
		if err != nil {
			return err
		}
		return s.importFile(w, r, c, content, o, key)
	})
}

// answers parses the answers to questions: the parameter answer, and its aliases for some kinds.
func answers(p *record.Parameters, o *imports.Options) {
	encoding := p.Get("encoding")
	if _, known := sheet.EncodingOf(encoding); encoding != "" && !known {
		p.Add("encoding", record.Invalid, "encoding must be one of %s.", strings.Join(sheet.Encodings, ", "))
		encoding = ""
	}
	all := p.All("answer")
	for _, alias := range [][2]string{{sheet.AskEncoding, encoding}, {mapping.AskDates, p.OneOf("dates", "", mapping.Orders...)},
		{mapping.AskNames, p.OneOf("names", "", mapping.NameOrders...)}} {
		if alias[1] != "" {
			all = append(all, alias[0]+":"+alias[1])
		}
	}
	if p.Bool("zero") {
		all = append(all, mapping.AskZero+":true")
	}
	for _, answer := range all {
		if err := o.SetAnswer(answer); err != nil {
			code := record.Invalid
			if e, ok := errors.AsType[*record.TextError](err); ok {
				code = e.Code
			}
			p.Add("answer", code, "answer %v.", err)
		}
	}
}

// importOptions parses the parameters of an import. The error is record.FieldErrors.
func importOptions(p *record.Parameters) (imports.Options, error) {
	o := imports.Options{
		Apply: p.Bool("apply"), Update: p.Bool("update"), SkipBad: p.Bool("skipBad"), Sheet: p.Get("sheet"),
		HeaderRow: int(p.WholeNumber("headerRow", 0, 0, 1<<30)), LeaveOutBad: p.Bool("leaveOutBadFields"), Spelling: p.Bool("spelling"),
		AllRows: p.OneOf("rows", "", imports.AllRows) != "", Languages: []string{osutil.Language()},
	}
	answers(p, &o)
	for _, same := range p.All("same") {
		if err := o.SetSame(same); err != nil {
			p.Add("same", record.Invalid, "same %v.", err)
		}
	}
	for _, add := range p.All("add") {
		if err := o.SetAdd(add); err != nil {
			p.Add("add", record.Invalid, "add %v.", err)
		}
	}
	for _, option := range []string{"skip", "keep"} {
		for _, row := range p.All(option) {
			if err := o.SetSkip(row, option == "skip"); err != nil {
				p.Add(option, record.Invalid, option+" %v.", err)
			}
		}
	}
	if text := p.Get("map"); text != "" {
		headers, err := mapping.ParseHeaders(text)
		if err != nil {
			p.Add("map", record.Invalid, "map %v.", err)
		}
		o.Headers = headers
	}
	return o, p.Err()
}

// importFile imports a file, or repeats the response to an earlier request with the key. Unless o.Apply
// is set, it only reports what the import would do.
func (s *server) importFile(w http.ResponseWriter, r *http.Request, c caller,
	content []byte, o imports.Options, key *store.IdempotencyKey) error {
	_, stored, err := s.replay(w, c, key)
	if err != nil {
		return err
	}
	if stored != nil {
		var earlier struct{ Number int64 }
		if err := json.Unmarshal(stored, &earlier); err != nil {
			return err
		}
		setLocation(w, earlier.Number)
		httpapi.Respond(w, http.StatusCreated, stored)
		return nil
	}
	if o.Country, err = s.Store.Country(c.tenant); err != nil {
		return err
	}
	now := s.Store.Clock().Now()
	list, err := imports.Read(r.Context(), content, o, now)
	if err != nil {
		return err
	}
	file, err := list.Map(r.Context(), o, now)
	if err != nil {
		return err
	}
	file.Release()
	var outcome *imports.Outcome
	if o.Apply {
		outcome, err = file.Apply(r.Context(), s.Store, c.tenant, c.key, key)
	} else {
		outcome, err = file.Check(r.Context(), s.Store, c.tenant)
	}
	if err != nil {
		return err
	}
	if o.Apply && !outcome.Applied {
		notImported(outcome).WriteWith(w, outcome.JSON())
		return nil
	}
	status := http.StatusOK
	if outcome.Number != nil {
		setLocation(w, *outcome.Number)
		status = http.StatusCreated
	}
	httpapi.Respond(w, status, outcome.JSON())
	return nil
}

func setLocation(w http.ResponseWriter, number int64) {
	w.Header()["Location"] = []string{importsPath + "/" + strconv.FormatInt(number, 10)}
}

func (s *server) handleImports(w http.ResponseWriter, r *http.Request, _ string, c caller) error {
	all, err := s.Store.Imports(c.tenant)
	if err != nil {
		return err
	}
	items := make([]imports.Entry, len(all))
	for i, imported := range all {
		items[i] = imports.EntryOf(imported)
	}
	return httpapi.RespondJSON(w, http.StatusOK, map[string]any{"items": items})
}

// withNumber passes the number of the import in the path to a handler.
func withNumber(handle func(s *server, w http.ResponseWriter, number int64, c caller) error) handler {
	return func(s *server, w http.ResponseWriter, _ *http.Request, text string, c caller) error {
		number, err := strconv.ParseInt(text, 10, 64)
		if strings.Trim(text, "0123456789") != "" || text == "" || err == nil && number == 0 {
			return record.FieldErrors{{Field: "number", Code: record.Invalid, Detail: "number must be a whole number from 1."}}
		}
		if err != nil { // too large for any import
			return errNoImport
		}
		return handle(s, w, number, c)
	}
}

func (s *server) handleGetImport(w http.ResponseWriter, number int64, c caller) error {
	all, err := s.Store.Imports(c.tenant)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(i store.Import) bool { return i.Number == number })
	if at < 0 {
		return errNoImport
	}
	return httpapi.RespondJSON(w, http.StatusOK, imports.EntryOf(all[at]))
}

type undoResult struct {
	Number   int64       `json:"number"`
	Deleted  int         `json:"deleted"`
	Restored int         `json:"restored"`
	Left     []notUndone `json:"left"`
}

// notUndone is a store.NotUndone in JSON. Empty values are null.
type notUndone struct {
	ID     *string `json:"id"`
	Name   *string `json:"name"`
	Action *string `json:"action"`
}

// orNull returns nil for an empty text, which JSON encodes as null.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func (s *server) handleUndoImport(w http.ResponseWriter, number int64, c caller) error {
	done, err := s.Store.UndoImport(c.tenant, c.key, number, nil)
	if errors.Is(err, store.ErrNotFound) {
		err = errNoImport
	}
	if err != nil {
		return err
	}
	answer := undoResult{Number: number, Deleted: done.Deleted, Restored: done.Restored, Left: []notUndone{}}
	for _, left := range done.Left {
		answer.Left = append(answer.Left, notUndone{orNull(left.ID), orNull(left.Name), orNull(left.Action)})
	}
	return httpapi.RespondJSON(w, http.StatusOK, answer)
}
