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

// Kinds of problems that are specific to this API.
var (
	kindRecord    = httpapi.Kind{Code: "record", Status: http.StatusNotFound}
	kindImport    = httpapi.Kind{Code: "import", Status: http.StatusNotFound}
	kindPosition  = httpapi.Kind{Code: "position", Status: http.StatusGone} // in the feed of changes
	kindTakenBack = httpapi.Kind{Code: "taken_back", Status: http.StatusConflict}
	kindRefused   = httpapi.Kind{Code: "rows_refused", Status: http.StatusUnprocessableEntity}
)

// Problems without variable parts.
var (
	errNoPath = &httpapi.Problem{Kind: httpapi.Path, Header: documentLinks,
		Detail: "This path does not exist. The page " + docsPath + " lists all paths."}
	errSlash = &httpapi.Problem{Kind: httpapi.Path, Header: documentLinks,
		Detail: "This path does not exist. Remove the trailing slash."}
	// Requests without a Host header are accepted, because browsers always send it.
	errOtherHost = &httpapi.Problem{Kind: httpapi.Host,
		Detail: "This address serves only the local computer. Use the host localhost or 127.0.0.1. " +
			"For a reverse proxy, start the service with --public-url."}
	errInFlight = &httpapi.Problem{Kind: httpapi.InFlight, Header: httpapi.RetryLater,
		Detail: "Another request with this Idempotency-Key is in progress."}
	errLost = &httpapi.Problem{Kind: httpapi.Unavailable, Header: httpapi.RetryLater,
		Detail: "Another program changed, moved or deleted the database files. See the server log for what to do."}
	errReadOnlyKey   = insufficient("This API key is read-only.")
	errPhoneKey      = insufficient("This key is for a phone. It gives access only to the address book at /dav/.")
	errCalendarKey   = insufficient("This key is for a calendar. It gives access only to the birthdays at /dav/birthdays.ics.")
	errNoCalendarKey = insufficient("The birthday calendar requires a key with the scope calendar.")
	errTooManyWait   = &httpapi.Problem{Kind: httpapi.TooMany, Header: http.Header{"Retry-After": {"5"}},
		Detail: "Too many requests are waiting for changes. Try again later, or without wait."}
	// callers.FindDevice sets the Retry-After header.
	errTooManyTries = &httpapi.Problem{Kind: httpapi.TooMany, Detail: "Too many wrong keys from this address. Wait a minute."}
)

func insufficient(detail string) *httpapi.Problem {
	return &httpapi.Problem{Kind: httpapi.Scope, Detail: detail,
		Header: http.Header{"Www-Authenticate": {`Bearer realm="firefighters", error="insufficient_scope"`}}}
}

// Problems of the key of a request (RFC 6750). Without a key, the challenge contains no error code.
var (
	errNoKey = unauthorized(httpapi.KeyMissing, `Bearer realm="firefighters"`,
		"Send the header Authorization: Bearer <API key> exactly once.")
	errUnknownKey = unauthorized(httpapi.KeyUnknown, invalidToken, "This API key is unknown.")
	errRevokedKey = unauthorized(httpapi.KeyRevoked, invalidToken, "This API key was revoked.")
	errExpiredKey = unauthorized(httpapi.KeyExpired, invalidToken, "This API key has expired.")
)

const invalidToken = `Bearer realm="firefighters", error="invalid_token"`

func unauthorized(kind httpapi.Kind, challenge, detail string) *httpapi.Problem {
	return &httpapi.Problem{Kind: kind, Detail: detail, Header: http.Header{"Www-Authenticate": {challenge}}}
}

// errNoImport is for an import number that the department does not have.
var errNoImport = &httpapi.Problem{Kind: kindImport, Detail: "There is no import with this number."}

// errWrongID is for a path whose record id is not a UUID.
var errWrongID = record.FieldErrors{{Field: "id", Code: record.Invalid, Detail: "id must be a UUID."}}

// errCursor is for an invalid or expired cursor.
var errCursor = record.FieldErrors{{Field: "cursor", Code: record.Invalid, Detail: record.WrongCursor}}

// problemOf returns the problem of any error. An unknown error becomes a generic 500.
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
	case errors.Is(err, store.ErrRemoved): // the department, and so its keys
		return errUnknownKey
	case errors.Is(err, store.ErrNotFound):
		return &httpapi.Problem{Kind: kindRecord, Detail: "There is no firefighter with this id."}
	case errors.Is(err, httpapi.ErrPreconditionFailed):
		return &httpapi.Problem{Kind: httpapi.Precondition,
			Detail: "Precondition failed: the record may have changed since you read it."}
	case errors.Is(err, store.ErrReused):
		return &httpapi.Problem{Kind: httpapi.KeyReused, Detail: "This Idempotency-Key was already used for a different request."}
	case errors.Is(err, sqlite.ErrLost):
		return errLost
	case errors.Is(err, sqlite.ErrBusy):
		return &httpapi.Problem{Kind: httpapi.Busy, Detail: "The database is busy.", Header: httpapi.RetryLater, Cause: err}
	case errors.Is(err, sqlite.ErrClosed):
		return &httpapi.Problem{Kind: httpapi.Stopping, Detail: "The service is shutting down.", Header: httpapi.RetryLater, Cause: err}
	case errors.Is(err, sqlite.ErrFull):
		return &httpapi.Problem{Kind: httpapi.Full, Detail: "The disk is full. Nothing was written. Reading still works.", Cause: err}
	}
	return &httpapi.Problem{Kind: httpapi.Internal, Cause: err,
		Detail: "An internal error occurred. The server log has details under this request ID."}
}

// keyProblem returns the problem of an error about the request's key, or nil.
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

// fileProblem returns the problem of an error about changes, exports or imports, or nil.
func fileProblem(err error) *httpapi.Problem {
	if errors.Is(err, store.ErrPosition) {
		return &httpapi.Problem{Kind: kindPosition,
			Detail: "This position is not in the history of the department. Either the database was restored " +
				"or the position is not from this API. Start again without after."}
	}
	if undone, ok := errors.AsType[*store.UndoneError](err); ok {
		return &httpapi.Problem{Kind: kindTakenBack,
			Detail: fmt.Sprintf("Import %d was already undone at %s.", undone.Number, undone.At.UTC().Format(record.InMillis))}
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

// notImported returns the problem of an import that changed nothing, because questions are open or
// rows are refused.
func notImported(o *imports.Outcome) *httpapi.Problem {
	if open := o.Open(); open != nil {
		return &httpapi.Problem{Kind: kindRefused, Detail: "Nothing was imported: " + cli.Count(len(open), "question is", "questions are") +
			" open (" + strings.Join(open, ", ") + "). Answer with answer=KIND:OPTION; questions lists the options."}
	}
	var reasons []string
	if o.Refused > 0 {
		reasons = append(reasons, cli.Count(o.Refused, "row is", "rows are")+" refused")
	}
	if o.Perhaps > 0 {
		reasons = append(reasons, cli.Count(o.Perhaps, "row is", "rows are")+" undecided (decide with same, add or names)")
	}
	return &httpapi.Problem{Kind: kindRefused,
		Detail: "Nothing was imported: " + strings.Join(reasons, ", and ") + ". Set skipBad=true to import the others."}
}

// refusedFiles are the codes of files that cannot be imported with any option.
var refusedFiles = map[string]httpapi.Kind{
	sheet.FileTooLarge: httpapi.TooLarge, sheet.FileBomb: httpapi.TooLarge, sheet.FileTooMany: httpapi.TooLarge,
	sheet.FileOldExcel: httpapi.ContentType, sheet.FileEncrypted: httpapi.ContentType, sheet.FileODS: httpapi.ContentType,
	sheet.FilePDF: httpapi.ContentType, sheet.FileNumbers: httpapi.ContentType, sheet.FileZip: httpapi.ContentType,
	sheet.FileBinary: httpapi.ContentType, sheet.FileHTML: httpapi.ContentType, sheet.FileText: httpapi.ContentType,
}

// optionHints name the parameter to add to a request.
var optionHints = map[string]string{
	"sheet":    " Add the parameter sheet.",
	"encoding": " Add the parameter encoding.",
	"map":      " Add the parameter map, like Vorname=firstName,Handy=phoneNumber.",
}

// neededOption returns the parameter that an error about a whole file requires, and its error code.
func neededOption(err error) (option, code string) {
	var file *sheet.FileError
	var columns *mapping.ColumnsError
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
