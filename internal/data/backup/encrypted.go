package backup

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// An encrypted backup is a file of age (age-encryption.org/v1) with a plain one in it.
// Its header has a note, which everybody can read: which database it is of. Other
// programs pass over the note. Beside the file is its SHA-256, as sha256sum writes it, so
// that it can be checked without the key.

// encryptedSuffix is at the end of the names of encrypted backups.
const encryptedSuffix = ".age"

// sumSuffix is behind that, in the name of the file with the SHA-256.
const sumSuffix = ".sha256"

// Recipients are the public keys that backups are encrypted to. Each opens them alone.
type Recipients []*age.X25519Recipient

// ParseRecipients reads public keys, as age1…. The error is ErrSecret for a secret key,
// and ErrNotRecipient for what is neither. Neither repeats what was given.
func ParseRecipients(texts []string) (found Recipients, err error) {
	for _, text := range texts {
		if strings.HasPrefix(strings.ToUpper(strings.TrimSpace(text)), "AGE-SECRET-KEY-") {
			return nil, ErrSecret
		}
		recipient, err := age.ParseX25519Recipient(strings.TrimSpace(text))
		if err != nil {
			return nil, ErrNotRecipient
		}
		found = append(found, recipient)
	}
	return found, nil
}

// Key opens encrypted backups. It has one or more secret keys.
type Key []age.Identity

// ReadKey reads an identity file of age: a secret key on a line, AGE-SECRET-KEY-1…,
// among comments. The error is ErrNotKey for another file; it repeats nothing of it.
func ReadKey(file io.Reader) (Key, error) {
	key, err := age.ParseIdentities(file)
	if err != nil {
		return nil, ErrNotKey
	}
	return key, nil
}

// NewKey makes a secret key and the public key that belongs to it.
func NewKey() (secret, recipient string, err error) {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", err
	}
	return key.String(), key.Recipient().String(), nil
}

// IsEncrypted reports whether the file at path is one of age, whatever its name.
func IsEncrypted(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	const magic = "age-encryption.org/"
	beginning := make([]byte, len(magic))
	_, err = io.ReadFull(file, beginning)
	return err == nil && string(beginning) == magic
}

// headerNote is what the header of an encrypted backup says of it.
type headerNote struct {
	Bytes   int64     `json:"bytes"` // of the plain one
	Time    time.Time `json:"time"`  // the latest time that it has seen
	IDs     []string  `json:"ids"`   // as in its Identity
	Damaged int64     `json:"damaged,omitempty"`
	To      []string  `json:"to"` // the public keys
}

// noteType is the type of the stanza that has the note.
const noteType = "firefighters-backup"

// noted is a Recipient of age that adds the note to the header.
type noted struct {
	Recipients
	note []byte
}

func (n noted) Wrap(fileKey []byte) (all []*age.Stanza, err error) {
	for _, recipient := range n.Recipients {
		stanzas, err := recipient.Wrap(fileKey)
		if err != nil {
			return nil, err
		}
		all = append(all, stanzas...)
	}
	return append(all, &age.Stanza{Type: noteType, Body: n.note}), nil
}

// reader is an Identity of age that opens nothing and reads the note.
type reader struct{ note []byte }

func (r *reader) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	for _, s := range stanzas {
		if s.Type == noteType {
			r.note = s.Body
		}
	}
	return nil, age.ErrIncorrectIdentity
}

// maxHeader is how long the header of an encrypted backup may be.
const maxHeader = 1 << 20

// readHeader returns the note of an encrypted backup, and the length of its header. The
// error is sqlite.ErrForeign if it has none, as one that another program has made.
func readHeader(file io.Reader) (n headerNote, header int64, err error) {
	text, err := age.ExtractHeader(io.LimitReader(file, maxHeader))
	if err != nil {
		return headerNote{}, 0, unreadable(err)
	}
	var found reader
	if _, err = age.Decrypt(bytes.NewReader(text), &found); !errors.As(err, new(*age.NoIdentityMatchError)) {
		return headerNote{}, 0, unreadable(err)
	}
	if json.Unmarshal(found.note, &n) != nil {
		return headerNote{}, 0, sqlite.ErrForeign
	}
	return n, int64(len(text)), nil
}

// unreadable returns an error of age, which says in its words that a file is damaged,
// as sqlite.ErrCorrupt. What the system says it leaves as it is.
func unreadable(err error) error {
	if errors.As(err, new(*fs.PathError)) || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w: %v", sqlite.ErrCorrupt, err)
}

// identifyEncrypted returns the identity of an encrypted backup, without its mark.
func identifyEncrypted(path string) (Identity, error) {
	file, err := os.Open(path)
	if err != nil {
		return Identity{}, err
	}
	defer file.Close()
	n, _, err := readHeader(file)
	return Identity{IDs: n.IDs, Time: n.Time}, err
}

// The payload of a file of age is a nonce and chunks, each with a tag.
const (
	nonceSize = 16
	chunkSize = 64 << 10
	tagSize   = 16
)

// encryptedSize returns how long the file of a plain backup of so many bytes is.
func encryptedSize(header, plain int64) int64 {
	chunks := max(1, (plain+chunkSize-1)/chunkSize)
	return header + nonceSize + plain + chunks*tagSize
}

// checkEncrypted checks an encrypted backup as far as that goes without the key: its
// header, its length and its SHA-256, if that is beside it.
func checkEncrypted(ctx context.Context, path string) (found Copy, err error) {
	failed := func(err error) error { return cmp.Or(ctx.Err(), databaseError("reading", path, err)) }
	file, err := os.Open(path)
	if err != nil {
		return Copy{}, failed(err)
	}
	defer file.Close()
	n, header, err := readHeader(file)
	if err != nil {
		return Copy{}, failed(err)
	}
	if info, err := file.Stat(); err != nil || info.Size() != encryptedSize(header, n.Bytes) {
		return Copy{}, failed(cmp.Or(err, sqlite.ErrCorrupt))
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return Copy{}, failed(err)
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, stoppable{ctx, file}); err != nil {
		return Copy{}, failed(err)
	}
	if sum := readSum(path); sum != "" && sum != hex.EncodeToString(hash.Sum(nil)) {
		return Copy{}, failed(sqlite.ErrCorrupt)
	}
	return Copy{Summary: Summary{Damaged: n.Damaged}, Bytes: n.Bytes}, nil
}

// readSum returns the SHA-256 that stands beside an encrypted backup, "" if none does.
func readSum(path string) string {
	text, _ := os.ReadFile(path + sumSuffix)
	sum, _, _ := strings.Cut(string(text), " ")
	return sum
}

// encrypt writes a plain backup, encrypted, and returns the text of the file with its
// SHA-256.
func (j *Job) encrypt(ctx context.Context, plain string, n headerNote, out io.Writer) (sum []byte, err error) {
	source, err := os.Open(plain)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	for _, recipient := range j.EncryptTo {
		n.To = append(n.To, recipient.String())
	}
	text, err := json.Marshal(n)
	if err != nil {
		return nil, err
	}
	hash := sha256.New()
	sealed, err := age.Encrypt(io.MultiWriter(out, hash), noted{j.EncryptTo, text})
	if err == nil {
		_, err = io.Copy(sealed, stoppable{ctx, source})
	}
	if err == nil {
		err = sealed.Close()
	}
	return fmt.Appendf(nil, "%x  %s\n", hash.Sum(nil), filepath.Base(j.Target)), err
}

// stoppable is a reader that ends when a context does.
type stoppable struct {
	ctx context.Context
	io.Reader
}

func (s stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.Reader.Read(p)
}

// open returns what is in an encrypted backup, as it is read. The error is a
// WrongKeyError if the key does not open it.
func (k Key) open(file io.ReadSeeker) (io.Reader, error) {
	n, _, noteErr := readHeader(file)
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	plain, err := age.Decrypt(file, k...)
	switch {
	case errors.As(err, new(*age.NoIdentityMatchError)):
		if noteErr != nil {
			n.To = nil
		}
		return nil, &WrongKeyError{n.To}
	case err != nil:
		return nil, unreadable(err)
	}
	return plain, nil
}

// fits returns an error unless the key opens the file at path, or the file needs none
// and there is none.
func (k Key) fits(path string) error {
	switch encrypted := IsEncrypted(path); {
	case encrypted && len(k) == 0:
		return ErrEncrypted
	case len(k) == 0:
		return nil
	case !osutil.Exists(path):
		return sqlite.ErrNotExist
	case !encrypted:
		return ErrNotEncrypted
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = k.open(file)
	return err
}

// decrypt writes what is in an encrypted backup to a private file. After an error there
// may be a part of it.
func (k Key) decrypt(ctx context.Context, path, to string) error {
	source, err := os.Open(path)
	if err != nil {
		return &Error{OpRead, path, err}
	}
	defer source.Close()
	plain, err := k.open(source)
	if err != nil {
		return &Error{OpRead, path, err}
	}
	target, err := osutil.OpenPrivate(to)
	if err != nil {
		return writeError(to, err)
	}
	defer target.Close()
	_, err = io.Copy(target, stoppable{ctx, plain})
	if failure, ok := errors.AsType[*fs.PathError](err); ok && failure.Path == to {
		return writeError(to, err)
	}
	if err != nil {
		return &Error{OpRead, path, unreadable(err)}
	}
	return writeError(to, target.Close())
}

// WithDecrypted calls do with what is in an encrypted backup: a plain one, which has passed
// its check, in a folder for temporary files that nobody else can read. It removes that
// then. The folder of the backup may be one that a sync program watches.
func WithDecrypted(ctx context.Context, format sqlite.Format, file string, key Key, do func(plain string) error) error {
	if err := key.fits(file); err != nil {
		return &Error{OpRead, file, err}
	}
	folder, err := os.MkdirTemp("", "firefighters-")
	if err != nil {
		return &Error{OpRead, file, err}
	}
	defer os.RemoveAll(folder)
	r := newRestoring(Restore{Format: format, File: file, Key: key, Database: filepath.Join(folder, "backup.db")})
	if err := r.decrypt(ctx); err != nil {
		return err
	}
	if _, err := check(ctx, format, r.plain); err != nil {
		return r.readError(err)
	}
	return do(r.plain)
}
