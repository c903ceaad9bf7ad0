package authority

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// pair is a key and its certificate.
type pair struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

// errDamaged says that a file has no key and certificate that belong together.
var errDamaged = errors.New("it has no key and certificate that belong together")

func readPair(path string) (*pair, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	read, err := tls.X509KeyPair(text, text)
	if err != nil {
		return nil, errDamaged
	}
	key, ok := read.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errDamaged
	}
	return &pair{key, read.Leaf}, nil
}

// encode returns the pair as PEM.
func (p *pair) encode() []byte {
	der, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		panic(fmt.Sprintf("a key that was made here: %v", err))
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), encodeCertificate(p.certificate)...)
}

func encodeCertificate(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// makeFolder makes the folder, for the owner of the folder that it is in. A link is
// an error: the service could lead root to any folder by it.
func makeFolder(folder string) error {
	err := os.Mkdir(folder, 0o700)
	if errors.Is(err, fs.ErrExist) {
		info, err := os.Lstat(folder)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is a link or a file, not a folder", osutil.InQuotes(folder))
		}
		return err
	}
	if err != nil {
		return err
	}
	made, err := os.Open(folder)
	if err != nil {
		return err
	}
	osutil.GiveToFolder(made)
	return made.Close()
}
