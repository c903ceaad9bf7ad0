package site

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
)

var localPaths = map[string]string{
	"/office/":                        "/office/",
	"/office/?search=%C4%8Dovi%C4%87": "/office/?search=%C4%8Dovi%C4%87",
	"/office/people/new":              "/office/people/new",
	"":                                Root,
	"/":                               Root,
	"/api/v1/firefighters":            Root,
	"//evil.example/office/":          Root,
	"https://evil.example/office/":    Root,
	"/office/../\\evil.example":       Root,
	"/office\\evil":                   Root,
	"/office/\r\nSet-Cookie: a=b":     Root,
	"/office/ x":                      Root,
	"javascript:alert(1)":             Root,
	"/office/../api/v1/firefighters":  Root,
	"/office/%2e%2e/api":              Root,
	"/office//evil.example":           Root,
	"/office/?search=\u202e":          Root,
}

func TestLocalPath(t *testing.T) {
	t.Parallel()
	for path, want := range localPaths {
		if got := LocalPath(path); got != want {
			t.Errorf("LocalPath(%q) = %q, want %q", path, got, want)
		}
	}
}

// FuzzLocalPath checks that a redirect to any path stays on the page.
func FuzzLocalPath(f *testing.F) {
	for path := range localPaths {
		f.Add(path)
	}
	base, _ := url.Parse("http://station.example" + Root)
	f.Fuzz(func(t *testing.T, path string) {
		local := LocalPath(path)
		u, err := base.Parse(local)
		if err != nil || u.Host != base.Host || !strings.HasPrefix(local, Root) || strings.ContainsAny(local, "\r\n\t\\") {
			t.Errorf("LocalPath(%q) = %q", path, local)
		}
	})
}

func TestCarry(t *testing.T) {
	t.Parallel()
	form := url.Values{"lastName": {"Čović"}, "firstName": {"Ana", "twice"}, "key": {"secret"}, "shared": {"on"}, "next": {"/"}}
	if got, want := carry(form), (url.Values{"firstName": {"Ana"}, "lastName": {"Čović"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("carried %+v, want %+v", got, want)
	}
}

// TestHereOnly checks which URLs work only on the server's own computer.
func TestHereOnly(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"http://127.0.0.1:8080": true, "http://localhost:8080": true, "https://[::1]:8443": true,
		"http://192.168.1.5:8080": false, "https://station.example": false, "http://[fe80::1]:8080": false, "": false,
	} {
		if HereOnly(address) != want {
			t.Errorf("HereOnly(%q) = %t", address, !want)
		}
	}
}

// TestCarriedFits checks that carried fields fit into the sign-in form.
func TestCarriedFits(t *testing.T) {
	t.Parallel()
	form := url.Values{"a": {"b"}, "key": {"secret"}, "long": {strings.Repeat("ž", maxCarried/6)}, "z": {"y"}}
	if got := carry(form); !reflect.DeepEqual(got, url.Values{"a": {"b"}, "z": {"y"}}) {
		t.Errorf("carried %.100v", got)
	}
	half := strings.Repeat("x", maxCarried/2)
	together := url.Values{"a": {half}, "b": {half}, "z": {"y"}}
	if got := carry(together); !reflect.DeepEqual(got, url.Values{"a": {half}, "z": {"y"}}) {
		t.Errorf("carried %.100v of fields that exceed the limit together", got)
	}
}
