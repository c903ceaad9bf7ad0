// Package regex compiles regular expressions when they are first used, so that they do not delay
// startup.
package regex

import (
	"regexp"
	"sync"
)

// Lazy returns a function that compiles a regular expression once. It panics if that is invalid.
func Lazy(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
