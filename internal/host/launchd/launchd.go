// Package launchd knows the texts that launchd of macOS, and the programs beside
// it, read and print.
package launchd

import (
	"bytes"
	"encoding/xml"
	"strconv"
	"strings"
	"time"
)

// Label is the name of the service to launchd.
const Label = "org.firefighter-records.firefighters"

// LogFile is where launchd writes what the service says.
const LogFile = "/Library/Logs/firefighters.log"

// Rotation is what newsyslog must know to keep the log of a user's service small: it
// renames the file at a megabyte and keeps five. The service finds that out by itself,
// so no process gets a signal.
func Rotation(user string) string {
	return "# logfilename\t[owner:group]\tmode\tcount\tsize\twhen\tflags\n" +
		LogFile + "\t" + user + ":" + user + "\t640\t5\t1000\t*\tN\n"
}

// Plist returns what launchd must know to run a program as the service, for a
// user. launchd starts it again unless it ended well, at most once a minute: it knows
// no steps, and a fault that time does not heal must fill no log.
func Plist(program, data, user string) string {
	escape := func(text string) string {
		var escaped bytes.Buffer
		xml.EscapeText(&escaped, []byte(text)) // a Buffer takes everything
		return escaped.String()
	}
	return strings.NewReplacer("LABEL", Label, "PROGRAM", escape(program), "DATA", escape(data), "USER", escape(user), "LOG", LogFile).Replace(plist)
}

const plist = `<?xml version="1.0" encoding="UTF-8"?>
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

// State is what launchd knows of the service.
type State struct {
	Running bool
	Program string
	PID     string // empty if it does not run
	Detail  string // for people
}

// ParseState reads what launchctl print says of the service.
func ParseState(text string) (s State) {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		switch {
		case key == "state" && s.Detail == "": // later ones are of its parts
			s.Detail = value
		case key == "program" && s.Program == "":
			s.Program = value
		case key == "pid" && s.PID == "":
			s.PID = value
		case key == "last exit code" && value != "0" && value != "(never exited)":
			s.Detail += ", the last run ended with: " + value
		}
	}
	s.Running = s.Detail == "running" || strings.HasPrefix(s.Detail, "running,")
	return s
}

// FreeID returns the first number from 400 on that does not stand at the end of
// a line, as dscl lists those in use. macOS keeps the numbers below 500 for services.
func FreeID(list string) string {
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

// ParseElapsed reads a time of ps: [[days-]hours:]minutes:seconds.
func ParseElapsed(text string) time.Duration {
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
