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
		{peer: "127.0.0.1:1234", header: "Cf-Ray"},
		{peer: "127.0.0.1:1234", header: "X-Original-Host"},
		{peer: "127.0.0.1:1234", header: "True-Client-Ip"},
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

// TestIsAtThisComputer checks that each sign of another computer, another site or a proxy counts.
func TestIsAtThisComputer(t *testing.T) {
	t.Parallel()
	const get, post = "GET", "POST"
	none, own := []string{"Sec-Fetch-Site", "none"}, []string{"Origin", "http://127.0.0.1:8080"}
	for _, tt := range []struct {
		method, peer, host string
		headers            []string
		want               bool
	}{
		{get, "127.0.0.1:5", "127.0.0.1:8080", none, true},
		{get, "[::1]:5", "[::1]:8080", none, true},
		{get, "[::ffff:127.0.0.1]:5", "localhost:8080", []string{"Sec-Fetch-Site", "same-origin"}, true},
		{"HEAD", "127.0.0.1:5", "127.0.0.1:8080", none, true},
		{get, "127.0.0.1:5", "127.0.0.1:8080", append([]string{"Referer", "http://127.0.0.1:8080/office/"}, none...), true},
		{post, "127.0.0.1:5", "127.0.0.1:8080", own, true},
		{post, "127.0.0.1:5", "localhost", []string{"Origin", "https://localhost"}, true},

		// Another computer, also with a forged Host, and this computer by its address in the network.
		{get, "192.0.2.7:5", "192.0.2.9:8080", none, false},
		{get, "192.0.2.7:5", "127.0.0.1:8080", none, false},
		{post, "192.0.2.7:5", "127.0.0.1:8080", own, false},
		{get, "192.0.2.9:5", "192.0.2.9:8080", none, false},
		{get, "@", "127.0.0.1:8080", none, false},
		{get, "", "127.0.0.1:8080", none, false},
		// DNS rebinding.
		{get, "127.0.0.1:5", "evil.example:8080", none, false},
		{get, "127.0.0.1:5", "127.0.0.1.evil.example", none, false},
		{get, "127.0.0.1:5", "", none, false},
		{post, "127.0.0.1:5", "evil.example", []string{"Origin", "http://evil.example"}, false},
		// Other sites, also other ports of this computer, and programs that are no browsers.
		{get, "127.0.0.1:5", "127.0.0.1:8080", nil, false},
		{get, "127.0.0.1:5", "127.0.0.1:8080", own, false},
		{get, "127.0.0.1:5", "127.0.0.1:8080", []string{"Sec-Fetch-Site", "cross-site"}, false},
		{get, "127.0.0.1:5", "127.0.0.1:8080", []string{"Sec-Fetch-Site", "same-site"}, false},
		{get, "127.0.0.1:5", "127.0.0.1:8080", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Site", "cross-site"}, false},
		{get, "127.0.0.1:5", "127.0.0.1:8080", append([]string{"Referer", "https://station.example/office/"}, none...), false},
		{post, "127.0.0.1:5", "127.0.0.1:8080", nil, false},
		{post, "127.0.0.1:5", "127.0.0.1:8080", none, false},
		{post, "127.0.0.1:5", "127.0.0.1:8080", []string{"Origin", "null"}, false},
		{post, "127.0.0.1:5", "127.0.0.1:8080", []string{"Origin", "https://station.example"}, false},
		{post, "127.0.0.1:5", "127.0.0.1:8080", []string{"Origin", "http://127.0.0.1@evil.example"}, false},
		{post, "127.0.0.1:5", "127.0.0.1:8080", []string{"Origin", "http://u@127.0.0.1"}, false},
		{post, "127.0.0.1:5", "127.0.0.1:8080", []string{"Origin", "moz-extension://127.0.0.1"}, false},
		{post, "127.0.0.1:5", "127.0.0.1:8080", append([]string{"Origin", "http://evil.example"}, own...), false},
		{post, "127.0.0.1:5", "127.0.0.1:8080", append([]string{"Referer", "http://192.0.2.9/"}, own...), false},
		{"PUT", "127.0.0.1:5", "127.0.0.1:8080", none, false},
		// Proxies.
		{get, "127.0.0.1:5", "127.0.0.1:8080", append([]string{"Forwarded", "for=192.0.2.7"}, none...), false},
		{get, "127.0.0.1:5", "127.0.0.1:8080", append([]string{"X-Forwarded-Host", ""}, none...), false},
		{get, "127.0.0.1:5", "127.0.0.1:8080", append([]string{"x-real-ip", "127.0.0.1"}, none...), false},
		{get, "127.0.0.1:5", "127.0.0.1:8080", append([]string{"CF-Connecting-IP", "::1"}, none...), false},
		{get, "127.0.0.1:5", "127.0.0.1:8080", append([]string{"CF-Ray", "x"}, none...), false},
		{post, "127.0.0.1:5", "127.0.0.1:8080", append([]string{"Via", "1.1 proxy"}, own...), false},
		{post, "127.0.0.1:5", "127.0.0.1:8080", append([]string{"X-Original-URL", "/office/settings"}, own...), false},
	} {
		r := httptest.NewRequest(tt.method, "/office/settings", nil)
		r.RemoteAddr, r.Host = tt.peer, tt.host
		for i := 0; i < len(tt.headers); i += 2 {
			r.Header.Add(tt.headers[i], tt.headers[i+1])
		}
		if got := IsAtThisComputer(r); got != tt.want {
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
