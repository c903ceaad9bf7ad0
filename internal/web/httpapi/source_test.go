package httpapi

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestSourceOf(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.7:1234":              "192.0.2.7",
		"[::ffff:192.0.2.7]:1234":     "192.0.2.7",
		"[2001:db8:1:2:3:4:5:6]:1234": "2001:db8:1:2::/64",
		"[2001:db8:1:2::1]:1234":      "2001:db8:1:2::/64",
		"[fe80::1%eth0]:1234":         "fe80::/64",
		"@":                           "",
	} {
		if got := sourceOf(&http.Request{RemoteAddr: address}); got != want {
			t.Errorf("sourceOf(%s) = %q, want %q", address, got, want)
		}
	}
}

// TestIsLocal checks that a forwarded request is not local, even from a proxy on this computer.
func TestIsLocal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		peer, own, header string
		want              bool
	}{
		{peer: "127.0.0.1:1234", own: "127.0.0.1:80", want: true},
		{peer: "127.0.0.2:1234", want: true},
		{peer: "[::1]:1234", own: "[::1]:80", want: true},
		{peer: "[::ffff:127.0.0.1]:1234", want: true},
		{peer: "192.0.2.7:1234", own: "192.0.2.7:80", want: true},
		{peer: "[::ffff:192.0.2.7]:1234", own: "192.0.2.7:80", want: true},
		{peer: "[fe80::1%eth0]:1234", own: "[fe80::1%eth0]:80", want: true},
		{peer: "192.0.2.8:1234", own: "192.0.2.7:80"},
		{peer: "192.0.2.8:1234"},
		{peer: "@", own: "192.0.2.7:80"},
		{peer: "", own: "192.0.2.7:80"},
		{peer: "127.0.0.1:1234", header: "X-Forwarded-For"},
		{peer: "127.0.0.1:1234", header: "X-Forwarded-Proto"},
		{peer: "127.0.0.1:1234", header: "X-Client-Ip"},
		{peer: "127.0.0.1:1234", header: "x-real-ip"},
		{peer: "127.0.0.1:1234", header: "Forwarded"},
		{peer: "127.0.0.1:1234", header: "Via"},
		{peer: "192.0.2.7:1234", own: "192.0.2.7:80", header: "X-Forwarded-For"},
	} {
		r := httptest.NewRequest("GET", "/readyz", nil)
		r.RemoteAddr = tt.peer
		if tt.own != "" {
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(tt.own))))
		}
		if tt.header != "" {
			r.Header.Set(tt.header, "")
		}
		if got := IsLocal(r); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestSources checks that a source keeps its value until there are too many sources.
func TestSources(t *testing.T) {
	t.Parallel()
	var s Sources[int]
	of := func(number int) *int {
		r := &http.Request{RemoteAddr: fmt.Sprintf("10.0.%d.%d:1", number/256, number%256)}
		return s.Of(r, func() *int { return &number })
	}
	first := of(0)
	for i := range maxSources {
		of(i)
	}
	if of(0) != first || *of(1) != 1 {
		t.Error("a source got several values")
	}
	if of(maxSources); len(s.all) != 1 {
		t.Errorf("%d sources in memory", len(s.all))
	}
}
