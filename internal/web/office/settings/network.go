package settings

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/web/httpserver"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// port is the port on which the service listens for other devices.
const port = 8443

// reach is how other devices open the page now.
type reach struct {
	site.Reach
	Numbers     []string      // other addresses of the page
	QR          template.HTML // of Address
	Fingerprint string        // of the certificate
	Trouble     string        // why other devices cannot connect; may be empty
	Firewall    string        // of this computer, which must let them in; may be empty
	Command     string        // that tells it to
}

// Devices returns the kinds of devices, which trust the certificate in different ways.
func (reach) Devices() []string { return []string{"apple", "android", "windows", "mac", "linux"} }

// probeTime is how long the page waits for a response of the service at its own address.
const probeTime = 2 * time.Second

// reachOf returns how other devices reach the service, and what prevents it.
func reachOf(v view.Visit) (r reach, err error) {
	ctx, cancel := context.WithTimeout(v.R.Context(), probeTime)
	defer cancel()
	switch trouble := v.Site.Settings.Trouble; {
	case errors.Is(trouble, httpserver.ErrPortTaken):
		r.Trouble = v.Text("settings.network.taken", strconv.Itoa(port),
			cmp.Or(httpserver.ProgramAt(ctx, strconv.Itoa(port)), v.Text("settings.network.program")))
		return r, nil
	case trouble != nil:
		r.Trouble = v.Text("settings.network.trouble", trouble.Error())
		return r, nil
	}
	if r.Reach, err = v.Reach(); err != nil || r.Address == "" {
		if r.URL != "" && !v.Site.LoopbackOnly { // without a network
			r.Trouble = v.Text("settings.network.silent", r.URL)
		}
		return r, err
	}
	r.QR = view.QRCode(r.Address, v.Text("settings.network.qr"))
	r.Firewall, r.Command = managers.Host{}.Firewall(port)
	var d authority.Description
	if r.Trust != "" {
		if d, err = authority.Describe(v.Site.Authority.Folder); err != nil {
			return r, err
		}
		r.Numbers, r.Fingerprint = byNumber(d, r.Address), d.Fingerprint
	}
	if _, err := httpserver.Probe(ctx, r.URL+"/healthz", d.PEM); err != nil {
		r.Trouble = v.Text("settings.network.silent", r.Address)
	}
	return r, nil
}

// byNumber returns the addresses of the page with the IPv4 addresses of a certificate, except a known
// one, for networks that do not know the name of this computer.
func byNumber(d authority.Description, known string) (all []string) {
	if d.Server == nil {
		return nil
	}
	for _, text := range d.Server.Addresses {
		if addr, err := netip.ParseAddr(text); err == nil && addr.Is4() && !addr.IsLoopback() {
			if address := "https://" + netip.AddrPortFrom(addr, port).String() + site.Root; address != known {
				all = append(all, address)
			}
		}
	}
	return all
}

// setNetwork allows other devices to connect, or ends that, after a press of "Confirm".
func setNetwork(v view.Visit) error {
	allow, value := v.R.PostForm.Get("allow") == "1", "off"
	if allow {
		value = "on"
	}
	if isConfirmed(v) {
		return set(v, site.SettingNetwork, value, func(s *store.Settings) { s.Network = allow })
	}
	if !allow {
		return confirm(v, "network", v.Text("settings.stop.title"), "", url.Values{},
			v.Text("settings.stop.devices"), v.Text("settings.stop.kept"))
	}
	lines := []string{v.Text("settings.allow.devices", strconv.Itoa(port)), v.Text("settings.allow.certificate")}
	if firewall, _ := (managers.Host{}).Firewall(port); firewall != "" {
		lines = append(lines, v.Text("settings.firewall", firewall))
	}
	lines = append(lines, v.Text("settings.allow.here"))
	return confirm(v, "network", v.Text("settings.allow.title"), "", url.Values{"allow": {"1"}}, lines...)
}
