package acceptance

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestStartOnTerminal checks that a server writes its log in words on a terminal.
func TestStartOnTerminal(t *testing.T) {
	t.Parallel()
	terminal, printed := newTerminal(t)
	db := filepath.Join(t.TempDir(), "x.db")
	cmd, _ := process(t, "serve", "--db", db, "--listen", "0.0.0.0:0")
	cmd.Env = append(cmd.Env, "FIREFIGHTERS_LISTN=1")
	cmd.Stderr = terminal
	s := serving(t, db, cmd)
	breakUpdates(t, db)
	s.do(t, "PUT", collection+"/"+s.create(t, ana), ana).wants(t, 500)
	s.stop(t)
	for _, want := range []string{"Warning: the environment variable FIREFIGHTERS_LISTN has no effect", "Created the database " + db,
		"Warning: other computers reach the service without TLS", "Try: --tls-self-signed, ", "Note: there are no backups. ",
		` level=ERROR msg="request failed" `} {
		eventually(t, want, func() bool { return strings.Contains(printed.raw(), want) })
	}
	again, _ := process(t, "serve", "--nope")
	again.Stderr = terminal
	if code := exitCode(t, again.Run()); code != 2 {
		t.Errorf("exit code %d", code)
	}
	eventually(t, "the error", func() bool {
		return strings.Contains(printed.raw(), "Error: unknown flag: --nope\r\nTry: firefighters serve --help\r\n")
	})
	if strings.Contains(printed.raw(), `{"time"`) {
		t.Errorf("output: %s", printed.raw())
	}
}
