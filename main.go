// Firefighters keeps the personnel records of fire departments: an HTTP JSON
// API over one SQLite file, in one program.
//
// Without a command it serves. firefighters --help lists the commands, each
// command explains itself with --help, and README.md has the rest.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/exchange"
	"github.com/firefighter-records/firefighters/internal/commands/invite"
	"github.com/firefighter-records/firefighters/internal/commands/manage"
	"github.com/firefighter-records/firefighters/internal/commands/manual"
	"github.com/firefighter-records/firefighters/internal/commands/service"
	"github.com/firefighter-records/firefighters/internal/host/managers"
)

func main() {
	if managers.RunAsService(os.Args[1:], hosted) {
		return
	}
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as it is under nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, func() {
		signal.Ignore(syscall.SIGHUP) // a terminal that is closed sends more than one
		stop()                        // another signal of the others ends the program at once
	})
	signal.Ignore(syscall.SIGPIPE) // a closed log is an error, not the end
	env := cli.Env{Context: ctx, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, ServiceDB: managers.Host{}.Database}
	err := runIn(env, os.Args[1:])
	code := make(chan int, 1)
	go func() { code <- cli.PrintError(err, os.Stderr) }()
	select {
	case c := <-code:
		os.Exit(c)
	case <-time.After(5 * time.Second): // nobody reads standard error
		os.Exit(1)
	}
}

// hosted runs the service for a service manager that wants to be told the end.
func hosted(ctx context.Context, log io.Writer) int {
	return cli.PrintError(run(ctx, os.Args[1:], strings.NewReader(""), io.Discard, log), log)
}

// run runs the command that args name. It returns when the command is done
// or, for a server, when ctx ends.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	return runIn(cli.Env{Context: ctx, Stdin: stdin, Stdout: stdout, Stderr: stderr}, args)
}

func runIn(env cli.Env, args []string) error {
	env.WarnOfVariables(strings.Fields(variables))
	return cli.Run(env, args, func(env cli.Env, args []string) error {
		switch {
		case len(args) > 0 && (args[0] == "--version" || args[0] == "-v"):
			args = append([]string{"version"}, args[1:]...)
		case len(args) == 0 || strings.HasPrefix(args[0], "-") && !cli.IsHelp(args[0]) || cli.LooksLikeFile(args[0]):
			args = append([]string{"serve"}, args...)
		}
		return env.Dispatch("", mainHelp(), commands(), args)
	})
}

// variables are the flags of all commands that may stand in the environment.
// The examples of docs/api.md use FIREFIGHTERS_KEY and FIREFIGHTERS_URL.
const variables = "backup-dir backup-every backup-keep cors-origin dates db departments desc encoding expires format id json key label " +
	"listen map name no-office output people rate-limit report scope search sheet since sort tenant tls-cert tls-key tls-self-signed url"

// program is what the commands are handed.
var program = manage.Program{Database: schema}

// commands are all commands: serve, and the others by name.
func commands() []cli.Command {
	exchanges := exchange.Program{WithStore: schema.With}
	setups := service.Program{Content: schema.Content(), Serve: newServiceServing, Manager: managers.NewManager(os.Getenv)}
	invitations := invite.Program{WithStore: schema.With, Fault: setups.Fault}
	manuals := manual.Program{All: commands, Help: mainHelp, Default: "serve"}
	others := slices.Concat(program.Commands(), invitations.Commands(), exchanges.Commands(), setups.Commands(), manuals.Commands())
	others = append(others, service.CertCommand(), cli.Command{Name: "demo", Also: "try", Summary: "serves invented people, to try it out", Run: demonstrate})
	slices.SortFunc(others, func(a, b cli.Command) int { return strings.Compare(a.Name, b.Name) })
	return append([]cli.Command{{Name: "serve", Also: "start run server", Summary: "serves the API", Run: serve}}, others...)
}

func mainHelp() string {
	return `Usage: firefighters [command] [flags]

Keeps the personnel records of fire departments in one file and serves them
over HTTP. Without a command it serves.

  firefighters                          serves firefighters.db, which it makes if it is not there
  firefighters keys create --tenant "Engine 7"
  firefighters version

Commands:
` + cli.CommandList(commands()) + `
Each has more to say: firefighters serve --help
`
}
