package main

import (
	"embed"
	"net/http"
	"sync"

	"github.com/swaggest/swgui/v5/static"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

const (
	documentPath = "/api/v1/openapi.json"
	// docsPath is the path of the page that shows the document, and the prefix of the page's files.
	docsPath = "/docs"
	// docsPolicy is the Content-Security-Policy of the page. The page loads everything from its own
	// origin and has no inline scripts or styles. Its style sheet contains inline images.
	docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// documentLinks is a Link header to the OpenAPI document (RFC 8631) and to the page that shows it.
var documentLinks = http.Header{"Link": {
	"<" + documentPath + `>; rel="service-desc"; type="application/json"`,
	"<" + docsPath + `>; rel="service-doc"; type="text/html"`,
}}

// docsFiles holds the OpenAPI document and the files of the page that shows it. docs/openapi.json is
// generated from docs/openapi.yaml (see CONTRIBUTING.md).
//
//go:embed docs/openapi.*
var docsFiles embed.FS

// sendFile sends a static file, or returns the error to respond with.
type sendFile func(w http.ResponseWriter, r *http.Request) error

var (
	jsonDocument = send("application/json; charset=utf-8", docsFiles, "docs/openapi.json", httpapi.Compress)
	yamlDocument = send("application/yaml", docsFiles, "docs/openapi.yaml", httpapi.Compress)
)

// documentFiles returns the page that shows the document, its files, and a second path of the
// document, by path. The document does not describe them.
func documentFiles() map[string]sendFile {
	return map[string]sendFile{
		"/openapi.json":                    jsonDocument,
		docsPath:                           page("text/html", docsFiles, "docs/openapi.html", httpapi.Compress),
		docsPath + "/start.css":            page("text/css", docsFiles, "docs/openapi.css", httpapi.Compress),
		docsPath + "/start.js":             page("text/javascript", docsFiles, "docs/openapi.js", httpapi.Compress),
		docsPath + "/swagger-ui-bundle.js": page("text/javascript", static.FS, "swagger-ui-bundle.js.gz", httpapi.Unpack),
		docsPath + "/swagger-ui.css":       page("text/css", static.FS, "swagger-ui.css.gz", httpapi.Unpack),
	}
}

// page sends a file of the page.
func page(contentType string, files embed.FS, name string, encode encoding) sendFile {
	file := send(contentType+"; charset=utf-8", files, name, encode)
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Content-Security-Policy", docsPolicy)
		return file(w, r)
	}
}

// encoding encodes a file for a request and sets Content-Encoding.
type encoding func(h http.Header, r *http.Request, file []byte) []byte

// send sends an embedded file, read when a request needs it. The entity tag is weak, because the file
// may be sent with or without compression.
func send(contentType string, files embed.FS, name string, encode encoding) sendFile {
	read := func() []byte {
		file, err := files.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		return file
	}
	etag := sync.OnceValue(func() string { return "W/" + httpapi.ETag(read()) })
	return func(w http.ResponseWriter, r *http.Request) error {
		h := w.Header()
		httpapi.VaryByEncoding(h)
		conditions, err := httpapi.ParseNoneMatch(r)
		if err != nil {
			return err
		}
		h["Etag"] = []string{etag()}
		if err := conditions.CheckRead(etag()); err != nil {
			return err
		}
		h.Set("Content-Type", contentType)
		httpapi.Respond(w, http.StatusOK, encode(h, r, read()))
		return nil
	}
}
