package acceptance

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// trust makes the client of a service trust its local authority.
func (s *testService) trust(t *testing.T) (file string) {
	t.Helper()
	file = filepath.Join(authority.Folder(s.db), "ca.crt")
	text, err := os.ReadFile(file)
	must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	s.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots}
	return file
}

// TestSelfSigned checks that only clients that trust the authority reach the service, and that the
// printed command works.
func TestSelfSigned(t *testing.T) {
	t.Parallel()
	s := start(t, "--tls-self-signed")
	if _, err := s.try(t, "GET", "/healthz", nil); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without trust: %v", err)
	}
	file := s.trust(t)
	if !strings.HasPrefix(s.url, "https://127.0.0.1:") {
		t.Errorf("URL %s", s.url)
	}
	s.create(t, ana)
	a := s.do(t, "GET", collection, "").wants(t, 200)
	if got := a.header["Strict-Transport-Security"]; got != nil { // would apply to all services on localhost
		t.Errorf("Strict-Transport-Security: %q", got)
	}
	line := "  curl -H \"Authorization: Bearer " + s.key + "\" --cacert " + file + " " + s.url + collection + "\n"
	if runtime.GOOS != "windows" && !strings.Contains(s.stdout.String(), line) {
		t.Errorf("stdout:\n%s", s.stdout)
	}
	if curl, err := exec.LookPath("curl"); err == nil {
		if out, err := exec.Command(curl, "-sS", "--cacert", file, s.url+"/healthz").CombinedOutput(); err != nil || string(out) != `{"status":"ok"}` {
			t.Errorf("curl: %v, %s", err, out)
		}
		if out, err := exec.Command(curl, "-sS", s.url+"/healthz").CombinedOutput(); err == nil {
			t.Errorf("curl without trust: %s", out)
		}
	}
	again := startWith(t, s.db+"2", "serve", "--db", s.db+"2", "--tls-self-signed") // another database in the same folder
	again.trust(t)
	again.do(t, "GET", "/healthz", "").wants(t, 200)
	s.do(t, "GET", "/healthz", "").wants(t, 200)
}

// TestAuthorityDownload checks that the certificate of the authority can be downloaded without a key,
// and only with --tls-self-signed.
func TestAuthorityDownload(t *testing.T) {
	t.Parallel()
	s := start(t, "--tls-self-signed", "--no-office")
	want, err := os.ReadFile(s.trust(t))
	must(t, err)
	for _, method := range []string{"GET", "HEAD"} {
		r, err := s.as("").try(t, method, authority.Path, nil)
		must(t, err)
		if method == "GET" && r.body != string(want) || r.status != 200 || r.header.Get("Content-Type") != "application/x-x509-ca-cert" {
			t.Errorf("%s: %d %v\n%s", method, r.status, r.header, r.body)
		}
		for _, name := range []string{"X-Content-Type-Options", "X-Request-Id", "Cache-Control"} {
			if r.header.Get(name) == "" {
				t.Errorf("%s: missing %s", method, name)
			}
		}
	}
	s.do(t, "POST", authority.Path, "{}").wants(t, 405)
	s.do(t, "GET", authority.Path, "", "Host", "evil.example").wants(t, 421)
	start(t).do(t, "GET", authority.Path, "").wants(t, 404)
}

// TestAuthorityKey checks that the private keys of the authority and the server are not in a database
// backup, an export, the log, an output or an answer.
func TestAuthorityKey(t *testing.T) {
	t.Parallel()
	backups := t.TempDir()
	s := start(t, "--tls-self-signed", "--backup-dir", backups)
	s.trust(t)
	s.create(t, ana)
	var secrets [][]byte
	folder := authority.Folder(s.db)
	for _, name := range []string{"authority.pem", "server.pem"} {
		secrets = append(secrets, keyTexts(t, filepath.Join(folder, name))...)
	}
	texts := map[string][]byte{}
	for _, path := range []string{"/", "/office/", authority.Path, "/healthz", "/readyz", "/api/v1/export", "/api/v1/openapi.json", "/firefighters-tls/authority.pem", "/ca.key"} {
		a, err := s.try(t, "GET", path, nil)
		must(t, err)
		texts[path] = []byte(a.body)
	}
	for _, line := range [][]string{{"cert"}, {"cert", "--json"}, {"check"}, {"export", "--tenant", "default"}, {"backup", filepath.Join(backups, "by-hand.db")}} {
		stdout, stderr := works(t, append(line, "--db", s.db)...)
		texts[strings.Join(line, " ")] = []byte(stdout + stderr)
	}
	eventually(t, "a backup", func() bool { return s.readyz(t).Backup.Last != nil })
	s.stop(t)
	texts["stdout"], texts["stderr"] = []byte(s.stdout.String()), []byte(s.stderr.String())
	files, err := filepath.Glob(filepath.Join(backups, "*.db")) // without the copy of the authority
	must(t, err)
	for _, path := range append(files, s.db, filepath.Join(folder, "ca.crt")) {
		texts[path], err = os.ReadFile(path)
		must(t, err)
	}
	if len(files) < 2 {
		t.Errorf("the backups are %v", files)
	}
	for where, text := range texts {
		for _, secret := range secrets {
			if bytes.Contains(text, secret) {
				t.Errorf("a key is in %s", where)
			}
		}
	}
}

// keyTexts returns the forms in which the key in a file could appear elsewhere.
func keyTexts(t *testing.T, path string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	must(t, err)
	secret, err := key.(*ecdsa.PrivateKey).Bytes()
	must(t, err)
	lines := strings.Fields(base64.StdEncoding.EncodeToString(block.Bytes))
	return [][]byte{secret, block.Bytes, []byte(lines[0][48:96]), []byte(base64.StdEncoding.EncodeToString(secret)), []byte("PRIVATE KEY")}
}

// TestSelfSignedRefused checks the errors and hints of --tls-self-signed.
func TestSelfSignedRefused(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	const both = "Error: --tls-self-signed cannot be combined with --tls-cert and --tls-key\n"
	folder, listen := authority.Folder(db), []string{"--tls-self-signed", "--listen", "127.0.0.1:0"}
	must(t, os.Mkdir(folder, 0o700))
	must(t, os.WriteFile(filepath.Join(folder, "authority.pem"), []byte("damaged"), 0o600))
	missing := filepath.Join(filepath.Dir(db), "missing", "y.db")
	for _, tt := range []struct {
		code int
		want string
		args []string
	}{
		{2, both, []string{"serve", "--db", db, "--tls-cert", "c", "--tls-key", "k"}},
		{2, both, []string{"demo", "--db", db, "--tls-key", "k"}},
		{1, "Error: the authority in " + osutil.InQuotes(folder) + " cannot be used: its key is missing or damaged\n" +
			"Try: to create a new authority, which every computer must trust again: firefighters cert --new --db " + db + "\n", []string{"serve", "--db", db}},
		{1, "Error: the folder of " + osutil.InQuotes(missing) + " does not exist\n", []string{"serve", "--db", missing}},
	} {
		code, stdout, stderr := runCommand(t, append(tt.args, listen...)...)
		if code != tt.code || stdout != "" || !strings.HasPrefix(stderr, tt.want) {
			t.Errorf("%q: code %d, stdout %q, stderr:\n%s", tt.args, code, stdout, stderr)
		}
	}
	if exists(db) {
		t.Error("a database was created")
	}
	works(t, "cert", "--new", "--yes", "--db", db)
	startWith(t, db, "serve", "--db", db, "--tls-self-signed")
}

// TestAuthorityAmongBackups checks that the folder of backups has a copy of the authority's key,
// encrypted if the backups are, and that a new PC can use it without new trust by clients.
func TestAuthorityAmongBackups(t *testing.T) {
	t.Parallel()
	db, backups := filepath.Join(t.TempDir(), "x.db"), t.TempDir()
	key, recipient, _ := newIdentity(t)
	plain := filepath.Join(backups, "x-authority.pem")
	serve := []string{"serve", "--db", db, "--tls-self-signed", "--backup-dir", backups, "--backup-every", "1s"}
	s := startWith(t, db, serve...)
	eventually(t, "the copy", func() bool { return exists(plain) })
	s.stop(t)
	checkModes(t, backups)
	text, err := os.ReadFile(plain)
	must(t, err)

	another := filepath.Join(t.TempDir(), "x.db")
	must(t, os.Mkdir(authority.Folder(another), 0o700))
	must(t, os.WriteFile(filepath.Join(authority.Folder(another), "authority.pem"), text, 0o600))
	next := startWith(t, another, "serve", "--db", another, "--tls-self-signed")
	s.trust(t)
	next.Transport.(*http.Transport).TLSClientConfig = s.Transport.(*http.Transport).TLSClientConfig
	next.do(t, "GET", "/healthz", "").wants(t, 200)

	startWith(t, db, append(serve, "--backup-encrypt-to", recipient)...)
	eventually(t, "the encrypted copy", func() bool { return exists(plain + ".age") })
	if exists(plain) {
		t.Error("the plain copy is still there")
	}
	opened, err := os.Open(key)
	must(t, err)
	defer opened.Close()
	identities, err := age.ParseIdentities(opened)
	must(t, err)
	sealed, err := os.ReadFile(plain + ".age")
	must(t, err)
	inside, err := age.Decrypt(bytes.NewReader(sealed), identities...)
	must(t, err)
	if got, err := io.ReadAll(inside); err != nil || !bytes.Equal(got, text) {
		t.Errorf("the decrypted copy is %q, %v", got, err)
	}
}
