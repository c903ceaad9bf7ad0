package site

import (
	"bytes"
	"cmp"
	"context"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/text/lang"
)

const (
	languageCookie = "firefighters-language"
	languagePath   = Root + "language"
)

// languageOf returns the language that the visitor chose, or the best match for the browser.
func languageOf(r *http.Request) *lang.Language {
	if cookie, err := r.Cookie(languageCookie); err == nil {
		if chosen := lang.ByTag(cookie.Value); chosen != nil {
			return chosen
		}
	}
	return lang.Negotiate(r.Header.Get("Accept-Language"))
}

// chooseLanguage switches to the language of the button that sent the form, if it was one.
func (v *Visit) chooseLanguage() {
	if chosen := lang.ByTag(v.R.PostForm.Get("language")); chosen != nil {
		v.Lang = chosen
		http.SetCookie(v.W, &http.Cookie{Name: languageCookie, Value: chosen.Tag, Path: Root, MaxAge: int(365 * 24 * time.Hour / time.Second),
			HttpOnly: true, Secure: v.isSecure(), SameSite: http.SameSiteStrictMode})
	}
}

// languageForm is a form that language buttons send to an address that shows it again. Without
// scripts, only the form can keep what is typed.
type languageForm struct{ ID, Action string }

// Form adds language buttons for a form, and returns its ID.
func (f *frame) Form(id, action string) string {
	if id == f.typed {
		f.forms = append([]languageForm{{id, action}}, f.forms...)
	} else {
		f.forms = append(f.forms, languageForm{id, action})
	}
	return id
}

// Typed is Form for a form of the page with an address.
func (f *frame) Typed(id, page string) string { return f.Form(id, formPath(id, page)) }

// Query is Form for a form that changes the address of the page.
func (f *frame) Query(id string) string { return f.Form(id, formPath("", f.Path)) }

// Forms returns the forms with language buttons, first the one that the page shows again. If there
// is none, it returns one without an ID, so that the buttons send the form around them.
func (f *frame) Forms() []languageForm {
	if f.forms == nil {
		return []languageForm{{}}
	}
	return f.forms
}

// formPath returns the address that shows a page again with the fields of its form.
func formPath(form, page string) string {
	return languagePath + "?" + url.Values{"form": {form}, "next": {page}}.Encode()
}

// again is the key of the context of a request for a page that shows a form again.
type again struct{}

// showAgain shows a page with the fields of its form as submitted. Without the ID of a form, it
// redirects to the page; if fields have changed, it sends them as the form would.
func showAgain(v *Visit) error {
	form := v.R.PostForm
	to, _ := url.Parse(LocalPath(cmp.Or(v.Query().Get("next"), form.Get("next")))) // checked by LocalPath
	if id := v.Query().Get("form"); id != "" && v.R.Method == http.MethodPost {
		if form.Get("next") == v.R.URL.RequestURI() { // from the sign-in page, with the secret that was typed there
			maps.DeleteFunc(form, func(name string, _ []string) bool { return slices.Contains(ownFields, name) })
		}
		shown := &Visit{Lang: v.Lang, form: id}
		r := v.R.Clone(context.WithValue(v.R.Context(), again{}, shown))
		r.Method, r.URL, r.RequestURI, r.Body = http.MethodGet, to, to.String(), http.NoBody
		v.Site.mux.ServeHTTP(v.W, r)
		return nil
	}
	form.Del("next")
	form.Del("language")
	query := to.Query()
	for name := range form {
		if query.Get(name) != form.Get(name) {
			to.RawQuery = form.Encode()
		}
	}
	return v.Redirect(to.String())
}

// Templates escape "<", ">" and quotation marks in attributes.
var (
	tagPattern       = regexp.MustCompile(`<(/?form|input|select|option|textarea)\b[^>]*>(?:[^<]*</textarea>)?`)
	attributePattern = regexp.MustCompile(`\s+([a-z-]+)(?:="([^"]*)")?`)
)

// fill returns a page with values in the form with an ID, and opens the details around the form. It
// leaves files and the fields that were not submitted.
func fill(page []byte, id string, values url.Values) []byte {
	const fold = "<details"
	before := page[:max(0, bytes.Index(page, []byte(`<form id="`+id+`"`)))]
	if at := bytes.LastIndex(before, []byte(fold)); at > bytes.LastIndex(before, []byte("</details>")) {
		page = slices.Insert(page, at+len(fold), []byte(" open")...)
	}
	isInside, list := false, ""
	return tagPattern.ReplaceAllFunc(page, func(tag []byte) []byte {
		is := map[string]string{}
		for _, a := range attributePattern.FindAllSubmatch(tag, -1) {
			is[string(a[1])] = html.UnescapeString(string(a[2]))
		}
		_, disabled := is["disabled"]
		switch kind := string(tagPattern.FindSubmatch(tag)[1]); {
		case strings.HasSuffix(kind, "form"):
			isInside = is["id"] == id
		case !isInside || disabled || is["type"] == "file":
		case kind == "select":
			list = is["name"]
		case kind == "option" && values.Has(list):
			return withAttribute(tag, "selected", "", values.Get(list) == is["value"])
		case is["type"] == "checkbox" || is["type"] == "radio":
			return withAttribute(tag, "checked", "", slices.Contains(values[is["name"]], is["value"]))
		case len(values[is["name"]]) != 1:
		case kind == "textarea":
			start, _, _ := bytes.Cut(tag, []byte(">"))
			return slices.Concat(start, []byte(">\n"+html.EscapeString(values.Get(is["name"]))+"</textarea>"))
		case kind == "input":
			return withAttribute(tag, "value", html.EscapeString(values.Get(is["name"])), true)
		}
		return tag
	})
}

// withAttribute returns a tag with an attribute, or without it if isSet is false.
func withAttribute(tag []byte, name, value string, isSet bool) []byte {
	tag = attributePattern.ReplaceAllFunc(tag, func(a []byte) []byte {
		if string(attributePattern.FindSubmatch(a)[1]) == name {
			return nil
		}
		return a
	})
	if isSet {
		tag = slices.Concat(tag[:len(tag)-1], []byte(" "+name+`="`+value+`">`))
	}
	return tag
}
