package service

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const certHelp = `Usage: firefighters cert [flags]

Describes the local authority that serve --tls-self-signed makes, and its
certificate for this machine, and says how each system is told to trust it.
Compare the fingerprint with what the other machine shows. The key of the
authority never leaves its folder.

  firefighters cert
  firefighters cert --output ca.crt
  firefighters cert --new --name records.station7.example

--new makes another authority, for the names that this machine has now and those
of --name. Each machine must then trust the new one. It asks first; --yes
answers. A running service uses it within a minute.

Flags:
`

// CertCommand returns the command that describes the local authority.
func CertCommand() cli.Command {
	return cli.Command{Name: "cert", Also: "certificate tls https ca authority", Summary: "says how other machines trust this one", Run: cert}
}

// certOptions are the flags of cert.
type certOptions struct {
	db, output       string
	names            []string
	json, isNew, yes bool
}

func cert(env cli.Env, args []string) error {
	var o certOptions
	flags := env.Flags("cert", certHelp)
	db := cli.DBFlag(flags)
	flags.BoolVar(&o.json, "json", false, "a line of JSON: authority and certificate")
	flags.BoolVar(&o.isNew, "new", false, "make another authority, which each machine must trust")
	flags.StringSliceVar(&o.names, "name", nil, "another `name` by which others find this machine, with --new; may be repeated")
	flags.StringVarP(&o.output, "output", "o", "", "write the authority's certificate to this `file`, to carry it to other machines")
	flags.BoolVar(&o.yes, "yes", false, "do not ask")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	if !o.isNew && slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--name") }) {
		return cli.Usage("cert: --name is for --new", cli.TypedLine(flags, 0)+" --new")
	}
	o.db = *db
	err := o.run(env)
	switch {
	case errors.Is(err, authority.ErrNone) && env.ServiceDB != nil && env.ServiceDB() == o.db:
		return cli.WithHint(err, cli.AsAdministrator("firefighters service install --listen 0.0.0.0:8443 --tls-self-signed"))
	case errors.Is(err, authority.ErrNone):
		return cli.WithHint(err, "firefighters serve --tls-self-signed --listen 0.0.0.0:8443 --db "+cli.Quote(o.db))
	case osutil.NotPermitted(err):
		return cli.WithHint(fmt.Errorf("the folder %s may not be read by this user", osutil.InQuotes(authority.Folder(o.db))),
			cli.AsAdministrator(cli.TypedLine(flags, 0)))
	}
	return err
}

func (o certOptions) run(env cli.Env) error {
	folder := authority.Folder(o.db)
	d, err := authority.Describe(folder)
	if o.isNew {
		if !o.yes && !errors.Is(err, authority.ErrNone) {
			if err := env.Confirm("Each machine that trusts the authority must then trust another one."); err != nil {
				return err
			}
		}
		if err := authority.Replace(authority.Options{Folder: folder, Log: slog.New(slog.DiscardHandler)}, o.names...); err != nil {
			return err
		}
		d, err = authority.Describe(folder)
	}
	switch {
	case err != nil:
		return err
	case o.output != "":
		return writeCertificate(env, o.output, d)
	case o.json:
		return env.PrintJSON(struct {
			Authority   authority.Description `json:"authority"`
			Certificate *authority.Server     `json:"certificate"` // null: the service has not made it yet
		}{d, d.Server})
	}
	return describe(env, d)
}

// writeCertificate writes the certificate of the authority to a new file, which
// all may read.
func writeCertificate(env cli.Env, path string, d authority.Description) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, os.ErrExist) {
		return cli.WithHint(fmt.Errorf("%s is there already", osutil.InQuotes(path)), "another name, or remove that file")
	}
	if err != nil {
		return err
	}
	osutil.GiveToFolder(file)
	_, err = file.Write(d.PEM)
	if err := cmp.Or(err, file.Close()); err != nil {
		return err
	}
	env.Notef("Wrote %s. Its fingerprint (SHA-256) is %s", cli.Quote(path), d.Fingerprint)
	return nil
}

func describe(env cli.Env, d authority.Description) error {
	var text strings.Builder
	fmt.Fprintf(&text, "Authority    %s\nSHA-256      %s\nSHA-1        %s\nExpires      %s\nFile         %s\n",
		d.Name, d.Fingerprint, d.SHA1, d.Expires.Format(time.DateOnly), d.File)
	if s := d.Server; s != nil {
		fmt.Fprintf(&text, "Certificate  until %s, renewed by the service\n             for %s\n             and %s\n",
			s.Expires.Format(time.DateOnly), strings.Join(s.Names, ", "), strings.Join(s.Addresses, ", "))
	}
	text.WriteString("\nEach machine must trust the authority once. Carry the file there, or open the page\n" +
		"there with " + authority.Path + " in place of /office/. Compare the fingerprint, SHA-256 or SHA-1. Then:\n")
	for _, s := range systems {
		fmt.Fprintf(&text, "\n%s\n  %s\n  to end that: %s\n", s.name, s.trust, strings.ReplaceAll(s.end, "SHA1", strings.ReplaceAll(d.SHA1, ":", "")))
	}
	_, err := io.WriteString(env.Stdout, text.String())
	return err
}

// systems say how each system trusts an authority, by command or by taps, and how
// to end that. docs/install.md has the same.
var systems = []struct{ name, trust, end string }{
	{"Windows, in a terminal of an administrator",
		"certutil -addstore -f Root ca.crt",
		"certutil -delstore Root SHA1"},
	{"macOS",
		"sudo security add-trusted-cert -d -r trustRoot -p ssl -k /Library/Keychains/System.keychain ca.crt",
		"sudo security remove-trusted-cert -d ca.crt"},
	{"Debian, Ubuntu, Raspberry Pi OS",
		"sudo cp ca.crt /usr/local/share/ca-certificates/firefighters.crt && sudo update-ca-certificates",
		"sudo rm /usr/local/share/ca-certificates/firefighters.crt && sudo update-ca-certificates --fresh"},
	{"Fedora",
		"sudo trust anchor --store ca.crt",
		"sudo trust anchor --remove ca.crt"},
	{"Chrome and Chromium on Linux, as the user (package libnss3-tools)",
		"certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n Firefighters -i ca.crt",
		"certutil -d sql:$HOME/.pki/nssdb -D -n Firefighters"},
	{"Firefox on Linux (elsewhere it trusts what the system trusts)",
		"Settings, Privacy & Security, View Certificates, Authorities, Import: choose ca.crt, for websites",
		"the same list, Delete or Distrust"},
	{"Android",
		"Settings, Security, More security settings, Encryption & credentials, Install a certificate, CA certificate: choose ca.crt",
		"the same place, User credentials"},
	{"iPhone, iPad",
		"open ca.crt in Safari, Allow; Settings, Profile Downloaded, Install; then Settings, General, About, Certificate Trust Settings: switch it on",
		"Settings, General, VPN & Device Management, the profile, Remove"},
}
