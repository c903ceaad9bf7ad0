package site

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"
)

func TestFill(t *testing.T) {
	t.Parallel()
	const page = `<details><form id="other"><input type="text" name="a" value="1"></form></details>
<details class="y"><form id="form" class="x">
<input type="text" name="a" value="1&gt;" aria-label="the value"><input name="b">
<input type="hidden" name="c" value="kept">
<input type="checkbox" name="d" value="1" checked><label><input
  type="checkbox" name="d" value="&#34;2&#34;"></label><input type="radio" name="off" value="1" checked disabled>
<select name="e"><option value="1" selected>One</option><option value="2">Two</option></select>
<select name="f"><option value="1" selected>One</option></select>
<textarea name="g" rows="2">old</textarea><input type="file" name="a">
<input name="twice" value="1"></form><input name="a" value="1">`
	const want = `<details><form id="other"><input type="text" name="a" value="1"></form></details>
<details open class="y"><form id="form" class="x">
<input type="text" name="a" aria-label="the value" value="&lt;&#34;value=checked&gt;"><input name="b" value="">
<input type="hidden" name="c" value="kept">
<input type="checkbox" name="d" value="1"><label><input
  type="checkbox" name="d" value="&#34;2&#34;" checked=""></label><input type="radio" name="off" value="1" checked disabled>
<select name="e"><option value="1">One</option><option value="2" selected="">Two</option></select>
<select name="f"><option value="1" selected>One</option></select>
<textarea name="g" rows="2">
&lt;/textarea&gt;new&lt;/textarea&gt;</textarea><input type="file" name="a">
<input name="twice" value="1"></form><input name="a" value="1">`
	typed := url.Values{"a": {`<"value=checked>`}, "b": {""}, "d": {`"2"`}, "e": {"2"}, "g": {"</textarea>new</textarea>"},
		"twice": {"2", "3"}}
	if got := string(fill([]byte(page), "form", typed)); got != want {
		t.Errorf("filled:\n%s", got)
	}
}

// TestFillAfterSignIn checks that the secret and the address that the sign-in page sends with a form are not
// shown in fields of the same names.
func TestFillAfterSignIn(t *testing.T) {
	t.Parallel()
	const page = `{{define "main"}}<form id="find"><input name="key"><input name="next" value="own"><input name="a"></form>{{end}}`
	plain := plainSite()
	site := New(plain.Service, plain.explain, plainFrame, Room{
		fstest.MapFS{"templates/form.html": {Data: []byte(page)}, "messages/list.json": {Data: officeMessages()}},
		map[string]Route{"GET /office/find": {Handle: func(v *Visit) error { return v.Render(http.StatusOK, "form", Page{}) }}}})
	to := formPath("find", "/office/find")
	for next, want := range map[string]string{
		to:         `name="next" value="own"><input name="a" value="typed">`,
		"/office/": `name="key" value="ff_x">`,
	} {
		body := url.Values{"key": {"ff_x"}, "a": {"typed"}, "next": {next}}
		r := httptest.NewRequest("POST", to, strings.NewReader(body.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		site.ServeHTTP(w, r)
		if text := w.Body.String(); !strings.Contains(text, want) || next == to && strings.Contains(text, "ff_x") {
			t.Errorf("%s: %d %s", next, w.Code, text)
		}
	}
}
