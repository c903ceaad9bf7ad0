package dav

import (
	"encoding/base64"
	"encoding/xml"
	"net"
	"strings"

	"github.com/google/uuid"
)

const (
	// ProfileType is the media type of a profile.
	ProfileType = "application/x-apple-aspen-config"
	// ProfileName is the name of its file.
	ProfileName = "firefighters.mobileconfig"
)

// profileID begins the identifiers of profiles.
const profileID = "org.firefighter-records.phone."

// plistEntry is a key of a dictionary in a property list, with its value in XML.
type plistEntry struct{ key, value string }

func plistString(value string) string { return "<string>" + escape(value) + "</string>" }

func plistData(value []byte) string {
	return "<data>" + base64.StdEncoding.EncodeToString(value) + "</data>"
}

func plistBool(value bool) string {
	if value {
		return "<true/>"
	}
	return "<false/>"
}

func plistDict(entries []plistEntry) string {
	var b strings.Builder
	b.WriteString("<dict>\n")
	for _, e := range entries {
		b.WriteString("<key>" + e.key + "</key>" + e.value + "\n")
	}
	b.WriteString("</dict>\n")
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
			[]plistEntry{{"PayloadCertificateFileName", plistString("ca.crt")}, {"PayloadContent", plistData(a.Authority)}})
	}
	whole := a.payload("", "Configuration", name, []plistEntry{
		{"PayloadOrganization", plistString(a.Department)},
		{"PayloadDescription", plistString(messages.Text(a.Language, "profile.about", a.Department))},
		{"PayloadRemovalDisallowed", plistBool(false)},
		{"PayloadContent", "<array>\n" + parts + "</array>"},
	})
	return []byte(xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">` +
		"\n<plist version=\"1.0\">\n" + whole + "</plist>\n")
}

// payload returns a part of the profile, or the profile itself, which has no part.
func (a Account) payload(part, kind, name string, entries []plistEntry) string {
	department := uuid.NewSHA1(uuid.NameSpaceOID, []byte(a.Department)).String()
	id := strings.TrimSuffix(profileID+department+"."+part, ".")
	return plistDict(append([]plistEntry{
		{"PayloadType", plistString(kind)},
		{"PayloadVersion", "<integer>1</integer>"},
		{"PayloadIdentifier", plistString(id)},
		{"PayloadUUID", plistString(strings.ToUpper(uuid.NewSHA1(uuid.NameSpaceURL, []byte(id)).String()))},
		{"PayloadDisplayName", plistString(name)},
	}, entries...))
}

// book returns the account of the address book.
func (a Account) book(name string) []plistEntry {
	host, port, err := net.SplitHostPort(a.host())
	if err != nil {
		host, port = a.host(), map[bool]string{true: "443", false: "80"}[a.TLS()]
	}
	return []plistEntry{
		{"CardDAVAccountDescription", plistString(name)},
		{"CardDAVHostName", plistString(host)},
		{"CardDAVPort", "<integer>" + port + "</integer>"},
		{"CardDAVUseSSL", plistBool(a.TLS())},
		{"CardDAVUsername", plistString(User)},
		{"CardDAVPassword", plistString(a.Key)},
		{"CardDAVPrincipalURL", plistString(PrincipalPath)},
	}
}

// subscription returns that of the calendar, whose "host name" is its whole address.
func (a Account) subscription(name string) []plistEntry {
	return []plistEntry{
		{"SubCalAccountDescription", plistString(name)},
		{"SubCalAccountHostName", plistString(a.CalendarAddress())},
		{"SubCalAccountUseSSL", plistBool(a.TLS())},
	}
}
