package store

import (
	"errors"
	"fmt"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// ErrNotFound is the error for a record that the department does not have. A
// deleted record, another department's and one that never existed are alike.
// It is also the error for a key, a session or an invitation that does not exist.
var ErrNotFound = errors.New("there is no such record")

// ErrReused is the error for an Idempotency-Key that came with another
// request before.
var ErrReused = errors.New("the idempotency key was used with another request before")

// RepeatedError says that a request was sent before with the same idempotency key,
// and made this record or import (as "import/7").
type RepeatedError struct{ ID string }

func (e *RepeatedError) Error() string {
	return "the request was sent before, and made " + e.ID
}

// NoTenantError reports that no department has a name or, without a name, that the
// database has no department.
type NoTenantError struct {
	Name      string
	Names     []string // of all departments
	CanCreate bool     // the command could create the department
}

func (e *NoTenantError) Error() string {
	if e.Name == "" {
		return "the database has no department"
	}
	return fmt.Sprintf("there is no department %q", e.Name)
}

// SeveralTenantsError reports that a department must be named, because there are several.
type SeveralTenantsError struct{ Names []string }

func (e *SeveralTenantsError) Error() string {
	return fmt.Sprintf("the database has %d departments", len(e.Names))
}

// ErrRemoved is the error for a department that was removed meanwhile.
var ErrRemoved = errors.New("the department was removed")

// TakenError reports that a department cannot be renamed, because another one has the name
// or a similar one.
type TakenError struct{ Name, Existing string }

func (e *TakenError) Error() string {
	if e.Name == e.Existing {
		return fmt.Sprintf("there is a department %q already", e.Name)
	}
	return fmt.Sprintf("there is a department %q already, and %q differs from it only in case, accents or spaces", e.Existing, e.Name)
}

// NotEmptyError says that a department has records.
type NotEmptyError struct {
	Name             string
	Records, Deleted int64 // deleted ones are not among the records
}

func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("the department %q is not empty: records: %d, deleted ones: %d", e.Name, e.Records, e.Deleted)
}

// NotDeletedError says that the record is not among the deleted ones of the
// department.
type NotDeletedError struct{ ID string }

func (e *NotDeletedError) Error() string {
	return fmt.Sprintf("the department has no deleted record %s", e.ID)
}

// noRow returns err, and instead in place of the engine's error for no row.
func noRow(err, instead error) error {
	if errors.Is(err, sqlite.ErrNoRows) {
		return instead
	}
	return err
}

// Failed returns err with what failed on the database at path, nil if err is nil.
func Failed(doing, path string, err error) error {
	if err == nil {
		return nil
	}
	return &sqlite.FileError{Op: doing, Path: path, Err: err}
}
