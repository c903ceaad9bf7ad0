package store

import (
	"database/sql/driver"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// birthMonth is the month in the date of birth that the client sent.
const birthMonth = `CAST(substr(date_of_birth, 6, 2) AS INTEGER)`

func init() {
	sqlite.Function("same_email", 2, func(r sqlite.Row) driver.Value { return strings.EqualFold(fold.Clean(r.Text(0)), r.Text(1)) })
}

// narrowing returns the condition that a record passes the ids and the filter of a query, and the
// arguments of the condition.
func narrowing(q record.Query) (where string, args sqlite.Args) {
	add := func(condition string, values ...driver.Value) {
		where += ` AND ` + condition
		args = append(args, values...)
	}
	has := func(column string, has *bool) {
		switch {
		case has == nil:
		case *has:
			add(column + ` IS NOT NULL`)
		default:
			add(column + ` IS NULL`)
		}
	}
	f := q.Filter
	if q.IDs != nil {
		add(`id IN (SELECT value FROM json_each(?))`, jsonList(q.IDs))
	}
	if f.Email != "" {
		add(`email_key = ? AND same_email(email, ?)`, fold.String(f.Email), f.Email)
	}
	if f.PhoneDigits != "" {
		add(`phone_digits = ?`, f.PhoneDigits)
	}
	if f.BirthMonth != 0 {
		add(birthMonth+` = ?`, f.BirthMonth)
	}
	if f.UpdatedSince != 0 {
		add(`updated_at >= ?`, f.UpdatedSince)
	}
	has(`email`, f.HasEmail)
	has(`phone_number`, f.HasPhoneNumber)
	has(`date_of_birth`, f.HasDateOfBirth)
	return where, args
}
