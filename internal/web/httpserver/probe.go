package httpserver

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"strings"
	"time"
)

// Probe sends a request to an address, as a device does that trusts an authority. Without an authority
// (PEM), every certificate is valid. It returns the name of the program that the response states, or
// "", and an error if there is no response.
func Probe(ctx context.Context, url string, authority []byte) (program string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	config := &tls.Config{RootCAs: trusted, InsecureSkipVerify: authority == nil}
	transport := http.Transport{TLSClientConfig: config, DisableKeepAlives: true}
	response, err := transport.RoundTrip(request) // follows no redirect and uses no proxy
	if err != nil {
		return "", err
	}
	response.Body.Close()
	product, _, _ := strings.Cut(response.Header.Get("Server"), "/")
	return strings.Join(strings.Fields(product), " "), nil
}

// ProgramAt returns the name of the web server that uses a port of this computer, such as nginx, or "".
func ProgramAt(ctx context.Context, port string) string {
	secure, _ := Probe(ctx, "https://127.0.0.1:"+port, nil)
	plain, _ := Probe(ctx, "http://127.0.0.1:"+port, nil)
	return cmp.Or(secure, plain)
}
