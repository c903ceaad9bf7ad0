package people

import (
	"net/http"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// separators are the separators that mail programs expect.
var separators = []struct{ name, text string }{
	{"semicolon", "; "}, // Outlook
	{"comma", ", "},     // all others
}

// emailsPage is the Data of emails.html.
type emailsPage struct {
	Addresses  string
	Count      int // number of addresses
	Found      int64
	Without    int           // number of people without an address
	Only       string        // see view.List
	Back       string        // address of the list
	Separators []view.Choice // the values are addresses of this page
	Faults     []string      // about invalid parameters of the address
}

func showEmails(v view.Visit) error {
	l, err := v.List(v.R.URL.RawQuery)
	if err != nil {
		return err
	}
	found, err := v.Store.List(v.Session.Tenant, l.All())
	if err != nil {
		return err
	}
	addresses, without := emailsOf(found.Items)
	data := emailsPage{Count: len(addresses), Found: found.Total, Without: without,
		Only: l.Only, Back: view.ListPath(v.ListQuery()), Faults: l.Faults}
	chosen := 0
	query := v.ListQuery()
	for i, s := range separators {
		if s.name == v.Query().Get("separator") {
			chosen = i
		}
		query.Set("separator", s.name)
		data.Separators = append(data.Separators, view.Choice{Value: v.R.URL.Path + "?" + query.Encode(), Label: v.Text("emails." + s.name)})
	}
	data.Separators[chosen].Chosen = true
	data.Addresses = strings.Join(addresses, separators[chosen].text)
	return v.Render(http.StatusOK, "emails", site.Page{Title: v.Text("emails.title"), Section: "list", Wrong: len(l.Faults) > 0, Data: data})
}

// emailsOf returns the addresses of people without duplicates, ignoring case, and the number of
// people without an address.
func emailsOf(people []record.Firefighter) (addresses []string, without int) {
	seen := map[string]bool{}
	for _, f := range people {
		same := strings.ToLower(f.Email)
		switch {
		case f.Email == "":
			without++
		case !seen[same]:
			seen[same] = true
			addresses = append(addresses, f.Email)
		}
	}
	return addresses, without
}
