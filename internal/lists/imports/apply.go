package imports

import (
	"context"
	"errors"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Check returns what an import would do, and changes nothing. tenant is 0 for a
// department that does not exist yet; s may then be nil.
func (f *File) Check(ctx context.Context, s *store.Store, tenant record.TenantID) (*Outcome, error) {
	if f.Problem != nil {
		return nil, f.Problem
	}
	same, err := f.importedBefore(s, tenant)
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

func (noRoster) Each(func(*record.Stored)) error           { return nil }
func (noRoster) Deleted([]string) (map[string]bool, error) { return nil, nil }

// errRefused ends the transaction of an import in which a row is refused.
var errRefused = errors.New("a row is refused")

// Apply imports the file. The outcome says Applied if it did: where a row is
// refused nothing is done, unless Options.SkipBad. A file that would change
// nothing makes no import; Number is then nil and Applied true. ctx ends it only
// before it writes.
// The error is an *EncodingError where that has to be settled. key may be nil.
func (f *File) Apply(ctx context.Context, s *store.Store, tenant record.TenantID, by store.KeyID, key *store.IdempotencyKey) (*Outcome, error) {
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
	var outcome *Outcome
	number, _, err := s.Import(tenant, store.NewImport{
		By: by, File: f.Options.Name, Hash: f.Hash, Progress: f.Options.Progress,
		Department: f.Options.Department, Alike: f.Options.Alike,
		Decide: func(r store.Roster) ([]store.Person, error) {
			d, err := f.decide(ctx, r)
			if err != nil {
				return nil, err
			}
			outcome = f.newOutcome(d, same)
			if outcome.Refused > 0 && !f.Options.SkipBad {
				return nil, errRefused
			}
			outcome.Applied = true
			return d.people, nil
		},
		Key: key,
		Replay: func(number int64, _ []string) []byte {
			outcome.setNumber(number)
			return outcome.AppendJSON(nil)
		},
	})
	if errors.Is(err, errRefused) {
		return outcome, nil
	}
	if err != nil {
		return nil, err
	}
	outcome.setNumber(number)
	return outcome, nil
}

// importedBefore returns the import of the same file, nil if there is none.
func (f *File) importedBefore(s *store.Store, tenant record.TenantID) (*store.Import, error) {
	if tenant == 0 {
		return nil, nil
	}
	return s.SameFile(tenant, f.Hash)
}
