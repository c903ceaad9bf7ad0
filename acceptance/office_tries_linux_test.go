package acceptance

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// from returns a browser at another loopback address.
func (c client) from(t *testing.T, address string) *browser {
	t.Helper()
	b := c.browser(t, "en")
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, to)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	b.Transport = transport
	return b
}

// TestOfficeWrongKeys checks that ten wrong keys block only their own address for a minute, and that a
// repeated wrong key counts once.
func TestOfficeWrongKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	signIn := func(b *browser, key string) *webPage {
		return b.post(t, "/office/sign-in", url.Values{"key": {key}})
	}
	alerts := map[string]bool{}
	for i := range 8 {
		b := s.from(t, fmt.Sprint("127.0.0.", 10+i))
		for range 10 {
			alerts[signIn(b, rand.Text()).wants(t, 403).one(t, "", "role", "alert").text()] = true
		}
		if wait, err := strconv.Atoi(signIn(b, s.key).wants(t, 429).header.Get("Retry-After")); err != nil || wait < 1 || wait > 60 {
			t.Errorf("Retry-After is %d seconds", wait)
		}
	}
	alerts[signIn(s.from(t, "127.0.0.30"), "ABC-DEF").wants(t, 403).one(t, "", "role", "alert").text()] = true
	if len(alerts) != 1 {
		t.Errorf("want one message for all wrong keys, got %v", alerts)
	}
	signIn(s.browser(t, "en"), s.key).wants(t, 303)
	program, wrong := s.from(t, "127.0.0.20"), rand.Text()
	for range 30 {
		signIn(program, wrong).wants(t, 403)
	}
	signIn(program, s.key).wants(t, 303)
	s.logs(t, `"address":"127.0.0.10","count":1,"code":"key_unknown"`)
	if strings.Contains(s.stderr.String(), wrong) {
		t.Error("the log contains a key")
	}
}
