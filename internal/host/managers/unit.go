package managers

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
)

// Sysusers is the text for systemd-sysusers that makes the user of the service.
const Sysusers = `u firefighters - "Firefighter Records Service" /var/lib/firefighters
`

// Unit returns the unit of systemd that runs a program as the service. It does
// not change with the settings: what depends on them is in the drop-in.
func Unit(program string) string {
	return strings.ReplaceAll(unitText, "PROGRAM", strings.ReplaceAll(program, "%", "%%"))
}

const unitText = `[Unit]
Description=Firefighter Records Service
Documentation=https://github.com/firefighter-records/firefighters
Wants=network-online.target
After=network-online.target local-fs.target remote-fs.target time-sync.target
StartLimitIntervalSec=0

[Service]
Type=notify
NotifyAccess=main
ExecStart=PROGRAM service run
User=firefighters
Group=firefighters
StateDirectory=firefighters
StateDirectoryMode=0700
WorkingDirectory=/var/lib/firefighters
UMask=0077

# The upgrade of a large database may take long.
TimeoutStartSec=infinity
WatchdogSec=60
Restart=on-failure
RestartSec=5

# Here the service counts the starts that have failed in a row. It waits longer
# before each further one, because RestartSteps= needs systemd 254.
RuntimeDirectory=firefighters
RuntimeDirectoryMode=0700
RuntimeDirectoryPreserve=restart

# Wrong settings stay wrong. Go ends with 2 too, after a panic and when the
# watchdog aborts it, unless GOTRACEBACK makes it die by a signal. No core is
# written, because it would hold records.
RestartPreventExitStatus=2
Environment=GOTRACEBACK=crash
LimitCORE=0

# Disks for backups are mounted here. A disk that is missing stops nothing, and
# one that is plugged in later is seen. The permissions of the folders count.
ProtectSystem=strict
ReadWritePaths=-/mnt -/media -/run/media -/srv

CapabilityBoundingSet=
NoNewPrivileges=yes
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateUsers=yes
PrivateIPC=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProcSubset=pid
KeyringMode=private
LockPersonality=yes
MemoryDenyWriteExecute=yes
RemoveIPC=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
# Go lists the addresses of the machine by AF_NETLINK.
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
# It raises its own limit of open files, and reads it.
SystemCallFilter=prlimit64
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`

// unitWrites are the folders of StateDirectory and ReadWritePaths in the unit.
var unitWrites = []string{"/var/lib/firefighters", "/mnt", "/media", "/run/media", "/srv"}

// unitHides are the folders that the unit hides from the service.
var unitHides = []string{"/home", "/root", "/run/user", "/tmp", "/var/tmp", "/dev", "/proc", "/sys"}

// hiddenByUnit reports whether the unit hides a file or folder from the service.
func hiddenByUnit(name string) bool { return within(name, unitHides) }

// within reports whether a path is one of the folders or in one.
func within(name string, folders []string) bool {
	name = path.Clean(name)
	return slices.ContainsFunc(folders, func(folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") })
}

// dropIn returns what the unit needs beside itself to write to some folders and to
// listen on a port. It is empty if it needs nothing. A folder with a control character
// in its name is left out: for systemd more than a line feed ends a line, and what
// follows would be an instruction to root.
func dropIn(writes []string, port int) string {
	var lines strings.Builder
	for _, folder := range writes {
		if !within(folder, unitWrites) && !strings.ContainsFunc(folder, unicode.IsControl) {
			fmt.Fprintf(&lines, "ReadWritePaths=-%s\n", quoted(folder))
		}
	}
	if port > 0 && port < 1024 {
		lines.WriteString("AmbientCapabilities=CAP_NET_BIND_SERVICE\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE\nPrivateUsers=no\n")
	}
	if lines.Len() == 0 {
		return ""
	}
	return "# Made by firefighters service install, from the settings of the service.\n[Service]\n" + lines.String()
}

// quoted writes a path as a word of a unit.
func quoted(name string) string {
	name = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(name)
	if strings.ContainsAny(name, " \t'\"\\") {
		return `"` + name + `"`
	}
	return name
}

// formerFlags returns the flags of serve in a unit that somebody has written by
// hand. It returns nil if the unit was made by Unit, or if the flags cannot be told.
func formerFlags(unit string) []string {
	for line := range strings.Lines(strings.ReplaceAll(unit, "\\\n", " ")) {
		command, found := strings.CutPrefix(strings.TrimSpace(line), "ExecStart=")
		words := strings.Fields(command)
		if !found || len(words) == 0 || isOurs(unit) || strings.ContainsAny(command, `"'%$`) {
			continue
		}
		return slices.DeleteFunc(words[1:], func(word string) bool { return word == "serve" })
	}
	return nil
}

// isOurs reports whether a unit was made by Unit.
func isOurs(unit string) bool { return strings.Contains(unit, " service run\n") }
