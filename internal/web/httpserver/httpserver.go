// Package httpserver runs an HTTP/1.1 server that faces a network: limits,
// timeouts, a certificate that is reloaded when its files change, and a
// shutdown that lets requests finish.
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

// maxHeaderBytes makes the limit 64 KiB: net/http reads 4096 bytes more than
// its MaxHeaderBytes.
const maxHeaderBytes = 64<<10 - 4096

// Config is what a Server is made of.
type Config struct {
	CertFile, KeyFile string // PEM; the server speaks HTTPS if they are set
	OtherFiles        int    // how many files the program opens beside connections
	Log               *slog.Logger
}

// Server serves HTTP, or HTTPS if it has a certificate.
type Server struct {
	http        *http.Server          // with the limits of a request
	certificate *certificate          // nil for HTTP
	connections int                   // open at the same time, at most
	limit       atomic.Pointer[limit] // of the connections; nil before Serve
	shutdown    time.Duration
	log         *slog.Logger
}

// New returns a server. It reads the certificate, and refuses one that cannot be used,
// naming its files. The error is ErrFewFiles where there are too few connections.
func New(config Config) (*Server, error) {
	connections, err := connectionsBeside(config.OtherFiles)
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
		// From the end of the headers on. It is longer than ReadTimeout, so that a body that
		// does not arrive in time still has a response.
		WriteTimeout:                 time.Minute,
		IdleTimeout:                  2 * time.Minute,
		DisableGeneralOptionsHandler: true, // OPTIONS * is the handler's too
	}}
	if config.CertFile != "" || config.KeyFile != "" {
		s.certificate, err = newCertificate(config.CertFile, config.KeyFile, config.Log)
	}
	return s, err
}

// Expires returns the time at which the certificate expires that clients are shown. It is
// zero for HTTP.
func (s *Server) Expires() time.Time {
	if s.certificate == nil {
		return time.Time{}
	}
	return s.certificate.current.Load().Leaf.NotAfter
}

// Connections returns how many connections may be open at the same time.
func (s *Server) Connections() int { return s.connections }

// Open returns how many connections are open.
func (s *Server) Open() int {
	if l := s.limit.Load(); l != nil {
		return len(l.slots)
	}
	return 0
}

// Serve answers what arrives at the listener until ctx ends, then lets the
// requests in flight finish, and closes the listener. It does the same with plain, unless
// that is nil, and speaks HTTP there whether or not there is a certificate.
func (s *Server) Serve(ctx context.Context, listener, plain net.Listener, handler http.Handler) error {
	limit := newLimit(s.connections, s.http.ReadTimeout)
	s.limit.Store(limit)
	s.http.Handler, s.http.ConnState = handler, limit.setState
	listener = &limitListener{listener, limit}
	if s.certificate != nil {
		s.certificate.refresh() // so that the log has warnings before the first client comes
		config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: s.certificate.get}
		listener = tls.NewListener(listener, config)
	}
	stopped := make(chan error, 1)
	defer context.AfterFunc(ctx, func() { stopped <- s.shutDown() })()
	ended := make(chan error, 2)
	if plain != nil {
		go func() { ended <- s.http.Serve(&limitListener{plain, limit}) }()
	}
	go func() { ended <- s.http.Serve(listener) }()
	err := <-ended
	if !errors.Is(err, http.ErrServerClosed) {
		s.http.Close() // ends the other one
		return fmt.Errorf("serving: %w", err)
	}
	if err := <-stopped; err != nil {
		s.log.Warn("requests were cut off", "cause", err.Error())
	}
	return nil
}

// errorLog logs what net/http reports. It drops TLS handshakes that failed: each
// scanner and each client without trust in the certificate causes them.
type errorLog struct{ log *slog.Logger }

func (l errorLog) Write(line []byte) (int, error) {
	if !bytes.HasPrefix(line, []byte("http: TLS handshake error")) {
		l.log.Warn(string(bytes.TrimSpace(line)))
	}
	return len(line), nil
}

// shutDown lets requests in flight finish, and cuts them off at the time limit.
func (s *Server) shutDown() error {
	limit, cancel := context.WithTimeout(context.Background(), s.shutdown)
	defer cancel()
	return errors.Join(s.http.Shutdown(limit), s.http.Close())
}
