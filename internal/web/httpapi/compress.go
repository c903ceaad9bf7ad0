package httpapi

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
)

// minCompressed is the minimum size to compress, in bytes. A smaller body fits into one packet.
const minCompressed = 1400

var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // a valid level
	return w
}}

// VaryByEncoding adds Accept-Encoding to the Vary header. A route that uses Compress must call it
// for all of its responses, also for those without a body (RFC 9110, section 15.4.5).
func VaryByEncoding(h http.Header) { addVary(h, "Accept-Encoding") }

// Compress returns the body in gzip and sets Content-Encoding if the request accepts gzip and the
// body is large enough. Otherwise it returns the body unchanged.
func Compress(h http.Header, r *http.Request, body []byte) []byte {
	if len(body) < minCompressed || !acceptsGzip(r.Header["Accept-Encoding"]) {
		return body
	}
	var packed bytes.Buffer
	packed.Grow(len(body) / 3)
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(&packed)
	z.Write(body) // a bytes.Buffer returns no errors
	z.Close()
	h.Set("Content-Encoding", "gzip")
	return packed.Bytes()
}

// Unpack is Compress for a body in gzip, which it decompresses if the request does not accept gzip.
func Unpack(h http.Header, r *http.Request, packed []byte) []byte {
	if acceptsGzip(r.Header["Accept-Encoding"]) {
		h.Set("Content-Encoding", "gzip")
		return packed
	}
	var body bytes.Buffer
	if z, err := gzip.NewReader(bytes.NewReader(packed)); err == nil { // embedded in the program, so it is valid
		io.Copy(&body, z)
	}
	return body.Bytes()
}

// CompressTo calls write with a writer to w, which compresses if the request accepts gzip. It sets
// Content-Encoding after everything is written, so w must buffer.
func CompressTo(h http.Header, r *http.Request, w io.Writer, write func(io.Writer) error) error {
	to := bufio.NewWriterSize(w, 32<<10)
	if !acceptsGzip(r.Header["Accept-Encoding"]) {
		return cmp.Or(write(to), to.Flush())
	}
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(to)
	err := cmp.Or(write(z), z.Close(), to.Flush())
	if err == nil {
		h.Set("Content-Encoding", "gzip")
	}
	return err
}

// acceptsGzip reports whether Accept-Encoding allows gzip (RFC 9110, section 12.5.3).
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
