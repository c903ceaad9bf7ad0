// Package record is a firefighter's record: the rules for its fields, its form
// in JSON and in the database, and the query of a list.
package record

// TenantID is the number of a department.
type TenantID int64

// Firefighter is a record of a department.
type Firefighter struct {
	ID string // canonical lower-case UUID
	Fields
	InvitationStatus *string // nil is null; the department's platform writes it, the service never does
	UserID           *string // likewise
}
