package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// What stands between the network and the service, beside its keys.

// guard says who may come how often, how slowly and how many at once.
type guard struct {
	certFile, keyFile string // to serve HTTPS: both or neither
	rateLimit         int    // requests per second and key; 0 is no limit
	timeouts          timeouts
	connections       int      // at once
	origins           []string // of other sites' pages that may come

	certificate *certificate // read from the files; nil without them
}

// timeouts bound what a client takes its time with: sending its headers, all
// of its request, taking the answer, and thinking of the next one.
type timeouts struct{ headers, request, answer, idle time.Duration }

const maxRateLimit = 1_000_000

func newGuard() *guard {
	return &guard{
		connections: connectionLimit(),
		timeouts: timeouts{
			headers: 10 * time.Second,
			request: 30 * time.Second,
			answer:  60 * time.Second, // outlasts request, so that a body that stalls has an answer
			idle:    2 * time.Minute,
		},
	}
}

func guardFlags(flags *pflag.FlagSet) *guard {
	g := newGuard()
	flags.StringVar(&g.certFile, "tls-cert", "", "serve HTTPS with the certificate (PEM) in this `file`, and its chain")
	flags.StringVar(&g.keyFile, "tls-key", "", "the `file` with the private key (PEM) of --tls-cert")
	flags.IntVar(&g.rateLimit, "rate-limit", 0, "how many requests each key may send per second, twice as many at once; 0 is no limit")
	flags.StringSliceVar(&g.origins, "cors-origin", nil, "let pages from this `origin` use the API in a browser, as https://roster.example.org; may be repeated")
	return g
}

// prepare judges what the flags said and reads the certificate.
func (g *guard) prepare() (err error) {
	switch {
	case (g.certFile == "") != (g.keyFile == ""):
		return usage("--tls-cert and --tls-key go together", "firefighters serve --tls-cert cert.pem --tls-key key.pem")
	case g.rateLimit < 0 || g.rateLimit > maxRateLimit:
		return usage(fmt.Sprintf("--rate-limit takes 0 to %d, not %d", maxRateLimit, g.rateLimit), "firefighters serve --help")
	case checkOrigins(g.origins) != nil:
		return checkOrigins(g.origins)
	case g.certFile != "":
		g.certificate, err = newCertificate(g.certFile, g.keyFile)
	}
	return err
}

func (g *guard) scheme() string {
	if g.certificate != nil {
		return "https://"
	}
	return "http://"
}

// curlAddress is where curl reaches the service at addr: by a name that the
// certificate is for, and with that to trust if nobody else vouches for it.
func (g *guard) curlAddress(addr net.Addr) string {
	url := g.scheme() + reachable(addr)
	if g.certificate == nil {
		return url
	}
	leaf := g.certificate.current.Load().Leaf
	host, port, _ := net.SplitHostPort(reachable(addr))
	for _, name := range append([]string{host, "localhost"}, leaf.DNSNames...) {
		if !strings.Contains(name, "*") && leaf.VerifyHostname(name) == nil && (!isLoopback(addr) || namesLoopback(name)) {
			url = g.scheme() + net.JoinHostPort(name, port)
			break
		}
	}
	if bytes.Equal(leaf.RawIssuer, leaf.RawSubject) {
		url = "--cacert " + quoteArg(g.certFile) + " " + url
	}
	return url
}

// warn says what is dangerous in how the database at path is served.
func (g *guard) warn(p *program, addr net.Addr, path string) {
	if !isLoopback(addr) && g.certificate == nil {
		fmt.Fprintf(p.stderr, "\nWARNING: listening on %s without TLS. Everybody on the network between can read\n"+
			"the keys and the records, and use the keys.\n"+
			"Try: --tls-cert FILE --tls-key FILE, or --listen 127.0.0.1:8080 for this machine alone\n\n", addr)
	}
	path = resolve(path)
	p.warnOfReaders(0o077, path, path+"-wal", path+"-shm", path+"-lock")
	if g.keyFile != "" {
		p.warnOfReaders(0o007, g.keyFile) // a group may well share a certificate
	}
}

// warnOfReaders warns of files whose permissions are more than they should
// be, and leaves them alone: somebody may have meant it.
func (p *program) warnOfReaders(mask os.FileMode, paths ...string) {
	var open []string
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&mask != 0 && runtime.GOOS != "windows" {
			open = append(open, quoteArg(path))
		}
	}
	if len(open) > 0 {
		files := strings.Join(open, " ")
		fmt.Fprintf(p.stderr, "Warning: other users of this machine may read or write %s\nTry: chmod 600 %s\n", files, files)
	}
}

// guardBy tells a server what it has to see to itself.
func (s *server) guardBy(g *guard, addr net.Addr) {
	s.auth.limiter = newLimiter(g.rateLimit)
	s.origins = g.origins
	s.onlyLoopback = isLoopback(addr)
}

// httpServer is the server with its timeouts.
func (g *guard) httpServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:                      handler,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		ReadHeaderTimeout:            g.timeouts.headers,
		ReadTimeout:                  g.timeouts.request,
		WriteTimeout:                 g.timeouts.answer,
		IdleTimeout:                  g.timeouts.idle,
		DisableGeneralOptionsHandler: true,
	}
}

// serve serves what comes to listener until the server is shut down.
func (g *guard) serve(httpServer *http.Server, listener net.Listener, s *server) error {
	listener = newBoundedListener(listener, g.connections, httpServer, s.log)
	headers := securityHeaders
	if g.certificate != nil {
		refusal := func(p *problem) []byte { return s.rawAnswer(p, securityHeaders) }
		listener = tlsListener{listener, g.certificate.config(), g.timeouts.headers, refusal}
		headers += secureHeader
	}
	return httpServer.Serve(problemListener{listener, s, headers})
}

// securityHeaders go with every answer: a browser is to take it for data and
// nothing else, whatever page it was led here by.
const securityHeaders = "X-Content-Type-Options: nosniff\r\n" +
	"Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n" +
	"Referrer-Policy: no-referrer\r\n" +
	"Cross-Origin-Resource-Policy: same-origin\r\n" +
	"X-Frame-Options: DENY\r\n"

// secureHeader goes with them over TLS: a browser is not to try without.
const secureHeader = "Strict-Transport-Security: max-age=31536000\r\n"

func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// Misdirected Request is what RFC 9110 has for a host that this is not; 403
// is for keys that may not. A request without a Host is let in: a browser always
// sends one.
var errOtherHost = &problem{Status: http.StatusMisdirectedRequest,
	Detail: "This service listens on this machine alone, and answers to the hosts localhost and 127.0.0.1 only."}

// namesLoopback tells whether a Host header names this machine from within. A
// page of another site can have its own host's name lead here (DNS
// rebinding), and a browser that falls for it sends that name.
func namesLoopback(host string) bool {
	name := host
	if colon := strings.LastIndexByte(host, ':'); colon > strings.LastIndexByte(host, ']') {
		name = host[:colon]
		if strings.Trim(host[colon+1:], "0123456789") != "" {
			return false
		}
	}
	if inner, ok := strings.CutPrefix(name, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		return ok && err == nil && addr.Is6() && addr.IsLoopback()
	}
	name = strings.TrimSuffix(name, ".")
	if rest := len(name) - len("localhost"); rest >= 0 && strings.EqualFold(name[rest:], "localhost") {
		return rest == 0 || name[rest-1] == '.'
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}
