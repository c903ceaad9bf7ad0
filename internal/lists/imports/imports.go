// Package imports imports lists of people into a department. It previews the result of each row,
// imports all rows or none, and compares a list with the department.
//
// The stages are sheet.Read (cells), settle (encoding), mapping.Map (people), decide (matching with
// the department) and store.Import.
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

// File is a list with its columns mapped.
type File struct {
	Table   *sheet.Table
	Mapped  *mapping.Result
	Options Options     // Corrections contains only effective ones
	Hash    []byte      // SHA-256 of the content
	Unsure  []Candidate // possible encodings; nil: it is certain
	Problem error       // error of Map that prevents the import

	Questions []sheet.Question

	now       time.Time
	comparing bool
}

// List is a file parsed into cells. It can be mapped repeatedly with different options. A List is
// immutable and safe for concurrent use.
type List struct {
	table   *sheet.Table
	hash    []byte
	unsure  []Candidate
	size    int     // see Size
	options Options // options used for reading
	guessed bool    // the encoding was guessed, using the columns
}

// Read reads a file. The error is a *sheet.FileError or the error of ctx.
func Read(ctx context.Context, content []byte, o Options, now time.Time) (*List, error) {
	table, err := sheet.Read(ctx, content, sheet.Options{Encoding: o.Answers[sheet.AskEncoding], Sheet: o.Sheet, Name: o.Name})
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
	l.size = len(content) // cell texts may share its memory
	for _, row := range l.table.Rows {
		for _, cell := range row.Cells {
			l.size += int(unsafe.Sizeof(cell)) + len(cell.Text)
		}
	}
	return l, nil
}

// ReadAs reports whether Read would return the same cells with options o.
func (l *List) ReadAs(o Options) bool {
	return o.Answers[sheet.AskEncoding] == l.options.Answers[sheet.AskEncoding] && o.Sheet == l.options.Sheet &&
		(!l.guessed || o.Country == l.options.Country && maps.Equal(o.Columns, l.options.Columns))
}

// Size returns the approximate memory use of the list in bytes.
func (l *List) Size() int { return l.size }

// Map converts the rows of a list to people. If the error is a *mapping.ColumnsError or *RowsError,
// the File is still filled in as far as possible. After a *sheet.FileError or an error of ctx it is
// nil.
func (l *List) Map(ctx context.Context, o Options, now time.Time) (*File, error) {
	f := &File{Options: o, Hash: l.hash, Unsure: l.unsure, now: now}
	table, ok := l.table.WithHeader(o.HeaderRow)
	if found := mapping.FindHeader(l.table); !ok || found.HeaderRow == o.HeaderRow {
		table = found
	}
	read := func(table *sheet.Table) {
		f.Table, f.Options.Corrections = o.Corrections.correct(table)
		f.Mapped, f.Problem = mapping.Map(ctx, f.Table, o.mapping(now))
	}
	if o.HeaderRow == 0 && mapping.HasNoHeader(table) {
		read(l.table.WithoutHeader())
	}
	if f.Mapped == nil || f.Problem != nil {
		read(table)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.Unsure != nil {
		f.Questions = append(f.Questions, askEncoding(f.Unsure))
		if !slices.ContainsFunc(f.Mapped.Columns, mapping.Column.IsName) {
			f.Problem = nil // the headers are as uncertain as the names
		}
	}
	f.Questions = append(f.Questions, f.Mapped.Questions...)
	e, unclear := errors.AsType[*mapping.ColumnsError](f.Problem)
	if unclear && e.Code == mapping.ColumnsNoName && f.Table.Format == sheet.CSV && len(o.Columns)+len(o.Headers) == 0 {
		if err := sheet.Misnamed(o.Name); err != nil {
			return nil, err
		}
	}
	switch {
	case o.HeaderRow != 0 && !ok && slices.ContainsFunc(l.table.Rows, func(r sheet.Row) bool { return r.Number == o.HeaderRow }):
		f.Problem = &RowsError{"headerRow", RowsLast, o.HeaderRow}
	case o.HeaderRow != 0 && !ok:
		f.Problem = &RowsError{"headerRow", RowsUnknown, o.HeaderRow}
	case o.HeaderRow != 0 && unclear && e.Code == mapping.ColumnsNoHeader:
		f.Problem = &RowsError{"headerRow", RowsData, o.HeaderRow}
	case f.Problem == nil:
		f.Problem = o.checkRows(f.Mapped.People)
	}
	return f, f.Problem
}

// Release frees the cells of a file, which take more memory than the people in it. Only WriteReport
// needs them. Release keeps the first text of each column, in one row.
func (f *File) Release() {
	first := make([]sheet.Cell, len(f.Mapped.Columns))
	for _, row := range f.Table.Rows {
		for i, cell := range row.Cells[:min(len(row.Cells), len(first))] {
			if first[i].Text == "" {
				first[i].Text = strings.Clone(cell.Text)
			}
		}
	}
	f.Table = f.Table.WithRows([]sheet.Row{{Cells: first}})
}

// Check returns what an import would do without changing anything. tenant is 0 for a department
// that does not exist yet; s may then be nil.
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

// readRoster calls read with a snapshot of a department. tenant is 0 for a department that does not
// exist yet.
func readRoster(s *store.Store, tenant record.TenantID, read func(store.Roster) error) error {
	if tenant == 0 {
		return read(noRoster{})
	}
	return s.ReadRoster(tenant, read)
}

type noRoster struct{}

func (noRoster) Each(context.Context, func(*record.Stored)) error { return nil }
func (noRoster) Deleted([]string) (map[string]bool, error)        { return nil, nil }

// errRefused aborts the transaction of an import that must not be applied.
var errRefused = errors.New("a row is refused")

// Apply imports the file and sets Applied in the outcome. It writes nothing if a row is refused or
// undecided, unless Options.SkipBad is set, if a question is open, or if the outcome differs from
// Options.Confirmed. An import without changes sets Applied but has no Number. ctx can stop Apply
// only before it writes; an error of Options.Progress can stop it until everything is written. key
// may be nil.
func (f *File) Apply(
	ctx context.Context, s *store.Store, tenant record.TenantID, by store.KeyID, key *store.IdempotencyKey,
) (*Outcome, error) {
	if f.Problem != nil {
		return nil, f.Problem
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
			if outcome.Open() != nil || outcome.Refused+outcome.Perhaps > 0 && !f.Options.SkipBad {
				return nil, errRefused
			}
			if confirmed := f.Options.Confirmed; confirmed != nil && !bytes.Equal(confirmed, outcome.Digest()) {
				return nil, errRefused
			}
			outcome.Applied = true
			return d.people(), nil
		},
		Key: key,
		Replay: func(number int64, ids []string) []byte {
			outcome.setImported(number, ids, f.Options.AllRows)
			return outcome.JSON()
		},
	})
	if errors.Is(err, errRefused) {
		return outcome, nil
	}
	if err != nil {
		return nil, err
	}
	outcome.setImported(number, ids, f.Options.AllRows)
	return outcome, nil
}

// importOfSameFile returns an earlier import of the same file, or nil.
func (f *File) importOfSameFile(s *store.Store, tenant record.TenantID) (*store.Import, error) {
	if tenant == 0 {
		return nil, nil
	}
	return s.SameFile(tenant, f.Hash)
}
