package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"firefighters/internal/record"
)

// What may be done with deleted records: list them, bring them back, erase
// them for good.

// deletedRecord is one that is in no answer of the service.
type deletedRecord struct {
	record.Firefighter
	row       int64
	deletedAt int64 // milliseconds
	damaged   bool
}

const deletedSQL = `SELECT ` + columnsWith + `deleted_at` + columnsEnd + ` FROM firefighters
	WHERE row BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff AND deleted_at < ?2 ORDER BY row`

// deletedFirefighters gives those records of a department that were deleted
// before a time.
func (s *store) deletedFirefighters(tenant tenantID, until time.Time) (all []deletedRecord, err error) {
	err = s.read(func(c *conn) error {
		return c.query(deletedSQL, values{int64(tenant), until.UnixMilli()}, func(row values) {
			scan := scan{tenant: tenant, deleted: true}
			f := scan.record(row)
			all = append(all, deletedRecord{f, scan.row, scan.number, scan.damaged != nil})
		})
	})
	slices.SortStableFunc(all, func(a, b deletedRecord) int { return cmp.Compare(a.deletedAt, b.deletedAt) })
	return all, err
}

const undeleteSQL = `
	UPDATE firefighters SET deleted_at = NULL, checksum = ~checksum
	 WHERE id = ? AND tenant_id = ? AND deleted_at IS NOT NULL
	RETURNING row`

// undeleteFirefighters brings deleted records back, all or, where one is not
// among the deleted, none.
func (s *store) undeleteFirefighters(tenant tenantID, ids []string) error {
	return s.write(func(t *transaction) error {
		for _, id := range ids {
			row, err := t.queryNumber(undeleteSQL, id, int64(tenant))
			if errors.Is(err, errNotFound) {
				return notDeleted(id)
			}
			if err == nil {
				err = t.remember(tenant, 0, row, change{actionUndelete, id, nil})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func notDeleted(id string) error {
	return hinted{fmt.Errorf("the department has no deleted record %s; nothing was changed", id),
		"firefighters deleted --tenant NAME, which lists them"}
}

// purgedAtOnce is how many records are erased in one transaction.
const purgedAtOnce = 500

// purgeFirefighters erases deleted records, and what is known of their past.
// That they were erased is remembered, by their ids. Until the file is
// rewritten, traces of them stand in it. One that has been brought back
// meanwhile stays.
func (s *store) purgeFirefighters(tenant tenantID, all []deletedRecord) (erased int, err error) {
	past, last, err := s.pastOf(tenant, all)
	if err != nil {
		return 0, err
	}
	for some := range slices.Chunk(all, purgedAtOnce) {
		var ids []string
		err := s.write(func(t *transaction) error {
			ids = nil
			for _, d := range some {
				gone, err := t.purge(tenant, d, past[d.ID], last)
				if err != nil {
					return err
				}
				if gone {
					ids = append(ids, d.ID)
				}
			}
			list, err := json.Marshal(ids)
			if err == nil {
				_, err = t.exec(`DELETE FROM replays WHERE record_id IN (SELECT value FROM json_each(?))`, string(list))
			}
			return err
		})
		if err != nil {
			return erased, err
		}
		erased += len(ids)
	}
	return erased, nil
}

// pastOf gives the numbers of the changes of records, up to the last one.
func (s *store) pastOf(tenant tenantID, all []deletedRecord) (past map[string][]int64, last int64, err error) {
	past = map[string][]int64{}
	for _, d := range all {
		past[d.ID] = nil
	}
	err = s.read(func(c *conn) error {
		return c.query(`SELECT id, record_id FROM changes WHERE tenant_id = ? ORDER BY id`, values{int64(tenant)}, func(row values) {
			last = number(row[0])
			if _, wanted := past[text(row[1])]; wanted {
				past[text(row[1])] = append(past[text(row[1])], last)
			}
		})
	})
	return past, last, err
}

// purge erases a record and its past: these changes, and those after last.
func (t *transaction) purge(tenant tenantID, d deletedRecord, past []int64, last int64) (gone bool, err error) {
	erased, err := t.exec(`DELETE FROM firefighters WHERE row = ? AND tenant_id = ? AND deleted_at IS NOT NULL`, d.row, int64(tenant))
	if err != nil || erased == 0 {
		return false, err
	}
	for _, id := range past {
		if _, err := t.exec(`DELETE FROM changes WHERE id = ?`, id); err != nil {
			return false, err
		}
	}
	if _, err := t.exec(`DELETE FROM changes WHERE id > ? AND record_id = ?`, last, d.ID); err != nil {
		return false, err
	}
	return true, t.remember(tenant, 0, d.row, change{actionPurge, d.ID, nil})
}

// rewrite writes the database at path anew, so that nothing is left in it, or
// in its -wal, of what was erased. SQLite's secure_delete is not enough: where a
// page was split it leaves what stood there.
func rewrite(path string) error {
	c, err := openConn(migrationDSN(resolve(path))) // whose temporary file is not in memory
	if err != nil {
		return err
	}
	_, err = c.exec(`VACUUM`)
	if err == nil {
		var busy int64
		busy, err = c.queryNumber(`PRAGMA wal_checkpoint(TRUNCATE)`)
		if err == nil && busy != 0 {
			err = errBusy
		}
	}
	return errors.Join(err, c.Close())
}

const deletedHelp = `Usage: firefighters deleted --tenant NAME [flags]

Lists the deleted records of a department, those deleted first at the top.
They are in no answer of the service; undelete brings them back.

  firefighters deleted --tenant "Engine 7"

Flags:
`

func (p *program) deleted(args []string) error {
	flags := p.flags("deleted", deletedHelp)
	db := dbFlag(flags)
	tenantName := tenantFlag(flags)
	if err := p.parse(flags, args, 0); err != nil {
		return err
	}
	return p.withTenant(*db, *tenantName, "deleted", func(s *store, tenant tenantID) error {
		all, err := s.deletedFirefighters(tenant, time.UnixMilli(math.MaxInt64))
		if err != nil {
			return explain("reading", *db, err)
		}
		t := newTable("ID\tDELETED\tRECORD")
		for _, d := range all {
			t.add(d.ID, showTime(d.deletedAt), (&before{d.Firefighter, d.damaged}).summary())
		}
		return t.print(p)
	})
}

const undeleteHelp = `Usage: firefighters undelete --tenant NAME ID... [flags]

Brings deleted records back, as they were. Their ids are the first on their
lines of: firefighters deleted

  firefighters undelete --tenant "Engine 7" 01a1f83c-64f7-795d-bc35-4c6516093415

Flags:
`

func (p *program) undelete(args []string) error {
	flags := p.flags("undelete", undeleteHelp)
	db := dbFlag(flags)
	tenantName := tenantFlag(flags)
	if err := p.parse(flags, args, anyNumber); err != nil {
		return err
	}
	ids, err := recordIDs(flags.Args())
	switch {
	case err != nil:
		return usage("undelete: "+err.Error(), "firefighters undelete --help")
	case len(ids) == 0:
		return usage("undelete: say which, by their ids", "firefighters deleted --tenant NAME, which lists them")
	}
	return p.withTenant(*db, *tenantName, "undelete", func(s *store, tenant tenantID) error {
		if err := s.undeleteFirefighters(tenant, ids); errors.As(err, new(hinted)) {
			return err
		} else if err != nil {
			return explain("writing to", *db, err)
		}
		fmt.Fprintf(p.stderr, "Brought back: %d.\n", len(ids))
		return nil
	})
}

const purgeHelp = `Usage: firefighters purge --tenant NAME (ID... | --older-than AGE) [flags]

Erases deleted records for good, their history included: nothing brings them
back but a backup. It asks first; --yes answers. What stands in backups stays
there until they are thinned out, and so it does in the file that an upgrade
or a restore has kept beside the database. In the end it writes the file anew, so that
no trace is left in it: that takes as much room again, and seconds if the file
is large, in which a service that runs may ask those who write to try again.

  firefighters purge --tenant "Engine 7" 01a1f83c-64f7-795d-bc35-4c6516093415
  firefighters purge --tenant "Engine 7" --older-than 7y --yes

Flags:
`

func (p *program) purge(args []string) error {
	flags := p.flags("purge", purgeHelp)
	db := dbFlag(flags)
	tenantName := tenantFlag(flags)
	olderThan := flags.String("older-than", "", "those deleted longer ago than that, as 7y, 26w or 90d")
	yes := flags.Bool("yes", false, "do not ask")
	if err := p.parse(flags, args, anyNumber); err != nil {
		return err
	}
	ids, err := recordIDs(flags.Args())
	age, ageErr := parseAge(*olderThan)
	switch {
	case err != nil:
		return usage("purge: "+err.Error(), "firefighters purge --help")
	case (len(ids) == 0) == (*olderThan == ""):
		return usage("purge: say which, by their ids or by --older-than", "firefighters purge --help")
	case *olderThan != "" && ageErr != nil:
		return usage(fmt.Sprintf("purge: --older-than must be like 7y, 26w or 90d, not %q", *olderThan), "firefighters purge --help")
	}
	return p.withTenant(*db, *tenantName, "purge", func(s *store, tenant tenantID) error {
		until := time.UnixMilli(math.MaxInt64)
		if *olderThan != "" {
			until = age(s.clock.earlier())
		}
		all, err := s.deletedFirefighters(tenant, until)
		if err != nil {
			return explain("reading", *db, err)
		}
		if *olderThan == "" {
			if all, err = chosen(all, ids); err != nil {
				return err
			}
		}
		question := fmt.Sprintf("Erase %d deleted records of %q for good?", len(all), strings.TrimSpace(*tenantName))
		if len(all) > 0 && !*yes {
			if err := p.confirm(question); err != nil {
				return err
			}
		}
		return p.purgeAll(s, tenant, all, *db)
	})
}

// purgeAll rewrites the file even if there is nothing to erase: the last time
// there may have been no room to.
func (p *program) purgeAll(s *store, tenant tenantID, all []deletedRecord, db string) error {
	erased, err := s.purgeFirefighters(tenant, all)
	if err != nil {
		return explain("erasing from", db, err)
	}
	if err := rewrite(db); err != nil {
		return hinted{fmt.Errorf("%d records are erased, but traces of them may be left in the file: %w",
			erased, explain("rewriting", db, err)), "the same with --older-than 100y in place of the ids, when there is room and nobody is writing"}
	}
	if erased == 0 {
		fmt.Fprintln(p.stderr, "There is nothing to erase.")
	} else {
		fmt.Fprintf(p.stderr, "Erased: %d.\n", erased)
	}
	return nil
}

// confirm asks on a terminal, and fails unless the answer is yes.
func (p *program) confirm(question string) error {
	if !isTerminal(p.stdin) {
		return usage("there is no terminal to ask on: "+question, "the same with --yes")
	}
	fmt.Fprint(p.stderr, question+" Type yes: ")
	answer, err := bufio.NewReader(p.stdin).ReadString('\n')
	if err != nil || strings.TrimSpace(answer) != "yes" {
		return errors.New("the answer was not yes; nothing was changed")
	}
	return nil
}

// chosen gives the deleted records with these ids.
func chosen(all []deletedRecord, ids []string) (some []deletedRecord, err error) {
	for _, id := range ids {
		i := slices.IndexFunc(all, func(d deletedRecord) bool { return d.ID == id })
		if i < 0 {
			return nil, notDeleted(id)
		}
		some = append(some, all[i])
	}
	return some, nil
}

// recordIDs reads the ids of records, each once.
func recordIDs(args []string) (ids []string, err error) {
	for _, arg := range args {
		id, err := uuid.Parse(arg)
		if err != nil || len(arg) != 36 {
			return nil, fmt.Errorf("%q is not the id of a record", arg)
		}
		if !slices.Contains(ids, id.String()) {
			ids = append(ids, id.String())
		}
	}
	return ids, nil
}
