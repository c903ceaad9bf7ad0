package dav

import (
	"encoding/base64"
	"encoding/xml"
	"net"
	"strconv"
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

func plistEntry(key, value string) string { return "<key>" + key + "</key>" + value + "\n" }

func plistString(key, text string) string {
	return plistEntry(key, "<string>"+escape(text)+"</string>")
}

func plistBool(key string, value bool) string {
	return plistEntry(key, "<"+strconv.FormatBool(value)+"/>")
}

// Profile returns a configuration profile that adds the account, the calendar and the certificate to
// an Apple device. It is not signed, which the device reports. Its identifiers depend on the
// department, so a new profile replaces the previous one, and a device can have profiles of several
// departments.
func (a Account) Profile() []byte {
	name := messages().Text(a.Language, "profile.name", a.Department)
	parts := a.payload("carddav", "com.apple.carddav.account", name, a.book(name))
	if a.Calendar != "" {
		birthdays := messages().Text(a.Language, "profile.birthdays", a.Department)
		parts += a.payload("birthdays", "com.apple.subscribedcalendar.account", birthdays,
			plistString("SubCalAccountDescription", birthdays)+plistBool("SubCalAccountUseSSL", a.TLS())+
				plistString("SubCalAccountHostName", a.CalendarAddress())) // the whole URL
	}
	if a.Authority != nil {
		parts += a.payload("authority", "com.apple.security.root", "Firefighter Records",
			plistString("PayloadCertificateFileName", "ca.crt")+
				plistEntry("PayloadContent", "<data>"+base64.StdEncoding.EncodeToString(a.Authority)+"</data>"))
	}
	whole := a.payload("", "Configuration", name, plistString("PayloadOrganization", a.Department)+
		plistString("PayloadDescription", messages().Text(a.Language, "profile.about", a.Department))+
		plistBool("PayloadRemovalDisallowed", false)+
		plistEntry("PayloadContent", "<array>\n"+parts+"</array>"))
	return []byte(xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">` +
		"\n<plist version=\"1.0\">\n" + whole + "</plist>\n")
}

// payload returns a payload of the profile, or the profile itself if part is empty.
func (a Account) payload(part, kind, name, entries string) string {
	department := uuid.NewSHA1(uuid.NameSpaceOID, []byte(a.Department)).String()
	id := strings.TrimSuffix(profileID+department+"."+part, ".")
	return "<dict>\n" + plistString("PayloadType", kind) + plistEntry("PayloadVersion", "<integer>1</integer>") +
		plistString("PayloadIdentifier", id) +
		plistString("PayloadUUID", strings.ToUpper(uuid.NewSHA1(uuid.NameSpaceURL, []byte(id)).String())) +
		plistString("PayloadDisplayName", name) + entries + "</dict>\n"
}

func (a Account) book(name string) string {
	host, port, err := net.SplitHostPort(a.host())
	if err != nil {
		host, port = a.host(), map[bool]string{true: "443", false: "80"}[a.TLS()]
	}
	return plistString("CardDAVAccountDescription", name) + plistString("CardDAVHostName", host) +
		plistEntry("CardDAVPort", "<integer>"+port+"</integer>") + plistBool("CardDAVUseSSL", a.TLS()) +
		plistString("CardDAVUsername", User) + plistString("CardDAVPassword", a.Key) +
		plistString("CardDAVPrincipalURL", PrincipalPath)
}
