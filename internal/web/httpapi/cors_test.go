package httpapi_test

import (
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

const (
	roster  = "https://roster.example.org"
	wallMap = "http://localhost:3000"
)

func TestValidOrigin(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{roster, wallMap, "http://[::1]:8000", "http://localhost:65535", "http://192.0.2.1", "https://xn--rzte-loa.example"} {
		if !httpapi.ValidOrigin(origin) {
			t.Errorf("%s was rejected", origin)
		}
	}
	for _, origin := range strings.Fields("* null roster.example.org https:// https://:8000 https://*.example.org https://Roster.example.org " +
		"HTTPS://roster.example.org ftp://example.org https://a@example.org http://localhost:80 http://localhost: http://localhost:65536 https://ärzte.example https://a:x " +
		roster + "/ " + roster + "/x " + roster + "? " + roster + "# " + roster + ":443 " + roster + "," + roster) {
		if httpapi.ValidOrigin(origin) {
			t.Errorf("%s was accepted", origin)
		}
	}
	if httpapi.ValidOrigin("") || httpapi.ValidOrigin("https://a b") {
		t.Error("an empty origin or one with a space was accepted")
	}
}
