package main

import (
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
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// Data in and out: changes, exports and imports.

const (
	importsPath    = "/api/v1/imports"
	defaultChanges = 100
	maxChanges     = 1000
	inMillis       = "2006-01-02T15:04:05.000Z" // RFC 3339, UTC
)

func (s *server) handleChanges(w http.ResponseWriter, r *http.Request, _ string, c caller) error {
	h := w.Header()
	httpapi.VaryByEncoding(h)
	p := record.ParseParameters(r.URL.RawQuery)
	after, limit := p.Get("after"), p.WholeNumber("limit", defaultChanges, maxChanges)
	if err := p.Err(); err != nil {
		return err
	}
	answer := func(w http.ResponseWriter) error {
		feed, err := s.store.Changes(c.tenant, after, int(min(limit, maxChanges)))
		if err != nil {
			return err
		}
		httpapi.Respond(w, http.StatusOK, httpapi.Compress(h, r, appendFeed(nil, feed)))
		return nil
	}
	if limit > defaultChanges {
		return upload.Work(w, r, int64(c.tenant), 0, answer)
	}
	return answer(w)
}

func appendFeed(b []byte, feed store.Feed) []byte {
	b = slices.Grow(b, 2*recordSize*(1+len(feed.Items)))
	b = append(b, `{"items":[`...)
	for i, change := range feed.Items {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"position":%q,"at":%q,"action":%q,"id":%q,"record":`,
			change.Position, change.At.UTC().Format(inMillis), change.Action, change.ID)
		if change.Record == nil {
			b = append(b, "null}"...)
			continue
		}
		b = append(change.Record.AppendJSON(b), '}')
	}
	return fmt.Appendf(b, `],"next":%q,"more":%t}`, feed.Next, feed.More)
}

func (s *server) handleExport(w http.ResponseWriter, r *http.Request, _ string, c caller) error {
	p := record.ParseParameters(r.URL.RawQuery)
	format, q := p.OneOf("format", sheet.CSV, sheet.Formats...), p.Selection(record.Query{SortBy: record.ByCreatedAt})
	if err := p.Err(); err != nil {
		return err
	}
	file := upload.Attachment{Name: "people-" + s.store.Clock().Now().Format(time.DateOnly) + "." + format, ContentType: sheet.ContentType(format)}
	return upload.Send(w, r, int64(c.tenant), file, func(to io.Writer) error {
		return sheet.WriteAll(r.Context(), to, format, func(each func(*record.Firefighter) error) error {
			return s.store.Each(c.tenant, q, each)
		})
	})
}

// limitOf returns the size of the largest body of a request.
func limitOf(r *http.Request) int64 {
	if r.URL.Path == importsPath {
		return upload.MaxBody
	}
	return maxBody
}

func (s *server) handleImport(w http.ResponseWriter, r *http.Request, _ string, c caller) (err error) {
	defer func() {
		if err != nil {
			upload.Ignore(w, r, true)
		}
	}()
	o, err := importOptions(r.URL.RawQuery)
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
	work := func(do func(w http.ResponseWriter, content []byte) error) error {
		return upload.Work(w, r, int64(c.tenant), file.Weight(), func(w http.ResponseWriter) error {
			content, err := file.Content()
			if err != nil {
				return err
			}
			return do(w, content)
		})
	}
	if !o.Apply {
		return work(func(w http.ResponseWriter, content []byte) error { return s.checkImport(w, r, c, content, o) })
	}
	hash, err := file.Hash()
	if err != nil {
		return err
	}
	asked := fmt.Appendf(nil, "%s?%s\n%q\n%x", importsPath, r.URL.RawQuery, o.Name, hash)
	return s.once(r, c, sha256.Sum256(asked), func(key *store.IdempotencyKey) error {
		return work(func(w http.ResponseWriter, content []byte) error { return s.applyImport(w, r, c, content, o, key) })
	})
}

// importOptions reads the query of an import. The error is record.FieldErrors.
func importOptions(rawQuery string) (imports.Options, error) {
	p := record.ParseParameters(rawQuery)
	o := imports.Options{
		Apply: p.Bool("apply"), Update: p.Bool("update"), SkipBad: p.Bool("skipBad"), Sheet: p.Get("sheet"),
		Encoding: p.OneOf("encoding", "", sheet.Encodings...),
		Dates:    p.OneOf("dates", "", mapping.Orders...),
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

// checkImport answers with what an import would do.
func (s *server) checkImport(w http.ResponseWriter, r *http.Request, c caller, content []byte, o imports.Options) error {
	file, err := imports.Read(r.Context(), content, o, s.store.Clock().Now())
	if err != nil {
		return err
	}
	file.Release()
	outcome, err := file.Check(r.Context(), s.store, c.tenant)
	if err != nil {
		return err
	}
	return respondOutcome(w, http.StatusOK, outcome)
}

// applyImport imports a file, or answers with the replay to an earlier
// import with this key.
func (s *server) applyImport(w http.ResponseWriter, r *http.Request, c caller, content []byte, o imports.Options, key *store.IdempotencyKey) error {
	if key != nil {
		_, stored, err := s.store.Replay(c.tenant, key)
		if err != nil {
			return err
		}
		if stored != nil {
			w.Header().Set("Idempotency-Replayed", "true")
			return respondImport(w, stored)
		}
	}
	file, err := imports.Read(r.Context(), content, o, s.store.Clock().Now())
	if err != nil {
		return err
	}
	file.Release()
	outcome, err := file.Apply(r.Context(), s.store, c.tenant, c.key, key)
	switch {
	case err != nil:
		return err
	case !outcome.Applied:
		return respondOutcome(w, http.StatusUnprocessableEntity, outcome)
	case outcome.Number == nil:
		return respondOutcome(w, http.StatusOK, outcome)
	}
	return respondImport(w, outcome.AppendJSON(nil))
}

// respondOutcome answers with the outcome of an import that was not made.
func respondOutcome(w http.ResponseWriter, status int, outcome *imports.Outcome) error {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	outcome.WriteJSON(w) // an error means that the client has gone
	return nil
}

// respondImport answers with the outcome of an import that was made.
func respondImport(w http.ResponseWriter, outcome []byte) error {
	var made struct{ Number int64 }
	if err := json.Unmarshal(outcome, &made); err != nil {
		return err
	}
	w.Header()["Location"] = []string{importsPath + "/" + strconv.FormatInt(made.Number, 10)}
	httpapi.Respond(w, http.StatusCreated, outcome)
	return nil
}

// importDetails is an import in JSON.
type importDetails struct {
	Number      int64        `json:"number"`
	At          string       `json:"at"`
	Key         *store.KeyID `json:"key"` // null: a command did it
	Label       *string      `json:"label"`
	File        *string      `json:"file"`
	Added       int          `json:"added"`
	Changed     int          `json:"changed"`
	TakenBackAt *string      `json:"takenBackAt"`
}

func detailsOf(made store.Import) importDetails {
	d := importDetails{Number: made.Number, At: made.At.UTC().Format(inMillis), Added: made.Added, Changed: made.Changed}
	if made.Key != 0 {
		d.Key, d.Label = &made.Key, &made.Label
	}
	if made.File != "" {
		d.File = &made.File
	}
	if !made.TakenBackAt.IsZero() {
		at := made.TakenBackAt.UTC().Format(inMillis)
		d.TakenBackAt = &at
	}
	return d
}

func (s *server) handleImports(w http.ResponseWriter, r *http.Request, _ string, c caller) error {
	all, err := s.store.Imports(c.tenant)
	if err != nil {
		return err
	}
	items := make([]importDetails, len(all))
	for i, made := range all {
		items[i] = detailsOf(made)
	}
	return httpapi.RespondJSON(w, http.StatusOK, map[string]any{"items": items})
}

// errNoImport is for a number that no import of the department has.
var errNoImport = &httpapi.Problem{Kind: kindImport, Detail: "There is no import with this number."}

// withNumber hands the handler the number of an import in the path.
func withNumber(handle func(s *server, w http.ResponseWriter, number int64, c caller) error) handler {
	return func(s *server, w http.ResponseWriter, _ *http.Request, text string, c caller) error {
		number, err := strconv.ParseInt(text, 10, 64)
		if strings.Trim(text, "0123456789") != "" || text == "" || err == nil && number == 0 {
			return record.FieldErrors{{Field: "number", Code: record.Invalid, Detail: "number must be a whole number from 1."}}
		}
		if err != nil { // no import has a number so large
			return errNoImport
		}
		return handle(s, w, number, c)
	}
}

func (s *server) handleGetImport(w http.ResponseWriter, number int64, c caller) error {
	all, err := s.store.Imports(c.tenant)
	if err != nil {
		return err
	}
	for _, made := range all {
		if made.Number == number {
			return httpapi.RespondJSON(w, http.StatusOK, detailsOf(made))
		}
	}
	return errNoImport
}

// takenBack is what taking an import back has done, in JSON.
type takenBack struct {
	Number   int64       `json:"number"`
	Deleted  int         `json:"deleted"`
	Restored int         `json:"restored"`
	Left     []leftAlone `json:"left"`
}

type leftAlone struct {
	ID     string  `json:"id"`
	Name   *string `json:"name"` // null: the record is gone
	Action string  `json:"action"`
}

func (s *server) handleTakeBack(w http.ResponseWriter, number int64, c caller) error {
	done, err := s.store.TakeBack(c.tenant, c.key, number)
	if errors.Is(err, store.ErrNotFound) {
		err = errNoImport
	}
	if err != nil {
		return err
	}
	answer := takenBack{Number: number, Deleted: done.Deleted, Restored: done.Restored, Left: []leftAlone{}}
	for _, left := range done.Left {
		item := leftAlone{ID: left.ID, Action: left.Action}
		if left.Name != "" {
			item.Name = &left.Name
		}
		answer.Left = append(answer.Left, item)
	}
	return httpapi.RespondJSON(w, http.StatusOK, answer)
}

// importsProblem returns the problem that an error of this file is, nil for any
// other.
func importsProblem(err error) *httpapi.Problem {
	if errors.Is(err, store.ErrPosition) {
		return &httpapi.Problem{Kind: kindPosition,
			Detail: "This position is not of the history of the department: the database was restored, or the position was never given. Start over without after."}
	}
	if errors.Is(err, sheet.ErrTooManyRows) {
		const detail = "These are more people than a workbook can hold, 1,048,575. Add a search, or the parameter format: csv, vcf or jsonl."
		return &httpapi.Problem{Kind: httpapi.Invalid, Detail: detail, Errors: record.FieldErrors{{Field: "format", Code: record.OutOfRange, Detail: detail}}}
	}
	if back, ok := errors.AsType[*store.TakenBackError](err); ok {
		return &httpapi.Problem{Kind: kindTakenBack,
			Detail: fmt.Sprintf("The import %d was taken back before, at %s.", back.Number, back.At.UTC().Format(inMillis))}
	}
	if file, ok := errors.AsType[*sheet.FileError](err); ok {
		if kind, ok := refusedFiles[file.Code]; ok {
			return &httpapi.Problem{Kind: kind, Detail: imports.English.Say(err)}
		}
	}
	if option, code := neededOption(err); option != "" {
		detail := imports.English.Say(err) + optionHints[option]
		return &httpapi.Problem{Kind: httpapi.Invalid, Detail: detail, Errors: record.FieldErrors{{Field: option, Code: code, Detail: detail}}}
	}
	return nil
}

// refusedFiles are the faults of a file that no option helps against.
var refusedFiles = map[string]httpapi.Kind{
	sheet.FileTooLarge: httpapi.TooLarge, sheet.FileBomb: httpapi.TooLarge, sheet.FileTooMany: httpapi.TooLarge,
	sheet.FileOldExcel: httpapi.ContentType, sheet.FileEncrypted: httpapi.ContentType, sheet.FileODS: httpapi.ContentType,
	sheet.FilePDF: httpapi.ContentType, sheet.FileNumbers: httpapi.ContentType, sheet.FileZip: httpapi.ContentType,
	sheet.FileBinary: httpapi.ContentType, sheet.FileHTML: httpapi.ContentType,
}

// optionHints say what to add to a request.
var optionHints = map[string]string{
	"sheet":    " Add the parameter sheet.",
	"encoding": " Add the parameter encoding.",
	"dates":    " Add the parameter dates: dmy, mdy or ymd.",
	"map":      " Add the parameter map, as Vorname=firstName,Handy=phoneNumber.",
}

// neededOption returns what of a request a whole file was refused for, and the
// code of that; empty for another error.
func neededOption(err error) (option, code string) {
	var file *sheet.FileError
	var columns *mapping.ColumnsError
	var dates *mapping.DatesError
	switch {
	case errors.As(err, &file):
		return optionOf(file.Code)
	case errors.As(err, &columns) && columns.Code == mapping.ColumnsUnknown:
		return "map", record.Unknown
	case columns != nil:
		return "map", record.Required
	case errors.As(err, &dates) && dates.Other != "":
		return "dates", record.Invalid
	case dates != nil:
		return "dates", record.Required
	case errors.As(err, new(*imports.EncodingError)):
		return "encoding", record.Required
	}
	return "", ""
}

func optionOf(fault string) (option, code string) {
	switch fault {
	case sheet.FileSheets:
		return "sheet", record.Required
	case sheet.FileSheet:
		return "sheet", record.Unknown
	case sheet.FileEncoding:
		return "encoding", record.Invalid
	case sheet.FileEmpty, sheet.FileNoSheet:
		return "file", record.Required
	}
	return "file", record.Invalid
}
