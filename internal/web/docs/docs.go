// Package docs is the page /docs: the document of the API, with a field for the key, and
// a form to try each operation. It is Swagger UI, and all of it is in the program.
package docs

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io/fs"

	"github.com/swaggest/swgui/v5/static"
)

// Path is the address of the page. Its other files are below.
const Path = "/docs"

// Policy is the Content-Security-Policy of the page. It talks to its own origin alone, and
// has neither scripts nor styles within it. Its style sheet has pictures within it.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed page.html
var page []byte

//go:embed start.js
var start []byte

// File is a file of the page, in gzip.
type File struct {
	Path, Type string
	Packed     []byte
}

// Files returns all files of the page.
func Files() []File {
	return []File{
		{Path, "text/html; charset=utf-8", pack(page)},
		{Path + "/start.js", "text/javascript; charset=utf-8", pack(start)},
		{Path + "/swagger-ui-bundle.js", "text/javascript; charset=utf-8", packed("swagger-ui-bundle.js.gz")},
		{Path + "/swagger-ui.css", "text/css; charset=utf-8", packed("swagger-ui.css.gz")},
	}
}

// packed returns a file of Swagger UI.
func packed(name string) []byte {
	text, err := fs.ReadFile(static.FS, name)
	if err != nil {
		panic(err) // it is in the program
	}
	return text
}

func pack(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(text) // to memory: it cannot fail
	z.Close()
	return b.Bytes()
}
