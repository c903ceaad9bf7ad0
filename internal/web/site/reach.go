package site

import (
	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// Reach describes how other devices, such as phones, open the page, or how to make that possible.
type Reach struct {
	URL     string // of the service, like https://station:8443; without Address, for this computer only
	Address string // of the page for other devices; empty if only this computer can open it
	Trust   string // address of the certificate that each device must trust first; may be empty
	Advice
}

// Reach returns how other devices open the page.
func (v *Visit) Reach() (Reach, error) {
	at, err := v.Store.Address()
	if err != nil {
		return Reach{}, err
	}
	if at == "" || HereOnly(at) {
		if httpapi.IsLoopbackHost(v.R.Host) {
			return Reach{URL: at, Advice: v.Start("--listen 0.0.0.0:8443 --tls-self-signed")}, nil
		}
		return Reach{URL: "https://" + v.R.Host, Address: v.R.Host + Root}, nil // through a proxy
	}
	return Reach{URL: at, Address: at + Root, Trust: v.Trust(at)}, nil
}

// Trust returns the address of the certificate that a device must trust before it opens the service
// at a URL. It is empty if the service has no certificate authority, or is behind a reverse proxy.
func (v *Visit) Trust(url string) string {
	if v.Site.Authority == nil || v.Site.PublicURL != "" {
		return ""
	}
	return url + authority.Path
}

// Start returns how to start the service with more flags that let other devices connect.
func (v *Visit) Start(flags string) Advice {
	if !v.Site.Installed {
		return Advice{How: "backups.start", Command: flags}
	}
	command := Advice{How: "backups.admin", Command: managers.AdminCommand("service", "install") + " " + flags}
	if s := v.Site.Settings; s != nil && s.Network.Fixed {
		return command
	}
	return v.toSettings("network", command)
}
