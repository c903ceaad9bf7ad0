package backup

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// A bundle is a tar file with a plain backup and the small files that another PC needs
// beside it. Its last file has the SHA-256 of the others, as sha256sum writes it. It is
// not compressed, so that it holds no more than its own size.

// Part is a small file of a bundle.
type Part struct {
	Name    string // one of the names below
	Content []byte
}

// The small files of a bundle.
const (
	PartAbout     = "about.json"
	PartSettings  = "service.conf"
	PartAuthority = "authority.pem"
)

const (
	bundledDatabase = "firefighters.db"
	bundledSums     = "SHA256SUMS"

	maxPart = 1 << 20 // bytes

	bundleSuffix = ".tar" // of the name under which one is made
)

// knownParts has the names of all files of a bundle.
var knownParts = []string{PartAbout, PartSettings, PartAuthority, bundledDatabase, bundledSums}

// writeBundle writes a bundle of small files and the plain backup at path.
func writeBundle(ctx context.Context, out io.Writer, path string, parts []Part) error {
	archive := tar.NewWriter(out)
	var sums bytes.Buffer
	add := func(name string, size int64, content io.Reader) error {
		header := tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, Format: tar.FormatGNU}
		if err := archive.WriteHeader(&header); err != nil {
			return err
		}
		hash := sha256.New()
		_, err := io.Copy(io.MultiWriter(archive, hash), stoppable{ctx, content})
		fmt.Fprintf(&sums, "%x  %s\n", hash.Sum(nil), name)
		return err
	}
	for _, p := range parts {
		if err := add(p.Name, int64(len(p.Content)), bytes.NewReader(p.Content)); err != nil {
			return err
		}
	}
	source, err := os.Open(path)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err == nil {
		err = add(bundledDatabase, info.Size(), source)
	}
	if err == nil {
		text := bytes.Clone(sums.Bytes())
		err = add(bundledSums, int64(len(text)), bytes.NewReader(text))
	}
	return cmp.Or(err, archive.Close())
}

// bundle makes a plain bundle at path, to be encrypted, and returns its size.
func (j *Job) bundle(ctx context.Context, plain, path string) (size int64, err error) {
	if err := osutil.CreatePrivate(path); err != nil {
		return 0, err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	err = writeBundle(ctx, out, plain, j.With)
	if err == nil {
		size, err = out.Seek(0, io.SeekCurrent)
	}
	return size, cmp.Or(err, out.Close())
}

// readBundle reads a bundle: the backup in it into the file at path, which it makes for
// this user alone, and its small files into memory. No name in it becomes a path. The
// error is sqlite.ErrForeign for what is no bundle, and ErrCorrupt for one that is cut off
// or changed.
func readBundle(ctx context.Context, in io.Reader, path string) (parts map[string][]byte, err error) {
	reading := &remembering{Reader: stoppable{ctx, in}}
	archive := tar.NewReader(reading)
	parts = map[string][]byte{}
	var sums bytes.Buffer
	for {
		header, err := archive.Next()
		if err != nil {
			return nil, bundleError(reading.err, err, len(parts) > 0)
		}
		name := header.Name
		_, again := parts[name]
		switch {
		case header.Typeflag != tar.TypeReg, len(header.PAXRecords) > 0, !slices.Contains(knownParts, name), again, name != bundledDatabase && header.Size > maxPart:
			return nil, sqlite.ErrForeign
		case name == bundledSums:
			return parts, checkSums(reading, archive, sums.Bytes())
		}
		hash, content := sha256.New(), bytes.Buffer{}
		if name == bundledDatabase {
			err = writeFrom(io.TeeReader(archive, hash), path)
		} else {
			_, err = io.Copy(io.MultiWriter(&content, hash), archive)
		}
		if err != nil {
			return nil, bundleError(reading.err, err, true)
		}
		parts[name] = content.Bytes()
		fmt.Fprintf(&sums, "%x  %s\n", hash.Sum(nil), name)
	}
}

// checkSums compares the last file of a bundle with what was read before. After it there
// is nothing more.
func checkSums(reading *remembering, archive *tar.Reader, want []byte) error {
	got, err := io.ReadAll(archive)
	if err != nil {
		return bundleError(reading.err, err, true)
	}
	if _, err := archive.Next(); err != io.EOF || !bytes.Equal(got, want) || !bytes.Contains(want, []byte("  "+bundledDatabase+"\n")) {
		return bundleError(reading.err, sqlite.ErrCorrupt, true)
	}
	return nil
}

// bundleError returns why a bundle cannot be read: what the system says of its file or of
// that which is written, or that it is damaged or, if its beginning is not known, no
// bundle.
func bundleError(reading, err error, known bool) error {
	switch {
	case reading != nil:
		return reading
	case errors.As(err, new(*Error)):
		return err
	case known:
		return sqlite.ErrCorrupt
	}
	return sqlite.ErrForeign
}

// writeFrom writes what is read to a new file for this user alone.
func writeFrom(in io.Reader, path string) error {
	if err := osutil.CreatePrivate(path); err != nil {
		return writeError(path, err)
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return writeError(path, err)
	}
	_, err = io.Copy(out, in)
	if closeErr := out.Close(); errors.As(err, new(*fs.PathError)) || err == nil && closeErr != nil {
		return writeError(path, cmp.Or(err, closeErr))
	}
	return err
}

// IsBundle reports whether the file at path begins as a bundle does.
func IsBundle(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	header, err := tar.NewReader(io.LimitReader(file, 1<<10)).Next()
	return err == nil && slices.Contains(knownParts, header.Name)
}

// The small files that a restore of a bundle puts beside the database get their names
// right after the database. A restore that was cut off between is finished by the next
// program that locks the database.

// besides are the names that such a file may have, from the folder of the database.
var besides = []string{PartSettings, filepath.Join("firefighters-tls", PartAuthority)}

// staged returns the path of a file that waits for its name.
func staged(db, name string) string {
	return filepath.Join(filepath.Dir(db), name) + copySuffix + "-" + filepath.Base(db)
}

// stage writes the small files beside the database, by names of their own.
func (r *restoring) stage() error {
	for name, content := range r.beside {
		path := staged(r.Database, name)
		if folder := filepath.Dir(path); !osutil.Exists(folder) {
			if err := osutil.MakePrivateFolder(folder); err != nil {
				return err
			}
			if owner, err := os.Stat(filepath.Dir(folder)); err == nil {
				osutil.GiveTo(folder, owner)
			}
		}
		if err := osutil.WriteFile(path, content, true); err != nil {
			return err
		}
	}
	return nil
}

// settle gives the small files their names. A file that is there is kept as another one.
func settle(db string) error {
	for _, name := range besides {
		from, path := staged(db, name), filepath.Join(filepath.Dir(db), name)
		if _, err := os.Lstat(from); err != nil {
			continue
		}
		var err error
		if osutil.Exists(path) && !sameContent(from, path) {
			err = os.Rename(path, freeName(path, keptSuffix))
		}
		if err == nil {
			err = os.Rename(from, path)
		}
		if err == nil {
			err = osutil.SyncFolder(filepath.Dir(path))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unstage removes the small files of a restore that is undone.
func unstage(db string) error {
	for _, name := range besides {
		if err := os.Remove(staged(db, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
