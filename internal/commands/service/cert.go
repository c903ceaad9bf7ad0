package service

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

func certCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "cert",
		Short:      "Show the certificate authority and how devices trust it",
		GroupID:    cli.GroupAccess,
		SuggestFor: []string{"certificate", "tls", "https", "ca", "authority", "trust"},
		Long: `Show the local certificate authority of serve --tls-self-signed, its certificate
for this computer, and how each system trusts it. Compare the fingerprint with
the one on the other device.

--new creates a new authority, which every device must trust again. A running
server uses it within a minute.`,
		Example: `  firefighters cert
  firefighters cert --output ca.crt
  firefighters cert --new --name records.station7.example`,
	}
	db := cli.AddDB(cmd)
	var o certOptions
	cmd.Flags().BoolVar(&o.json, "json", false, "print a line of JSON: authority and certificate")
	cmd.Flags().BoolVar(&o.isNew, "new", false, "create a new authority, which every device must trust")
	cmd.Flags().StringSliceVar(&o.names, "name", nil, "another `name` of this computer, with --new; can be repeated")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "write the certificate of the authority to this `file`, for other devices")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask for confirmation")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("name") && !o.isNew {
			return cli.UsageErrorf(cmd, "--name requires --new")
		}
		env, folder := cli.EnvOf(cmd), authority.Folder(*db)
		err := o.run(env, folder)
		switch {
		case errors.Is(err, authority.ErrNone) && env.ServiceDB != nil && env.ServiceDB() == *db:
			return cli.WithHint(err, onPage+cli.AsAdministrator("firefighters service install --listen 0.0.0.0:8443 --tls-self-signed"))
		case errors.Is(err, authority.ErrNone):
			return cli.WithHint(err, "firefighters serve --tls-self-signed --listen 0.0.0.0:8443 --db "+cli.Quote(*db))
		case osutil.NotPermitted(err):
			return managers.ErrNotPermitted
		}
		return err
	}
	return cmd
}

type certOptions struct {
	output           string
	names            []string
	json, isNew, yes bool
}

// run creates, prints or exports the authority in a folder.
func (o certOptions) run(env cli.Env, folder string) error {
	d, err := authority.Describe(folder)
	if o.isNew {
		if !o.yes && !errors.Is(err, authority.ErrNone) {
			if err := env.Confirm("Every device that trusts the authority must trust the new one."); err != nil {
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
			Certificate *authority.Server     `json:"certificate"` // null: the server has not created it yet
		}{d, d.Server})
	}
	return env.Print(describe(d) + "\n")
}

// writeCertificate writes the certificate of the authority to a new file that everyone can read.
func writeCertificate(env cli.Env, path string, d authority.Description) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s already exists", osutil.InQuotes(path))
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

func describe(d authority.Description) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Authority    %s\nSHA-256      %s\nSHA-1        %s\nExpires      %s\nFile         %s\n",
		d.Name, d.Fingerprint, d.SHA1, d.Expires.Format(time.DateOnly), d.File)
	if s := d.Server; s != nil {
		fmt.Fprintf(&text, "Certificate  until %s, renewed by the server\n             for %s\n             and %s\n",
			s.Expires.Format(time.DateOnly), strings.Join(s.Names, ", "), strings.Join(s.Addresses, ", "))
	}
	text.WriteString("\nEach device must trust the authority once. Copy the file to the device, or download it there\n" +
		"from the address of the page with " + authority.Path + " instead of /office/. Compare the fingerprint. Then:\n")
	for _, s := range systems {
		undo := strings.ReplaceAll(s.undo, "SHA1", strings.ReplaceAll(d.SHA1, ":", ""))
		fmt.Fprintf(&text, "\n%s\n  %s\n  to undo: %s\n", s.name, s.trust, undo)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// systems has the instructions to trust an authority and to undo that. docs/install.md has the same.
var systems = []struct{ name, trust, undo string }{
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
	{"Firefox on Linux (on other systems it uses the certificates of the system)",
		"Settings, Privacy & Security, View Certificates, Authorities, Import: choose ca.crt, for websites",
		"the same list, Delete or Distrust"},
	{"Android",
		"Settings, Security, More security settings, Encryption & credentials, Install a certificate, CA certificate: choose ca.crt",
		"the same place, User credentials"},
	{"iPhone, iPad",
		"open ca.crt in Safari, Allow; Settings, Profile Downloaded, Install; " +
			"then Settings, General, About, Certificate Trust Settings: switch it on",
		"Settings, General, VPN & Device Management, the profile, Remove"},
}
