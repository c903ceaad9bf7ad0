package dav

import (
	"encoding/base64"
	"encoding/xml"
	"net"
	"strings"

	"github.com/google/uuid"
)

const (
	// ProfileType is the media type of a configuration profile.
	ProfileType = "application/x-apple-aspen-config"
	// ProfileName is the file name of a configuration profile.
	ProfileName = "firefighters.mobileconfig"
)

// profileID is the prefix of profile identifiers.
const profileID = "org.firefighter-records.phone."

// plistEntry is a key and its XML value in a property list dictionary.
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

// Profile returns a configuration profile that adds the account, the calendar and the certificate to
// an Apple device. It is not signed, which the device reports. Its identifiers depend on the
// department, so a new profile replaces the previous one, and a device can have profiles of several
// departments.
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

// payload returns a payload of the profile, or the profile itself if part is empty.
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

// subscription returns the settings of the calendar. Its host name is the whole URL.
func (a Account) subscription(name string) []plistEntry {
	return []plistEntry{
		{"SubCalAccountDescription", plistString(name)},
		{"SubCalAccountHostName", plistString(a.CalendarAddress())},
		{"SubCalAccountUseSSL", plistBool(a.TLS())},
	}
}
