package dav

import (
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/text/lang"
)

func account() Account {
	return Account{Department: "Engine 7 & <Co>", URL: "https://station.local:8443", Key: "ff_key", Calendar: "ff_cal",
		Language: lang.ByTag("hr"), Authority: []byte("certificate")}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	a := account()
	plain := a
	plain.URL, plain.Calendar = "http://192.0.2.7:8080", ""
	for got, want := range map[string]string{
		a.Address(): "https://station.local:8443/dav/", a.DAVx5(): "davx5://phone:ff_key@station.local:8443/",
		a.CalendarAddress(): "https://station.local:8443/dav/birthdays.ics?key=ff_cal&lang=hr",
		a.CalendarLink():    "webcals://station.local:8443/dav/birthdays.ics?key=ff_cal&lang=hr",
		plain.Address():     "http://192.0.2.7:8080/dav/", "davx5 " + plain.DAVx5(): "davx5 ", "calendar " + plain.CalendarLink(): "calendar ",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// values returns the text values of a profile by key.
func values(t *testing.T, profile []byte) map[string][]string {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(string(profile))); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v in:\n%s", err, profile)
		}
	}
	all := map[string][]string{}
	for _, m := range regexp.MustCompile(`<key>(\w+)</key><(?:string|integer|data)>([^<]*)<`).FindAllStringSubmatch(string(profile), -1) {
		all[m[1]] = append(all[m[1]], m[2])
	}
	return all
}

func TestProfile(t *testing.T) {
	t.Parallel()
	a := account()
	got := values(t, a.Profile())
	for key, want := range map[string]string{
		"PayloadType":     "Configuration com.apple.carddav.account com.apple.subscribedcalendar.account com.apple.security.root",
		"CardDAVHostName": "station.local", "CardDAVPort": "8443", "CardDAVUsername": "phone", "CardDAVPassword": "ff_key",
		"CardDAVPrincipalURL": "/dav/principal/", "PayloadContent": "Y2VydGlmaWNhdGU=", "PayloadOrganization": "Engine 7 &amp; &lt;Co&gt;",
		"SubCalAccountHostName": "https://station.local:8443/dav/birthdays.ics?key=ff_cal&amp;lang=hr",
	} {
		if strings.Join(got[key], " ") != want {
			t.Errorf("%s: %q, want %q", key, got[key], want)
		}
	}
	if !strings.Contains(string(a.Profile()), "<key>CardDAVUseSSL</key><true/>") {
		t.Error("the account does not use TLS")
	}
	a.Calendar, a.Authority = "", nil
	if got := values(t, a.Profile()); len(got["PayloadType"]) != 2 {
		t.Errorf("payloads without calendar and authority: %q", got["PayloadType"])
	}
}

// TestIdentifiers checks that profiles of a department have the same identifiers, and that another
// department has different ones.
func TestIdentifiers(t *testing.T) {
	t.Parallel()
	first, second, other := account(), account(), account()
	second.Key, second.URL = "ff_other", "https://192.0.2.7:8443"
	other.Department = "Engine 7 & Co"
	ids := func(a Account) string {
		all := values(t, a.Profile())
		return strings.Join(append(all["PayloadIdentifier"], all["PayloadUUID"]...), " ")
	}
	if ids(first) != ids(second) || ids(first) == ids(other) {
		t.Errorf("%s\n%s\n%s", ids(first), ids(second), ids(other))
	}
}
