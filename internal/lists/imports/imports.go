// Package imports takes the people of a file into a department: it says what each
// row would do, does it whole or not at all, and compares a list with ours.
//
// A file goes through sheet.Read, which finds its cells, settle, which determines their
// encoding, mapping.Map, which reads people from the cells, decide, which matches the people
// with the department, and store.Import.
package imports

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// File is a file that was read, and what its rows are.
type File struct {
	Table   *sheet.Table
	Mapped  *mapping.Result
	Options Options        // their Corrections are those that change a cell
	Hash    []byte         // SHA-256 of the content
	Unsure  *EncodingError // the encoding must be chosen; nil: it is certain
	Problem error          // as Map returns it: it cannot be imported yet

	now       time.Time
	comparing bool
}

// List is the content of a file as rows of cells. It is read once, and mapped as often as
// somebody changes what its columns are. Nothing changes it, so that several may map it at
// the same time.
type List struct {
	table   *sheet.Table
	hash    []byte
	unsure  *EncodingError
	size    int     // as Size returns it
	options Options // that the reading depends on
	guessed bool    // the encoding, by the columns
}

// Read reads a file. The error is a *sheet.FileError or that of ctx.
func Read(ctx context.Context, content []byte, o Options, now time.Time) (*List, error) {
	table, err := sheet.Read(ctx, content, sheet.Options{Encoding: o.Encoding, Sheet: o.Sheet, Name: o.Name})
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(content)
	l := &List{table: table, hash: hash[:], options: o, guessed: table.Guess != nil}
	if l.guessed {
		if l.table, l.unsure, err = settle(ctx, content, table, o, now); err != nil {
			return nil, err
		}
	}
	l.size = len(content) // which the texts of cells may be parts of
	for _, row := range l.table.Rows {
		for _, cell := range row.Cells {
			l.size += int(unsafe.Sizeof(cell)) + len(cell.Text)
		}
	}
	return l, nil
}

// ReadAs reports whether Read would read the same cells with these options.
func (l *List) ReadAs(o Options) bool {
	return o.Encoding == l.options.Encoding && o.Sheet == l.options.Sheet && (!l.guessed || maps.Equal(o.Columns, l.options.Columns))
}

// Size returns about how much memory the list takes, in bytes.
func (l *List) Size() int { return l.size }

// Map reads people from a list. The error is a *mapping.ColumnsError, *mapping.DatesError,
// *RowsError or, where no column is known by its header, *EncodingError; then the File has
// what is known. Or it is a *sheet.FileError or that of ctx, without a File.
func (l *List) Map(ctx context.Context, o Options, now time.Time) (*File, error) {
	f := &File{Options: o, Hash: l.hash, Unsure: l.unsure, now: now}
	f.Table, f.Options.Corrections = o.Corrections.correct(l.table)
	f.Mapped, f.Problem = mapping.Map(ctx, f.Table, o.mapping(now))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch {
	case f.Problem == nil || f.Unsure == nil:
	case slices.ContainsFunc(f.Mapped.Columns, mapping.Column.IsName):
		f.Unsure = nil // columns or dates are asked for first
	default:
		f.Problem = f.Unsure // the headers are as unsure as the names
	}
	e, ok := errors.AsType[*mapping.ColumnsError](f.Problem)
	if ok && e.Code == mapping.ColumnsNoName && f.Table.Format == sheet.CSV && len(o.Columns)+len(o.Headers) == 0 {
		if err := sheet.Misnamed(o.Name); err != nil {
			return nil, err
		}
	}
	if f.Problem == nil {
		f.Problem = o.checkRows(f.Mapped.People)
	}
	return f, f.Problem
}

// Release frees the cells of a file that can be imported. The cells take more memory than
// the people, and only what writes the file again needs the cells. The first text of each
// column stays, in one row.
func (f *File) Release() {
	first := make([]sheet.Cell, len(f.Mapped.Columns))
	for _, row := range f.Table.Rows {
		for i, cell := range row.Cells[:min(len(row.Cells), len(first))] {
			if first[i].Text == "" {
				first[i].Text = strings.Clone(cell.Text)
			}
		}
	}
	table := *f.Table
	table.Rows = []sheet.Row{{Cells: first}}
	f.Table = &table
}

// Check returns what an import would do, and changes nothing. tenant is 0 for a
// department that does not exist yet; s may then be nil.
func (f *File) Check(ctx context.Context, s *store.Store, tenant record.TenantID) (*Outcome, error) {
	if f.Problem != nil {
		return nil, f.Problem
	}
	same, err := f.importOfSameFile(s, tenant)
	if err != nil {
		return nil, err
	}
	var outcome *Outcome
	err = readRoster(s, tenant, func(r store.Roster) error {
		d, err := f.decide(ctx, r)
		if err == nil {
			outcome = f.newOutcome(d, same)
		}
		return err
	})
	return outcome, err
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

func (noRoster) Each(context.Context, func(*record.Stored)) error { return nil }
func (noRoster) Deleted([]string) (map[string]bool, error)        { return nil, nil }

// errRefused ends the transaction of an import in which a row is refused or Perhaps, or of
// which something else would come than was said.
var errRefused = errors.New("a row is refused")

// Apply imports the file, and sets Applied in the outcome if it has. Where a row is
// refused or Perhaps Apply writes nothing, unless Options.SkipBad is set, nor where the
// outcome is not the one of Options.Said. A file that would change nothing makes no import;
// Number is then nil and Applied true. ctx ends the work only before Apply writes, and the
// error of Options.Progress until it has written. The error is an *EncodingError where
// somebody must choose the encoding first. key may be nil.
func (f *File) Apply(
	ctx context.Context, s *store.Store, tenant record.TenantID, by store.KeyID, key *store.IdempotencyKey,
) (*Outcome, error) {
	if f.Problem != nil {
		return nil, f.Problem
	}
	if f.Unsure != nil {
		return nil, f.Unsure
	}
	same, err := f.importOfSameFile(s, tenant)
	if err != nil {
		return nil, err
	}
	var outcome *Outcome
	number, ids, err := s.Import(tenant, store.NewImport{
		By: by, File: f.Options.Name, Hash: f.Hash, Progress: f.Options.Progress,
		Department: f.Options.Department, New: f.Options.New,
		Decide: func(r store.Roster) ([]store.Person, error) {
			d, err := f.decide(ctx, r)
			if err != nil {
				return nil, err
			}
			outcome = f.newOutcome(d, same)
			if outcome.Refused+outcome.Perhaps > 0 && !f.Options.SkipBad {
				return nil, errRefused
			}
			if said := f.Options.Said; said != nil && !bytes.Equal(said, outcome.Digest()) {
				return nil, errRefused
			}
			outcome.Applied = true
			return d.people(), nil
		},
		Key: key,
		Replay: func(number int64, ids []string) []byte {
			outcome.setMade(number, ids, f.Options.AllRows)
			return outcome.JSON()
		},
	})
	if errors.Is(err, errRefused) {
		return outcome, nil
	}
	if err != nil {
		return nil, err
	}
	outcome.setMade(number, ids, f.Options.AllRows)
	return outcome, nil
}

// importOfSameFile returns the import of the same file, nil if the department has none.
func (f *File) importOfSameFile(s *store.Store, tenant record.TenantID) (*store.Import, error) {
	if tenant == 0 {
		return nil, nil
	}
	return s.SameFile(tenant, f.Hash)
}
