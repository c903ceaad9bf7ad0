package store

import (
	"database/sql/driver"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// birthMonth is the month of a date of birth as it was sent.
const birthMonth = `CAST(substr(date_of_birth, 6, 2) AS INTEGER)`

func init() {
	sqlite.Function("equal_fold", 2, func(r sqlite.Row) driver.Value { return strings.EqualFold(r.Text(0), r.Text(1)) })
}

// narrowing returns the condition that a query does not leave a record out by its id or
// the filter, and its arguments.
func narrowing(q record.Query) (where string, args sqlite.Args) {
	one := func(condition string, values ...driver.Value) {
		where += ` AND ` + condition
		args = append(args, values...)
	}
	has := func(column string, has *bool) {
		switch {
		case has == nil:
		case *has:
			one(column + ` IS NOT NULL`)
		default:
			one(column + ` IS NULL`)
		}
	}
	f := q.Filter
	if q.IDs != nil {
		one(`id IN (SELECT value FROM json_each(?))`, jsonList(q.IDs))
	}
	if f.Email != "" {
		one(`email_key = ? AND equal_fold(email, ?)`, fold.String(f.Email), f.Email)
	}
	if f.PhoneDigits != "" {
		one(`phone_digits = ?`, f.PhoneDigits)
	}
	if f.BirthMonth != 0 {
		one(birthMonth+` = ?`, f.BirthMonth)
	}
	if f.UpdatedSince != 0 {
		one(`updated_at >= ?`, f.UpdatedSince)
	}
	has(`email`, f.HasEmail)
	has(`phone_number`, f.HasPhoneNumber)
	has(`date_of_birth`, f.HasDateOfBirth)
	return where, args
}
