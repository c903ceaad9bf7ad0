package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io/fs"
	"net/http"

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

// The OpenAPI document and the files of the page that shows it. docs/openapi.json is generated from
// docs/openapi.yaml (see CONTRIBUTING.md).
var (
	//go:embed docs/openapi.json
	openAPIJSON []byte
	//go:embed docs/openapi.yaml
	openAPIYAML []byte
	//go:embed docs/openapi.html
	docsPage []byte
	//go:embed docs/openapi.css
	docsStyle []byte
	//go:embed docs/openapi.js
	docsScript []byte
)

// sendFile sends a static file, or returns the error to respond with.
type sendFile func(w http.ResponseWriter, r *http.Request) error

var (
	jsonDocument = send("application/json; charset=utf-8", openAPIJSON, httpapi.Compress)
	yamlDocument = send("application/yaml", openAPIYAML, httpapi.Compress)
)

// documentFiles returns the page that shows the document, its files, and a second path of the
// document, by path. The document does not describe them.
func documentFiles() map[string]sendFile {
	return map[string]sendFile{
		"/openapi.json":                    jsonDocument,
		docsPath:                           page("text/html", pack(docsPage)),
		docsPath + "/start.css":            page("text/css", pack(docsStyle)),
		docsPath + "/start.js":             page("text/javascript", pack(docsScript)),
		docsPath + "/swagger-ui-bundle.js": page("text/javascript", swaggerFile("swagger-ui-bundle.js.gz")),
		docsPath + "/swagger-ui.css":       page("text/css", swaggerFile("swagger-ui.css.gz")),
	}
}

// page sends a compressed file of the page.
func page(contentType string, packed []byte) sendFile {
	file := send(contentType+"; charset=utf-8", packed, httpapi.Unpack)
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Content-Security-Policy", docsPolicy)
		return file(w, r)
	}
}

// swaggerFile returns a file of Swagger UI, compressed with gzip.
func swaggerFile(name string) []byte {
	packed, err := fs.ReadFile(static.FS, name)
	if err != nil {
		panic(err) // the file is embedded
	}
	return packed
}

func pack(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(text) // a bytes.Buffer returns no errors
	z.Close()
	return b.Bytes()
}

// send sends a static file, encoded for the request by encode. The entity tag is weak, because the
// file may be sent with or without compression.
func send(contentType string, body []byte, encode func(http.Header, *http.Request, []byte) []byte) sendFile {
	etag := "W/" + httpapi.ETag(body)
	return func(w http.ResponseWriter, r *http.Request) error {
		h := w.Header()
		httpapi.VaryByEncoding(h)
		conditions, err := httpapi.ParseNoneMatch(r)
		if err != nil {
			return err
		}
		h["Etag"] = []string{etag}
		if err := conditions.CheckRead(etag); err != nil {
			return err
		}
		h.Set("Content-Type", contentType)
		httpapi.Respond(w, http.StatusOK, encode(h, r, body))
		return nil
	}
}
