package managers

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// launchdLabel is the name of the service to launchd.
const launchdLabel = "org.firefighter-records.firefighters"

// launchdLog is where launchd writes what the service says.
const launchdLog = "/Library/Logs/firefighters.log"

// rotation is what newsyslog must know to keep the log of a user's service small: it
// renames the file at a megabyte and keeps five. The service finds that out by itself,
// so no process gets a signal.
func rotation(user string) string {
	return "# logfilename\t[owner:group]\tmode\tcount\tsize\twhen\tflags\n" +
		launchdLog + "\t" + user + ":" + user + "\t640\t5\t1000\t*\tN\n"
}

// plist returns what launchd must know to run a program as the service, for a
// user. launchd starts it again unless it ended well, once a minute: it knows one
// interval alone, and a fault that lasts must not fill the log.
func plist(program, data, user string) string {
	escape := func(text string) string {
		var escaped bytes.Buffer
		xml.EscapeText(&escaped, []byte(text)) // a Buffer never fails
		return escaped.String()
	}
	return strings.NewReplacer("LABEL", launchdLabel, "PROGRAM", escape(program), "DATA", escape(data), "USER", escape(user), "LOG", launchdLog).Replace(plistText)
}

const plistText = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>LABEL</string>
	<key>ProgramArguments</key>
	<array>
		<string>PROGRAM</string>
		<string>service</string>
		<string>run</string>
	</array>
	<key>UserName</key>
	<string>USER</string>
	<key>GroupName</key>
	<string>USER</string>
	<key>WorkingDirectory</key>
	<string>DATA</string>
	<key>Umask</key>
	<integer>63</integer>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ThrottleInterval</key>
	<integer>60</integer>
	<key>ProcessType</key>
	<string>Interactive</string>
	<key>ExitTimeOut</key>
	<integer>60</integer>
	<key>SoftResourceLimits</key>
	<dict>
		<key>NumberOfFiles</key>
		<integer>4096</integer>
	</dict>
	<key>StandardOutPath</key>
	<string>LOG</string>
	<key>StandardErrorPath</key>
	<string>LOG</string>
</dict>
</plist>
`

// daemon is the service as launchd keeps it.
type daemon struct {
	root string                                                          // the folder that its files are in; empty for those of this system
	run  func(program string, args ...string) (output string, err error) // runs a command of the system
}

// The files that describe the service.
const (
	plistFile    = "/Library/LaunchDaemons/" + launchdLabel + ".plist"
	rotationFile = "/etc/newsyslog.d/" + launchdLabel + ".conf"
)

const launchdTarget = "system/" + launchdLabel

// Why the service is not as it should be.
var (
	errNotStarted = errors.New("launchd could not start it")
	errNotEnded   = errors.New("the service has not ended after a minute")
)

func (d daemon) path(file string) string { return filepath.Join(d.root, file) }

// installed reports whether the service is described to launchd.
func (d daemon) installed() bool {
	_, err := os.Stat(d.path(plistFile))
	return err == nil
}

// install describes the service to launchd, and its log to newsyslog.
func (d daemon) install(program, data, user string) error {
	for file, text := range map[string]string{plistFile: plist(program, data, user), rotationFile: rotation(user)} {
		if err := os.MkdirAll(filepath.Dir(d.path(file)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(d.path(file), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// uninstall stops the service, and then takes the descriptions back. A service that
// does not stop keeps them.
func (d daemon) uninstall() error {
	if err := d.stop(); err != nil {
		return err
	}
	if err := os.Remove(d.path(rotationFile)); err != nil && !errors.Is(err, fs.ErrNotExist) { // older versions made none
		return err
	}
	return os.Remove(d.path(plistFile))
}

// start returns when the service runs. launchd does not say whether it is ready.
func (d daemon) start() error {
	if state, _, ok := d.current(); ok && state.Running {
		return nil
	}
	d.run("launchctl", "enable", launchdTarget)                  // it may have been disabled by hand
	d.run("launchctl", "bootstrap", "system", d.path(plistFile)) // which fails if it is there already
	d.run("launchctl", "kickstart", launchdTarget)               // which fails if it runs
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(time.Second / 5) {
		if state, _, ok := d.current(); ok && state.Running && time.Since(began) > 2*time.Second {
			return nil
		}
	}
	return errNotStarted
}

// endLimit is how long the service may take to end, at most.
var endLimit = time.Minute

// stop returns when the service has ended.
func (d daemon) stop() error {
	d.run("launchctl", "bootout", launchdTarget) // which fails if it does not run
	for began := time.Now(); ; time.Sleep(time.Second / 5) {
		if _, _, ok := d.current(); !ok {
			return nil
		}
		if time.Since(began) > endLimit {
			return errNotEnded
		}
	}
}

// current returns what launchd knows of the service, and its process id. ok is false if
// the service was stopped.
func (d daemon) current() (state State, pid string, ok bool) {
	text, err := d.run("launchctl", "print", launchdTarget)
	if err != nil {
		return State{}, "", false
	}
	state, pid = parseDaemonState(text)
	return state, pid, true
}

// parseDaemonState reads what launchctl print says of the service, and its process id,
// which is empty if it does not run.
func parseDaemonState(text string) (s State, pid string) {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		switch {
		case key == "state" && s.Detail == "": // later ones are of its parts
			s.Detail = value
		case key == "program" && s.Program == "":
			s.Program = value
		case key == "pid" && pid == "":
			pid = value
		case key == "last exit code" && value != "0" && value != "(never exited)":
			s.Detail += ", the last run ended with: " + value
		}
	}
	s.Installed = true
	s.Running = s.Detail == "running" || strings.HasPrefix(s.Detail, "running,")
	return s, pid
}

// freeID returns the first number from 400 on that does not stand at the end of
// a line, as dscl lists those in use. macOS keeps the numbers below 500 for services.
func freeID(list string) string {
	used := map[string]bool{}
	for line := range strings.Lines(list) {
		if words := strings.Fields(line); len(words) > 0 {
			used[words[len(words)-1]] = true
		}
	}
	number := 400
	for used[strconv.Itoa(number)] {
		number++
	}
	return strconv.Itoa(number)
}

// parseElapsed reads a time of ps: [[days-]hours:]minutes:seconds.
func parseElapsed(text string) time.Duration {
	days, clock, found := strings.Cut(strings.TrimSpace(text), "-")
	if !found {
		days, clock = "0", days
	}
	seconds := 0
	for part := range strings.SplitSeq(clock, ":") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return 0
		}
		seconds = 60*seconds + n
	}
	n, err := strconv.Atoi(days)
	if err != nil {
		return 0
	}
	return time.Duration(24*3600*n+seconds) * time.Second
}
