package main

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"firefighters/internal/record"
)

// How requests are read and answers sent.

// readBody reads the body of a create or replace request.
func readBody(r *http.Request) ([]byte, error) {
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, &problem{Status: http.StatusUnsupportedMediaType,
			Detail: "The body must be of Content-Type application/json."}
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, &problem{Status: http.StatusUnsupportedMediaType, Detail: "The body must not be compressed."}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, record.BodyError("The body could not be read to its end.")
	}
	if len(body) > maxBody {
		return nil, &problem{Status: http.StatusRequestEntityTooLarge,
			Detail: fmt.Sprintf("The body may have at most %d bytes.", maxBody)}
	}
	return body, nil
}

// fieldsOf decodes a body.
func (s *server) fieldsOf(body []byte) (record.Fields, error) {
	return record.Decode(body, s.store.clock.now())
}

// isJSON takes an absent type for JSON, and no character set but UTF-8.
func isJSON(contentType string) bool {
	if contentType == "" {
		return true
	}
	mediaType, params, err := mime.ParseMediaType(contentType)
	charset, given := params["charset"]
	return err == nil && mediaType == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}

// respond sends a body that is complete, so that no failure can follow the
// status.
func respond(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body) // an error means that the client has gone
}

// harmlessID tells whether a request id may stand in a log and in a header.
func harmlessID(id string) bool {
	const harmless = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
	return id != "" && len(id) <= 64 && strings.Trim(id, harmless) == ""
}

// headerSize is the size of the headers as they were sent, or nearly, with what
// the request line asks for.
func headerSize(r *http.Request) int {
	size := len(r.RequestURI) + len(r.Host)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(": \r\n") + len(value)
		}
	}
	return size
}
