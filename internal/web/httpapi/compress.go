package httpapi

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
)

// minCompressed is the size in bytes from which on a body is compressed. A
// smaller one fits into one packet as it is.
const minCompressed = 1400

var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // a valid level
	return w
}}

// VaryByEncoding says that the response depends on Accept-Encoding. A route
// whose bodies go through Compress says so in each of its responses, also in
// those without a body (RFC 9110, section 15.4.5).
func VaryByEncoding(h http.Header) { addVary(h, "Accept-Encoding") }

// Compress returns the body in gzip if the request accepts that and the body
// is large enough, and sets Content-Encoding accordingly.
func Compress(h http.Header, r *http.Request, body []byte) []byte {
	if len(body) < minCompressed || !acceptsGzip(r.Header["Accept-Encoding"]) {
		return body
	}
	var packed bytes.Buffer
	packed.Grow(len(body) / 3)
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(&packed)
	z.Write(body) // to memory: it cannot fail
	z.Close()
	h.Set("Content-Encoding", "gzip")
	return packed.Bytes()
}

// Unpack returns a body that is in gzip as the request accepts it, and sets Content-Encoding
// accordingly.
func Unpack(h http.Header, r *http.Request, packed []byte) []byte {
	if acceptsGzip(r.Header["Accept-Encoding"]) {
		h.Set("Content-Encoding", "gzip")
		return packed
	}
	var body bytes.Buffer
	if z, err := gzip.NewReader(bytes.NewReader(packed)); err == nil { // it is one of the program's own
		io.Copy(&body, z)
	}
	return body.Bytes()
}

// CompressTo hands write a writer of a body, which goes on to w: in gzip if the
// request accepts that. It sets Content-Encoding when all is written.
func CompressTo(h http.Header, r *http.Request, w io.Writer, write func(io.Writer) error) error {
	to := bufio.NewWriterSize(w, 32<<10)
	if !acceptsGzip(r.Header["Accept-Encoding"]) {
		if err := write(to); err != nil {
			return err
		}
		return to.Flush()
	}
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(to)
	if err := write(z); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := to.Flush(); err != nil {
		return err
	}
	h.Set("Content-Encoding", "gzip")
	return nil
}

// acceptsGzip reports whether a client accepts gzip, by its Accept-Encoding (RFC 9110,
// section 12.5.3): it names gzip, and with no weight of 0.
func acceptsGzip(values []string) bool {
	for item := range strings.SplitSeq(strings.ToLower(strings.Join(values, ",")), ",") {
		coding, parameter, _ := strings.Cut(item, ";")
		if strings.TrimSpace(coding) == "gzip" {
			_, weight, weighted := strings.Cut(parameter, "q=")
			return !weighted || strings.Trim(weight, "0. ") != ""
		}
	}
	return false
}
