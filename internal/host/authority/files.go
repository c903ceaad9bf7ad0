package authority

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

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
	return parsePair(text)
}

func parsePair(text []byte) (*pair, error) {
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

// Export returns the key and the certificate of the authority in a folder (PEM), to carry
// it to another PC, where it belongs into the folder of that PC's. The error is ErrNone if
// there is no authority.
func Export(folder string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(folder, authorityFile))
	switch {
	case err == nil:
		_, err = Names(text)
	case !errors.Is(err, fs.ErrNotExist):
	case osutil.Exists(filepath.Join(folder, publicFile)):
		err = ErrLost
	default:
		err = ErrNone
	}
	return text, err
}

// Names returns the names that an authority may certify, which Export has returned. The
// error says that it is none.
func Names(text []byte) ([]string, error) {
	read, err := parsePair(text)
	if err != nil {
		return nil, err
	}
	if !read.certificate.IsCA {
		return nil, errDamaged
	}
	return read.certificate.PermittedDNSDomains, nil
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
		if info, err := os.Lstat(folder); err != nil || !info.IsDir() {
			return cmp.Or(err, fmt.Errorf("%s is a link or a file, not a folder", osutil.InQuotes(folder)))
		}
		return nil
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

// removeLeftovers removes files that a crash has left a day ago or earlier, those of
// older versions too.
func removeLeftovers(folder string, now time.Time) {
	for _, pattern := range []string{osutil.DraftPattern, ".new-*"} {
		left, _ := filepath.Glob(filepath.Join(folder, pattern)) // the pattern is right
		for _, path := range left {
			if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > day {
				os.Remove(path)
			}
		}
	}
}
