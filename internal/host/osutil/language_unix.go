//go:build unix

package osutil

import (
	"cmp"
	"os"
)

// Language returns the language of the user as two or three letters, such as "hr", empty if
// the system does not tell it.
func Language() string {
	return languageOf(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
}
