// Package office is the page for the people at a station: their list, a person's
// form, what was deleted and changed, prints, birthdays, lists that come in and go
// out, and access. It is made of HTML over the same store and the same rules as the
// API.
package office

import (
	"embed"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/office/access"
	"github.com/firefighter-records/firefighters/internal/web/office/history"
	"github.com/firefighter-records/firefighters/internal/web/office/lists"
	"github.com/firefighter-records/firefighters/internal/web/office/paper"
	"github.com/firefighter-records/firefighters/internal/web/office/people"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// files are those of the frame: the layout, the words of all rooms, and the assets.
//
//go:embed templates messages assets
var files embed.FS

// New returns the page.
func New(service site.Service, explain httpapi.Explain) *site.Site {
	return site.New(service, explain, files, people.Room(), history.Room(), lists.Room(), paper.Room(), access.Room(service.Phones))
}
