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

// FieldError is an error in one field of a request.
type FieldError struct {
	Field  string `json:"field"`
	Code   string `json:"code"`
	Detail string `json:"detail"` // a sentence for people
}

// FieldErrors are all field errors of a request.
type FieldErrors []FieldError

// Error returns the detail of a single error, or the number of errors and the first detail.
func (e FieldErrors) Error() string {
	if len(e) == 1 {
		return e[0].Detail
	}
	return fmt.Sprintf("There are %d faults. The first: %s", len(e), e[0].Detail)
}

// Add appends an error. The detail is formatted with fmt.Sprintf.
func (e *FieldErrors) Add(field, code, format string, args ...any) {
	*e = append(*e, FieldError{field, code, fmt.Sprintf(format, args...)})
}

// Merge adds the errors in more for fields that have no error yet.
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

// Err returns e, or nil if e is empty.
func (e FieldErrors) Err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// TextError is an error in a text that is not a field of a record. Code is a field error code.
// Fault is a predicate, such as "is required".
type TextError struct{ Code, Fault string }

func (e *TextError) Error() string { return e.Fault }

// BodyError reports that a request body is not a JSON object.
type BodyError string

func (e BodyError) Error() string { return string(e) }

// DamagedError reports that a record does not match its checksum. The damage may be in the id.
type DamagedError struct{ ID string }

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the record %q is damaged: its fields do not match their checksum", e.ID)
}
