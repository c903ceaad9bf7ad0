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
		keepCrash(data)
		return run(ctx, log)
	}
	if log, err := eventlog.Open(windowsName); err == nil {
		defer log.Close()
		h.log.report = func(grave level, text string) { report(log, grave, text) }
	}
	err := svc.Run(windowsName, h)
	return !errors.Is(err, windows.ERROR_FAILED_SERVICE_CONTROLLER_CONNECT) // somebody has typed it
}

// keepCrash has the trace of a crash written to a file in the folder of the data. Windows
// keeps nothing of what a service prints.
func keepCrash(data string) {
	file, err := os.OpenFile(filepath.Join(data, "service-crash.txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	debug.SetCrashOutput(file, debug.CrashOptions{}) // which keeps the file open itself
	file.Close()
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
