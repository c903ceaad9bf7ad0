package main

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// worthCompressing is the size of a body from which on the network gains more
// than the processor loses: what fits into one packet does not travel faster.
const worthCompressing = 1400 // bytes

var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // a level that there is
	return w
}}

var varyEncoding = []string{"Accept-Encoding"} // shared by all answers

// varies says that an answer may be compressed, which those without a body say
// as well (RFC 9110, section 15.4.5).
func varies(w http.ResponseWriter) {
	w.Header()["Vary"] = append(w.Header()["Vary"], varyEncoding...)
}

// compressed gives the body as the request takes it. Whoever calls it has said
// that the answer varies.
func compressed(w http.ResponseWriter, r *http.Request, body []byte) []byte {
	if len(body) < worthCompressing || !acceptsGzip(r.Header["Accept-Encoding"]) {
		return body
	}
	var packed bytes.Buffer
	packed.Grow(len(body) / 3)
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(&packed)
	z.Write(body) // to memory: it cannot fail
	z.Close()
	w.Header().Set("Content-Encoding", "gzip")
	return packed.Bytes()
}

// acceptsGzip reads Accept-Encoding (RFC 9110, section 12.5.3): what names gzip
// itself goes before what names everything.
func acceptsGzip(headers []string) bool {
	named, any := -1.0, -1.0
	for _, header := range headers {
		for item := range strings.SplitSeq(header, ",") {
			coding, weight, _ := strings.Cut(item, ";")
			q := 1.0
			if _, text, ok := strings.Cut(strings.ToLower(weight), "q="); ok {
				q, _ = strconv.ParseFloat(strings.TrimSpace(text), 64) // what is no number is 0
			}
			switch strings.ToLower(strings.TrimSpace(coding)) {
			case "gzip", "x-gzip":
				named = q
			case "*":
				any = q
			}
		}
	}
	return named > 0 || named < 0 && any > 0
}
