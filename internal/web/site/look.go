package site

import (
	"crypto/sha256"
	"encoding/hex"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/text/lang"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// look is what pages look like: templates, messages and assets.
type look struct {
	files    fs.FS
	messages lang.Catalog
	assets   map[string]asset // by the name of their file
	// pages returns all pages in a language, by its tag. They are read when somebody first
	// asks for that language, because most stations use one.
	pages map[string]func() map[string]*template.Template
}

// newLook returns the look of a program's embedded files: templates/*.html, of
// which layout.html and partials.html are part of all pages, messages/*.json and
// assets. The site itself fills sign-in.html, sign-out.html, again.html and error.html.
// It panics if the files are not right; the tests would have seen it.
func newLook(files fs.FS) *look {
	l := &look{files: files, messages: lang.MustLoad(files, "messages/*.json"), assets: readAssets(files), pages: map[string]func() map[string]*template.Template{}}
	for _, language := range lang.All() {
		l.pages[language.Tag] = sync.OnceValue(func() map[string]*template.Template { return l.read(language) })
	}
	return l
}

func (l *look) read(language *lang.Language) map[string]*template.Template {
	parse := func(t *template.Template, file string) *template.Template {
		text, err := fs.ReadFile(l.files, file)
		if err != nil {
			panic(err)
		}
		return template.Must(t.Parse(l.translate(language, string(text))))
	}
	base := parse(template.New("layout.html").Funcs(l.functions(language)), "templates/layout.html")
	base = parse(base, "templates/partials.html")
	pages := map[string]*template.Template{}
	names, err := fs.Glob(l.files, "templates/*.html")
	if err != nil {
		panic(err)
	}
	for _, file := range names {
		if name := strings.TrimSuffix(path.Base(file), ".html"); name != "layout" && name != "partials" {
			pages[name] = parse(template.Must(base.Clone()), file)
		}
	}
	return pages
}

// plainMessage is a message without arguments, in a template.
var plainMessage = regexp.MustCompile(`\{\{t "([^"]+)"\}\}`)

// translate puts the messages without arguments into the text of a template. A page has
// dozens of them. To call a function for each took a seventh of the time of the list.
func (l *look) translate(language *lang.Language, text string) string {
	return plainMessage.ReplaceAllStringFunc(text, func(action string) string {
		return template.HTMLEscapeString(l.messages.Text(language, plainMessage.FindStringSubmatch(action)[1]))
	})
}

// functions are what templates can call, in a language.
func (l *look) functions(language *lang.Language) template.FuncMap {
	return template.FuncMap{
		"t": func(key string, args ...any) string { return l.messages.Text(language, key, args...) },
		"n": func(key string, count any, args ...any) string {
			return l.messages.Count(language, key, int(reflect.ValueOf(count).Int()), args...)
		},
		"asset":  func(file string) string { return l.assets[file].path },
		"moment": language.Moment,
		"day":    func(t time.Time) string { return language.Day(calendar.Of(t)) },
	}
}

// asset is a file that pages load. Its address has its hash, so that a browser
// keeps it for good and still gets a new one after an upgrade.
type asset struct {
	path        string
	contentType string
	body        []byte
}

var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

func readAssets(files fs.FS) map[string]asset {
	all := map[string]asset{}
	names, err := fs.Glob(files, "assets/*.*")
	if err != nil {
		panic(err)
	}
	for _, file := range names {
		body, err := fs.ReadFile(files, file)
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(body)
		ext := path.Ext(file)
		name := strings.TrimSuffix(path.Base(file), ext) + "-" + hex.EncodeToString(sum[:8]) + ext
		all[path.Base(file)] = asset{Root + "assets/" + name, assetTypes[ext], body}
	}
	return all
}

func serveAsset(v *Visit) error {
	for _, a := range v.Site.look.assets {
		if a.path == v.R.URL.Path {
			h := v.W.Header()
			h["Cache-Control"] = []string{"public, max-age=31536000, immutable"}
			h["Content-Type"] = []string{a.contentType}
			httpapi.VaryByEncoding(h)
			v.status, v.body = http.StatusOK, httpapi.Compress(h, v.R, a.body)
			return nil
		}
	}
	return &httpapi.Problem{Kind: httpapi.Path}
}
