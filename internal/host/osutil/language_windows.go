package osutil

import "golang.org/x/sys/windows"

// Language returns the language code of the user, such as "hr", or "" if it is unknown.
func Language() string {
	tags, err := windows.GetUserPreferredUILanguages(windows.MUI_LANGUAGE_NAME)
	if err != nil || len(tags) == 0 {
		return ""
	}
	return languageOf(tags[0])
}
