package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"
)

const serveHelp = `Usage: firefighters [serve] [flags]

Serves the API until it is told to stop (Ctrl-C), and then finishes what it has
begun. Where there is no database it makes one, with a department "default" and
a key for it, which it shows this once.

  firefighters serve --db /var/lib/firefighters/firefighters.db --listen 127.0.0.1:8080
  firefighters serve --listen 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem --rate-limit 50
  firefighters serve --db /var/lib/firefighters/firefighters.db --backup-dir /mnt/backup/firefighters

Listening on this machine alone, as it does unless told otherwise, it answers
only to the hosts localhost and 127.0.0.1. Whoever lets others in by the network
should give it a certificate; one that is renewed is used within seconds.

With --backup-dir it saves the database there by itself, as
firefighters-20261120T093000Z.db, and leaves a tenth of that disk free.

Flags:
`

const (
	firstDepartment = "default"
	shutdownLimit   = 10 * time.Second // for requests in flight
)

func (p *program) serve(args []string) error {
	flags := p.flags("serve", serveHelp)
	db, listen, g, planned := dbFlag(flags), listenFlag(flags), guardFlags(flags), backupFlags(flags)
	if err := p.parse(flags, args, 0); err != nil {
		return err
	}
	plan, err := planned()
	if err != nil {
		return err
	}
	return adviseRestore(p.serveDatabase(serveOptions{*db, *listen, g, plan}, p.announceFirst), *db, plan.dir)
}

// serveOptions is what a server is told.
type serveOptions struct {
	db, listen string
	guard      *guard
	backups    backupPlan
}

// serveDatabase opens the database, makes it ready to be served by prepare,
// which is told where as curl takes it, and serves it.
func (p *program) serveDatabase(set serveOptions, prepare func(s *store, url string) error) error {
	db, listen, g := set.db, set.listen, set.guard
	_, port, err := net.SplitHostPort(listen)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return usage(fmt.Sprintf("--listen takes an address and a port, not %q", listen),
			"firefighters serve --listen 127.0.0.1:8080")
	}
	if err := g.prepare(); err != nil {
		return err
	}
	if err := inspect(resolve(db)); err != nil && !errors.Is(err, errNoDatabase) {
		return err
	}
	// Whoever connects from now on waits until the database is ready.
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return cannotListen(db, listen, err)
	}
	defer listener.Close()
	if err := p.upgrade(db); err != nil {
		return err
	}
	release, err := lockDatabase(db)
	if err != nil {
		return err
	}
	defer release()
	if err := cmp.Or(undoRestore(resolve(db)), oneName(resolve(db))); err != nil {
		return err
	}
	p.warnOfPlace(db)
	p.warnOfBackups(db, set.backups.dir)
	p.warnOfBackupDir(set.backups.dir)
	return p.useStore(db, true, func(s *store) error {
		if err := s.saveClock(); err != nil {
			return explain("writing to", db, err)
		}
		url := g.scheme() + reachable(listener.Addr())
		if err := prepare(s, g.curlAddress(listener.Addr())); err != nil {
			return err
		}
		g.warn(p, listener.Addr(), db)
		return p.serveStore(s, listener, set, "Listening on "+url)
	})
}

// cannotListen says why, above all if it is because the database is served
// already.
func cannotListen(db, listen string, err error) error {
	host, port, _ := net.SplitHostPort(listen)
	next := "8081"
	if port == next {
		next = "8082"
	}
	hint := fmt.Sprintf("another port: firefighters serve --db %s --listen %s", quoteArg(db), net.JoinHostPort(host, next))
	if addressInUse(err) {
		if exists(resolve(db) + "-lock") {
			release, err := lockDatabase(db)
			if err != nil {
				return err
			}
			release()
		}
		return hinted{fmt.Errorf("port %s is used by another program", port), hint}
	}
	var inner *net.OpError
	if errors.As(err, &inner) { // its own text names the address again
		err = inner.Err
	}
	return hinted{fmt.Errorf("cannot listen on %s: %w", listen, err), hint}
}

// addressInUse tells whether somebody else listens there; Windows has a
// number of its own for that.
func addressInUse(err error) bool {
	const wsaAddressInUse = syscall.Errno(10048)
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, wsaAddressInUse)
}

// announceFirst gives a database that has no department yet its first one,
// and says how to use its key.
func (p *program) announceFirst(s *store, url string) error {
	fresh, err := s.isEmpty()
	if err != nil || !fresh {
		return err
	}
	return p.announceKey(s, firstDepartment, url)
}

// announceKey makes a key for a department and says how to use it.
func (p *program) announceKey(s *store, tenantName, url string) error {
	err := s.createKey(tenantName, "first key", scopeWrite, time.Time{}, func(key string) error {
		return p.println(fmt.Sprintf("The first key of the department %q, shown this once:\n\n  %s\n\nTry:\n\n"+
			"  curl -H \"Authorization: Bearer %s\" %s/api/v1/firefighters\n", tenantName, key, key, url))
	})
	if err != nil {
		return fmt.Errorf("making the first key: %w", err)
	}
	return nil
}

// reachable is addr, or loopback where addr means every address.
func reachable(addr net.Addr) string {
	host, port, _ := net.SplitHostPort(addr.String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// The garbage collector may let the heap grow to five times what is in use,
// for most of it is requests that are done, but not beyond heapLimit.
const (
	heapGrowth = 400 // percent
	heapLimit  = 96 << 20
)

// serveStore serves until the program is told to stop, and then lets the
// requests in flight finish. It says so by ready.
func (p *program) serveStore(s *store, listener net.Listener, set serveOptions, ready string) error {
	debug.SetGCPercent(heapGrowth)
	debug.SetMemoryLimit(heapLimit)
	log := newLogger(p.stderr)
	handler := newServer(s, log)
	g := set.guard
	handler.guardBy(g, listener.Addr())
	httpServer := g.httpServer(handler, log)
	var watching sync.WaitGroup
	watch, stopWatching := context.WithCancel(context.Background())
	watching.Go(func() { handler.auth.watch(watch) })
	watching.Go(func() { handler.auth.record(watch) })
	watching.Go(func() {
		handler.auth.every(watch, clearInterval, "old answers could not be erased", func() error { return s.clearAnswers(watch) })
	})
	s.scrub(watch, log, watching.Go)
	if g.certificate != nil {
		watching.Go(func() { g.certificate.watch(watch, log) })
	}
	if set.backups.dir != "" {
		handler.backups = newBackupKeeper(set.backups, set.db, s.clock, log)
		watching.Go(func() { handler.backups.run(watch) })
	}
	defer func() {
		stopWatching()
		watching.Wait()
		if err := errors.Join(handler.auth.writeUses(), s.saveClock()); err != nil {
			log.Warn("the last use of keys and the time could not be written", "cause", err.Error())
		}
	}()
	if err := p.println(ready); err != nil {
		return err
	}

	stopped := make(chan error, 1)
	context.AfterFunc(p.ctx, func() {
		limit, cancel := context.WithTimeout(context.Background(), shutdownLimit)
		defer cancel()
		stopped <- errors.Join(httpServer.Shutdown(limit), httpServer.Close())
	})
	if err := g.serve(httpServer, listener, handler); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	if err := <-stopped; err != nil {
		log.Warn("requests were cut off", "cause", err.Error())
	}
	return nil
}

// isTerminal tells whether there is a person at the other end of a stream.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// newLogger writes text for people at a terminal, JSON otherwise.
func newLogger(stderr io.Writer) *slog.Logger {
	if isTerminal(stderr) {
		return slog.New(slog.NewTextHandler(stderr, nil))
	}
	return slog.New(slog.NewJSONHandler(stderr, nil))
}
