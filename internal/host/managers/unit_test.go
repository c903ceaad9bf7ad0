package managers

import (
	"slices"
	"strings"
	"testing"
)

func TestUnit(t *testing.T) {
	t.Parallel()
	text := Unit("/usr/bin/firefighters")
	for _, want := range []string{"Type=notify\n", "ExecStart=/usr/bin/firefighters service run\n", "WatchdogSec=60\n", "User=firefighters\n", "Restart=on-failure\n",
		"UMask=0077\n", "StateDirectoryMode=0700\n", "LimitCORE=0\n", "RestartPreventExitStatus=2\n", "RuntimeDirectory=firefighters\n", "RuntimeDirectoryPreserve=restart\n",
		"Wants=network-online.target\n", "After=network-online.target ", "ReadWritePaths=-/mnt -/media -/run/media -/srv\n"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is not there once", want)
		}
	}
	if !isOurs(text) || formerFlags(text) != nil {
		t.Error("the unit is not known to be ours")
	}
	byHand := "[Service]\nExecStart=/usr/local/bin/firefighters serve --db /srv/x.db \\\n  --no-office\n"
	if got := formerFlags(byHand); isOurs(byHand) || !slices.Equal(got, []string{"--db", "/srv/x.db", "--no-office"}) {
		t.Errorf("flags of a unit by hand: %q", got)
	}
	if got := formerFlags("ExecStart=/bin/sh -c 'firefighters serve'\n"); got != nil {
		t.Errorf("flags that cannot be known: %q", got)
	}
}

func TestDropIn(t *testing.T) {
	t.Parallel()
	type definition struct {
		writes []string
		port   int
	}
	for want, d := range map[string]definition{
		"":                                 {[]string{"/var/lib/firefighters/backups", "/mnt/usb/backups", "/media/usb"}, 8080},
		"ReadWritePaths=-/var/backups/x\n": {[]string{"/var/backups/x"}, 0},
		"ReadWritePaths=-\"/var/100%% of \\\"it\\\"\"\n":                                                          {[]string{`/var/100% of "it"`}, 0},
		"ReadWritePaths=-/var/good\n":                                                                             {[]string{"/x\x00ExecStartPre=+/y", "/x\rExecStartPre=+/y", "/x\nExecStartPre=+/y", "/var/good"}, 0},
		"ReadWritePaths=-/mnt2\nReadWritePaths=-/var/lib/firefighters-old\n":                                      {[]string{"/mnt2", "/var/lib/firefighters-old"}, 0},
		"AmbientCapabilities=CAP_NET_BIND_SERVICE\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE\nPrivateUsers=no\n": {nil, 443},
	} {
		got := dropIn(d.writes, d.port)
		if _, lines, _ := strings.Cut(got, "[Service]\n"); lines != want || want == "" && got != "" {
			t.Errorf("%+v: %q", d, got)
		}
	}
}

func TestHiddenByUnit(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"/home/ana/x": true, "/home": true, "/homes/x": false, "/tmp/../etc/x": false, "/mnt/home": false, "/root": true} {
		if hiddenByUnit(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
