package dav

import (
	"net/url"
	"strings"

	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// User is the user name for devices. Any other works, but iOS 18.4 sends an @ as %40.
const User = "phone"

// Account is the configuration of a device.
type Account struct {
	Department string
	URL        string // of the service, like https://station:8443
	Key        string // the password
	Calendar   string // the key of the birthday calendar; may be empty
	Language   *lang.Language
	Authority  []byte // certificate (DER) that the device must trust; may be nil
}

// Address returns the URL of the address book, which many apps require.
func (a Account) Address() string { return a.URL + Root }

// TLS reports whether the connection is encrypted.
func (a Account) TLS() bool { return strings.HasPrefix(a.URL, "https:") }

// host returns the host and the port of the service.
func (a Account) host() string {
	_, host, _ := strings.Cut(a.URL, "://")
	return host
}

// DAVx5 returns a link that adds the account to DAVx5. It is empty without TLS: the link means HTTPS.
func (a Account) DAVx5() string {
	if !a.TLS() {
		return ""
	}
	return "davx5://" + User + ":" + a.Key + "@" + a.host() + "/"
}

// CalendarAddress returns the URL of the birthday calendar, or "" if the account has none.
func (a Account) CalendarAddress() string {
	if a.Calendar == "" {
		return ""
	}
	return a.URL + CalendarPath + "?" + url.Values{"key": {a.Calendar}, "lang": {a.Language.Tag}}.Encode()
}

// CalendarLink returns the URL of the birthday calendar as a link that opens a calendar app, or "".
func (a Account) CalendarLink() string {
	if a.Calendar == "" {
		return ""
	}
	return "webcal" + strings.TrimPrefix(a.CalendarAddress(), "http")
}
