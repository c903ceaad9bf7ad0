package site

import (
	"net/url"
	"testing"
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
