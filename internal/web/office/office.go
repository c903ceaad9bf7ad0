// Package office is the web page for a station: people, history, printed lists, birthdays,
// import and export, and access. It uses the same store and record rules as the API.
package office

import (
	"embed"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/office/access"
	"github.com/firefighter-records/firefighters/internal/web/office/history"
	"github.com/firefighter-records/firefighters/internal/web/office/lists"
	"github.com/firefighter-records/firefighters/internal/web/office/paper"
	"github.com/firefighter-records/firefighters/internal/web/office/people"
	"github.com/firefighter-records/firefighters/internal/web/office/settings"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// files has the layout, the messages that rooms share, and the assets.
//
//go:embed templates messages assets
var files embed.FS

// New returns the office site of a service. explain turns errors into problems.
func New(service site.Service, explain httpapi.Explain) *site.Site {
	rooms := []site.Room{people.Room(), history.Room(), lists.Room(), paper.Room(), access.Room(service.Phones)}
	if service.Settings != nil {
		rooms = append(rooms, settings.Room())
	}
	return site.New(service, explain, files, rooms...)
}
