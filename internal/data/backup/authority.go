package backup

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

func authorityName(db string) string {
	return strings.TrimSuffix(filepath.Base(db), filepath.Ext(db)) + "-authority.pem"
}

// copyAuthority copies the file of the certificate authority, if there is one, to the backup folder if it
// has changed. Without a copy, phones would have to trust a new authority after a disk failure. The copy is
// encrypted if the backups are. An unencrypted copy is written only if other users cannot read the
// folder.
func (s *Scheduler) copyAuthority() error {
	text, err := os.ReadFile(authority.PrivateFile(s.db))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
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

// encryptAuthority writes an encrypted copy and removes an earlier unencrypted one. It writes each
// time, because it cannot compare an encrypted copy with the original.
func (s *Scheduler) encryptAuthority(text []byte, plain string) error {
	if err := os.Remove(plain); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var sealed bytes.Buffer
	if err := encrypt(&sealed, bytes.NewReader(text), s.options.EncryptTo); err != nil {
		return err
	}
	return osutil.WriteFile(plain+encryptedSuffix, sealed.Bytes(), true)
}
