package invite

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/text/lang"
	"github.com/firefighter-records/firefighters/internal/web/dav"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// device is a phone or a computer to set up.
type device struct {
	birthdays bool
	output    string // the file for the profile; may be empty
}

// invite creates the keys of a device and prints its settings.
func (d *device) invite(env cli.Env, s *store.Store, db string, n store.NewPhone) error {
	at, _, noAddress := address(env, s, db, bookPart)
	hint := cli.HintOf(noAddress)
	if noAddress != nil && (hint == "" || d.output != "") {
		return noAddress
	}
	if folder := filepath.Dir(d.output); !osutil.Exists(folder) {
		return cli.WithHint(fmt.Errorf("the folder of %s does not exist", cli.Quote(d.output)), "mkdir "+cli.Quote(folder))
	}
	department, err := s.TenantName(n.Tenant)
	if err != nil {
		return store.Failed("reading", db, err)
	}
	a := dav.Account{Department: department, URL: at, Language: lang.All()[0]}
	if a.TLS() {
		if a.Authority, err = certificate(db, at); err != nil {
			return err
		}
	}
	var writeErr error
	err = s.AddPhone(n, func(p store.Phone) error {
		a.Key, a.Calendar = p.Key, p.Calendar
		if d.output != "" {
			if writeErr = osutil.WriteFile(d.output, a.Profile(), false); writeErr != nil {
				return writeErr
			}
		}
		if err := env.Println(describe(a)); err != nil || a.DAVx5() == "" {
			return err
		}
		return env.PrintQR("", a.DAVx5(), false)
	})
	if writeErr != nil {
		return fmt.Errorf("writing %s: %w", cli.Quote(d.output), writeErr)
	}
	if err != nil {
		return store.Failed("creating a key in", db, err)
	}
	d.explain(env, a, noAddress, hint)
	return nil
}

// certificate returns the certificate (DER) of a database's authority, or nil if that authority did
// not issue the certificate of the service at a URL.
func certificate(db, at string) ([]byte, error) {
	d, err := authority.Describe(authority.Folder(db))
	if errors.Is(err, authority.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	response, err := ask(bookPart.method, at+bookPart.path)
	if err != nil {
		return nil, err
	}
	if response.TLS == nil || response.TLS.PeerCertificates[0].CheckSignatureFrom(d.Certificate) != nil {
		return nil, nil // the service uses --tls-cert
	}
	return d.Certificate.Raw, nil
}

// describe returns the settings of a device, one per line, and the link for the app DAVx5. Without an
// address it omits the settings that need one.
func describe(a dav.Account) string {
	lines := []string{"User name: " + dav.User, "Password:  " + a.Key}
	switch {
	case a.URL == "" && a.Calendar != "":
		lines = append(lines, "Key of the calendar: "+a.Calendar)
	case a.URL != "":
		lines = append([]string{"Address:   " + a.Address()}, lines...)
		if a.Calendar != "" {
			lines = append(lines, "Calendar:  "+a.CalendarAddress())
		}
		if link := a.DAVx5(); link != "" {
			lines = append(lines, "DAVx5:     "+link, "")
		}
	}
	return strings.Join(lines, "\n")
}

// explain prints instructions for the output.
func (d *device) explain(env cli.Env, a dav.Account, noAddress error, hint string) {
	env.Notef("This is not shown again. To end the access: firefighters keys revoke. The device keeps its copy of the list.")
	switch {
	case noAddress != nil:
		env.Note(fmt.Sprintf("there is no address, because %v", noAddress), hint)
		return
	case a.TLS():
		env.Notef("Android: install the app DAVx5 and scan the QR code. Thunderbird, Evolution and KAddressBook need the address.")
	default:
		env.Note("without HTTPS, others in the network can read the password and the list, "+
			"and DAVx5 does not connect: serve with --tls-self-signed", "")
	}
	if d.output != "" {
		env.Notef("iPhone, iPad and Mac: send %s to the device and open it there. It contains the password.", cli.Quote(d.output))
	}
	if site.HereOnly(a.URL) {
		env.Note("only programs on this computer can connect, because the server listens on this computer only", "")
	}
}
