// Firefighters keeps the personnel records of fire departments. It is a single program with a web
// page, an HTTP JSON API and one SQLite file.
//
// Without a command it starts the server. Run "firefighters --help" for the commands and
// "firefighters COMMAND --help" for details. README.md is the introduction.
package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/daemon"
	"github.com/firefighter-records/firefighters/internal/commands/exchange"
	"github.com/firefighter-records/firefighters/internal/commands/invite"
	"github.com/firefighter-records/firefighters/internal/commands/manage"
	"github.com/firefighter-records/firefighters/internal/commands/service"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/web/dav"
	"github.com/firefighter-records/firefighters/internal/web/office"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

func main() {
	if managers.RunAsService(os.Args[1:], runForWindows) {
		return
	}
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, func() {
		signal.Ignore(syscall.SIGHUP) // a closing terminal sends it more than once
		stop()                        // a second interrupt ends the program at once
	})
	signal.Ignore(syscall.SIGPIPE) // a closed log must not end the program
	env := cli.Env{
		Context: ctx, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(),
		ServiceDB: managers.Host{}.Database,
	}
	os.Exit(cli.Execute(env, newRoot(), os.Args[1:], schema.Explain))
}

// runForWindows runs the program under the Windows service manager and returns the exit code.
func runForWindows(ctx context.Context, log io.Writer) int {
	env := cli.Env{Context: ctx, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: log, Environ: os.Environ()}
	return cli.Execute(env, newRoot(), os.Args[1:], schema.Explain)
}

// newRoot returns the command line of the program.
func newRoot() *cobra.Command {
	servers := daemon.Commands{Database: schema, NewAPI: newAPI}
	services := service.Service{Format: schema.Format, Daemon: servers.Run}
	root := &cobra.Command{
		Use:     "firefighters",
		Short:   "Personnel records of a fire department in one program",
		Version: cli.ReadBuild().String(sqlite.Version),
		Long: `Firefighters keeps the personnel records of a fire department in one file and
serves them as a web page and an HTTP API. Without a command it starts the server.`,
		Example: `  firefighters demo
  firefighters serve --db records.db`,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddGroup(cli.Groups...)
	root.AddCommand(slices.Concat(
		servers.All(),
		manage.Commands{Database: schema, Service: services}.All(),
		exchange.Commands{Database: schema}.All(),
		invite.Commands{Database: schema, Fault: services.Fault}.All(),
		services.All(),
		[]*cobra.Command{cli.ManualCommand()},
	)...)
	return root
}

// routes are the operations of the API.
var routes = slices.Concat(mainRoutes, fileRoutes)

// newAPI returns the handler of a service: the API, the office page and the address books.
func newAPI(service site.Service) http.Handler {
	s := newServer(service, routes)
	for path, send := range documentFiles() {
		s.add(route{method: "GET", path: path, handle: serveFile(send)})
	}
	if s.Authority != nil {
		s.add(route{method: "GET", path: authority.Path, handle: func(s *server, w http.ResponseWriter, r *http.Request, _ string, _ caller) error {
			s.Authority.ServeHTTP(w, r)
			return nil
		}})
	}
	if s.Phones {
		s.phones = dav.New(s.Store, s.Callers, s.explain)
	}
	if s.Office {
		s.office = office.New(service, s.explain)
		for _, path := range []string{"/", strings.TrimSuffix(site.Root, "/")} {
			s.add(route{method: "GET", path: path, handle: (*server).handleFront})
		}
	}
	return s
}
