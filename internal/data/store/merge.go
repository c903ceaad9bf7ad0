package store

import (
	"errors"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// ErrTwoUsers is the error for merging two records whose users differ.
var ErrTwoUsers = errors.New("the records belong to different users")

// Survivor returns which of two records remains when they are merged: the one with a user, else the
// one with an invitation, else the first. It returns ErrTwoUsers if both have users, who differ.
func Survivor(first, second *record.Firefighter) (keep, remove *record.Firefighter, err error) {
	one, other := first.UserID, second.UserID
	switch {
	case one != nil && other != nil && *one != *other:
		return nil, nil, ErrTwoUsers
	case other != nil && one == nil, one == nil && first.InvitationStatus == nil && second.InvitationStatus != nil:
		return second, first, nil
	}
	return first, second, nil
}

// Merge merges two records in one transaction: it replaces the fields of one, if they change, and
// soft-deletes the other. It returns the ids of both. It returns record.FieldErrors for invalid fields,
// and the errors of check and Survivor.
func (s *Store) Merge(tenant record.TenantID, by KeyID, first, second string, fields record.Fields,
	check func(first, second record.Firefighter) error) (kept, removed string, err error) {
	fields, errs := fields.Normalize(s.Clock().Now())
	if len(errs) > 0 {
		return "", "", errs
	}
	err = s.db.Write(func(t *sqlite.Tx) error {
		both, err := current(t.Conn, tenant, []string{first, second})
		if err != nil {
			return err
		}
		if len(both) < 2 {
			return ErrNotFound
		}
		for _, f := range both {
			if err := f.Err(); err != nil {
				return err
			}
		}
		if err := check(both[first].Firefighter, both[second].Firefighter); err != nil {
			return err
		}
		keep, gone, err := Survivor(&both[first].Firefighter, &both[second].Firefighter)
		if err != nil {
			return err
		}
		kept, removed = keep.ID, gone.ID
		if keep.Fields != fields {
			if err := replace(t, tenant, by, both[kept], fields); err != nil {
				return err
			}
			if err := noteMerge(t, tenant, removed); err != nil {
				return err
			}
		}
		if err := remove(t, tenant, by, both[removed]); err != nil {
			return err
		}
		return noteMerge(t, tenant, kept)
	})
	return kept, removed, err
}

// noteMerge adds the other record of a merge to the last change.
func noteMerge(t *sqlite.Tx, tenant record.TenantID, other string) error {
	return t.ExecOne(`UPDATE changes SET merged_with = ?2 WHERE id = ?1 << 32 | (`+lastChangeSQL+`)`, int64(tenant), other)
}

// UndoMerge undoes a merge in one transaction: it restores the deleted record, unless it is already
// restored, and passes the fields of the other one to change, whose result replaces them. It returns
// ErrNotFound if one of them no longer exists, and record.FieldErrors for invalid fields.
func (s *Store) UndoMerge(tenant record.TenantID, by KeyID, removed, kept string,
	change func(record.Fields) (record.Fields, error)) error {
	return s.db.Write(func(t *sqlite.Tx) error {
		both, err := current(t.Conn, tenant, []string{removed, kept})
		if err != nil {
			return err
		}
		now := both[kept]
		if now == nil {
			return ErrNotFound
		}
		if now.Damaged {
			return now.Err()
		}
		fields, err := change(now.Fields)
		if err != nil {
			return err
		}
		fields, errs := fields.Normalize(time.UnixMilli(t.Now))
		if len(errs) > 0 {
			return errs
		}
		if both[removed] == nil {
			err = undelete(t, tenant, by, []string{removed})
		}
		if err == nil && fields != now.Fields {
			err = replace(t, tenant, by, now, fields)
		}
		return err
	})
}

// SetDistinct records that two records of a department are different people, or that they may be the
// same person.
func (s *Store) SetDistinct(tenant record.TenantID, one, other string, distinct bool) error {
	statement := `DELETE FROM distinct_people WHERE tenant_id = ? AND one = ? AND other = ?`
	if distinct {
		statement = `INSERT OR IGNORE INTO distinct_people (tenant_id, one, other) VALUES (?, ?, ?)`
	}
	pair := distinctPair(one, other)
	return s.db.Write(func(t *sqlite.Tx) error {
		both, err := current(t.Conn, tenant, pair[:])
		if err == nil && len(both) < 2 {
			err = ErrNotFound
		}
		if err == nil {
			_, err = t.Exec(statement, int64(tenant), pair[0], pair[1])
		}
		return err
	})
}

func distinctPair(one, other string) [2]string { return [2]string{min(one, other), max(one, other)} }

// Distinct returns a function that reports whether someone called two records of a department
// different people.
func (s *Store) Distinct(tenant record.TenantID) (func(one, other string) bool, error) {
	pairs := map[[2]string]bool{}
	err := s.query(`SELECT one, other FROM distinct_people WHERE tenant_id = ?`, sqlite.Args{int64(tenant)},
		func(row sqlite.Row) { pairs[[2]string{row.Text(0), row.Text(1)}] = true })
	return func(one, other string) bool { return pairs[distinctPair(one, other)] }, err
}
