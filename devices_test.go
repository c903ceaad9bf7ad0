package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/apikey"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/dav"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// addPhone makes a phone of the department A, with a calendar, and returns its secrets.
func (b *bareServer) addPhone(t *testing.T) (p store.Phone) {
	t.Helper()
	must(t, b.server.store.AddPhone(store.NewPhone{Tenant: 1, Name: "Ana's phone", Birthdays: true}, func(made store.Phone) error { p = made; return nil }))
	return p
}

// scoped makes a key of the department A of a scope.
func (b *bareServer) scoped(t *testing.T, k store.NewKey) (key string) {
	t.Helper()
	k.Tenant = "A"
	must(t, b.server.store.CreateKey(k, func(made string) error { key = made; return nil }))
	return key
}

// deviceRequest is a request from an address, with headers Authorization.
func deviceRequest(address string, authorization ...string) *http.Request {
	r := httptest.NewRequest("PROPFIND", "/dav/", nil)
	r.RemoteAddr = address + ":1234"
	r.Header["Authorization"] = authorization
	return r
}

// basic returns the header of a password.
func basic(user, password string) string {
	r := httptest.NewRequest("GET", "/", nil)
	r.SetBasicAuth(user, password)
	return r.Header.Get("Authorization")
}

// openBook returns what the address book answers a device with: "tenant 1" with the dates
// of birth, or the code of the problem.
func (b *bareServer) openBook(t *testing.T, address string, authorization ...string) string {
	t.Helper()
	h := http.Header{}
	c, err := b.server.authorizeBook(deviceRequest(address, authorization...), h)
	p, ok := errors.AsType[*httpapi.Problem](err)
	if !ok {
		must(t, err)
		return fmt.Sprintf("tenant %d, dates %t", c.Tenant, c.Birthdays)
	}
	if c != (dav.Caller{}) {
		t.Errorf("%v with %+v", err, c)
	}
	challenge := p.Header.Get("WWW-Authenticate")
	if want := `Basic realm="Firefighters", charset="UTF-8"`; (challenge == want) != (p.Status == 401) {
		t.Errorf("%d with the challenge %q", p.Status, challenge)
	}
	if wait := h.Get("Retry-After"); (wait == "60") != (p.Status == 429) {
		t.Errorf("%d with Retry-After: %q", p.Status, wait)
	}
	return fmt.Sprint(p.Status, " ", p.Code)
}

// TestAuthorizeBook: the key of a phone opens the address book as the password of any user,
// and so does a key of the API.
func TestAuthorizeBook(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b := startBare(t, func() time.Time { return now })
	s := b.server.store
	phone := b.addPhone(t)
	plain := b.scoped(t, store.NewKey{Scope: store.ScopePhone})
	expired := b.scoped(t, store.NewKey{Scope: store.ScopePhone, ExpiresAt: now.Add(time.Hour)})
	revoked := b.scoped(t, store.NewKey{Scope: store.ScopePhone})
	_, err := s.RevokeKey(store.AnyTenant, 6)
	must(t, err)
	secret, _, err := s.OpenSession(b.key, "", time.Hour)
	must(t, err)
	now = now.Add(time.Hour)
	for _, tt := range []struct {
		want          string
		authorization []string
	}{
		{"tenant 1, dates true", []string{basic("phone", phone.Key)}},
		{"tenant 1, dates true", []string{basic("", phone.Key)}},
		{"tenant 1, dates true", []string{basic("ana@example.org", " "+phone.Key+"\n")}},
		{"tenant 1, dates true", []string{"Bearer " + phone.Key}},
		{"tenant 1, dates true", []string{strings.Replace(basic("phone", phone.Key), "Basic", "basic", 1)}},
		{"tenant 1, dates false", []string{basic("phone", plain)}},
		{"tenant 1, dates true", []string{basic("phone", b.scoped(t, store.NewKey{Scope: store.ScopeRead}))}},
		{"tenant 1, dates true", []string{basic("phone", b.key)}},
		{"tenant 1, dates true", []string{"Bearer " + b.scoped(t, store.NewKey{Scope: store.ScopeAdmin})}},
		{"403 scope", []string{basic("phone", phone.Calendar)}},
		{"401 key_expired", []string{basic("phone", expired)}},
		{"401 key_revoked", []string{basic("phone", revoked)}},
		{"401 key_unknown", []string{basic("phone", secret)}},
		{"401 key_unknown", []string{basic("phone", apikey.New())}},
		{"401 key_unknown", []string{basic("phone", "mistyped")}},
		{"401 key_missing", nil},
		{"401 key_missing", []string{""}},
		{"401 key_missing", []string{basic(phone.Key, "")}},
		{"401 key_missing", []string{"Basic " + phone.Key}},
		{"401 key_missing", []string{"Basic"}},
		{"401 key_missing", []string{"Digest " + phone.Key}},
		{"401 key_missing", []string{basic("phone", phone.Key), basic("phone", phone.Key)}},
	} {
		if got := b.openBook(t, "192.0.2.1", tt.authorization...); got != tt.want {
			t.Errorf("%.12q: %s, not %s", tt.authorization, got, tt.want)
		}
	}
	must(t, b.server.writeUses())
	if k := keyWith(t, s, phone.ID); k.LastUsedAt != now.UnixMilli() {
		t.Errorf("after a look the phone is %+v", k)
	}
	if k := keyWith(t, s, 6); k.LastUsedAt != 0 {
		t.Errorf("after a refused look the phone is %+v", k)
	}
	must(t, s.Close())
	if _, err := b.server.authorizeBook(deviceRequest("192.0.2.1", basic("phone", apikey.New())), http.Header{}); errors.As(err, new(*httpapi.Problem)) || err == nil {
		t.Errorf("without a database: %v", err)
	}
}

// TestWrongPasswords: ten different wrong ones of an address in a minute are enough. A phone
// whose key works, was revoked or is repeated is not kept out, and keeps nobody out.
func TestWrongPasswords(t *testing.T) {
	t.Parallel()
	b := startBare(t, time.Now)
	phone, revoked := b.addPhone(t), b.addPhone(t)
	_, err := b.server.store.RevokeKey(store.AnyTenant, revoked.ID)
	must(t, errors.Join(err, b.server.ReloadKeys()))
	check := func(address, password, want string) {
		t.Helper()
		if got := b.openBook(t, address, basic("phone", password)); got != want {
			t.Errorf("%s: %s, not %s", address, got, want)
		}
	}
	const home, other = "192.0.2.1", "192.0.2.2"
	for i := range 9 {
		for range 20 {
			check(home, fmt.Sprint("wrong", i), "401 key_unknown")
			check(home, revoked.Key, "401 key_revoked")
		}
		check(home, phone.Key, "tenant 1, dates true")
		if got := b.openBook(t, home); got != "401 key_missing" {
			t.Errorf("without a password: %s", got)
		}
	}
	if _, err := b.server.authorizeCalendar("wrong9", deviceRequest(home), http.Header{}); err != errUnknownKey {
		t.Errorf("the tenth, in the address of a calendar: %v", err)
	}
	check(home, "wrong10", "429 rate_limit")
	check(home, "wrong0", "429 rate_limit")
	check(home, phone.Key, "tenant 1, dates true")
	check(home, revoked.Key, "401 key_revoked")
	if got := b.openBook(t, home); got != "401 key_missing" {
		t.Errorf("without a password: %s", got)
	}
	check(other, "wrong0", "401 key_unknown")
	if tenant, err := b.server.authorizeCalendar(phone.Calendar, deviceRequest(home), http.Header{}); tenant != 1 || err != nil {
		t.Errorf("the calendar: %d, %v", tenant, err)
	}
	must(t, b.server.ReloadKeys())
	b.do(t, "GET", collection, "").wants(t, 200) // the API has its own limit
}

// TestAuthorizeCalendar: only a key of that scope opens the calendar.
func TestAuthorizeCalendar(t *testing.T) {
	t.Parallel()
	b := startBare(t, time.Now)
	phone, revoked := b.addPhone(t), b.addPhone(t)
	_, err := b.server.store.RevokeKey(store.AnyTenant, revoked.ID)
	must(t, err)
	for key, want := range map[string]error{
		phone.Calendar: nil,
		b.scoped(t, store.NewKey{Scope: store.ScopeCalendar}): nil,
		revoked.Calendar: errRevokedKey,
		phone.Key:        errPhoneKey,
		b.key:            errNoCalendarKey,
		"":               errNoKeyInAddress,
		"wrong":          errUnknownKey,
	} {
		tenant, err := b.server.authorizeCalendar(key, deviceRequest("192.0.2.1"), http.Header{})
		if err != want || (tenant == 1) != (err == nil) {
			t.Errorf("%v, not %v", err, want)
		}
	}
	must(t, b.server.writeUses())
	if k := keyWith(t, b.server.store, phone.ID+1); k.LastUsedAt == 0 {
		t.Errorf("after a look the calendar is %+v", k)
	}
	_, err = b.server.store.RevokeKey(store.AnyTenant, phone.ID)
	must(t, errors.Join(err, b.server.ReloadKeys()))
	if _, err := b.server.authorizeCalendar(phone.Calendar, deviceRequest("192.0.2.1"), http.Header{}); err != errRevokedKey {
		t.Errorf("the calendar of a phone that was revoked: %v", err)
	}
	execSQL(t, b.server.store.DB().Path(), `DELETE FROM keys WHERE scope = 'phone'`)
	must(t, b.server.ReloadKeys())
	if _, err := b.server.authorizeCalendar(phone.Calendar, deviceRequest("192.0.2.1"), http.Header{}); err != errRevokedKey {
		t.Errorf("the calendar of a phone that was erased: %v", err)
	}
}

// TestDeviceKeysInAPI: a key of a device reads nothing there, and is told what it is for.
func TestDeviceKeysInAPI(t *testing.T) {
	t.Parallel()
	b := startBare(t, time.Now)
	phone := b.addPhone(t)
	for key, what := range map[string]string{phone.Key: "address book", phone.Calendar: "birthdays"} {
		for _, request := range []string{"GET /api/v1/firefighters", "POST /api/v1/firefighters", "GET /api/v1/changes", "GET /api/v1/export", "GET /api/v1/whoami", "DELETE /api/v1/imports/1"} {
			method, path, _ := strings.Cut(request, " ")
			a := b.as(key).do(t, method, path, "{}").wants(t, 403)
			if p := a.problem(t); p.Code != "scope" || !regexp.MustCompile(what+` at /dav/\S* and nothing else\.$`).MatchString(p.Detail) {
				t.Errorf("%s: %s, %q", request, p.Code, p.Detail)
			}
			if got := a.header.Get("WWW-Authenticate"); got != `Bearer realm="firefighters", error="insufficient_scope"` {
				t.Errorf("%s: the challenge is %q", request, got)
			}
		}
	}
}
