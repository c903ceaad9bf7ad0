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

type pair struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

var errDamaged = errors.New("the file has no matching key and certificate")

func readPair(path string) (*pair, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	parsed, err := tls.X509KeyPair(text, text)
	key, ok := parsed.PrivateKey.(*ecdsa.PrivateKey)
	if err != nil || !ok {
		return nil, errDamaged
	}
	return &pair{key, parsed.Leaf}, nil
}

func (p *pair) encode() []byte {
	der, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		panic(fmt.Sprintf("encoding an ECDSA key: %v", err))
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), encodeCertificate(p.certificate.Raw)...)
}

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// makeFolder creates a folder that belongs to the owner of its parent. A link is an error, because
// the service's user could redirect root to any folder.
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
	opened, err := os.Open(folder)
	if err != nil {
		return err
	}
	osutil.GiveToFolder(opened)
	return opened.Close()
}
