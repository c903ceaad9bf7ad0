package backup_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

var parts = []backup.Part{{Name: backup.PartAbout, Content: []byte("{}")}, {Name: backup.PartSettings, Content: []byte("--a=new\n")}, {Name: backup.PartAuthority, Content: []byte("new key")}}

// bundled makes a bundle of a database of 10 records, and a database of 3 records on
// another PC, with settings and a key.
func bundled(t *testing.T) (bundle, db string) {
	t.Helper()
	bundle, db = filepath.Join(t.TempDir(), "move.tar"), newDatabase(t, 3)
	made, err := backup.Job{Content: toy{}, Source: newDatabase(t, 10), Target: bundle, With: parts}.Run(t.Context())
	if err != nil || made.Text != "10 records" {
		t.Fatalf("%+v, %v", made, err)
	}
	folder := filepath.Dir(db)
	must(t, os.Mkdir(filepath.Join(folder, "firefighters-tls"), 0o700))
	must(t, os.WriteFile(filepath.Join(folder, backup.PartSettings), []byte("--a=old\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(folder, "firefighters-tls", backup.PartAuthority), []byte("old key"), 0o600))
	return bundle, db
}

// unpacking returns the restore of a bundle.
func unpacking(bundle, db string) backup.Restore {
	return backup.Restore{Content: toy{}, File: bundle, Database: db, Unpack: func(parts map[string][]byte) (map[string][]byte, error) {
		return map[string][]byte{backup.PartSettings: parts[backup.PartSettings], filepath.Join("firefighters-tls", backup.PartAuthority): parts[backup.PartAuthority]}, nil
	}}
}

// besides returns what lies beside a database: its settings and its key.
func besides(t *testing.T, db string) string {
	t.Helper()
	settings, err := os.ReadFile(filepath.Join(filepath.Dir(db), backup.PartSettings))
	must(t, err)
	key, err := os.ReadFile(filepath.Join(filepath.Dir(db), "firefighters-tls", backup.PartAuthority))
	must(t, err)
	return string(settings) + string(key)
}

func TestBundle(t *testing.T) {
	t.Parallel()
	bundle, db := bundled(t)
	checkModes(t, filepath.Dir(bundle))
	if found := names(t, filepath.Dir(bundle)); len(found) != 1 {
		t.Errorf("beside the bundle: %q", found)
	}
	r := unpacking(bundle, db)
	r.Change = func(c *sqlite.Conn) error {
		_, err := c.Exec(`INSERT INTO items (kind, value) VALUES ('changed', '1')`)
		return err
	}
	if _, err := r.Run(t.Context()); err != nil || records(t, db) != 10 || count(t, db, "changed") != 1 || besides(t, db) != "--a=new\nnew key" {
		t.Errorf("%v, %d records, beside %q", err, records(t, db), besides(t, db))
	}
	kept, _ := filepath.Glob(filepath.Join(filepath.Dir(db), "*", "authority.pem.before-restore-*"))
	if text, err := os.ReadFile(strings.Join(kept, "")); err != nil || string(text) != "old key" {
		t.Errorf("kept: %q, %q, %v", kept, text, err)
	}
	for _, folder := range []string{filepath.Dir(db), filepath.Join(filepath.Dir(db), "firefighters-tls")} {
		for name := range contents(t, folder) {
			info, err := os.Stat(filepath.Join(folder, name))
			if must(t, err); info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" || strings.Contains(name, "restoring") {
				t.Errorf("%s has mode %v", name, info.Mode())
			}
		}
	}
	before := contents(t, filepath.Dir(db))
	for want, r := range map[error]backup.Restore{
		backup.ErrBundle:   {Content: toy{}, File: bundle, Database: db},
		backup.ErrNoBundle: unpacking(kept[0], db),
	} {
		if want == backup.ErrNoBundle {
			r.File = filepath.Join(t.TempDir(), "x.db")
			makeBackup(t, db, r.File)
		}
		if _, err := r.Run(t.Context()); !errors.Is(err, want) {
			t.Errorf("%v, not %v", err, want)
		}
	}
	refused := errors.New("refused")
	r.Unpack = func(map[string][]byte) (map[string][]byte, error) { return nil, refused }
	if _, err := r.Run(t.Context()); !errors.Is(err, refused) || !maps.Equal(before, contents(t, filepath.Dir(db))) {
		t.Errorf("refused: %v, there is %q", err, names(t, filepath.Dir(db)))
	}
}

// TestBundleCutOff: a restore that is killed after any of its steps, and between the
// database and the small files, leaves everything old or everything new.
func TestBundleCutOff(t *testing.T) {
	t.Parallel()
	for steps := range backup.RestoreSteps + 2 {
		t.Run(fmt.Sprint(steps), func(t *testing.T) {
			t.Parallel()
			bundle, db := bundled(t)
			before := contents(t, filepath.Dir(db))
			release, err := backup.Lock(db)
			must(t, err)
			_, err = unpacking(bundle, db).Begin(t.Context(), min(steps, backup.RestoreSteps))
			must(t, err)
			if steps > backup.RestoreSteps { // as if the last step had ended in the middle
				for _, path := range []string{filepath.Join(filepath.Dir(db), backup.PartSettings), filepath.Join(filepath.Dir(db), "firefighters-tls", backup.PartAuthority)} {
					must(t, os.Rename(path, path+".restoring-x.db"))
				}
			}
			must(t, release())
			release, err = backup.Lock(db)
			must(t, err)
			must(t, release())
			if n, beside := records(t, db), besides(t, db); steps >= backup.RestoreSteps && (n != 10 || beside != "--a=new\nnew key") {
				t.Errorf("%d records, beside %q", n, beside)
			} else if after := contents(t, filepath.Dir(db)); steps < backup.RestoreSteps {
				delete(after, "x.db-lock")
				if n != 3 || beside != "--a=old\nold key" || !maps.Equal(before, after) {
					t.Errorf("%d records, beside %q, there is %q", n, beside, names(t, filepath.Dir(db)))
				}
			}
		})
	}
}

// TestBundleKilled: while it is made, there is none of its name, and the next one removes
// what was left.
func TestBundleKilled(t *testing.T) {
	t.Parallel()
	db, folder := newDatabase(t, 10), t.TempDir()
	target := filepath.Join(folder, "move.tar")
	kill(t, program("bundle", "Summarize 1", db, target), "Summarize 1")
	if found := names(t, folder); len(found) > 0 {
		t.Errorf("there is %q", found)
	}
	_, err := backup.Job{Content: toy{}, Source: db, Target: target, With: parts}.Run(t.Context())
	must(t, err)
	if found := append(names(t, folder), names(t, filepath.Dir(db))...); strings.Join(found, " ") != "move.tar x.db" {
		t.Errorf("there is %q", found)
	}
}

// archive returns a tar file.
func archive(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range headers {
		h.Size = 4
		if h.Typeflag != 0 && h.Typeflag != tar.TypeReg {
			h.Size = 0
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		w.Write([]byte("text")[:h.Size])
	}
	w.Close()
	return out.Bytes()
}

// TestWrongBundles: a file that is no bundle, or a damaged one, is refused, and none of its
// names becomes a path.
func TestWrongBundles(t *testing.T) {
	t.Parallel()
	bundle, _ := bundled(t)
	whole, err := os.ReadFile(bundle)
	must(t, err)
	about := tar.Header{Name: backup.PartAbout}
	read := func(text []byte) error {
		folder := t.TempDir()
		_, err := backup.ReadBundle(t.Context(), bytes.NewReader(text), filepath.Join(folder, "x"))
		if found := names(t, folder); len(found) > 1 || len(found) == 1 && found[0] != "x" {
			t.Errorf("there is %q", found)
		}
		return err
	}
	if err := read(whole); err != nil {
		t.Error(err)
	}
	for name, text := range map[string][]byte{
		"nothing":      {},
		"a database":   []byte("SQLite format 3\x00" + strings.Repeat("x", 5000)),
		"a path":       archive(t, tar.Header{Name: "../" + backup.PartSettings}),
		"another file": archive(t, about, tar.Header{Name: "evil"}),
		"a link":       archive(t, about, tar.Header{Name: backup.PartSettings, Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}),
		"a folder":     archive(t, about, tar.Header{Name: backup.PartSettings, Typeflag: tar.TypeDir}),
		"twice":        archive(t, about, about),
		"more records": archive(t, about, tar.Header{Name: backup.PartSettings, PAXRecords: map[string]string{"comment": "x"}, Format: tar.FormatPAX}),
	} {
		if err := read(text); !errors.Is(err, sqlite.ErrForeign) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string][]byte{
		"no database":   archive(t, about),
		"no sums":       archive(t, about, tar.Header{Name: "firefighters.db"}),
		"wrong sums":    archive(t, about, tar.Header{Name: "firefighters.db"}, tar.Header{Name: "SHA256SUMS"}),
		"cut off":       whole[:len(whole)/2],
		"a byte":        append(bytes.Clone(whole[:512]), append([]byte{'!'}, whole[513:]...)...),
		"in the middle": append(bytes.Clone(whole[:9000]), append([]byte{'!'}, whole[9001:]...)...),
		"two":           append(bytes.Clone(whole[:len(whole)-1024]), whole...),
	} {
		if err := read(text); !errors.Is(err, sqlite.ErrCorrupt) && !errors.Is(err, sqlite.ErrForeign) {
			t.Errorf("%s: %v", name, err)
		}
	}
	large := tar.Header{Name: backup.PartSettings, Size: 1<<20 + 1, Typeflag: tar.TypeReg, Format: tar.FormatGNU}
	var out bytes.Buffer
	must(t, tar.NewWriter(&out).WriteHeader(&large))
	if err := read(out.Bytes()); !errors.Is(err, sqlite.ErrForeign) {
		t.Errorf("a large one: %v", err)
	}
}

// FuzzBundle: whatever it is, reading it ends with an error or with all parts of a bundle,
// writes one file, and takes no more memory than the parts may have.
func FuzzBundle(f *testing.F) {
	f.Add(archive(f, tar.Header{Name: backup.PartAbout}, tar.Header{Name: "firefighters.db"}, tar.Header{Name: "SHA256SUMS"}))
	f.Add(archive(f, tar.Header{Name: backup.PartAbout}, tar.Header{Name: "../x"}))
	folder := f.TempDir()
	source := filepath.Join(folder, "x.db")
	if err := os.WriteFile(source, nil, 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		folder := t.TempDir()
		parts, err := backup.ReadBundle(t.Context(), bytes.NewReader(text), filepath.Join(folder, "x"))
		if found := names(t, folder); len(found) > 1 || err == nil && len(found) == 0 {
			t.Errorf("there is %q, %v", found, err)
		}
		size := 0
		for _, content := range parts {
			size += len(content)
		}
		if size > len(text) || err == nil && parts["firefighters.db"] == nil && len(parts) == 0 {
			t.Errorf("%d bytes of %d, %v", size, len(text), err)
		}
	})
}

// TestEncryptedBundle: it is both, and leaves nothing plain.
func TestEncryptedBundle(t *testing.T) {
	t.Parallel()
	source, db, folder := newDatabase(t, 10), newDatabase(t, 3), t.TempDir()
	key, to := newKey(t)
	target := filepath.Join(folder, "move.tar.age")
	_, err := backup.Job{Content: toy{}, Source: source, Target: target, With: parts, EncryptTo: to}.Run(t.Context())
	must(t, err)
	if found := append(names(t, folder), names(t, filepath.Dir(source))...); strings.Join(found, " ") != "move.tar.age x.db" {
		t.Errorf("there is %q", found)
	}
	r := unpacking(target, db)
	if _, err := r.Run(t.Context()); !errors.Is(err, backup.ErrEncrypted) {
		t.Errorf("without the key: %v", err)
	}
	r.Key = key
	if _, err := r.Run(t.Context()); err != nil || records(t, db) != 10 || besides(t, db) != "--a=new\nnew key" || strings.Contains(strings.Join(names(t, filepath.Dir(db)), " "), "restoring") {
		t.Errorf("%v, %d records, beside %q", err, records(t, db), names(t, filepath.Dir(db)))
	}
}
