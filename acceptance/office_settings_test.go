package acceptance

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// settingsForms are the forms of the settings, as a browser sends them after a confirmation.
var settingsForms = map[string]url.Values{
	"confirm": {}, "backup": {}, "folder": {"other": {"/mnt"}}, "key": {}, "recipients": {"confirmed": {"1"}},
	"network": {"allow": {"1"}, "confirmed": {"1"}}, "department": {"name": {"Taken over"}, "country": {"HR"}},
}

// TestSettingsElsewhere attacks the settings with the session of an admin: through proxies, from other
// sites, by DNS rebinding, and without a browser.
func TestSettingsElsewhere(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", filepath.Join(t.TempDir(), "backups"))
	b := s.signIn(t, newKey(t, db, "default", "--scope", "admin"), "en")
	b.get(t, "/office/settings").wants(t, 200).says(t, "started by hand", "Back up now", "backups")
	b.get(t, "/office/settings", "Sec-Fetch-Site", "none").wants(t, 200)
	for name, headers := range map[string][]string{
		"a proxy":            {"X-Forwarded-For", "192.0.2.1"},
		"a proxy with Via":   {"Via", "1.1 proxy"},
		"a tunnel":           {"Cf-Connecting-Ip", "192.0.2.1"},
		"a silent proxy":     {"Sec-Fetch-Site", "", "Origin", "https://station.example", "Referer", "https://station.example/office/"},
		"another site":       {"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
		"another port":       {"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"},
		"no browser":         {"Sec-Fetch-Site", "", "Origin", ""},
		"an opaque origin":   {"Sec-Fetch-Site", "cross-site", "Origin", "null"},
		"an origin of a LAN": {"Sec-Fetch-Site", "cross-site", "Origin", "http://192.0.2.1:8080"},
	} {
		b.get(t, "/office/settings", headers...).wants(t, 403).says(t, "Open Settings on the station PC", s.url+"/office/settings")
		for action, form := range settingsForms {
			if p := b.post(t, "/office/settings/"+action, form, headers...); p.status != 403 {
				t.Errorf("%s, %s: %d", name, action, p.status)
			}
		}
	}
	s.do(t, "GET", "/office/settings", "", "Host", "evil.example").wants(t, 421)
	b.get(t, "/office/access").says(t, "Settings").lacks(t, "Taken over")
	b.get(t, "/office/access", "Via", "1.1 proxy").lacks(t, "Settings")
}

// TestSettingsOfOthers checks that only admins of the oldest department may use the settings, and that
// a service behind a proxy has none.
func TestSettingsOfOthers(t *testing.T) {
	t.Parallel()
	s := start(t)
	first := newKey(t, s.db, "default", "--scope", "admin")
	for _, key := range []string{newKey(t, s.db, "default", "--scope", "write"), newKey(t, s.db, "Engine 8", "--scope", "admin")} {
		b := s.signIn(t, key, "en")
		b.get(t, "/office/settings").wants(t, 403).lacks(t, "Last changes")
		for action, form := range settingsForms {
			b.post(t, "/office/settings/"+action, form).wants(t, 403)
		}
		b.get(t, "/office/access").lacks(t, "Settings")
	}
	s.signIn(t, first, "en").get(t, "/office/settings").wants(t, 200)
	out := s.browser(t, "en").get(t, "/office/settings").wants(t, http.StatusSeeOther)
	if to := out.header.Get("Location"); to != "/office/sign-in?next=%2Foffice%2Fsettings" {
		t.Errorf("without a session, it leads to %s", to)
	}
	proxied := start(t, "--public-url", "https://station.example")
	b := proxied.signIn(t, newKey(t, proxied.db, "default", "--scope", "admin"), "en")
	b.get(t, "/office/settings").wants(t, 404)
	b.get(t, "/office/access").wants(t, 200).lacks(t, "Settings")
}

// TestSettingsByHand checks what the settings of a service that was started by hand can do: back up,
// and change the department. Its flags are read-only. A demo changes nothing.
func TestSettingsByHand(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", filepath.Join(t.TempDir(), "backups"))
	eventually(t, "a backup", func() bool { return s.readyz(t).Backup.Last != nil })
	b := s.signIn(t, newKey(t, db, "default", "--scope", "admin"), "en")
	p := b.get(t, "/office/settings").form(t, "/office/settings/backup").send(t, "Back up now").wants(t, 303).follow(t)
	if p.notice(t) != "The backup is done" {
		t.Errorf("%q", p.notice(t))
	}
	p = p.form(t, "/office/settings/department").set(t, "Name of the department", "Station 7").set(t, "Country", "HR").send(t, "Save").
		wants(t, 303).follow(t)
	p.says(t, "The department was saved", "Station 7", "Name of the department: Station 7", "Country: HR")
	for _, action := range []string{"folder", "network", "recipients", "confirm", "key"} {
		b.post(t, "/office/settings/"+action, settingsForms[action]).wants(t, 403)
		if strings.Contains(p.body, "/office/settings/"+action) {
			t.Errorf("the page has a form for %s", action)
		}
	}

	demo := startWith(t, "", "demo", "--people", "1")
	b = demo.signIn(t, demo.key, "en")
	b.get(t, "/office/settings").wants(t, 200).says(t, "This is what the settings look like", "Allow other devices on this network").
		lacks(t, "Backups are not set up")
	for action, form := range settingsForms {
		b.post(t, "/office/settings/"+action, form).wants(t, 403)
	}
}
