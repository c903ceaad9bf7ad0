package exchange

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// waysOn returns what somebody can type who has read the report: a line for each way,
// which ends with the whole command.
func (i importing) waysOn(f *imports.File, o *imports.Outcome) (ways []string) {
	if o.Number != nil { // it is done
		if o.Differ > 0 {
			ways = append(ways, i.differ(o))
		}
		return ways
	}
	add := func(n int, sentence, command string) {
		if n > 0 {
			ways = append(ways, sentence+": "+command)
		}
	}
	again := func(more string, without ...string) string {
		return i.again(more, append(without, "report", "force")...)
	}
	s := newSituation(f, o)
	add(s.alike, "To say who they are", again(i.decide(s.first, o), "same", "add"))
	add(s.alike, "If all of them are new people", again("--add perhaps", "add"))
	add(s.mixed, "If the first name stands first in a name without a comma", again("--names "+mapping.FirstLast, "names"))
	add(s.mixed, "If the last name stands first", again("--names "+mapping.LastFirstName, "names"))
	add(s.bad, "To take "+people(s.bad)+" without the fields that cannot be kept", again("--leave-out-bad-fields"))
	add(s.strange, "These ids are of another department: to take "+rows(s.strange)+" with them as new people", again("--map "+cli.Quote(i.withoutIDs(o)), "map"))
	add(len(s.deleted), "To bring back who was deleted", fmt.Sprintf("firefighters undelete %s --tenant %s --db %s", strings.Join(s.deleted, " "), cli.Quote(i.tenant), cli.Quote(*i.db)))
	add(s.spelled, "To take the spelling of the list, too", again("--spelling"))
	add(s.zeros, "To put a 0 before these phone numbers", again("--zero"))
	if o.Differ > 0 {
		ways = append(ways, i.differ(o))
	}
	return ways
}

// differ says how many of those left as they are differ, and how to see them.
func (i importing) differ(o *imports.Outcome) string {
	verb := "differ"
	if o.Differ == 1 {
		verb = "differs"
	}
	return fmt.Sprintf("%d of those left as they are %s. To see how: %s", o.Differ, verb, i.again("--update", "apply", "report", "force"))
}

// decide returns flags that say who the first rows are, after those that were said: the
// first one is whom it could be, unless another row means them, and the second is somebody
// new.
func (i importing) decide(first []*imports.Row, o *imports.Outcome) string {
	same, add := slices.Clone(i.same), slices.Clone(i.add)
	for n, r := range first {
		like := slices.IndexFunc(r.Like, func(like imports.Like) bool {
			return !slices.ContainsFunc(o.All, func(other imports.Row) bool { return other.ID != nil && *other.ID == *like.ID })
		})
		if n == 0 && like >= 0 {
			same = append(same, fmt.Sprintf("%d=%s", r.Row, *r.Like[like].ID))
		} else {
			add = append(add, fmt.Sprint(r.Row))
		}
	}
	var flags []string
	if len(same) > 0 {
		flags = append(flags, "--same "+strings.Join(same, ","))
	}
	if len(add) > 0 {
		flags = append(flags, "--add "+strings.Join(add, ","))
	}
	return strings.Join(flags, " ")
}

// situation is what a report leaves to be done.
type situation struct {
	alike   int            // rows that are perhaps somebody who is there
	first   []*imports.Row // the first two of these
	mixed   int            // rows of which it is not sure how the name is read
	bad     int            // rows that are refused for fields alone that can be left out
	strange int            // rows with an id that nobody has
	deleted []string       // ids of people who were deleted
	spelled int            // people whom the list spells in another way
	zeros   int            // phone numbers that may lack a 0
}

// maxUndeleted is the number of ids in a command: a command line has its limits.
const maxUndeleted = 100

func newSituation(f *imports.File, o *imports.Outcome) *situation {
	s := &situation{}
	for _, n := range o.Notes {
		switch {
		case n.Code == mapping.NoteNoZero && !f.Options.Zero:
			s.zeros = n.Args[0].(int)
		case n.Code == imports.NoteSpelling && f.Options.Update:
			s.spelled = n.Args[0].(int)
		}
	}
	for at := range o.All {
		r := &o.All[at]
		switch {
		case r.Result == imports.Perhaps && len(r.Like) > 0 && r.Like[0].ID == nil:
			s.mixed++
		case r.Result == imports.Perhaps:
			if s.alike++; s.alike <= 2 {
				s.first = append(s.first, r)
			}
		case r.Result != imports.Refused:
		case r.Deleted != "":
			if len(s.deleted) < maxUndeleted {
				s.deleted = append(s.deleted, r.Deleted)
			}
		case r.Errors.Has(mapping.ID) && f.Options.Same[r.Row] == "":
			s.strange++
		case r.CouldGoWithout():
			s.bad++
		}
	}
	return s
}

// withoutIDs returns what --map says so that the ids of the file are left out.
func (i importing) withoutIDs(o *imports.Outcome) string {
	var entries []string
	for _, c := range o.Columns {
		if c.Field == nil || *c.Field != mapping.ID {
			continue
		}
		for _, said := range i.options.Headers {
			if fold.String(said.Header) != fold.String(c.Header) {
				entries = append(entries, quoteHeader(said.Header)+"="+mapping.MapName(said.Field))
			}
		}
		entries = append(entries, quoteHeader(c.Header)+"=-")
	}
	return strings.Join(entries, ",")
}
