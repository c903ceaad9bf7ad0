package managers

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/eventlog"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// RunAsService calls run for the service manager of Windows, if that has started this
// process with the arguments args, and reports whether it has. run must return soon
// after its context ends. It writes to the log of events, and returns the exit code.
func RunAsService(args []string, run func(ctx context.Context, log io.Writer) int) bool {
	if len(args) < 2 || args[0] != "service" || args[1] != "run" {
		return false
	}
	h := &host{log: &events{report: func(level, string) {}}}
	h.run = func(ctx context.Context, log io.Writer) int {
		data := Host{}.DataFolder()
		os.Chdir(data) // Windows starts services in system32
		awaitDisk(data)
		defer keepCrash(filepath.Join(data, crashFile), h.log.report)()
		return run(ctx, log)
	}
	if log, err := eventlog.Open(windowsName); err == nil {
		defer log.Close()
		h.log.report = func(grave level, text string) { report(log, grave, text) }
	}
	err := svc.Run(windowsName, h)
	return !errors.Is(err, windows.ERROR_FAILED_SERVICE_CONTROLLER_CONNECT) // somebody has typed it
}

// crashFile is where a crash of the service leaves its trace, for the next start.
const crashFile = "service-crash.txt"

// keepCrash reports the crash that is in a file, and has the next one written to
// it. Without that nobody sees what a service writes when it crashes.
func keepCrash(path string, report func(level, string)) (end func()) {
	if last, err := os.ReadFile(path); err == nil && len(last) > 0 {
		(&events{report: report}).send(levelError, "The service has crashed, and was started again:\n"+string(last))
	}
	file, err := os.Create(path)
	if err != nil {
		return func() {}
	}
	debug.SetCrashOutput(file, debug.CrashOptions{})
	return func() {
		debug.SetCrashOutput(nil, debug.CrashOptions{})
		file.Close()
		os.Remove(path)
	}
}

// awaitDisk waits up to ten seconds until the disk of a folder has its number, by
// which files are told apart. Wine starts services before it knows that.
func awaitDisk(folder string) {
	for range 100 {
		if !osutil.Exists(folder) || osutil.SameDisk(folder, folder) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func report(log *eventlog.Log, grave level, text string) {
	switch grave {
	case levelError:
		log.Error(uint32(grave), text)
	case levelWarning:
		log.Warning(uint32(grave), text)
	default:
		log.Info(uint32(grave), text)
	}
}

// host is what the service manager calls.
type host struct {
	run func(ctx context.Context, log io.Writer) int
	log *events
}

// Execute runs the service. It reports at once that it runs, and opens the
// database after that: an upgrade may take longer than the 30 seconds that
// Windows waits.
func (h *host) Execute(_ []string, requests <-chan svc.ChangeRequest, changes chan<- svc.Status) (specific bool, code uint32) {
	const accepts = svc.AcceptStop | svc.AcceptShutdown | svc.AcceptPreShutdown
	changes <- svc.Status{State: svc.Running, Accepts: accepts}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan int, 1)
	go func() {
		ended <- h.run(ctx, h.log)
	}()
	for {
		select {
		case code := <-ended:
			return true, uint32(code)
		case how := <-readiness:
			h.log.send(levelInfo, how)
			changes <- svc.Status{State: svc.Running, Accepts: accepts | acceptsWhenReady}
		case request := <-requests:
			switch request.Cmd {
			case svc.Interrogate:
				changes <- request.CurrentStatus
			case svc.Stop, svc.Shutdown, svc.PreShutdown:
				cancel()
				awaitEnd(ended, requests, changes)
				return false, 0 // after an error, which is in the log, Windows would start it again
			}
		}
	}
}

// awaitEnd reports every second that the service is ending, until it has ended.
func awaitEnd(ended <-chan int, requests <-chan svc.ChangeRequest, changes chan<- svc.Status) {
	const tick, hint = time.Second, 10 * time.Second
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for point := uint32(1); ; {
		changes <- svc.Status{State: svc.StopPending, CheckPoint: point, WaitHint: uint32(hint.Milliseconds())}
		select {
		case <-ended:
			return
		case <-requests:
		case <-ticker.C:
			point++
		}
	}
}
