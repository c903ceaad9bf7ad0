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

// ErrNone says that there is no authority yet.
var ErrNone = errors.New("there is no local authority yet")

// Description is what anybody may know of an authority, and of the certificate
// of its server.
type Description struct {
	Name        string
	Fingerprint string // SHA-256, as browsers and phones show it
	SHA1        string // the same, as Windows shows it
	Expires     time.Time
	File        string // with its certificate
	PEM         []byte // its certificate, and nothing else that may be in the file
	Server      Server
}

// Server is the certificate of a server. It is zero if there is none.
type Server struct {
	Names, Addresses []string
	Expires          time.Time
}

// Describe describes the authority in a folder. It reads no key. The error is
// ErrNone if there is none.
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
	d.PEM = encodeCertificate(ca)
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
		return d, nil // the service replaces it at its next start
	}
	d.Server = Server{Names: leaf.DNSNames, Expires: leaf.NotAfter}
	for _, address := range leaf.IPAddresses {
		d.Server.Addresses = append(d.Server.Addresses, address.String())
	}
	return d, nil
}

func firstCertificate(text []byte) (*x509.Certificate, error) {
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return nil, errors.New("there is no certificate in it")
		}
		if block.Type == "CERTIFICATE" {
			return x509.ParseCertificate(block.Bytes)
		}
		text = rest
	}
}

// fingerprint writes the hash of a certificate as AB:CD:….
func fingerprint(hash []byte) string {
	return strings.ReplaceAll(fmt.Sprintf("% X", hash), " ", ":")
}
