package acceptance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/apikey"
)

// TestBookTries: ten different wrong passwords in a minute are enough for an address, also
// as keys of a calendar. They keep out no phone that is known, and nobody elsewhere.
func TestBookTries(t *testing.T) {
	t.Parallel()
	s := start(t)
	phone := newKey(t, s.db, "default", "--scope", "phone")
	at := func(address, key string) davClient { return davClient{s.from(t, address).as(key), "phone"} }
	look := func(address, key string, want int) answer {
		t.Helper()
		return at(address, key).send(t, "PROPFIND", davRoot, "", "Depth", "0").wants(t, want)
	}
	look("127.0.0.40", phone, 207)
	for i := range 9 {
		look("127.0.0.41", apikey.New(), 401)
		look("127.0.0.42", fmt.Sprint("mistyped ", i), 401)
	}
	at("127.0.0.41", "").send(t, "GET", birthdaysPath+apikey.New(), "").wants(t, 401)
	look("127.0.0.42", "ff_", 401)
	for _, address := range []string{"127.0.0.41", "127.0.0.42"} {
		wrong := apikey.New()
		for range 3 {
			if p := look(address, wrong, 429).problem(t); p.Code != "rate_limit" {
				t.Errorf("%s", p.Code)
			}
		}
		at(address, "").send(t, "GET", birthdaysPath+wrong, "").wants(t, 429)
		look(address, "", 401)
		look(address, phone, 207)
		look(address, s.key, 207)
	}
	made := newKey(t, s.db, "default", "--scope", "phone") // the service may not know it yet
	look("127.0.0.43", made, 207)
	look("127.0.0.41", made, 207)

	wrong := apikey.New()
	for range 30 {
		look("127.0.0.44", wrong, 401)
	}
	for range 9 {
		look("127.0.0.44", wrong, 401)
		look("127.0.0.44", apikey.New(), 401)
	}
	look("127.0.0.44", apikey.New(), 429)
	look("127.0.0.45", wrong, 401)
	s.logs(t, `"address":"127.0.0.44"`, `"code":"key_unknown"`)
	if strings.Contains(s.stderr.String(), wrong) {
		t.Error("the log has a key")
	}
}
