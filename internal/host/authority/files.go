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
	"runtime"
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

// create writes a private file that must not be there yet.
func create(path string, text []byte) error {
	written, err := writeBeside(path, text)
	if err != nil {
		return err
	}
	defer os.Remove(written)
	if err := os.Link(written, path); errors.Is(err, fs.ErrExist) {
		return err
	} else if err != nil { // a disk without links
		err = rename(written, path)
		return cmp.Or(err, osutil.SyncFolder(filepath.Dir(path)))
	}
	return osutil.SyncFolder(filepath.Dir(path))
}

// replace writes a private file as a whole, in place of one that may be there.
func replace(path string, text []byte) error {
	written, err := writeBeside(path, text)
	if err != nil {
		return err
	}
	if err := rename(written, path); err != nil {
		os.Remove(written)
		return err
	}
	return osutil.SyncFolder(filepath.Dir(path))
}

// rename renames a file. Windows refuses that while a program reads the one in
// its place, so it is tried for a second.
func rename(from, to string) (err error) {
	for range 20 {
		if err = os.Rename(from, to); err == nil || runtime.GOOS != "windows" {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// unfinished is what the names of files begin with that are being written.
const unfinished = ".new-"

// removeLeftovers removes files that a crash has left a day ago or earlier.
func removeLeftovers(folder string, now time.Time) {
	left, _ := filepath.Glob(filepath.Join(folder, unfinished+"*")) // the pattern is right
	for _, path := range left {
		if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > day {
			os.Remove(path)
		}
	}
}

// writeBeside writes a new private file in the folder of path, for the owner of the
// folder, which survives a power failure.
func writeBeside(path string, text []byte) (written string, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), unfinished+"*")
	if err != nil {
		return "", err
	}
	osutil.GiveToFolder(file)
	_, err = file.Write(text)
	if err = cmp.Or(err, file.Sync(), file.Close()); err != nil {
		os.Remove(file.Name())
	}
	return file.Name(), err
}
