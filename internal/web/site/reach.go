package site

import (
	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// Reach says where other devices, such as phones, open the page, or what to do so that
// they can.
type Reach struct {
	URL     string // of the service, as https://station:8443: for other devices, or for this computer alone
	Address string // of the page, for other devices; empty: only this computer opens it
	Trust   string // address of the certificate that each device must trust first; empty: none
	How     string // key of a message that says where to type the command; empty without one
	Command string
}

// Reach returns where other devices open the page.
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
		return Reach{URL: "https://" + v.R.Host, Address: v.R.Host + Root}, nil // by way of a proxy
	}
	return Reach{URL: at, Address: at + Root, Trust: v.Trust(at)}, nil
}

// Trust returns the address of the certificate that a device must trust first which opens the
// service at a URL. It is empty if there is none.
func (v *Visit) Trust(url string) string {
	if v.Site.Authority == nil {
		return ""
	}
	return url + authority.Path
}

// Start says how the service is started with further flags: the key of a message that says
// where to type the command, and the command.
func (v *Visit) Start(flags string) (how, command string) {
	if v.Site.Installed {
		return "backups.admin", "firefighters service install " + flags
	}
	return "backups.start", flags
}
