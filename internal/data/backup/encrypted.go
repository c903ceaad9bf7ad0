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
	"slices"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// An encrypted backup is an age file (age-encryption.org/v1) that contains an unencrypted backup. A
// note in its header, which is readable without the key, identifies the database. Other programs
// ignore this note. The notes about the database contain the SHA-256 of the newest backup, so that it
// can be checked without the key.

const encryptedSuffix = ".age" // ends the names of encrypted backups

// notedSum is the note about the newest encrypted backup.
type notedSum struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
}

// Recipients are the public keys that backups are encrypted to. Any one of their secret keys decrypts
// a backup.
type Recipients []*age.X25519Recipient

// ParseRecipients parses public keys that begin with age1. It returns ErrSecret for a secret key and
// ErrNotRecipient for any other text. The errors do not contain the text.
func ParseRecipients(texts []string) (found Recipients, err error) {
	if strings.Contains(strings.ToUpper(strings.Join(texts, " ")), "AGE-SECRET-KEY-") { // perhaps with comments
		return nil, ErrSecret
	}
	for _, text := range texts {
		recipient, err := age.ParseX25519Recipient(strings.TrimSpace(text))
		if err != nil {
			return nil, ErrNotRecipient
		}
		found = append(found, recipient)
	}
	return found, nil
}

// texts returns the recipients as sorted texts.
func (r Recipients) texts() (all []string) {
	for _, recipient := range r {
		all = append(all, recipient.String())
	}
	slices.Sort(all)
	return all
}

// Wrap makes Recipients an age.Recipient.
func (r Recipients) Wrap(fileKey []byte) (all []*age.Stanza, err error) {
	for _, recipient := range r {
		stanzas, err := recipient.Wrap(fileKey)
		if err != nil {
			return nil, err
		}
		all = append(all, stanzas...)
	}
	return all, nil
}

// Key holds one or more secret keys that decrypt backups.
type Key []age.Identity

// ReadKey reads an age identity file: lines with secret keys, AGE-SECRET-KEY-1…, and comments. It
// returns ErrNotKey for any other file. The error does not contain the text.
func ReadKey(file io.Reader) (Key, error) {
	key, err := age.ParseIdentities(file)
	if err != nil {
		return nil, ErrNotKey
	}
	return key, nil
}

// NewKey creates a secret key and its public key.
func NewKey() (secret, recipient string, err error) {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", err
	}
	return key.String(), key.Recipient().String(), nil
}

// IsEncrypted reports whether the file at path is an age file, regardless of its name.
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

// headerNote is the note in the header of an encrypted backup.
type headerNote struct {
	Bytes   int64     `json:"bytes"` // size of the unencrypted backup
	Time    time.Time `json:"time"`  // the time of its Identity
	IDs     []string  `json:"ids"`   // the IDs of its Identity
	Damaged int64     `json:"damaged,omitempty"`
	Empty   bool      `json:"empty,omitempty"`  // it contains no records
	People  int64     `json:"people,omitempty"` // number of records that are not deleted; 0 if unknown
	To      []string  `json:"to"`               // the recipients, sorted
}

const noteType = "firefighters-backup" // the type of the stanza with the note

// noted is an age.Recipient that adds the note to the header.
type noted struct {
	Recipients
	note []byte
}

func (n noted) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	all, err := n.Recipients.Wrap(fileKey)
	return append(all, &age.Stanza{Type: noteType, Body: n.note}), err
}

// reader is an age.Identity that reads the note and decrypts nothing.
type reader struct{ note []byte }

func (r *reader) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	for _, s := range stanzas {
		if s.Type == noteType {
			r.note = s.Body
		}
	}
	return nil, age.ErrIncorrectIdentity
}

const maxHeader = 1 << 20 // bytes

// readHeader returns the note of an encrypted backup and the size of its header. It returns
// sqlite.ErrForeign if there is no note, as in files of other programs.
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

// RecipientsOf returns the recipients of the encrypted backup at path, or nil if they are unknown.
func RecipientsOf(path string) []string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	n, _, _ := readHeader(file)
	return n.To
}

// unreadable returns an error of age as sqlite.ErrCorrupt, and errors of the system unchanged.
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

func encryptedSize(header, plain int64) int64 {
	chunks := max(1, (plain+chunkSize-1)/chunkSize)
	return header + nonceSize + plain + chunks*tagSize
}

// checkEncrypted checks an encrypted backup without the key: its header, its length and its SHA-256,
// unless sum is "".
func checkEncrypted(ctx context.Context, path, sum string) (found Copy, err error) {
	failed := func(err error) error { return cmp.Or(ctx.Err(), sqlite.Wrap("reading", path, err)) }
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
	if sum != "" && sum != hex.EncodeToString(hash.Sum(nil)) {
		return Copy{}, failed(sqlite.ErrCorrupt)
	}
	return Copy{Summary: Summary{Damaged: n.Damaged}, Bytes: n.Bytes, Empty: n.Empty, to: n.To}, nil
}

// encrypt writes an encrypted copy of a backup to out and returns its SHA-256.
func (j *Job) encrypt(ctx context.Context, plain string, n headerNote, out io.Writer) (sum string, err error) {
	source, err := os.Open(plain)
	if err != nil {
		return "", err
	}
	defer source.Close()
	n.To = j.EncryptTo.texts()
	text, err := json.Marshal(n)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	err = encrypt(io.MultiWriter(out, hash), stoppable{ctx, source}, noted{j.EncryptTo, text})
	return hex.EncodeToString(hash.Sum(nil)), err
}

func encrypt(out io.Writer, plain io.Reader, to age.Recipient) error {
	sealed, err := age.Encrypt(out, to)
	if err == nil {
		_, err = io.Copy(sealed, plain)
	}
	if err == nil {
		err = sealed.Close()
	}
	return err
}

// stoppable is a reader that stops when its context ends.
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

// open returns a reader for the decrypted backup. It returns a WrongKeyError if the key does not
// match.
func (k Key) open(file io.ReadSeeker) (io.Reader, error) {
	n, _, _ := readHeader(file)
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	plain, err := age.Decrypt(file, k...)
	switch {
	case errors.As(err, new(*age.NoIdentityMatchError)):
		return nil, &WrongKeyError{n.To}
	case err != nil:
		return nil, unreadable(err)
	}
	return plain, nil
}

// fits checks that the key decrypts the file at path, or that neither a key nor encryption is used.
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

// decrypt writes the decrypted backup to a private file. After an error the file may be incomplete.
func (k Key) decrypt(ctx context.Context, path, to string) error {
	target, err := osutil.OpenPrivate(to)
	if err != nil {
		return writeError(to, err)
	}
	defer target.Close()
	if err := k.decryptTo(ctx, path, target); err != nil {
		return err
	}
	return writeError(to, target.Close())
}

func (k Key) decryptTo(ctx context.Context, path string, target io.Writer) error {
	source, err := os.Open(path)
	if err != nil {
		return &Error{OpRead, path, err}
	}
	defer source.Close()
	plain, err := k.open(source)
	if err != nil {
		return &Error{OpRead, path, err}
	}
	_, err = io.Copy(target, stoppable{ctx, plain})
	if failure, ok := errors.AsType[*fs.PathError](err); ok && failure.Path != path {
		return writeError(failure.Path, err)
	}
	if err != nil {
		return &Error{OpRead, path, unreadable(err)}
	}
	return nil
}

// VerifyDecrypted is Verify for an encrypted backup and its key. The decrypted copy is in the
// temporary folder, because a sync program may watch the folder of the backup. A killed program
// leaves no content there, except on Windows.
func VerifyDecrypted(ctx context.Context, format sqlite.Format, file string, key Key, report func(finding string)) (Copy, error) {
	if err := key.fits(file); err != nil {
		return Copy{}, &Error{OpRead, file, err}
	}
	folder, err := os.MkdirTemp("", "firefighters-")
	if err != nil {
		return Copy{}, &Error{OpMake, os.TempDir(), err}
	}
	defer os.RemoveAll(folder)
	if info, err := os.Stat(file); err == nil {
		if err := roomFor(osutil.SpaceOf, nil)(os.TempDir(), info.Size()); err != nil {
			return Copy{}, err
		}
	}
	db, err := format.OpenUnnamed(filepath.Join(folder, "backup.db"), func(plain io.Writer) error {
		os.Remove(folder) // on Unix it is empty now
		return key.decryptTo(ctx, file, plain)
	})
	var found Copy
	if err == nil {
		found, err = verify(ctx, format, db, report)
		err = cmp.Or(err, db.Close())
	}
	if failure, ok := errors.AsType[*sqlite.FileError](err); ok && !errors.As(err, new(*Error)) {
		failure.Path, err = file, &Error{OpRead, file, failure}
	}
	return found, err
}
