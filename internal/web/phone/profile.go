package phone

import (
	"encoding/base64"
	"encoding/xml"
	"net"
	"strings"

	"github.com/google/uuid"

	"github.com/firefighter-records/firefighters/internal/web/dav"
)

const (
	// ProfileType is the media type of a profile.
	ProfileType = "application/x-apple-aspen-config"
	// ProfileName is the name of its file.
	ProfileName = "firefighters.mobileconfig"
)

// identifier begins the identifiers of profiles.
const identifier = "org.firefighter-records.phone."

// entry is a key of a dictionary in a property list, with its value in XML.
type entry struct{ key, value string }

func text(value string) string { return "<string>" + escape(value) + "</string>" }

func data(value []byte) string {
	return "<data>" + base64.StdEncoding.EncodeToString(value) + "</data>"
}

func truth(value bool) string {
	if value {
		return "<true/>"
	}
	return "<false/>"
}

func dictionary(entries []entry) string {
	var b strings.Builder
	b.WriteString("<dict>\n")
	for _, e := range entries {
		b.WriteString("<key>" + e.key + "</key>" + e.value + "\n")
	}
	b.WriteString("</dict>\n")
	return b.String()
}

func escape(value string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(value)) // a Builder takes everything
	return b.String()
}

// Profile returns a configuration profile, by which an Apple device adds the account and
// the calendar, and takes the certificate. It is not signed, and the device says so. Its
// identifiers contain the department: a second profile of it takes the place of the first,
// and a device may have those of two departments.
func (a Account) Profile() []byte {
	name := messages.Text(a.Language, "profile.name", a.Department)
	parts := a.payload("carddav", "com.apple.carddav.account", name, a.book(name))
	if a.Calendar != "" {
		birthdays := messages.Text(a.Language, "profile.birthdays", a.Department)
		parts += a.payload("birthdays", "com.apple.subscribedcalendar.account", birthdays, a.subscription(birthdays))
	}
	if a.Authority != nil {
		parts += a.payload("authority", "com.apple.security.root", "Firefighter Records",
			[]entry{{"PayloadCertificateFileName", text("ca.crt")}, {"PayloadContent", data(a.Authority)}})
	}
	whole := a.payload("", "Configuration", name, []entry{
		{"PayloadOrganization", text(a.Department)},
		{"PayloadDescription", text(messages.Text(a.Language, "profile.about", a.Department))},
		{"PayloadRemovalDisallowed", truth(false)},
		{"PayloadContent", "<array>\n" + parts + "</array>"},
	})
	return []byte(xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">` +
		"\n<plist version=\"1.0\">\n" + whole + "</plist>\n")
}

// payload returns a part of the profile, or the profile itself, which has no part.
func (a Account) payload(part, kind, name string, entries []entry) string {
	department := uuid.NewSHA1(uuid.NameSpaceOID, []byte(a.Department)).String()
	id := strings.TrimSuffix(identifier+department+"."+part, ".")
	return dictionary(append([]entry{
		{"PayloadType", text(kind)},
		{"PayloadVersion", "<integer>1</integer>"},
		{"PayloadIdentifier", text(id)},
		{"PayloadUUID", text(strings.ToUpper(uuid.NewSHA1(uuid.NameSpaceURL, []byte(id)).String()))},
		{"PayloadDisplayName", text(name)},
	}, entries...))
}

// book returns the account of the address book.
func (a Account) book(name string) []entry {
	host, port, err := net.SplitHostPort(a.host())
	if err != nil {
		host, port = a.host(), map[bool]string{true: "443", false: "80"}[a.TLS()]
	}
	return []entry{
		{"CardDAVAccountDescription", text(name)},
		{"CardDAVHostName", text(host)},
		{"CardDAVPort", "<integer>" + port + "</integer>"},
		{"CardDAVUseSSL", truth(a.TLS())},
		{"CardDAVUsername", text(User)},
		{"CardDAVPassword", text(a.Key)},
		{"CardDAVPrincipalURL", text(dav.PrincipalPath)},
	}
}

// subscription returns that of the calendar, whose "host name" is its whole address.
func (a Account) subscription(name string) []entry {
	return []entry{
		{"SubCalAccountDescription", text(name)},
		{"SubCalAccountHostName", text(a.CalendarAddress())},
		{"SubCalAccountUseSSL", truth(a.TLS())},
	}
}
