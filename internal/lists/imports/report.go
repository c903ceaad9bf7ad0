package imports

import (
	"context"
	"errors"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Check returns what an import would do, and changes nothing. tenant is 0 for a
// department that does not exist yet; s may then be nil.
func (f *File) Check(ctx context.Context, s *store.Store, tenant record.TenantID) (*Report, error) {
	if f.Problem != nil {
		return nil, f.Problem
	}
	same, err := f.importedBefore(s, tenant)
	if err != nil {
		return nil, err
	}
	var report *Report
	err = readRoster(s, tenant, func(r store.Roster) error {
		d, err := f.decide(ctx, r)
		if err == nil {
			report = f.newReport(d, same)
		}
		return err
	})
	return report, err
}

// readRoster calls read with a department at one moment. tenant is 0 for one that
// does not exist yet.
func readRoster(s *store.Store, tenant record.TenantID, read func(store.Roster) error) error {
	if tenant == 0 {
		return read(noRoster{})
	}
	return s.ReadRoster(tenant, read)
}

// noRoster is that of a department that does not exist yet.
type noRoster struct{}

func (noRoster) Each(func(*record.Stored)) error           { return nil }
func (noRoster) Deleted([]string) (map[string]bool, error) { return nil, nil }

// errRefused ends the transaction of an import in which a row is refused.
var errRefused = errors.New("a row is refused")

// Apply imports the file. The report says Applied if it did: where a row is
// refused nothing is done, unless Options.SkipBad. A file that would change
// nothing makes no import; Number is then nil and Applied true. ctx ends it only
// before it writes.
// The error is an *EncodingError where that has to be settled. key may be nil.
func (f *File) Apply(ctx context.Context, s *store.Store, tenant record.TenantID, by store.KeyID, key *store.IdempotencyKey) (*Report, error) {
	if f.Problem != nil {
		return nil, f.Problem
	}
	if len(f.Differs) > 0 {
		return nil, &EncodingError{f.Differs}
	}
	same, err := f.importedBefore(s, tenant)
	if err != nil {
		return nil, err
	}
	var report *Report
	number, _, err := s.Import(tenant, store.NewImport{
		By: by, File: f.Options.Name, Hash: f.Hash, Progress: f.Options.Progress,
		Department: f.Options.Department, Alike: f.Options.Alike,
		Decide: func(r store.Roster) ([]store.Person, error) {
			d, err := f.decide(ctx, r)
			if err != nil {
				return nil, err
			}
			report = f.newReport(d, same)
			if report.Refused > 0 && !f.Options.SkipBad {
				return nil, errRefused
			}
			report.Applied = true
			return d.people, nil
		},
		Key: key,
		Replay: func(number int64, _ []string) []byte {
			report.setNumber(number)
			return report.AppendJSON(nil)
		},
	})
	if errors.Is(err, errRefused) {
		return report, nil
	}
	if err != nil {
		return nil, err
	}
	report.setNumber(number)
	return report, nil
}

// setNumber sets the number of the import. 0 is none.
func (r *Report) setNumber(number int64) {
	if number > 0 {
		r.Number = &number
	}
}

// importedBefore returns the import of the same file, nil if there is none.
func (f *File) importedBefore(s *store.Store, tenant record.TenantID) (*store.Import, error) {
	if tenant == 0 {
		return nil, nil
	}
	return s.SameFile(tenant, f.Hash)
}

// newReport returns the report of a decision. same is an import of the same file.
func (f *File) newReport(d *decision, same *store.Import) *Report {
	r := &Report{File: f.info(), Columns: f.columns(), Dates: textOrNil(f.Mapped.Dates), All: d.rows, Same: same}
	for i := range d.rows {
		switch d.rows[i].Result {
		case Added:
			r.Added++
		case Left:
			r.Left++
		case Changed:
			r.Changed++
		case Refused:
			r.Refused++
		}
	}
	r.Rows = make([]Row, 0, r.Changed+r.Refused)
	for _, row := range d.rows {
		if row.Result == Changed || row.Result == Refused {
			r.Rows = append(r.Rows, row)
		}
	}
	r.Notes = append(append(r.Notes, f.Table.Notes...), f.Mapped.Notes...)
	r.Warnings = f.warnings(r)
	return r
}

func (f *File) info() FileInfo {
	t := f.Table
	return FileInfo{t.Format, textOrNil(t.Encoding), textOrNil(t.Delimiter), textOrNil(t.Sheet)}
}

func (f *File) columns() []ColumnInfo {
	columns := []ColumnInfo{}
	for _, c := range f.Mapped.Columns {
		columns = append(columns, ColumnInfo{c.Header, textOrNil(mapping.MapName(c.Field))})
	}
	return columns
}

// textOrNil returns nil for an empty text.
func textOrNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
