package store

import (
	"errors"
	"fmt"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// ErrNotFound is the error for a record, key, session or invitation that does not exist. A record
// that is deleted or belongs to another department does not exist.
var ErrNotFound = errors.New("no such record")

// ErrReused is the error for an Idempotency-Key of an earlier, different request.
var ErrReused = errors.New("the idempotency key was already used for a different request")

// RepeatedError reports that an earlier request with the same idempotency key created this record
// or import, such as "import/7".
type RepeatedError struct{ ID string }

func (e *RepeatedError) Error() string {
	return "the request was already sent and created " + e.ID
}

// NoTenantError reports that no department has this name or, with an empty name, that the database
// has no departments.
type NoTenantError struct {
	Name      string
	Names     []string // names of all departments
	CanCreate bool     // whether the command could create the department
}

func (e *NoTenantError) Error() string {
	if e.Name == "" {
		return "the database has no department"
	}
	return fmt.Sprintf("there is no department %q", e.Name)
}

// SeveralTenantsError reports that a department must be named, because the database has several.
type SeveralTenantsError struct{ Names []string }

func (e *SeveralTenantsError) Error() string {
	return fmt.Sprintf("the database has %d departments", len(e.Names))
}

// ErrRemoved is the error for a department that no longer exists.
var ErrRemoved = errors.New("the department was removed")

// TakenError reports that another department has the same or a similar name.
type TakenError struct{ Name, Existing string }

func (e *TakenError) Error() string {
	if e.Name == e.Existing {
		return fmt.Sprintf("a department %q already exists", e.Name)
	}
	return fmt.Sprintf("a department %q already exists, and %q differs from it only in case, accents or spaces", e.Existing, e.Name)
}

// NotEmptyError reports that a department has records.
type NotEmptyError struct {
	Name             string
	Records, Deleted int64 // Records excludes deleted records
}

func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("the department %q is not empty: records: %d, deleted records: %d", e.Name, e.Records, e.Deleted)
}

// NotDeletedError reports that the department has no deleted record with this id.
type NotDeletedError struct{ ID string }

func (e *NotDeletedError) Error() string {
	return fmt.Sprintf("the department has no deleted record %s", e.ID)
}

// noRow returns instead if err is sqlite.ErrNoRows, and otherwise err.
func noRow(err, instead error) error {
	if errors.Is(err, sqlite.ErrNoRows) {
		return instead
	}
	return err
}

// Failed adds the failed action and the path of the database to err. It returns nil if err is nil.
func Failed(doing, path string, err error) error {
	if err == nil {
		return nil
	}
	return &sqlite.FileError{Op: doing, Path: path, Err: err}
}
