package site

import (
	"net/http"
	"time"

	"github.com/firefighter-records/firefighters/internal/text/lang"
)

const languageCookie = "firefighters-language"

// languageOf returns the language that the visitor has chosen, or else the browser's.
func languageOf(r *http.Request) *lang.Language {
	if cookie, err := r.Cookie(languageCookie); err == nil {
		if chosen := lang.ByTag(cookie.Value); chosen != nil {
			return chosen
		}
	}
	return lang.Negotiate(r.Header.Get("Accept-Language"))
}

// chooseLanguage keeps a language for a year.
func chooseLanguage(v *Visit) error {
	if chosen := lang.ByTag(v.R.PostForm.Get("language")); chosen != nil {
		http.SetCookie(v.W, &http.Cookie{Name: languageCookie, Value: chosen.Tag(), Path: Root, MaxAge: int(365 * 24 * time.Hour / time.Second),
			HttpOnly: true, Secure: v.site.TLS, SameSite: http.SameSiteStrictMode})
	}
	return v.Redirect(LocalPath(v.R.PostForm.Get("next")))
}
