package backup

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// authorityName returns the name of the copy of an authority among the backups of a database.
func authorityName(db string) string {
	return strings.TrimSuffix(filepath.Base(db), filepath.Ext(db)) + "-authority.pem"
}

// copyAuthority copies the file of the certificate authority into the folder for backups if
// it has changed. Without it the phones would have to trust another one after the disk has
// failed. The copy is encrypted if the backups are. A plain copy is for a folder that
// others cannot read.
func (s *Scheduler) copyAuthority() error {
	if s.options.Authority == "" {
		return nil
	}
	text, err := os.ReadFile(s.options.Authority)
	if err != nil {
		return err
	}
	plain := filepath.Join(s.options.Dir, authorityName(s.db))
	if len(s.options.EncryptTo) > 0 {
		return s.encryptAuthority(text, plain)
	}
	if osutil.SharedFolder(s.options.Dir) {
		return nil
	}
	if copied, err := os.ReadFile(plain); err == nil && bytes.Equal(copied, text) {
		return nil
	}
	return osutil.WriteFile(plain, text, true)
}

// encryptAuthority writes an encrypted copy, and removes a plain one of an earlier time. No
// one can see whether an encrypted one is the same, so it is written each time.
func (s *Scheduler) encryptAuthority(text []byte, plain string) error {
	if err := os.Remove(plain); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var recipients []age.Recipient
	for _, recipient := range s.options.EncryptTo {
		recipients = append(recipients, recipient)
	}
	var sealed bytes.Buffer
	in, err := age.Encrypt(&sealed, recipients...)
	if err != nil {
		return err
	}
	if _, err := in.Write(text); err != nil {
		return err
	}
	if err := in.Close(); err != nil {
		return err
	}
	return osutil.WriteFile(plain+encryptedSuffix, sealed.Bytes(), true)
}
