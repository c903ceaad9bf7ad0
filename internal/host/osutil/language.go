package osutil

import "strings"

// languageOf returns the language of a locale such as hr_HR.UTF-8 or hr-HR.
func languageOf(locale string) string {
	if end := strings.IndexAny(locale, "_-.@"); end >= 0 {
		locale = locale[:end]
	}
	return strings.ToLower(locale)
}
