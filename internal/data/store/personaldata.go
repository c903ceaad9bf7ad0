package store

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// PersonalData is all data about one person. It contains no data about other people, except labels
// of keys and file names of imports, which may contain any text.
type PersonalData struct {
	ID         string
	Department string
	At         time.Time        // time of the query
	Record     *record.Stored   // nil: permanently deleted
	ErasedAt   time.Time        // time of the permanent deletion; the zero time: none
	Edits      []Edit           // changes to this record, newest first
	Distinct   []string         // ids of the records that someone called different people
	Readers    []Key            // keys that could read the record, newest first; nil after a permanent deletion
	Replays    []StoredResponse // newest first
}

// StoredResponse is the response to a create or an import that is stored for repeated requests.
type StoredResponse struct {
	At, Until time.Time
	Import    int64           // number of the import; 0: a create
	Body      json.RawMessage // nil for an import, whose response is also about other people
}

const distinctFromSQL = `SELECT iif(one = ?2, other, one) FROM distinct_people WHERE tenant_id = ?1 AND ?2 IN (one, other) ORDER BY 1`

var personSQL = `SELECT deleted_at, ` + record.Columns + ` FROM firefighters WHERE id = ? AND tenant_id = ?`

// PersonalData returns all data about a person of a department, read at a single moment. The person
// may be soft-deleted or permanently deleted. PersonalData returns ErrNotFound if the person never
// existed.
func (s *Store) PersonalData(tenant record.TenantID, id string) (d PersonalData, err error) {
	d = PersonalData{ID: id, At: s.Clock().Now()}
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		err := c.QueryRow(tenantNameSQL, sqlite.Args{int64(tenant)}, func(row sqlite.Row) { d.Department = row.Text(0) })
		if err != nil {
			return noRow(err, ErrRemoved)
		}
		err = c.QueryRow(personSQL, sqlite.Args{id, int64(tenant)}, func(row sqlite.Row) {
			d.Record = &record.Stored{DeletedAt: row.Int(0)}
			record.Scan(tenant, !row.IsNull(0), row[1:], d.Record)
		})
		if noRow(err, nil) != nil {
			return err
		}
		q := EditQuery{Records: []string{id}, Before: math.MaxUint32}
		if d.Edits, err = readEdits(c, tenant, q, math.MaxInt); err != nil {
			return err
		}
		if d.Record == nil {
			at := slices.IndexFunc(d.Edits, func(e Edit) bool { return e.Action == actionPurge })
			if at < 0 {
				return ErrNotFound
			}
			d.ErasedAt = d.Edits[at].At
			return nil
		}
		err = c.Query(distinctFromSQL, sqlite.Args{int64(tenant), id}, func(row sqlite.Row) { d.Distinct = append(d.Distinct, row.Text(0)) })
		return cmp.Or(err, d.readReaders(c, tenant), d.readReplays(c, tenant))
	})
	return d, err
}

// readReaders reads the keys of the department that were valid when they gave access to the record.
// The office page also shows deleted people; devices do not receive them.
func (d *PersonalData) readReaders(c *sqlite.Conn, tenant record.TenantID) error {
	return c.Query(keySQL+` WHERE k.tenant_id = ? ORDER BY k.id DESC`, sqlite.Args{int64(tenant)}, func(row sqlite.Row) {
		k := scanKey(row)
		end, f := k.Ended(), d.Record
		if (end == 0 || end > f.CreatedAt) && (!IsDeviceScope(k.Scope) || f.DeletedAt == 0 || k.CreatedAt < f.DeletedAt) {
			d.Readers = append(d.Readers, k)
		}
	})
}

const replaysOfSQL = `
	SELECT created_at, record_id, answer FROM replays
	 WHERE tenant_id = ?1 AND record_id IN (SELECT value FROM json_each(?2)) ORDER BY id DESC`

func (d *PersonalData) readReplays(c *sqlite.Conn, tenant record.TenantID) error {
	numbers := map[string]int64{d.ID: 0}
	for _, e := range d.Edits {
		if e.Import != nil {
			numbers[importID(e.Import.Number)] = e.Import.Number
		}
	}
	ids := jsonList(slices.Collect(maps.Keys(numbers)))
	return c.Query(replaysOfSQL, sqlite.Args{int64(tenant), ids}, func(row sqlite.Row) {
		r := StoredResponse{At: row.Time(0), Until: row.Time(0).Add(replayLifetime), Import: numbers[row.Text(1)]}
		if r.Import == 0 {
			r.Body = validJSON(row.Text(2))
		}
		d.Replays = append(d.Replays, r)
	})
}
