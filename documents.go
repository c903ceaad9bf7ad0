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
	// docsPath is the address of the page that shows the document. Its other files are below.
	docsPath = "/docs"
	// docsPolicy is the Content-Security-Policy of the page. The page talks to its own origin only,
	// and has no inline scripts or styles. Its style sheet has inline pictures.
	docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// toDocument is the Header of a response that leads to the document (RFC 8631) and to the page
// that shows it.
var toDocument = http.Header{"Link": {
	"<" + documentPath + `>; rel="service-desc"; type="application/json"`,
	"<" + docsPath + `>; rel="service-doc"; type="text/html"`,
}}

// The OpenAPI document of the service, and the page that shows it with a field for the key and a
// form to try each operation. docs/openapi.yaml is written by hand, docs/openapi.json is generated
// from it (CONTRIBUTING.md).
var (
	//go:embed docs/openapi.json
	openAPIJSON []byte
	//go:embed docs/openapi.yaml
	openAPIYAML []byte
	//go:embed docs/openapi.html
	docsPage []byte
	//go:embed docs/openapi.js
	docsScript []byte
)

// addDocuments adds a second address of the document and the page that shows it. They are not
// operations of the API, so the document does not have them.
func (s *server) addDocuments() {
	s.add(route{method: "GET", path: "/openapi.json", handle: serveDocument("application/json; charset=utf-8", openAPIJSON)})
	for _, f := range []struct {
		path, contentType string
		packed            []byte
	}{
		{docsPath, "text/html", pack(docsPage)},
		{docsPath + "/start.js", "text/javascript", pack(docsScript)},
		{docsPath + "/swagger-ui-bundle.js", "text/javascript", swaggerFile("swagger-ui-bundle.js.gz")},
		{docsPath + "/swagger-ui.css", "text/css", swaggerFile("swagger-ui.css.gz")},
	} {
		serve := serveFile(f.contentType+"; charset=utf-8", f.packed, httpapi.Unpack)
		s.add(route{method: "GET", path: f.path, handle: func(s *server, w http.ResponseWriter, r *http.Request, id string, c caller) error {
			w.Header().Set("Content-Security-Policy", docsPolicy)
			return serve(s, w, r, id, c)
		}})
	}
}

// swaggerFile returns a file of Swagger UI, in gzip.
func swaggerFile(name string) []byte {
	packed, err := fs.ReadFile(static.FS, name)
	if err != nil {
		panic(err) // it is in the program
	}
	return packed
}

func pack(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(text) // to memory: it cannot fail
	z.Close()
	return b.Bytes()
}

func serveDocument(contentType string, body []byte) handler {
	return serveFile(contentType, body, httpapi.Compress)
}

// serveFile answers with a file that is part of the program, as encode returns it for the
// request. Its entity tag is weak, because it may be sent compressed or not.
func serveFile(contentType string, body []byte, encode func(http.Header, *http.Request, []byte) []byte) handler {
	etag := "W/" + httpapi.ETag(body)
	return func(_ *server, w http.ResponseWriter, r *http.Request, _ string, _ caller) error {
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
