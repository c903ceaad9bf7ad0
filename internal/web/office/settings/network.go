package settings

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"net/netip"
	"slices"
	"strconv"
	"time"

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
	Addresses   []string      // of the page; none if only this computer can open it
	QR          template.HTML // of the first address
	Certificate string        // path of the certificate that each device must trust; may be empty
	Trust       string        // its address for other devices
	Fingerprint string        // of the certificate
	Devices     []string      // kinds of devices, which trust it in different ways
	Trouble     string        // why other devices cannot connect; may be empty
	Phones      bool          // whether the page to set up phones exists
	firewall
}

// firewall is what the firewall of this computer requires.
type firewall struct{ Firewall, Command string }

func firewallOf() firewall {
	name, command := managers.Host{}.Firewall(port)
	return firewall{name, command}
}

// probeTime is how long the page waits for a response of the service at its own address.
const probeTime = 2 * time.Second

// reachOf returns how other devices reach the service, and what prevents it.
func reachOf(v view.Visit, state site.SettingsState) (r reach, err error) {
	ctx, cancel := context.WithTimeout(v.R.Context(), probeTime)
	defer cancel()
	if errors.Is(state.Trouble, httpserver.ErrPortTaken) {
		r.Trouble = v.Text("settings.network.taken", strconv.Itoa(port),
			cmp.Or(httpserver.ProgramAt(ctx, strconv.Itoa(port)), v.Text("settings.network.program")))
		return r, nil
	}
	if state.Trouble != nil {
		r.Trouble = v.Text("settings.network.trouble", state.Trouble.Error())
		return r, nil
	}
	if len(state.Listening) == 0 {
		return r, nil
	}
	for _, url := range state.Listening {
		r.Addresses = append(r.Addresses, url+site.Root)
	}
	r.Phones = v.Site.Phones
	r.QR, r.firewall = view.QRCode(r.Addresses[0], v.Text("settings.network.qr")), firewallOf()
	var d authority.Description
	if r.Trust = v.Trust(state.Listening[0]); r.Trust != "" {
		if d, err = authority.Describe(v.Site.Authority.Folder); err != nil {
			return r, err
		}
		r.Certificate, r.Fingerprint, r.Devices = authority.Path, d.Fingerprint, []string{"apple", "android", "windows", "mac", "linux"}
		for _, address := range byNumber(d) {
			if !slices.Contains(r.Addresses, address) { // a computer without a name is listed by its number already
				r.Addresses = append(r.Addresses, address)
			}
		}
	}
	if _, err := httpserver.Probe(ctx, state.Listening[0]+"/healthz", d.PEM); err != nil {
		r.Trouble = v.Text("settings.network.silent", r.Addresses[0])
	}
	return r, nil
}

// byNumber returns the addresses of the page with the IPv4 addresses of a certificate, for networks
// that do not know the name of this computer.
func byNumber(d authority.Description) (all []string) {
	if d.Server == nil {
		return nil
	}
	for _, text := range d.Server.Addresses {
		if addr, err := netip.ParseAddr(text); err == nil && addr.Is4() && !addr.IsLoopback() {
			all = append(all, "https://"+netip.AddrPortFrom(addr, port).String()+site.Root)
		}
	}
	return all
}

// setNetwork allows other devices to connect, or ends that, after a press of "Confirm".
func setNetwork(v view.Visit) error {
	allow := v.R.PostForm.Get("allow") == "1"
	if isConfirmed(v) {
		return done(v, site.SettingNetwork, v.Site.Settings.SetNetwork(v.Session.Label, allow))
	}
	page := confirmPage{Action: Path + "/network", Fields: map[string][]string{}}
	if !allow {
		page.Lines = []string{v.Text("settings.stop.devices"), v.Text("settings.stop.kept")}
		return confirm(v, v.Text("settings.stop.title"), page)
	}
	page.Fields["allow"] = []string{"1"}
	page.Lines = []string{v.Text("settings.allow.devices", strconv.Itoa(port)), v.Text("settings.allow.certificate")}
	if fire := firewallOf(); fire.Firewall != "" {
		page.Lines = append(page.Lines, v.Text("settings.firewall", fire.Firewall))
	}
	page.Lines = append(page.Lines, v.Text("settings.allow.here"))
	return confirm(v, v.Text("settings.allow.title"), page)
}
