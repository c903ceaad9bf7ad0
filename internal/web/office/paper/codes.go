package paper

import (
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
)

const (
	codeLength = 6
	codeCount  = 25 * 25 * 25 * 25 * 25 * 25

	// spread is coprime to codeCount, so each version has a different code. unspread is its inverse.
	// With this value, one wrong character or two swapped neighbors never result in the code of
	// a version less than 3 million away.
	spread, unspread = 40_836_534, 227_138_739
)

// codes encodes versions of a department as codes for printed lists, in characters that are not
// easily confused. The numbers are spread, so that a mistyped code is invalid, and shifted by an
// amount that depends on the department and the history of the database, so that a code of another
// list is almost always invalid.
type codes struct{ shift uint64 }

func newCodes(tenant record.TenantID, history int64) codes {
	const odd = 0x9e3779b97f4a7c15 // spreads small differences over all bits
	return codes{((uint64(history) ^ uint64(tenant)*odd) * odd >> 32) % codeCount}
}

// Code returns the code that a list of a version of the department has when it is printed.
func Code(s *store.Store, tenant record.TenantID, version int64) string {
	return newCodes(tenant, s.Mark().History).of(version)
}

func codesOf(v view.Visit) codes {
	return newCodes(v.Session.Tenant, v.Store.Mark().History)
}

func (c codes) of(version int64) string {
	return store.CodeOf((uint64(version)%codeCount*spread+c.shift)%codeCount, codeLength)
}

// version returns the version of a code, ignoring case and separators. ok is false for a text
// that is not the code of a version up to newest.
func (c codes) version(text string, newest int64) (version int64, ok bool) {
	number, ok := store.ParseCode(text, codeLength)
	if !ok {
		return 0, false
	}
	version = int64((number + codeCount - c.shift) % codeCount * unspread % codeCount)
	return version, version <= newest
}
