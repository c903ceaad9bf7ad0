//go:build unix

package osutil

import (
	"cmp"
	"os"
)

// Language returns the language code of the user, such as "hr", or "" if it is unknown.
func Language() string {
	return languageOf(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
}
