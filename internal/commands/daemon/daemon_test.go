package daemon

import (
	"net"
	"os"
	"testing"

	"github.com/firefighter-records/firefighters/internal/host/alone"
)

func TestMain(m *testing.M) { os.Exit(alone.Run(m)) }

// TestIsLoopback: the API answers to every name where others reach it.
func TestIsLoopback(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{"127.0.0.1:8080": true, "[::1]:8080": true, "0.0.0.0:8080": false, "[::]:8080": false, "192.0.2.1:8080": false} {
		addr, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if got := isLoopback(addr); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
}

// TestCurl: in PowerShell curl is another program.
func TestCurl(t *testing.T) {
	t.Parallel()
	for system, want := range map[string]string{
		"linux":   "  curl -H \"Authorization: Bearer ff_1\" http://x\n",
		"windows": "  curl.exe -H \"Authorization: Bearer ff_1\" http://x\n",
	} {
		if got := curl(system, "ff_1", "http://x"); got != want {
			t.Errorf("%s: %q", system, got)
		}
	}
}
