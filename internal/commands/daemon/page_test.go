package daemon

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/office"
)

// browse sends a request of a browser on the PC to the page of the current service. A form is posted.
func (r *running) browse(t *testing.T, cookie *http.Cookie, path string, form url.Values) *httptest.ResponseRecorder {
	t.Helper()
	must(t, get(http.DefaultClient, r.url)) // waits until the last change applies
	page := office.New(*r.service.Load(), func(_ http.ResponseWriter, _ *http.Request, _ string, err error) *httpapi.Problem {
		if p := (*httpapi.Problem)(nil); errors.As(err, &p) {
			return p
		}
		return &httpapi.Problem{Kind: httpapi.Internal, Cause: err}
	})
	request := httptest.NewRequest("GET", path, nil)
	if form != nil {
		request = httptest.NewRequest("POST", path, strings.NewReader(form.Encode()))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	request.RemoteAddr, request.Host = "127.0.0.1:5", strings.TrimPrefix(r.url, "http://")
	request.Header.Set("Origin", r.url)
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	if cookie != nil {
		request.AddCookie(cookie)
	}
	w := httptest.NewRecorder()
	page.ServeHTTP(w, request)
	return w
}

// TestSettingsPage sets up the service on the page, without a terminal.
func TestSettingsPage(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	key := ""
	must(t, r.service.Load().Store.CreateKey(store.NewKey{Tenant: store.FirstDepartment, Scope: store.ScopeAdmin, Label: "Ana"},
		func(text string) error { key = text; return nil }))
	cookie := r.browse(t, nil, "/office/sign-in", url.Values{"key": {key}}).Result().Cookies()[0]
	stick := t.TempDir()
	for action, form := range map[string]url.Values{
		"folder": {"other": {stick}}, "network": {"allow": {"1"}, "confirmed": {"1"}}, "department": {"name": {"DVD Sveti Ivan"},
			"country": {"HR"}},
	} {
		if w := r.browse(t, cookie, "/office/settings/"+action, form); w.Code != http.StatusSeeOther {
			t.Errorf("%s: %d %s", action, w.Code, w.Body)
		}
	}
	if w := r.browse(t, cookie, "/office/settings/backup", url.Values{}); w.Code != http.StatusSeeOther {
		t.Errorf("backing up: %d", w.Code)
	}
	const at = "https://0.0.0.0:1" // in place of the loopback address of a test
	must(t, r.service.Load().Store.SetAddress(at))
	page := html.UnescapeString(r.browse(t, cookie, "/office/settings", nil).Body.String())
	for _, want := range []string{filepath.Join(stick, "firefighters"), at + "/office/", "ca.crt",
		"Stop allowing other devices",
		"Other devices allowed", "Name of the department: DVD Sveti Ivan", "Country: HR"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s: %s", want, page)
		}
	}
	if found, err := filepath.Glob(filepath.Join(stick, "firefighters", "*.db")); len(found) == 0 {
		t.Errorf("no backup on the stick: %v", err)
	}
}

// TestKeptOverReload checks that a list that was uploaded for an import survives a change of the settings,
// and that the limit of wrong sign-ins also survives a restore.
func TestKeptOverReload(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	s, key := r.service.Load().Store, ""
	must(t, s.CreateKey(store.NewKey{Tenant: store.FirstDepartment, Scope: store.ScopeAdmin},
		func(text string) error { key = text; return nil }))
	cookie := r.browse(t, nil, "/office/sign-in", url.Values{"key": {key}}).Result().Cookies()[0]
	to := r.browse(t, cookie, "/office/import", url.Values{"text": {"First name,Last name\nAna,Anić"}}).Header().Get("Location")
	wrong := func(i int) int {
		return r.browse(t, nil, "/office/sign-in", url.Values{"key": {fmt.Sprintf("%020d", i)}}).Code
	}
	for i := range 10 {
		if code := wrong(i); code != http.StatusForbidden {
			t.Fatalf("a wrong key: %d", code)
		}
	}
	r.setNetwork(t, true)
	if w := r.browse(t, cookie, to, nil); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Anić") {
		t.Errorf("the list %s after a change: %d %s", to, w.Code, w.Body)
	}
	if code := wrong(10); code != http.StatusTooManyRequests {
		t.Errorf("the eleventh wrong key after a change: %d", code)
	}
	must(t, r.settings().BackUp(t.Context()))
	files, err := backup.List(filepath.Join(r.folder, "firefighters.db"), r.settings().Dir)
	must(t, err)
	r.restore(t, store.Key{ID: keyID(t, s, cookie.Value), Label: "Ana"}, files[0].Name())
	if code := wrong(11); code != http.StatusTooManyRequests {
		t.Errorf("after a restore: %d", code)
	}
}
