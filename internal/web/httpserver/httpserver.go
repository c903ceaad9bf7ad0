// Package httpserver runs an HTTP/1.1 server that faces a network: limits,
// timeouts, a certificate that is reloaded when its files change, and a
// shutdown that lets requests finish.
package httpserver

import (
	"bytes"
	"cmp"
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

// maxHeaderBytes makes the limit 64 KiB: net/http reads 4096 bytes more than
// its MaxHeaderBytes.
const maxHeaderBytes = 64<<10 - 4096

// Config is what a Server is made of.
type Config struct {
	CertFile, KeyFile string // PEM; the server speaks HTTPS if they are set
	OtherFiles        int    // how many files the program opens beside connections
	MaxConnections    int    // open at the same time; 0 is 4096, or what the limit of open files leaves
	Timeouts          Timeouts
	Log               *slog.Logger
}

// Timeouts limit how long a client may take. A field that is 0 has its default.
type Timeouts struct {
	ReadHeader time.Duration // to send the headers, or to complete the TLS handshake; 10 s
	Read       time.Duration // to send the whole request; 30 s
	Write      time.Duration // to take the response, from the end of the headers on; 60 s
	Idle       time.Duration // between two requests; 2 min
	Shutdown   time.Duration // for all requests in flight when the server stops; 10 s
}

// withDefaults returns t with no field 0. Write is longer than Read, so that a
// body that does not arrive in time still has a response.
func (t Timeouts) withDefaults() Timeouts {
	return Timeouts{
		ReadHeader: cmp.Or(t.ReadHeader, 10*time.Second),
		Read:       cmp.Or(t.Read, 30*time.Second),
		Write:      cmp.Or(t.Write, time.Minute),
		Idle:       cmp.Or(t.Idle, 2*time.Minute),
		Shutdown:   cmp.Or(t.Shutdown, 10*time.Second),
	}
}

// Server serves HTTP, or HTTPS if it has a certificate.
type Server struct {
	config      Config
	certificate *certificate // nil for HTTP
}

// New returns a server. It reads the certificate, and refuses one that cannot be used,
// naming its files. The error is ErrFewFiles where there are too few connections.
func New(config Config) (*Server, error) {
	config.Timeouts = config.Timeouts.withDefaults()
	if config.MaxConnections == 0 {
		var err error
		if config.MaxConnections, err = connectionsBeside(config.OtherFiles); err != nil {
			return nil, err
		}
	}
	s := &Server{config: config}
	if config.CertFile == "" && config.KeyFile == "" {
		return s, nil
	}
	var err error
	s.certificate, err = newCertificate(config.CertFile, config.KeyFile, config.Log)
	return s, err
}

// Serve answers what arrives at the listener until ctx ends, then lets the
// requests in flight finish, and closes the listener.
func (s *Server) Serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	limited := newLimitListener(listener, s.config.MaxConnections, s.config.Timeouts.Read)
	server := s.httpServer(handler)
	server.ConnState = limited.setState
	stopped := make(chan error, 1)
	defer context.AfterFunc(ctx, func() { stopped <- s.shutDown(server) })()
	err := s.serve(server, limited)
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	if err := <-stopped; err != nil {
		s.config.Log.Warn("requests were cut off", "cause", err.Error())
	}
	return nil
}

// httpServer returns the server with its limits. HTTP/2 is not offered: few
// clients would gain from it.
func (s *Server) httpServer(handler http.Handler) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	timeouts := s.config.Timeouts
	return &http.Server{
		Handler:                      handler,
		Protocols:                    protocols,
		ErrorLog:                     log.New(errorLog{s.config.Log}, "", 0),
		MaxHeaderBytes:               maxHeaderBytes,
		ReadHeaderTimeout:            timeouts.ReadHeader,
		ReadTimeout:                  timeouts.Read,
		WriteTimeout:                 timeouts.Write,
		IdleTimeout:                  timeouts.Idle,
		DisableGeneralOptionsHandler: true, // OPTIONS * is the handler's too
	}
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

func (s *Server) serve(server *http.Server, listener net.Listener) error {
	if s.certificate == nil {
		return server.Serve(listener)
	}
	s.certificate.refresh() // so that the log has warnings before the first client comes
	server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.certificate.get}
	return server.ServeTLS(listener, "", "")
}

// shutDown lets requests in flight finish, and cuts them off at the time limit.
func (s *Server) shutDown(server *http.Server) error {
	limit, cancel := context.WithTimeout(context.Background(), s.config.Timeouts.Shutdown)
	defer cancel()
	return errors.Join(server.Shutdown(limit), server.Close())
}
