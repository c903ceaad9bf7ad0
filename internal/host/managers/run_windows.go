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

// RunAsService reports whether the Windows service manager started this process, with the
// arguments args. If so, it first calls run, which writes to the event log, must return soon after
// its context ends, and returns the exit code.
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
		h.log.report = func(severity level, text string) { report(log, severity, text) }
	}
	err := svc.Run(windowsName, h)
	return !errors.Is(err, windows.ERROR_FAILED_SERVICE_CONTROLLER_CONNECT) // typed in a terminal
}

// keepCrash writes the trace of a crash to a file in the data folder. Windows discards the output
// of a service.
func keepCrash(data string) {
	file, err := os.OpenFile(filepath.Join(data, "service-crash.txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	debug.SetCrashOutput(file, debug.CrashOptions{}) // which duplicates the file handle
	file.Close()
}

func report(log *eventlog.Log, severity level, text string) {
	switch severity {
	case levelError:
		log.Error(uint32(severity), text)
	case levelWarning:
		log.Warning(uint32(severity), text)
	default:
		log.Info(uint32(severity), text)
	}
}

// host implements svc.Handler.
type host struct {
	run func(ctx context.Context, log io.Writer) int
	log *events
}

// Execute runs the service. It reports svc.Running before the database is open, because an upgrade
// may take longer than the 30 seconds that Windows waits.
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
		case status := <-readiness:
			h.log.send(levelInfo, status)
			changes <- svc.Status{State: svc.Running, Accepts: accepts | acceptsWhenReady}
		case request := <-requests:
			switch request.Cmd {
			case svc.Interrogate:
				changes <- request.CurrentStatus
			case svc.Stop, svc.Shutdown, svc.PreShutdown:
				cancel()
				awaitEnd(ended, requests, changes)
				return false, 0 // after an error code Windows would restart the service; the log has the error
			}
		}
	}
}

// awaitEnd reports svc.StopPending every second until the service has ended.
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
