package authority

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ErrNone is the error of Describe if the folder has no authority.
var ErrNone = errors.New("there is no local authority yet")

// Description is the public information about an authority and its server certificate, as
// firefighters cert --json prints it.
type Description struct {
	Name        string    `json:"name"`
	Fingerprint string    `json:"sha256"` // shown by browsers and phones
	SHA1        string    `json:"sha1"`   // shown by Windows
	Expires     time.Time `json:"expiresAt"`
	File        string    `json:"file"` // path of ca.crt
	Server      *Server   `json:"-"`    // nil if the authority has issued none

	Certificate *x509.Certificate `json:"-"`
	PEM         []byte            `json:"-"` // Certificate as PEM, without other content of the file
}

// Server is the public information about a server certificate.
type Server struct {
	Names     []string  `json:"names"`
	Addresses []string  `json:"addresses"`
	Expires   time.Time `json:"expiresAt"`
}

// Describe returns the description of the authority in a folder. It does not use the key. The error
// is ErrNone if there is no authority.
func Describe(folder string) (d Description, err error) {
	d.File = filepath.Join(folder, publicFile)
	public, err := os.ReadFile(d.File)
	if errors.Is(err, fs.ErrNotExist) {
		return d, ErrNone
	}
	if err != nil {
		return d, err
	}
	ca, err := firstCertificate(public)
	if err != nil {
		return d, err
	}
	d.Certificate, d.PEM = ca, encodeCertificate(ca.Raw)
	long, short := sha256.Sum256(ca.Raw), sha1.Sum(ca.Raw)
	d.Fingerprint, d.SHA1 = fingerprint(long[:]), fingerprint(short[:])
	d.Name, d.Expires = ca.Subject.CommonName, ca.NotAfter
	text, err := os.ReadFile(filepath.Join(folder, serverFile))
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return d, err
	}
	leaf, err := firstCertificate(text)
	if err != nil {
		return d, nil // the service replaces it at its next startup
	}
	d.Server = &Server{Names: leaf.DNSNames, Expires: leaf.NotAfter}
	for _, address := range leaf.IPAddresses {
		d.Server.Addresses = append(d.Server.Addresses, address.String())
	}
	return d, nil
}

func firstCertificate(text []byte) (*x509.Certificate, error) {
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return nil, errors.New("the file contains no certificate")
		}
		if block.Type == "CERTIFICATE" {
			return x509.ParseCertificate(block.Bytes)
		}
		text = rest
	}
}

// fingerprint formats a hash as AB:CD:….
func fingerprint(hash []byte) string {
	return strings.ReplaceAll(fmt.Sprintf("% X", hash), " ", ":")
}
