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
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/text/lang"
	"github.com/firefighter-records/firefighters/internal/text/phone"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

const (
	layoutName = "layout.html"             // the template around every page
	partials   = "templates/partials.html" // templates that pages share
)

// look holds the templates, messages and assets of the pages.
type look struct {
	messages func() lang.Catalog // parsed on first use
	assets   map[string]asset    // by file name
	// pages returns the template of a page in a language by pageKey. A page is parsed on first use,
	// because a station uses one language and some pages.
	pages map[string]func() *template.Template
}

func pageKey(language *lang.Language, name string) string { return language.Tag + "/" + name }

// newLook loads the files of a site. frame contains templates/layout.html, templates/partials.html,
// messages/*.json and the assets. newLook panics if two pages have the same name. If a file is
// invalid, its first use panics.
func newLook(frame fs.FS, rooms []Room) *look {
	files := []fs.FS{frame}
	for _, room := range rooms {
		files = append(files, room.Files)
	}
	messages := sync.OnceValue(func() lang.Catalog { return lang.MustLoad("messages/*.json", files...) })
	l := &look{messages, readAssets(frame), map[string]func() *template.Template{}}
	for _, room := range rooms {
		for _, file := range must(fs.Glob(room.Files, "templates/*.html")) {
			name := strings.TrimSuffix(path.Base(file), ".html")
			for _, language := range lang.All() {
				key := pageKey(language, name)
				if l.pages[key] != nil {
					panic("two pages have the name " + name)
				}
				if file != partials {
					l.pages[key] = sync.OnceValue(func() *template.Template { return l.readPage(language, frame, room.Files, file) })
				}
			}
		}
	}
	return l
}

// must returns a value that is read from the program's own files. It panics on an error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func (l *look) readPage(language *lang.Language, frame, room fs.FS, file string) *template.Template {
	page := template.New(layoutName).Funcs(l.functions(language))
	parse := func(files fs.FS, name string) {
		text := must(fs.ReadFile(files, name))
		must(page.Parse(l.translate(language, string(text))))
	}
	parse(frame, "templates/"+layoutName)
	parse(frame, partials)
	if slices.Contains(must(fs.Glob(room, "templates/*.html")), partials) {
		parse(room, partials)
	}
	parse(room, file)
	return page
}

// plainMessage matches a message without arguments in a template.
var plainMessage = regexp.MustCompile(`\{\{t "([^"]+)"\}\}`)

// translate inserts messages without arguments into the text of a template at parse time. Calling a
// function for each took a seventh of the time of the list page.
func (l *look) translate(language *lang.Language, text string) string {
	return plainMessage.ReplaceAllStringFunc(text, func(action string) string {
		return template.HTMLEscapeString(l.messages().Text(language, plainMessage.FindStringSubmatch(action)[1]))
	})
}

func (l *look) functions(language *lang.Language) template.FuncMap {
	return template.FuncMap{
		"t": func(key string, args ...any) string { return l.messages().Text(language, key, args...) },
		"n": func(key string, count any, args ...any) string {
			return l.messages().Count(language, key, int(reflect.ValueOf(count).Int()), args...)
		},
		"asset":  func(file string) string { return l.assets[file].path },
		"moment": func(t time.Time) string { return oneLine(language.Moment(t), language.Day(calendar.Of(t))) },
		"day":    func(t time.Time) string { day := language.Day(calendar.Of(t)); return oneLine(day, day) },
		"whole":  whole,
	}
}

// oneLine returns a text in which no line breaks inside part.
func oneLine(text, part string) string {
	return strings.Replace(text, part, strings.ReplaceAll(part, " ", "\u00a0"), 1)
}

// longestWhole is the length in characters up to which a number or a date stays on one line: a phone
// of 320 px has no room for longer ones.
const longestWhole = 24

// whole returns values, separated by " · ", in which no line breaks inside a telephone number or a
// date.
func whole(text string) template.HTML {
	values := strings.Split(text, " · ")
	for i, value := range values {
		parts := []string{value}
		if utf8.RuneCountInString(value) > longestWhole {
			parts = phone.Parts(value)
		}
		for j, part := range parts {
			parts[j] = template.HTMLEscapeString(part)
			if strings.ContainsAny(part, "0123456789") && utf8.RuneCountInString(part) <= longestWhole {
				parts[j] = `<span class="whole">` + parts[j] + `</span>`
			}
		}
		values[i] = strings.Join(parts, " ")
	}
	return template.HTML(strings.Join(values, " · "))
}

// asset is a static file. Its path contains a hash of the content, so browsers can cache it
// indefinitely and still fetch a new version after an upgrade.
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
	for _, file := range must(fs.Glob(files, "assets/*.*")) {
		body := must(fs.ReadFile(files, file))
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
