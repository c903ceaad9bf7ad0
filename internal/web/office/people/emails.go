package people

import (
	"net/http"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// separators are what mail programs want between addresses.
var separators = []struct{ name, text string }{
	{"semicolon", "; "}, // Outlook
	{"comma", ", "},     // all others
}

// emailsPage is the Data of emails.html.
type emailsPage struct {
	Addresses  string
	Count      int // of the addresses
	Found      int64
	Without    int // people found who have no address
	Search     string
	Back       string        // address of the list
	Separators []view.Choice // each is the address of the page with it
	Faults     []string      // what of the address could not be read
}

// showEmails shows the addresses of the people found, each once.
func showEmails(v view.Visit) error {
	q, faults, err := parseList(v)
	if err != nil {
		return err
	}
	q.Page, q.PageSize = 1, allPeople
	found, err := v.Store.List(v.Session.Tenant, q)
	if err != nil {
		return err
	}
	addresses, without := emailsOf(found.Items)
	data := emailsPage{Count: len(addresses), Found: found.Total, Without: without,
		Search: searchText(v), Back: view.ListPath(v.ListQuery()), Faults: faults}
	chosen := separators[0]
	for _, s := range separators {
		if s.name == v.Query().Get("separator") {
			chosen = s
		}
	}
	for _, s := range separators {
		query := v.ListQuery()
		query.Set("separator", s.name)
		data.Separators = append(data.Separators, view.Choice{
			Value: v.R.URL.Path + "?" + query.Encode(), Label: v.Text("emails." + s.name), Chosen: s == chosen})
	}
	data.Addresses = strings.Join(addresses, chosen.text)
	return v.Render(http.StatusOK, "emails", site.Page{Title: v.Text("emails.title"), Section: "list", Wrong: len(faults) > 0, Data: data})
}

// emailsOf returns the addresses of people, each once in whatever case, and how
// many people have none.
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
