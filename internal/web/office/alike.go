package office

import (
	"net/http"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// showAlike answers the script of the form for a new person, which asks while somebody is
// typed. What is typed may have faults.
func showAlike(v view.Visit) error {
	var typed record.Fields
	for d, value := range typed.Each {
		*value = v.Query().Get(d.Name)
	}
	found, err := alikeTyped(v, typed)
	if err != nil {
		return err
	}
	return v.Render(http.StatusOK, "person", site.Page{Part: "alike", Data: formPage{Alike: found}})
}

// alikeTyped returns who is there already and could be the person who is being typed. A
// field with a fault does not count.
func alikeTyped(v view.Visit, typed record.Fields) ([]site.Line, error) {
	fields, faults := normalize(v, typed, "")
	for d, value := range fields.Each {
		if faults[d.Name].Fault != "" {
			*value = ""
		}
	}
	return v.Alike(fields, "")
}
