package osutil

import "golang.org/x/sys/windows"

// Language returns the language of the user as two or three letters, such as "hr", empty if
// the system does not tell it.
func Language() string {
	tags, err := windows.GetUserPreferredUILanguages(windows.MUI_LANGUAGE_NAME)
	if err != nil || len(tags) == 0 {
		return ""
	}
	return languageOf(tags[0])
}
