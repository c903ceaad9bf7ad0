package record

import (
	"fmt"
	"slices"
)

// Codes of field errors.
const (
	Required   = "required"
	TooLong    = "too_long"
	Invalid    = "invalid"
	Unknown    = "unknown"
	WrongType  = "wrong_type"
	Duplicate  = "duplicate"
	OutOfRange = "out_of_range"
)

// FieldError is one thing that is wrong with what a client sent.
type FieldError struct {
	Field  string `json:"field"`
	Code   string `json:"code"`
	Detail string `json:"detail"` // a sentence for people
}

// FieldErrors is everything that is wrong at once.
type FieldErrors []FieldError

// Error returns the detail of the only error, or the number of errors and the
// first of them.
func (e FieldErrors) Error() string {
	if len(e) == 1 {
		return e[0].Detail
	}
	return fmt.Sprintf("There are %d faults. The first: %s", len(e), e[0].Detail)
}

// Add adds an error of a field. The detail is formatted by fmt.Sprintf.
func (e *FieldErrors) Add(field, code, format string, args ...any) {
	*e = append(*e, FieldError{field, code, fmt.Sprintf(format, args...)})
}

// Merge adds those of more whose fields have no error yet.
func (e *FieldErrors) Merge(more FieldErrors) {
	known := *e
	for _, fault := range more {
		if !known.Has(fault.Field) {
			*e = append(*e, fault)
		}
	}
}

// Has reports whether a field has an error.
func (e FieldErrors) Has(field string) bool {
	return slices.ContainsFunc(e, func(fault FieldError) bool { return fault.Field == field })
}

// Err returns e as an error, nil if it is empty.
func (e FieldErrors) Err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// TextError says what is wrong with a text that is no field of a record. Code is
// one of the codes of field errors. Fault has no subject, as "is required".
type TextError struct{ Code, Fault string }

func (e *TextError) Error() string { return e.Fault }

// BodyError says why a body is not a JSON object at all.
type BodyError string

func (e BodyError) Error() string { return string(e) }

// DamagedError says that a record is not what the service wrote. The id may be
// what is damaged.
type DamagedError struct{ ID string }

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the record %q is damaged: its fields do not have their checksum", e.ID)
}
