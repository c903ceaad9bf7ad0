package dav

import (
	"net/url"
	"strings"

	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// User is the name of the user that devices are told. Any other would do. It has no @,
// which iOS 18.4 sends as %40.
const User = "phone"

// Account is what a device needs to know.
type Account struct {
	Department string
	URL        string // of the service, as https://station:8443
	Key        string // the password
	Calendar   string // the key of the calendar of birthdays; empty without one
	Language   *lang.Language
	Authority  []byte // the certificate (DER) that the device must trust; nil: none
}

// Address returns the address of the address book, which programs ask for.
func (a Account) Address() string { return a.URL + Root }

// TLS reports whether what the device sends and gets is encrypted.
func (a Account) TLS() bool { return strings.HasPrefix(a.URL, "https:") }

// host returns the host and the port of the service.
func (a Account) host() string {
	_, host, _ := strings.Cut(a.URL, "://")
	return host
}

// DAVx5 returns the link by which the app DAVx5 adds the account. It is empty without
// TLS, because DAVx5 takes such a link for one to HTTPS.
func (a Account) DAVx5() string {
	if !a.TLS() {
		return ""
	}
	return "davx5://" + User + ":" + a.Key + "@" + a.host() + "/"
}

// CalendarAddress returns the address of the calendar of birthdays, empty without one.
func (a Account) CalendarAddress() string {
	if a.Calendar == "" {
		return ""
	}
	return a.URL + CalendarPath + "?" + url.Values{"key": {a.Calendar}, "lang": {a.Language.Tag}}.Encode()
}

// CalendarLink returns the address of the calendar as a link that a calendar program
// opens, empty without one.
func (a Account) CalendarLink() string {
	scheme := "webcal"
	if a.TLS() {
		scheme = "webcals"
	}
	_, rest, found := strings.Cut(a.CalendarAddress(), "://")
	if !found {
		return ""
	}
	return scheme + "://" + rest
}
