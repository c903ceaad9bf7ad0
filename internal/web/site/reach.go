package site

import (
	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// Reach describes how other devices, such as phones, open the page, or how to make that possible.
type Reach struct {
	URL     string // of the service, like https://station:8443; without Address, for this computer only
	Address string // of the page for other devices; empty if only this computer can open it
	Trust   string // address of the certificate that each device must trust first; may be empty
	How     string // key of a message that explains where to type Command; may be empty
	Command string
}

// Reach returns how other devices open the page.
func (v *Visit) Reach() (Reach, error) {
	at, err := v.Store.Address()
	if err != nil {
		return Reach{}, err
	}
	if at == "" || HereOnly(at) {
		if httpapi.IsLoopbackHost(v.R.Host) {
			r := Reach{URL: at}
			r.How, r.Command = v.Start("--listen 0.0.0.0:8443 --tls-self-signed")
			return r, nil
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

// Start returns a command that starts the service with more flags, and a message key as in Reach.How.
func (v *Visit) Start(flags string) (how, command string) {
	if v.Site.Installed {
		return "backups.admin", "firefighters service install " + flags
	}
	return "backups.start", flags
}
