package exchange

import (
	"fmt"
	"strings"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
)

// waysOn returns what can be typed after reading the report: a line for each way, which
// ends with the whole command.
func (i importing) waysOn(f *imports.File, o *imports.Outcome) (ways []string) {
	if o.Number == nil {
		ways = i.beforeImport(f, o)
	}
	if o.Differ > 0 {
		verb := "differ"
		if o.Differ == 1 {
			verb = "differs"
		}
		ways = append(ways, fmt.Sprintf("%d of those left as they are %s. To see how: %s", o.Differ, verb, i.again("--update", "apply", "report", "force")))
	}
	return ways
}

// maxUndeleted is the number of ids in a command: a command line has its limits.
const maxUndeleted = 100

// beforeImport returns the ways on while the rows are not imported.
func (i importing) beforeImport(f *imports.File, o *imports.Outcome) (ways []string) {
	bad, unknown := 0, 0
	var deleted []string
	for at := range o.All {
		switch r := &o.All[at]; {
		case r.Result != imports.Refused:
		case r.Deleted != "":
			deleted = append(deleted, r.Deleted)
		case r.Errors.Has(mapping.ID):
			unknown++
		case r.CouldGoWithout():
			bad++
		}
	}
	if bad > 0 {
		ways = append(ways, "To take "+people(bad)+" without the fields that cannot be kept: "+i.again("--leave-out-bad-fields", "report", "force"))
	}
	if unknown > 0 {
		ways = append(ways, "These ids are of another department: to take "+rows(unknown)+" with them as new people: "+
			i.again("--map "+i.withColumns("id=-"), "map", "report", "force"))
	}
	if len(deleted) > 0 {
		ids := strings.Join(deleted[:min(len(deleted), maxUndeleted)], " ")
		ways = append(ways, fmt.Sprintf("To bring back who was deleted: firefighters undelete %s --tenant %s --db %s", ids, cli.Quote(i.tenant), cli.Quote(*i.db)))
	}
	for _, n := range o.Notes {
		switch n.Code {
		case mapping.NoteNoZero:
			ways = append(ways, i.toPage("To put a 0 before these phone numbers, import the list on the page")...)
		case imports.NoteSpelling:
			ways = append(ways, i.toPage("To take the spelling of the list, too, import it on the page")...)
		}
	}
	return ways
}

// toPage returns what to type to import the list on the page, which has more choices, after
// a sentence.
func (i importing) toPage(sentence string) (lines []string) {
	of := fmt.Sprintf("--tenant %s --db %s", cli.Quote(i.tenant), cli.Quote(*i.db))
	if i.missing {
		lines = append(lines, "To make the department: firefighters keys create "+of)
	}
	return append(lines, sentence+": firefighters open "+of)
}
