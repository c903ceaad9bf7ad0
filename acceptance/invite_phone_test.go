package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInvitePhoneWithoutPage checks that a phone needs the address book and not the page, and
// that invite prints no address if there is no address book.
func TestInvitePhoneWithoutPage(t *testing.T) {
	t.Parallel()
	s := start(t, "--no-office")
	id := s.create(t, ana)
	file := filepath.Join(t.TempDir(), "ana.mobileconfig")
	stdout, stderr := works(t, "invite", "--phone", "--tenant", "default", "--name", "Ana's phone", "-o", file, "--db", s.db)
	if !strings.HasPrefix(stdout, "Address:   "+s.url+"/dav/\n") || strings.Contains(stderr, "no address") {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	s.device(keyForm.FindString(stdout)).send(t, "GET", cardPath(id), "").wants(t, 200)
	if profile, err := os.ReadFile(file); err != nil || !strings.Contains(string(profile), keyForm.FindString(stdout)) {
		t.Errorf("%v in %s", err, profile)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	refuses(t, 1, "Error: the folder of "+filepath.Join(missing, "x")+" does not exist\nTry: mkdir "+missing+"\n",
		"invite", "--phone", "--tenant", "default", "--name", "Eva", "-o", filepath.Join(missing, "x"), "--db", s.db)
	s.stop(t)
	s = startWith(t, s.db, "serve", "--db", s.db, "--no-phones")
	reason := "the server runs without the address book for phones (--no-phones), or is not ready yet\n" +
		"Try: wait a moment, or start it without --no-phones\n"
	stdout, stderr = works(t, "invite", "--phone", "--tenant", "default", "--name", "Ana's phone", "--db", s.db)
	if strings.Contains(stdout, "Address") || !strings.HasSuffix(stderr, "Note: there is no address, because "+reason) {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	refuses(t, 1, "Error: "+reason, "invite", "--phone", "--tenant", "default", "--name", "Eva", "-o", file+"2", "--db", s.db)
}

// TestInvitePhoneAuthority checks that the profile contains the certificate of the authority
// only while the service uses a certificate of that authority.
func TestInvitePhoneAuthority(t *testing.T) {
	t.Parallel()
	s := start(t, "--tls-self-signed")
	profile := func(name string) string {
		file := filepath.Join(t.TempDir(), name)
		works(t, "invite", "--phone", "--tenant", "default", "--name", name, "-o", file, "--db", s.db)
		text, err := os.ReadFile(file)
		must(t, err)
		return string(text)
	}
	if got := profile("one"); strings.Count(got, "com.apple.security.root") != 1 {
		t.Errorf("no certificate of the authority in %s", got)
	}
	s.stop(t)
	certificate, key, _ := newCertificate(t)
	startWith(t, s.db, "serve", "--db", s.db, "--tls-cert", certificate, "--tls-key", key)
	if got := profile("two"); strings.Contains(got, "com.apple.security.root") || !strings.Contains(got, "com.apple.carddav.account") {
		t.Errorf("unexpected certificate of the authority in %s", got)
	}
}
