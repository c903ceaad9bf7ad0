package store

import (
	"errors"
	"fmt"

	"firefighters/internal/sqlite"
)

// The errors of the engine, so that the callers of a store need not know it.
var (
	ErrBusy       = sqlite.ErrBusy
	ErrClosed     = sqlite.ErrClosed
	ErrCorrupt    = sqlite.ErrCorrupt
	ErrForeign    = sqlite.ErrForeign
	ErrFull       = sqlite.ErrFull
	ErrInUse      = sqlite.ErrInUse
	ErrIO         = sqlite.ErrIO
	ErrLinked     = sqlite.ErrLinked
	ErrLost       = sqlite.ErrLost
	ErrNoFolder   = sqlite.ErrNoFolder
	ErrNotExist   = sqlite.ErrNotExist
	ErrNotRegular = sqlite.ErrNotRegular
	ErrPermission = sqlite.ErrPermission
	ErrReadOnly   = sqlite.ErrReadOnly
)

// The types of the engine's errors.
type (
	FileError  = sqlite.FileError
	NewerError = sqlite.NewerError
)

// SQLiteVersion is the version of SQLite.
const SQLiteVersion = sqlite.Version

// ErrNotFound is the error for a record that the department does not have. A
// deleted record, another department's and one that never existed are alike.
// It is also the error for a key that does not exist.
var ErrNotFound = errors.New("there is no such record")

// ErrReused is the error for an Idempotency-Key that came with another body
// before.
var ErrReused = errors.New("the idempotency key was used with another body before")

// NoTenantError says that there is no department of this name.
type NoTenantError struct{ Name string }

func (e *NoTenantError) Error() string { return fmt.Sprintf("there is no department %q", e.Name) }

// NotDeletedError says that the record is not among the deleted ones of the
// department.
type NotDeletedError struct{ ID string }

func (e *NotDeletedError) Error() string {
	return fmt.Sprintf("the department has no deleted record %s", e.ID)
}

// notFound turns the engine's error for no row into ErrNotFound.
func notFound(err error) error {
	if errors.Is(err, sqlite.ErrNoRows) {
		return ErrNotFound
	}
	return err
}
