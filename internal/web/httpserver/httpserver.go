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
	"time"
)

// maxHeaderBytes sets a limit of 64 KiB: net/http allows 4096 bytes more than MaxHeaderBytes.
const maxHeaderBytes = 64<<10 - 4096

// Config is the configuration of a Server.
type Config struct {
	CertFile, KeyFile string  // PEM; the server uses HTTPS if they are set
	OtherFiles        int     // number of files that the program opens in addition to connections
	Beside            *Server // another server of the program, which shares its limit of connections; may be nil
	Log               *slog.Logger
}

// Server is an HTTP server, or an HTTPS server if it has a certificate.
type Server struct {
	http        *http.Server
	certificate *certificate // nil for HTTP
	limit       *limit
	shutdown    time.Duration // timeout
	log         *slog.Logger
}

// New returns a server. It returns an error if the certificate is unusable, and ErrFewFiles if the
// limit of open files leaves too few connections.
func New(config Config) (*Server, error) {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true) // few clients would gain from HTTP/2
	s := &Server{shutdown: 10 * time.Second, log: config.Log, http: &http.Server{
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
	if config.Beside != nil {
		s.limit = config.Beside.limit
	} else {
		connections, err := maxConnections(config.OtherFiles)
		if err != nil {
			return nil, err
		}
		s.limit = newLimit(connections, s.http.ReadTimeout)
	}
	if config.CertFile != "" || config.KeyFile != "" {
		certificate, err := newCertificate(config.CertFile, config.KeyFile, config.Log)
		if err != nil {
			return nil, err
		}
		s.certificate = certificate
	}
	return s, nil
}

// Expires returns when the current certificate expires. It is the zero time for HTTP.
func (s *Server) Expires() time.Time {
	if s.certificate == nil {
		return time.Time{}
	}
	return s.certificate.current.Load().Leaf.NotAfter
}

// Connections returns the maximum number of open connections.
func (s *Server) Connections() int { return cap(s.limit.slots) }

// Open returns the number of open connections.
func (s *Server) Open() int { return len(s.limit.slots) }

// Serve serves requests on the listener until ctx ends. It then waits for requests in flight, up to a
// timeout, and closes the listener. If plain is not nil, Serve also serves HTTP there.
func (s *Server) Serve(ctx context.Context, listener, plain net.Listener, handler http.Handler) error {
	s.http.Handler, s.http.ConnState = handler, s.limit.setState
	listener = limited(listener, s.limit)
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
		go func() { ended <- s.http.Serve(limited(plain, s.limit)) }()
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
