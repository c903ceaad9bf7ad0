package paper

import (
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
)

const (
	codeLength = 6
	codeCount  = 25 * 25 * 25 * 25 * 25 * 25

	// spread has no divisor in common with codeCount, so each version has its own code. unspread is
	// its inverse. Of millions of numbers this one keeps codes apart best: one wrong character, or
	// two neighbours swapped, never make the code of a version that is less than 3 million away.
	spread, unspread = 40_836_534, 227_138_739
)

// codes are the codes on the prints of a department. A code is the version of the
// department when it was printed, as a number in characters that nobody confuses.
// The numbers are spread, so that a mistyped code is none of this list. They are
// shifted by another amount for each department and each history of the database,
// so that a code of another list hardly ever is one of this list.
type codes struct{ shift uint64 }

func newCodes(tenant record.TenantID, history int64) codes {
	const odd = 0x9e3779b97f4a7c15 // spreads small differences over all bits
	return codes{((uint64(history) ^ uint64(tenant)*odd) * odd >> 32) % codeCount}
}

// codesOf returns the codes of the department.
func codesOf(v view.Visit) codes {
	return newCodes(v.Session.Tenant, v.Store.Mark().History)
}

// of returns the code of a version.
func (c codes) of(version int64) string {
	return store.CodeOf((uint64(version)%codeCount*spread+c.shift)%codeCount, codeLength)
}

// version returns the version that a code is of, however it was typed. ok is false
// for a text that is no code of the versions up to the newest.
func (c codes) version(text string, newest int64) (version int64, ok bool) {
	number, ok := store.ParseCode(text, codeLength)
	if !ok {
		return 0, false
	}
	version = int64((number + codeCount - c.shift) % codeCount * unspread % codeCount)
	return version, version <= newest
}
