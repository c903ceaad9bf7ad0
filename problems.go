package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/callers"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// The kinds of problems that this API has beside those of any.
var (
	kindRecord    = httpapi.Kind{Code: "record", Status: http.StatusNotFound}
	kindImport    = httpapi.Kind{Code: "import", Status: http.StatusNotFound}
	kindPosition  = httpapi.Kind{Code: "position", Status: http.StatusGone} // of the list of changes
	kindTakenBack = httpapi.Kind{Code: "taken_back", Status: http.StatusConflict}
	kindRefused   = httpapi.Kind{Code: "rows_refused", Status: http.StatusUnprocessableEntity}
)

// The problems that are always the same.
var (
	errNoPath = &httpapi.Problem{Kind: httpapi.Path, Detail: "There is nothing at this path.", Header: toDocument}
	errMethod = &httpapi.Problem{Kind: httpapi.Method,
		Detail: "This path does not take this method; the header Allow says which it takes."}
	// RFC 9110 has Misdirected Request for a host that this is not. A request
	// without a Host is let in: a browser always sends one.
	errOtherHost = &httpapi.Problem{Kind: httpapi.Host,
		Detail: "This service listens on this machine alone, and answers to the hosts localhost and 127.0.0.1 only."}
	errInFlight = &httpapi.Problem{Kind: httpapi.InFlight, Header: httpapi.RetryLater,
		Detail: "A request with this Idempotency-Key is being answered."}
	errLost = &httpapi.Problem{Kind: httpapi.Unavailable, Header: httpapi.RetryLater,
		Detail: "Another program changed, moved or deleted the files of the database. The log says what to do."}
	errReadOnlyKey   = insufficient("This API key may only read.")
	errPhoneKey      = insufficient("This key is that of a phone: it opens the address book at /dav/ and nothing else.")
	errCalendarKey   = insufficient("This key is that of a calendar: it opens the birthdays at /dav/birthdays.ics and nothing else.")
	errNoCalendarKey = insufficient("The calendar has a key of its own, which opens nothing else. This one is of another scope.")
	errTooManyWait   = &httpapi.Problem{Kind: httpapi.TooMany, Header: http.Header{"Retry-After": {"5"}},
		Detail: "Too many requests wait for changes. Ask again later, or without waiting."}
	// The header Retry-After comes from callers.FindDevice.
	errTooManyTries = &httpapi.Problem{Kind: httpapi.TooMany, Detail: "There were too many wrong keys from this address. Wait a minute."}
)

func insufficient(detail string) *httpapi.Problem {
	return &httpapi.Problem{Kind: httpapi.Scope, Detail: detail,
		Header: http.Header{"Www-Authenticate": {`Bearer realm="firefighters", error="insufficient_scope"`}}}
}

// The four refusals of a key, by RFC 6750. Only a request without credentials
// is not told an error code of that.
var (
	errNoKey = unauthorized(httpapi.KeyMissing, `Bearer realm="firefighters"`,
		"Send the header Authorization: Bearer <API key>, exactly once.")
	errUnknownKey = unauthorized(httpapi.KeyUnknown, invalidToken, "This API key is unknown.")
	errRevokedKey = unauthorized(httpapi.KeyRevoked, invalidToken, "This API key has been revoked.")
	errExpiredKey = unauthorized(httpapi.KeyExpired, invalidToken, "This API key has expired.")
)

const invalidToken = `Bearer realm="firefighters", error="invalid_token"`

func unauthorized(kind httpapi.Kind, challenge, detail string) *httpapi.Problem {
	return &httpapi.Problem{Kind: kind, Detail: detail, Header: http.Header{"Www-Authenticate": {challenge}}}
}

// errNoImport is for a number that no import of the department has.
var errNoImport = &httpapi.Problem{Kind: kindImport, Detail: "There is no import with this number."}

// errWrongID is for a path with something else in place of the id of a record.
var errWrongID = record.FieldErrors{{Field: "id", Code: record.Invalid, Detail: "id must be a UUID."}}

// errCursor is for a cursor that leads nowhere.
var errCursor = record.FieldErrors{{Field: "cursor", Code: record.Invalid, Detail: record.WrongCursor}}

// problemOf is the one place where an error becomes a problem. Of an
// unforeseen error the client learns nothing.
func problemOf(err error) *httpapi.Problem {
	if problem, ok := errors.AsType[*httpapi.Problem](err); ok {
		return problem
	}
	if problem := keyProblem(err); problem != nil {
		return problem
	}
	if problem := fileProblem(err); problem != nil {
		return problem
	}
	var fields record.FieldErrors
	var body record.BodyError
	switch {
	case errors.As(err, &fields):
		return &httpapi.Problem{Kind: httpapi.Invalid, Detail: fields.Error(), Errors: fields}
	case errors.As(err, &body):
		return &httpapi.Problem{Kind: httpapi.Malformed, Detail: body.Error()}
	case errors.Is(err, store.ErrCursor):
		return problemOf(errCursor)
	case errors.Is(err, store.ErrRemoved): // and so the keys of the department
		return errUnknownKey
	case errors.Is(err, store.ErrNotFound):
		return &httpapi.Problem{Kind: kindRecord, Detail: "There is no firefighter with this id."}
	case errors.Is(err, httpapi.ErrPreconditionFailed):
		return &httpapi.Problem{Kind: httpapi.Precondition,
			Detail: "The firefighter is not what the request's conditions ask for: somebody may have changed it since it was read."}
	case errors.Is(err, store.ErrReused):
		return &httpapi.Problem{Kind: httpapi.KeyReused, Detail: "This Idempotency-Key was used with another body before."}
	case errors.Is(err, sqlite.ErrLost):
		return errLost
	case errors.Is(err, sqlite.ErrBusy):
		return &httpapi.Problem{Kind: httpapi.Busy, Detail: "The database is busy.", Header: httpapi.RetryLater, Cause: err}
	case errors.Is(err, sqlite.ErrClosed):
		return &httpapi.Problem{Kind: httpapi.Stopping, Detail: "The service is shutting down.", Header: httpapi.RetryLater, Cause: err}
	case errors.Is(err, sqlite.ErrFull):
		return &httpapi.Problem{Kind: httpapi.Full, Detail: "The disk is full: nothing was written. Reading goes on.", Cause: err}
	}
	return &httpapi.Problem{Kind: httpapi.Internal, Cause: err,
		Detail: "Something went wrong here. The log says more under this request's id."}
}

// keyProblem returns the problem of an error about the key of a request, nil for any other.
func keyProblem(err error) *httpapi.Problem {
	switch err {
	case callers.ErrNoKey:
		return errNoKey
	case callers.ErrUnknownKey:
		return errUnknownKey
	case callers.ErrRevokedKey:
		return errRevokedKey
	case callers.ErrExpiredKey:
		return errExpiredKey
	case callers.ErrTooMany:
		return errTooManyTries
	}
	e, ok := errors.AsType[*callers.ScopeError](err)
	switch {
	case !ok:
		return nil
	case e.Scope == store.ScopePhone:
		return errPhoneKey
	case e.Scope == store.ScopeCalendar:
		return errCalendarKey
	case e.Needed == store.ScopeCalendar:
		return errNoCalendarKey
	}
	return errReadOnlyKey
}

// fileProblem returns the problem of an error about changes, exports or imports, nil for
// any other.
func fileProblem(err error) *httpapi.Problem {
	if errors.Is(err, store.ErrPosition) {
		return &httpapi.Problem{Kind: kindPosition,
			Detail: "This position is not of the history of the department: the database was restored, " +
				"or the position was never given. Start over without after."}
	}
	if back, ok := errors.AsType[*store.UndoneError](err); ok {
		return &httpapi.Problem{Kind: kindTakenBack,
			Detail: fmt.Sprintf("The import %d was taken back before, at %s.", back.Number, back.At.UTC().Format(record.InMillis))}
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

// notImported is the problem of an import that was not made: rows are refused, or the
// encoding of the file must be chosen first.
func notImported(f *imports.File, o *imports.Outcome) *httpapi.Problem {
	if f.Unsure != nil {
		return &httpapi.Problem{Kind: kindRefused, Detail: "Nothing was imported: the encoding of the file is not certain. " +
			"The warnings have names of the list in each encoding that could be meant. Add the parameter encoding."}
	}
	var why []string
	if o.Refused > 0 {
		why = append(why, cli.Count(o.Refused, "row is", "rows are")+" refused")
	}
	if o.Perhaps > 0 {
		why = append(why, cli.Count(o.Perhaps, "row is", "rows are")+" undecided (say who is meant by same, add or names)")
	}
	return &httpapi.Problem{Kind: kindRefused,
		Detail: "Nothing was imported: " + strings.Join(why, ", and ") + ". skipBad=true imports the others."}
}

// refusedFiles are the faults of a file that no option helps against.
var refusedFiles = map[string]httpapi.Kind{
	sheet.FileTooLarge: httpapi.TooLarge, sheet.FileBomb: httpapi.TooLarge, sheet.FileTooMany: httpapi.TooLarge,
	sheet.FileOldExcel: httpapi.ContentType, sheet.FileEncrypted: httpapi.ContentType, sheet.FileODS: httpapi.ContentType,
	sheet.FilePDF: httpapi.ContentType, sheet.FileNumbers: httpapi.ContentType, sheet.FileZip: httpapi.ContentType,
	sheet.FileBinary: httpapi.ContentType, sheet.FileHTML: httpapi.ContentType, sheet.FileText: httpapi.ContentType,
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
	var rows *imports.RowsError
	switch {
	case errors.As(err, &file):
		return optionOf(file.Code)
	case errors.As(err, &rows) && rows.Code == imports.RowsUnknown:
		return rows.Option, record.Unknown
	case rows != nil:
		return rows.Option, record.Invalid
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
	case sheet.FileNothing, sheet.FileEmpty, sheet.FileNoSheet, sheet.FileFormulas, sheet.FileCards:
		return "file", record.Required
	}
	return "file", record.Invalid
}
