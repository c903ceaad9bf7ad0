// Package httpserver runs an HTTP/1.1 server that faces a network, with limits, timeouts, certificate
// reloading and graceful shutdown.
package httpserver

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// maxHeaderBytes sets a limit of 64 KiB: net/http allows 4096 bytes more than MaxHeaderBytes.
const maxHeaderBytes = 64<<10 - 4096

// Config is the configuration of a Server.
type Config struct {
	CertFile, KeyFile string // PEM; the server uses HTTPS if they are set
	OtherFiles        int    // number of files that the program opens in addition to connections
	Log               *slog.Logger
}

// Server is an HTTP server, or an HTTPS server if it has a certificate.
type Server struct {
	http        *http.Server
	certificate *certificate          // nil for HTTP
	connections int                   // maximum number of open connections
	limit       atomic.Pointer[limit] // nil before Serve
	shutdown    time.Duration         // timeout
	log         *slog.Logger
}

// New returns a server. It returns an error if the certificate is unusable, and ErrFewFiles if the
// limit of open files leaves too few connections.
func New(config Config) (*Server, error) {
	connections, err := maxConnections(config.OtherFiles)
	if err != nil {
		return nil, err
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true) // few clients would gain from HTTP/2
	s := &Server{connections: connections, shutdown: 10 * time.Second, log: config.Log, http: &http.Server{
		Protocols:         protocols,
		ErrorLog:          log.New(errorLog{config.Log}, "", 0),
		MaxHeaderBytes:    maxHeaderBytes,
		ReadHeaderTimeout: 10 * time.Second, // or to complete the TLS handshake
		ReadTimeout:       30 * time.Second,
		// WriteTimeout starts after the headers. It exceeds ReadTimeout, so that a client whose body
		// does not arrive in time still gets a response.
		WriteTimeout:                 time.Minute,
		IdleTimeout:                  2 * time.Minute,
		DisableGeneralOptionsHandler: true, // the handler also answers OPTIONS *
	}}
	if config.CertFile != "" || config.KeyFile != "" {
		s.certificate, err = newCertificate(config.CertFile, config.KeyFile, config.Log)
	}
	return s, err
}

// Expires returns when the current certificate expires. It is the zero time for HTTP.
func (s *Server) Expires() time.Time {
	if s.certificate == nil {
		return time.Time{}
	}
	return s.certificate.current.Load().Leaf.NotAfter
}

// Connections returns the maximum number of open connections.
func (s *Server) Connections() int { return s.connections }

// Open returns the number of open connections.
func (s *Server) Open() int {
	if l := s.limit.Load(); l != nil {
		return len(l.slots)
	}
	return 0
}

// Serve serves requests on the listener until ctx ends. It then waits for requests in flight, up to a
// timeout, and closes the listener. If plain is not nil, Serve also serves HTTP there.
func (s *Server) Serve(ctx context.Context, listener, plain net.Listener, handler http.Handler) error {
	limit := newLimit(s.connections, s.http.ReadTimeout)
	s.limit.Store(limit)
	s.http.Handler, s.http.ConnState = handler, limit.setState
	listener = &limitListener{listener, limit}
	if s.certificate != nil {
		s.certificate.refresh() // logs warnings at startup
		config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: s.certificate.get}
		listener = tls.NewListener(listener, config)
	}
	stopped := make(chan error, 1)
	defer context.AfterFunc(ctx, func() {
		timeout, cancel := context.WithTimeout(context.Background(), s.shutdown)
		defer cancel()
		stopped <- errors.Join(s.http.Shutdown(timeout), s.http.Close())
	})()
	ended := make(chan error, 2)
	if plain != nil {
		go func() { ended <- s.http.Serve(&limitListener{plain, limit}) }()
	}
	go func() { ended <- s.http.Serve(listener) }()
	err := <-ended
	if !errors.Is(err, http.ErrServerClosed) {
		s.http.Close() // ends the other listener
		return fmt.Errorf("serving: %w", err)
	}
	if err := <-stopped; err != nil {
		s.log.Warn("the shutdown timeout cut off requests", "cause", err.Error())
	}
	return nil
}

// errorLog logs messages of net/http, except for failed TLS handshakes: every scanner, and every
// client that does not trust the certificate, causes them.
type errorLog struct{ log *slog.Logger }

func (l errorLog) Write(line []byte) (int, error) {
	if !bytes.HasPrefix(line, []byte("http: TLS handshake error")) {
		l.log.Warn(string(bytes.TrimSpace(line)))
	}
	return len(line), nil
}
